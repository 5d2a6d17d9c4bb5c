//! The cost of `olmguard check --base`: a git repository of 1,000 manifests of which 50 are changed, with loose and
//! with packed objects. Whole processes are measured in turns: with a base, without a base, and with only one
//! manifest, which shows the cost of starting and loading the catalogs. Ratios are of figures of one run.
//!
//! The manifests request the catalog of an example. A whole catalog is loaded in addition, if there is one.
//!
//! Figures are wall time, the minimum of some runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use olmguard_figures::{Aim, Figure, Unit};

use crate::process::{Taken, olmguard, taken};
use crate::run::Run;
use crate::world::{World, root};

pub(crate) fn measure(run: &Run) {
    let folder = tempfile::tempdir().expect("a directory");
    let repository = folder.path();
    git(repository, &["init", "-q", "-b", "main"]);
    fs::create_dir(repository.join("apps")).expect("a directory");
    let manifests = run.count(MANIFESTS, 20);
    for number in 0..manifests {
        write(repository, number, "1.0.0");
    }
    git(repository, &["add", "--all"]);
    git(repository, &["commit", "-q", "-m", "before"]);
    for number in (0..manifests).step_by(MANIFESTS / CHANGED) {
        write(repository, number, "1.1.0");
    }
    let catalogs = catalogs(run);
    beside(run, repository, &catalogs, "loose");
    git(repository, &["gc", "-q"]);
    beside(run, repository, &catalogs, "packed");
}

/// The catalogs to load, as flags.
fn catalogs(run: &Run) -> Vec<String> {
    let hub = root().join("examples/Resolved/hub.yaml");
    // The small catalog has the same package, which would be ambiguous.
    let whole = World::of(run).filter(|world| matches!(world, World::Whole(_)));
    let whole = whole.map(|world| format!("--catalog=whole={}", world.file("v4.20").display()));
    let hub = format!("--catalog=hub={}", hub.display());
    [hub].into_iter().chain(whole).collect()
}

/// Times all rows in turns.
fn beside(run: &Run, repository: &Path, catalogs: &[String], objects: &str) {
    let mut least = ROWS.map(|_| Taken::MAX);
    for _ in 0..run.count(RUNS, 1) {
        for (least, (_, arguments)) in least.iter_mut().zip(ROWS) {
            *least = least.least(check(repository, catalogs, arguments));
        }
    }
    let least = least.map(|taken| taken.wall.as_secs_f64() * 1e3);
    for ((name, _), milliseconds) in ROWS.iter().zip(least) {
        let row = format!("{objects} objects, {name}");
        run.note(&run.figure(row, Unit::Milliseconds, milliseconds));
    }
    let [_, without, with, _] = least;
    let row = format!("{objects} objects, with a base as against without");
    run.note(&Figure {
        aim: Some(Aim::AtMost(1.5)),
        ..run.figure(row, Unit::Times, with / without)
    });
}

const ROWS: [(&str, &[&str]); 4] = [
    (
        "one manifest: the start, and loading the catalogs",
        &["apps/000.yaml"],
    ),
    ("1,000 manifests without a base", &["apps"]),
    ("with a base", &["apps", "--base=main"]),
    (
        "with a base, all checked",
        &["apps", "--base=main", "--all"],
    ),
];

/// Writes an extension together with objects of other kinds, as in real repositories.
fn write(repository: &Path, number: usize, version: &str) {
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-{number}\n---\n\
         apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: installer\n  namespace: team-{number}\n\
         ---\napiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata:\n  \
         name: lantern-{number}\nspec:\n  namespace: team-{number}\n  source:\n    \
         sourceType: Catalog\n    catalog:\n      packageName: lantern-operator\n      \
         version: {version}\n"
    );
    let path = repository.join(format!("apps/{number:03}.yaml"));
    fs::write(path, text).expect("a manifest");
}

fn check(repository: &Path, catalogs: &[String], arguments: &[&str]) -> Taken {
    let mut command = olmguard();
    command
        .arg("check")
        .args(catalogs)
        .arg("-f")
        .args(arguments)
        .current_dir(repository)
        .env_remove("OLMGUARD_SHARED")
        .stdout(Stdio::null());
    taken(&mut command, &[0])
}

fn git(folder: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=olmguard", "-c", "user.email=olmguard"];
    let mut git = Command::new("git");
    taken(git.args(who).args(arguments).current_dir(folder), &[0]);
}

const MANIFESTS: usize = 1000;
const CHANGED: usize = 50;

/// The number of runs, of which the fastest counts.
const RUNS: usize = 15;
