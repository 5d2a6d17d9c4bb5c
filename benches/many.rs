//! The cost of a million bundles: five catalogs of 10,000 packages, each with 20 bundles in a chain of `replaces` and
//! a `skipRange`.

use std::fmt::Write;
use std::time::Instant;

use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::CatalogState;
use olmguard_figures::{Aim, Figure, Unit};
use olmguard_fixtures::question::content;

use crate::process::{kib, mib};
use crate::run::Run;

pub(crate) fn measure(run: &Run) {
    let packages = run.count(PACKAGES, 10);
    let rules = Rules::default();
    let text = catalog(packages);
    let before = kib("self", "VmRSS");
    let mut seconds = 0.0;
    let mut states = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let start = Instant::now();
        states.push(CatalogState::named(name, content(&text, &rules)));
        seconds += start.elapsed().as_secs_f64();
    }
    let loaded = states
        .iter()
        .map(|state| state.loaded().expect("it is read"));
    let bundles: usize = loaded.map(|catalog| catalog.counts().bundles).sum();
    assert_eq!(bundles, 5 * packages * BUNDLES);
    let memory = mib(kib("self", "VmRSS").saturating_sub(before));
    drop(states);
    let rows = [
        (
            "a million bundles in five catalogs",
            Unit::MiB,
            memory,
            800.0,
        ),
        ("reading them", Unit::Seconds, seconds, 3.0),
    ];
    for (row, unit, value, most) in rows {
        run.note(&Figure {
            aim: Some(Aim::AtMost(most)),
            ..run.figure(row, unit, value)
        });
    }
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

const PACKAGES: usize = 10_000;
const BUNDLES: usize = 20;
