//! What `olmguard check --base` costs: a repository of 1,000 manifests of which 50 are changed, made by
//! git, with loose objects and packed. Whole processes, in turns with a check of the same manifests
//! without a base; the catalog is that of an example, so that loading it takes no time.
//!
//! Wall time and the CPU time of the process, each the least of some runs.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let repository = folder.path();
    git(repository, &["init", "-q", "-b", "main"]);
    fs::create_dir(repository.join("apps")).expect("a folder");
    for number in 0..MANIFESTS {
        write(repository, number, "1.0.0");
    }
    git(repository, &["add", "--all"]);
    git(repository, &["commit", "-q", "-m", "before"]);
    for number in (0..MANIFESTS).step_by(MANIFESTS / CHANGED) {
        write(repository, number, "1.1.0");
    }
    beside(repository, "loose");
    git(repository, &["gc", "-q"]);
    beside(repository, "packed");
}

/// Times both in turns.
fn beside(repository: &Path, objects: &str) {
    let (mut without, mut with) = (Taken::MAX, Taken::MAX);
    let (mut new, mut gone) = (Taken::MAX, Taken::MAX);
    for _ in 0..RUNS {
        without = without.least(check(repository, &["apps"]));
        with = with.least(check(repository, &["apps", "--base=main"]));
        new = new.least(check(repository, &["apps/000.yaml", "--base=main"]));
        gone = gone.least(check(repository, &["apps", "--base=main", "--all"]));
    }
    println!(
        "{MANIFESTS} manifests, {objects} objects, no base: {}",
        said(without)
    );
    println!(
        "{MANIFESTS} manifests, {objects} objects, {CHANGED} changed: {}",
        said(with)
    );
    println!(
        "{MANIFESTS} manifests, {objects} objects, all judged: {}",
        said(gone)
    );
    println!(
        "one manifest of them, {objects} objects, changed: {}",
        said(new)
    );
}

/// An extension among objects of other kinds, as repositories have them.
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

/// How long a process took.
#[derive(Clone, Copy)]
struct Taken {
    wall: Duration,
    cpu: Duration,
}

impl Taken {
    const MAX: Self = Self {
        wall: Duration::MAX,
        cpu: Duration::MAX,
    };

    fn least(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
        }
    }
}

fn check(repository: &Path, arguments: &[&str]) -> Taken {
    let hub = concat!(
        "hub=",
        env!("CARGO_MANIFEST_DIR"),
        "/examples/Resolved/hub.yaml"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command
        .args(["check", "--catalog", hub, "-f"])
        .args(arguments)
        .current_dir(repository)
        .stdout(Stdio::null());
    let (before, began) = (children(), Instant::now());
    let status = command.status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
    let wall = began.elapsed();
    let cpu = children().saturating_sub(before);
    Taken { wall, cpu }
}

/// The CPU time of all processes that were waited for.
fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("resource usage");
    let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
    Duration::from_micros(u64::try_from(microseconds).unwrap_or_default())
}

fn git(folder: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=olmguard", "-c", "user.email=olmguard"];
    let status = Command::new("git")
        .args(who)
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "git {arguments:?}"
    );
}

fn said(Taken { wall, cpu }: Taken) -> String {
    format!(
        "{:.1} ms wall, {:.1} ms CPU",
        wall.as_secs_f64() * 1e3,
        cpu.as_secs_f64() * 1e3
    )
}

const MANIFESTS: usize = 1000;
const CHANGED: usize = 50;

/// How often each is run; the least counts.
const RUNS: usize = 15;
