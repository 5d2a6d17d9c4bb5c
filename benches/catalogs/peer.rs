//! Loading all five from files, beside operator-registry's `declcfg.LoadFS` (`benches/peer`, in Go).
//!
//! Both are processes of their own that read the same folders and say the same three figures; they
//! take turns. What they do differs in one thing: `LoadFS` keeps all of a catalog, we what decides.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Instant;

use olmguard::source::load;
use olmguard_catalog::olm::Rules;
use tempfile::TempDir;

use crate::bench::files::{NAMES, content};
use crate::bench::memory::{memory, mib};

pub(crate) fn print() {
    println!("five catalogs from folders into memory");
    let folders = Folders::written();
    let ours = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(LOAD, "");
        command
    };
    let program = folders.0.path().join("peer");
    let theirs = || Command::new(&program);
    let built = build(&program);
    if let Err(why) = &built {
        println!("  left out: operator-registry, {why}");
    }
    let (mut own, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        own.push(folders.loaded_by(ours()));
        if built.is_ok() {
            peer.push(folders.loaded_by(theirs()));
        }
    }
    for (name, turns) in [("olmguard", own), ("operator-registry", peer)] {
        if let Some(figures) = Figures::median(turns) {
            println!("  {name}: {figures}");
        }
    }
}

/// Whether this process is to load what its arguments name.
pub(crate) fn is_loader() -> bool {
    std::env::var_os(LOAD).is_some()
}

/// Loads, and prints the line that the program in Go prints.
pub(crate) fn run() {
    let rules = Rules::default();
    let began = Instant::now();
    let paths = std::env::args_os().skip(1).map(PathBuf::from);
    let states: Vec<_> = paths.map(|path| load("c", &path, &rules)).collect();
    let seconds = began.elapsed().as_secs_f64();
    let loaded = states
        .iter()
        .map(|state| state.loaded().expect("a catalog"));
    let bundles: usize = loaded.map(|catalog| catalog.counts().bundles).sum();
    println!("{seconds:.3} {} {bundles}", memory().peak);
}

/// Each catalog in a folder of its own, as both read them.
struct Folders(TempDir);

impl Folders {
    fn written() -> Self {
        let folders = tempfile::tempdir().unwrap();
        for name in NAMES {
            let folder = folders.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("catalog.json"), content(name)).unwrap();
        }
        Self(folders)
    }

    fn loaded_by(&self, mut command: Command) -> Figures {
        let folders = NAMES.map(|name| self.0.path().join(name));
        let output = command.args(folders).stderr(Stdio::inherit()).output();
        let line = String::from_utf8(output.expect("it runs").stdout).unwrap();
        line.parse().expect("three figures")
    }
}

/// What a process says of its loading.
#[derive(Debug)]
struct Figures {
    seconds: f64,
    peak: u64,
    bundles: u64,
}

impl Figures {
    fn median(mut turns: Vec<Self>) -> Option<Self> {
        turns.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        turns.into_iter().nth(TURNS / 2)
    }
}

impl FromStr for Figures {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut words = line.split_whitespace();
        let mut next = || words.next().ok_or_else(|| line.to_owned());
        let (seconds, peak, bundles) = (next()?.parse(), next()?.parse(), next()?.parse());
        Ok(Self {
            seconds: seconds.map_err(|_| line.to_owned())?,
            peak: peak.map_err(|_| line.to_owned())?,
            bundles: bundles.map_err(|_| line.to_owned())?,
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seconds, bundles, ..
        } = self;
        let peak = mib(self.peak);
        write!(f, "{seconds:.2} s, peak {peak:.0} MiB, {bundles} bundles")
    }
}

/// Builds the program in Go, which the module proxy may be needed for.
fn build(program: &Path) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer");
    let mut go = Command::new("go");
    go.arg("build").arg("-o").arg(program).current_dir(folder);
    let output = go.output().map_err(|_| "there is no go here".to_owned())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    Err(format!("go cannot build benches/peer: {last}"))
}

/// The variable by which a process knows that it is to load.
const LOAD: &str = "OLMGUARD_BENCH_LOAD";

const TURNS: usize = 3;
