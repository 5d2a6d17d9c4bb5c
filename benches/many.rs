//! What a million bundles take: five catalogs of 10,000 packages, each with 20 bundles in a chain of `replaces` and a
//! `skipRange`.
//!
//! Linux only: the memory is the kernel's own figure. `cargo bench --bench many -- [PACKAGES]`
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::CatalogState;
use olmguard_fixtures::question::content;

fn main() {
    let asked = std::env::args().find_map(|word| word.parse().ok());
    let packages = asked.unwrap_or(PACKAGES);
    let rules = Rules::default();
    let text = catalog(packages);
    let before = resident();
    let mut took = Duration::ZERO;
    let mut states = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let start = Instant::now();
        states.push(CatalogState::named(name, content(&text, &rules)));
        took += start.elapsed();
    }
    let bundles: usize = states
        .iter()
        .map(|state| state.loaded().expect("it is read").counts().bundles)
        .sum();
    assert_eq!(bundles, 5 * packages * BUNDLES);
    let held = resident() - before;
    println!(
        "{bundles} bundles in five catalogs: {} MiB held ({} bytes each), read in {:.2} s",
        held >> 20,
        held / bundles,
        took.as_secs_f64()
    );
}

fn catalog(packages: usize) -> String {
    let mut text = String::new();
    (0..packages).for_each(|number| package(&mut text, number).expect("memory"));
    text
}

fn package(text: &mut String, number: usize) -> std::fmt::Result {
    writeln!(
        text,
        r#"{{"schema":"olm.package","name":"operator-{number}"}}"#
    )?;
    write!(
        text,
        r#"{{"schema":"olm.channel","package":"operator-{number}","name":"stable","entries":["#
    )?;
    for patch in 0..BUNDLES {
        let comma = if patch == 0 { "" } else { "," };
        write!(
            text,
            r#"{comma}{{"name":"operator-{number}.v1.{patch}.0","replaces":"operator-{number}.v1.{}.0","skipRange":">=1.0.0 <1.{patch}.0"}}"#,
            patch.saturating_sub(1)
        )?;
    }
    writeln!(text, "]}}")?;
    for patch in 0..BUNDLES {
        writeln!(
            text,
            r#"{{"schema":"olm.bundle","package":"operator-{number}","name":"operator-{number}.v1.{patch}.0","image":"quay.example.com/operators/operator-{number}-bundle:v1.{patch}.0","properties":[{{"type":"olm.package","value":{{"packageName":"operator-{number}","version":"1.{patch}.0"}}}}]}}"#
        )?;
    }
    Ok(())
}

/// The bytes of this process in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.and_then(|kib| kib.parse::<usize>().ok())
        .expect("a number")
        << 10
}

const PACKAGES: usize = 10_000;
const BUNDLES: usize = 20;
