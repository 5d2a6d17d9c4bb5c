//! Memory of five whole catalogs, and the time and memory of `check` on 1,000 manifests against them.
//!
//! Linux only: the figures are the kernel's own (`/proc/self/status`, and the resources of ended
//! child processes). Reads the catalogs through `OLMGUARD_SHARED` (default `../shared`).
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use olmguard::source::load;
use olmguard_catalog::olm::Rules;

const CATALOGS: &[&str] = &["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"];

fn main() {
    held();
    check();
}

/// What holding the five catalogs costs over the bare process, and the most while they are read.
fn held() {
    let rules = Rules::default();
    let bare = memory();
    let states: Vec<_> = CATALOGS
        .iter()
        .map(|name| load(name, &file(name), &rules))
        .collect();
    let full = memory();
    assert!(
        states.iter().all(|state| state.loaded().is_some()),
        "every catalog is read"
    );
    println!(
        "five catalogs held: {:.1} MiB over the bare process",
        mib(full.now - bare.now)
    );
    println!(
        "five catalogs, peak: {:.1} MiB over the bare process",
        mib(full.peak - bare.now)
    );
}

/// `olmguard check` of 1,000 manifests against the five.
fn check() {
    let folder = tempfile::tempdir().expect("a folder to write to");
    for n in 0..1000 {
        fs::write(folder.path().join(format!("{n:04}.yaml")), manifest(n))
            .expect("a file to write to");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command
        .arg("check")
        .arg("-f")
        .arg(folder.path())
        .args(["-o", "json"])
        .stdout(Stdio::null());
    for name in CATALOGS {
        command
            .arg("--catalog")
            .arg(format!("{name}={}", file(name).display()));
    }
    let started = Instant::now();
    let status = command.status().expect("the program runs");
    let took = started.elapsed();
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)
        .expect("the kernel keeps count")
        .max_rss();
    println!(
        "check of 1,000 manifests: {:.2} s, exit {:?}",
        took.as_secs_f64(),
        status.code()
    );
    println!(
        "check of 1,000 manifests, peak: {:.1} MiB",
        mib(u64::try_from(peak).unwrap_or(0))
    );
}

/// Versions that exist and that do not, pins and ranges, installed and fresh.
fn manifest(n: usize) -> String {
    let (package, bundle, from, to) = *PACKAGES.iter().cycle().nth(n).expect("not empty");
    let catalog = *CATALOGS.iter().cycle().nth(n).expect("not empty");
    let range = match n % 3 {
        0 => to.to_owned(),
        1 => format!(">={from}"),
        _ => "99.0.0".to_owned(),
    };
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\n\
         metadata: {{name: extension-{n}}}\nspec:\n  namespace: ns-{n}\n  source:\n    \
         sourceType: Catalog\n    catalog:\n      packageName: {package}\n      \
         version: \"{range}\"\n      selector:\n        matchLabels:\n          \
         olm.operatorframework.io/metadata.name: {catalog}\n\
         status:\n  install:\n    bundle: {{name: {bundle}{from}, version: {from}}}\n"
    )
}

/// A package, its bundles' names up to the version, a version to start at and one to go to.
const PACKAGES: &[(&str, &str, &str, &str)] = &[
    (
        "rabbitmq-cluster-operator",
        "rabbitmq-cluster-operator.v",
        "2.9.0",
        "2.10.0",
    ),
    (
        "opendatahub-operator",
        "opendatahub-operator.v",
        "2.21.0",
        "2.30.0",
    ),
    ("project-quay", "quay-operator.v", "3.10.13", "3.12.8"),
    ("sailoperator", "sailoperator.v", "1.25.2", "1.26.0"),
    (
        "victoriametrics-operator",
        "victoriametrics-operator.v",
        "0.50.0",
        "0.55.0",
    ),
];

/// Of this process, in KiB.
struct Memory {
    now: u64,
    peak: u64,
}

fn memory() -> Memory {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let field = |name: &str| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect(name);
        line.split_whitespace()
            .next()
            .and_then(|kib| kib.parse().ok())
            .expect("a number")
    };
    Memory {
        now: field("VmRSS:"),
        peak: field("VmHWM:"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

fn file(catalog: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("OLMGUARD_SHARED").map_or_else(beside, PathBuf::from);
    shared.join(format!("catalogs/community-{catalog}.jsonl.zst"))
}
