//! How fast catalogs are linted, beside `opm validate`: whole processes, in turns in one run.
//!
//! Needs the folder with whole catalogs, named by `OLMGUARD_SHARED`, and opm, named by `OLMGUARD_OPM`;
//! without opm only olmguard is timed. Each catalog is a folder, as opm wants it: JSON lines as one
//! file, YAML as the files of its archive. Wall time and the CPU time of the process, each the least of
//! some runs.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

fn main() {
    let Some(shared) = std::env::var_os("OLMGUARD_SHARED") else {
        eprintln!("left out: no catalogs; name their folder with OLMGUARD_SHARED");
        return;
    };
    let catalogs = Path::new(&shared).join("catalogs");
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    for version in ["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"] {
        let catalog = folder.path().join(version);
        unpack_json(&catalogs, version, &catalog);
        all.push(catalog);
    }
    let yaml = folder.path().join("yaml");
    unpack_yaml(&catalogs, &yaml);
    let opm = std::env::var_os("OLMGUARD_OPM");
    for catalog in all.iter().chain([&yaml]) {
        beside(opm.as_ref(), catalog);
    }
    let five = best(|| lint(&all));
    println!("all five whole catalogs: {}", said(five));
}

/// Times both on one catalog, in turns.
fn beside(opm: Option<&OsString>, catalog: &Path) {
    let name = catalog.file_name().unwrap_or_default().to_string_lossy();
    let one = [catalog.to_owned()];
    let mut ours = Taken::MAX;
    let mut theirs = Taken::MAX;
    for _ in 0..RUNS {
        ours = ours.least(taken(|| lint(&one)));
        if let Some(opm) = opm {
            theirs = theirs.least(taken(|| validate(opm, catalog)));
        }
    }
    println!("{name}: olmguard lint {}", said(ours));
    if opm.is_some() {
        let wall = theirs.wall.as_secs_f64() / ours.wall.as_secs_f64();
        let cpu = theirs.cpu.as_secs_f64() / ours.cpu.as_secs_f64();
        println!(
            "{name}: opm validate  {}; ratio {wall:.1} wall, {cpu:.1} CPU",
            said(theirs)
        );
    }
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

fn best(run: impl Fn()) -> Taken {
    (0..RUNS).fold(Taken::MAX, |least, _| least.least(taken(&run)))
}

fn taken(run: impl Fn()) -> Taken {
    let (before, began) = (children(), Instant::now());
    run();
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

fn lint(catalogs: &[PathBuf]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    run(command.arg("lint").args(catalogs));
}

fn validate(opm: &OsString, catalog: &Path) {
    run(Command::new(opm).arg("validate").arg(catalog));
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
}

fn said(Taken { wall, cpu }: Taken) -> String {
    format!(
        "{:.1} ms wall, {:.1} ms CPU",
        wall.as_secs_f64() * 1e3,
        cpu.as_secs_f64() * 1e3
    )
}

fn unpack_json(catalogs: &Path, version: &str, to: &Path) {
    fs::create_dir(to).expect("a folder");
    let file = format!("community-{version}.jsonl.zst");
    fs::write(to.join("catalog.json"), unpacked(&catalogs.join(file))).expect("a file");
}

fn unpack_yaml(catalogs: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    let tar = unpacked(&catalogs.join("community-v4.18-yaml.tar.zst"));
    for (number, file) in files_of_tar(&tar).into_iter().enumerate() {
        fs::write(to.join(format!("{number}.yaml")), file).expect("a file");
    }
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let mut decoder = zstd::Decoder::new(File::open(path).expect("a catalog")).expect("zstd");
    decoder.read_to_end(&mut text).expect("zstd");
    text
}

/// The content of each file of a tar archive.
fn files_of_tar(mut tar: &[u8]) -> Vec<&[u8]> {
    let mut files = Vec::new();
    while let Some((header, rest)) = tar.split_at_checked(512) {
        let size = header
            .get(124..135)
            .and_then(|octal| str::from_utf8(octal).ok());
        let size = size.and_then(|octal| usize::from_str_radix(octal.trim(), 8).ok());
        let Some(size) = size else { break };
        let (content, _) = rest.split_at(size);
        if header.get(156) == Some(&b'0') && size > 0 {
            files.push(content);
        }
        tar = rest.get(size.next_multiple_of(512)..).unwrap_or_default();
    }
    files
}

/// How often each is run; the least counts.
const RUNS: usize = 7;
