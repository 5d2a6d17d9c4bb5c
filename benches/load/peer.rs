//! Loading catalogs from directories, compared with operator-registry's `declcfg.LoadFS` (`benches/peers/loader`, in
//! Go).
//!
//! Both are processes that read the same directories and print the same three figures, in turns. They differ in one
//! point: `LoadFS` keeps everything in a catalog, and olmguard keeps only what decisions need.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use olmguard::source::load;
use olmguard_catalog::olm::Rules;
use olmguard_figures::{Aim, Figure, Unit};
use tempfile::TempDir;

use crate::peers::LOADER;
use crate::process::{kib, mib};
use crate::run::Run;
use crate::turns::median;
use crate::world::World;

pub(crate) fn measure(run: &Run, world: &World) {
    let directories = Directories::written(world);
    let program = LOADER.file(run);
    for (name, paths) in &directories.sets {
        let aim = match *name {
            "five catalogs, JSON" => None,
            "v4.18, YAML" => Some(Aim::Ratio(6.0)),
            _ => Some(Aim::Ratio(30.0)),
        };
        let mut turns = Vec::new();
        for _ in 0..run.count(TURNS, 1) {
            let ours = loaded_by(this().env(LOAD, ""), paths);
            let theirs = program
                .as_ref()
                .map(|program| loaded_by(&mut Command::new(program), paths));
            if let Some(theirs) = &theirs {
                assert_eq!(ours.bundles, theirs.bundles, "{name}");
            }
            turns.push((ours, theirs));
        }
        note(
            run,
            &format!("from files, {name}"),
            Unit::Seconds,
            aim,
            &turns,
            |loaded| loaded.seconds,
        );
        let peak = |loaded: &Loaded| mib(loaded.peak);
        note(
            run,
            &format!("the same, peak of the process, {name}"),
            Unit::MiB,
            None,
            &turns,
            peak,
        );
    }
}

fn note(
    run: &Run,
    row: &str,
    unit: Unit,
    aim: Option<Aim>,
    turns: &[(Loaded, Option<Loaded>)],
    value: impl Fn(&Loaded) -> f64,
) {
    let ours = turns.iter().map(|(ours, _)| value(ours)).collect();
    let both = turns
        .iter()
        .filter_map(|(ours, theirs)| Some((value(ours), value(theirs.as_ref()?))));
    let both: Vec<_> = both.collect();
    let peer = (!both.is_empty()).then(|| {
        let ratios = both.iter().map(|(ours, theirs)| theirs / ours).collect();
        LOADER.took(
            median(both.iter().map(|both| both.1).collect()),
            median(ratios),
        )
    });
    run.note(&Figure {
        peer,
        aim,
        ..run.figure(row, unit, median(ours))
    });
}

/// Whether this process must load the catalogs in its arguments.
pub(crate) fn is_loader() -> bool {
    std::env::var_os(LOAD).is_some()
}

/// Loads the catalogs, and prints the same line as the Go program.
pub(crate) fn run_loader() {
    let rules = Rules::default();
    let began = Instant::now();
    let paths = std::env::args_os().skip(1).map(PathBuf::from);
    let states: Vec<_> = paths.map(|path| load("c", &path, &rules)).collect();
    let seconds = began.elapsed().as_secs_f64();
    let loaded = states
        .iter()
        .map(|state| state.loaded().expect("a catalog"));
    let bundles: usize = loaded.map(|catalog| catalog.counts().bundles).sum();
    println!("{seconds:.6} {} {bundles}", kib("self", "VmHWM"));
}

fn this() -> Command {
    Command::new(std::env::current_exe().expect("this program"))
}

/// Each catalog in a directory, in the form that both programs read.
struct Directories {
    sets: Vec<(&'static str, Vec<PathBuf>)>,
    _root: TempDir,
}

impl Directories {
    fn written(world: &World) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let one = |name| {
            let directory = root.path().join(name);
            world.write_json(name, &directory);
            (name, vec![directory])
        };
        let mut sets: Vec<_> = world.names().map(one).into();
        let five = sets.iter().flat_map(|(_, paths)| paths.clone()).collect();
        let yaml = root.path().join("yaml");
        world.write_yaml(&yaml);
        sets.extend([("v4.18, YAML", vec![yaml]), ("five catalogs, JSON", five)]);
        Self { sets, _root: root }
    }
}

/// The figures that a process prints about its loading.
struct Loaded {
    seconds: f64,
    /// The peak memory in KiB.
    peak: u64,
    bundles: u64,
}

fn loaded_by(command: &mut Command, paths: &[PathBuf]) -> Loaded {
    let output = command.args(paths).stderr(Stdio::inherit()).output();
    let line = String::from_utf8(output.expect("it runs").stdout).expect("text");
    Loaded::read(&line).expect("it prints three figures")
}

impl Loaded {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        Some(Self {
            seconds: words.next()?.parse().ok()?,
            peak: words.next()?.parse().ok()?,
            bundles: words.next()?.parse().ok()?,
        })
    }
}

/// The environment variable that makes a process a loader.
const LOAD: &str = "OLMGUARD_BENCH_LOAD";

const TURNS: usize = 5;
