//! What `olmguard check --base` costs: a repository of 1,000 manifests of which 50 are changed, made by
//! git, with loose objects and packed. Whole processes, in turns: with a base, without, and of one manifest
//! alone, which is what starting and loading the catalogs takes. The ratios are of figures of one run.
//!
//! The manifests ask for the catalog of an example. Beside it a whole one is loaded, where
//! `OLMGUARD_SHARED` (default `../shared`) has it; without it loading takes no time to compare with.
//!
//! Wall time and the CPU time of the process, each the least of some runs.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs;
use std::path::{Path, PathBuf};
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
    let catalogs = catalogs();
    beside(repository, &catalogs, "loose");
    git(repository, &["gc", "-q"]);
    beside(repository, &catalogs, "packed");
}

/// What is loaded, as flags.
fn catalogs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let hub = root.join("examples/Resolved/hub.yaml");
    let shared = std::env::var_os("OLMGUARD_SHARED");
    let shared = shared.map_or_else(|| root.join("../shared"), PathBuf::from);
    let whole = shared.join("catalogs/community-v4.20.jsonl.zst");
    let mut flags = vec![format!("--catalog=hub={}", hub.display())];
    if whole.exists() {
        flags.push(format!("--catalog=whole={}", whole.display()));
    } else {
        println!("left out: the whole catalog; name its folder with OLMGUARD_SHARED");
    }
    flags
}

/// Times all in turns.
fn beside(repository: &Path, catalogs: &[String], objects: &str) {
    let mut least = ROWS.map(|_| Taken::MAX);
    for _ in 0..RUNS {
        for (least, (_, arguments)) in least.iter_mut().zip(ROWS) {
            *least = least.min(check(repository, catalogs, arguments));
        }
    }
    let [load, without, with, all] = least;
    for ((name, _), taken) in ROWS.iter().zip(least) {
        println!("{objects} objects, {name}: {}", said(taken));
    }
    println!(
        "{objects} objects, with a base / without: {}",
        ratio(with, without)
    );
    println!(
        "{objects} objects, with a base / loading: {}",
        ratio(with, load)
    );
    println!(
        "{objects} objects, all judged / loading: {}",
        ratio(all, load)
    );
}

const ROWS: [(&str, &[&str]); 4] = [
    ("one manifest, loading", &["apps/000.yaml"]),
    ("1,000 manifests, no base", &["apps"]),
    ("1,000 manifests, 50 changed", &["apps", "--base=main"]),
    (
        "1,000 manifests, all judged",
        &["apps", "--base=main", "--all"],
    ),
];

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

    fn min(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
        }
    }
}

fn check(repository: &Path, catalogs: &[String], arguments: &[&str]) -> Taken {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command
        .arg("check")
        .args(catalogs)
        .arg("-f")
        .args(arguments)
        .current_dir(repository)
        .env_remove("OLMGUARD_SHARED")
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

fn ratio(one: Taken, other: Taken) -> String {
    let of = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    let (wall, cpu) = (of(one.wall, other.wall), of(one.cpu, other.cpu));
    format!("{wall:.2} wall, {cpu:.2} CPU")
}

const MANIFESTS: usize = 1000;
const CHANGED: usize = 50;

/// How often each is run; the least counts.
const RUNS: usize = 15;
