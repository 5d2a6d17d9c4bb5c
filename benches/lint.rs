//! The speed of linting catalogs, compared with `opm validate`: whole processes, in turns in one run.
//!
//! Each catalog is a directory, as opm reads it: JSON lines as one file, YAML as the files of its archive. Figures are
//! wall time and CPU time of the process, each the minimum of some runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use olmguard_figures::{Aim, Figure, Unit};

use crate::peers::OPM;
use crate::process::{Taken, olmguard, taken};
use crate::run::Run;
use crate::world::World;

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    let folder = tempfile::tempdir().expect("a directory");
    let opm = OPM.file(run);
    let mut all = Vec::new();
    for name in world.names() {
        let catalog = folder.path().join(name);
        world.write_json(name, &catalog);
        beside(
            run,
            opm.as_deref(),
            (&format!("{name}, JSON lines"), 25.0),
            &catalog,
        );
        all.push(catalog);
    }
    let yaml = folder.path().join("yaml");
    world.write_yaml(&yaml);
    beside(run, opm.as_deref(), ("v4.18, YAML", 8.0), &yaml);
    let five = (0..run.count(RUNS, 1)).fold(Taken::MAX, |least, _| least.least(lint(&all)));
    run.note(&Figure {
        aim: Some(Aim::AtMost(2000.0)),
        ..run.figure(
            "all five, JSON lines",
            Unit::Milliseconds,
            milliseconds(five).0,
        )
    });
}

/// Times both programs on one catalog, in turns.
fn beside(run: &Run, opm: Option<&Path>, (name, aim): (&str, f64), catalog: &Path) {
    let one = [catalog.to_owned()];
    let (mut ours, mut theirs) = (Taken::MAX, Taken::MAX);
    for _ in 0..run.count(RUNS, 1) {
        ours = ours.least(lint(&one));
        if let Some(opm) = opm {
            let mut validate = Command::new(opm);
            theirs = theirs.least(quiet(validate.arg("validate").arg(catalog), &[0]));
        }
    }
    let figure = |row: String, ours: f64, theirs: f64| Figure {
        peer: opm.map(|_| OPM.took(theirs, theirs / ours)),
        ..run.figure(row, Unit::Milliseconds, ours)
    };
    let (ours, theirs) = (milliseconds(ours), milliseconds(theirs));
    run.note(&Figure {
        aim: Some(Aim::Ratio(aim)),
        ..figure(name.to_owned(), ours.0, theirs.0)
    });
    run.note(&figure(format!("{name}, CPU time"), ours.1, theirs.1));
}

fn lint(catalogs: &[PathBuf]) -> Taken {
    let mut command = olmguard();
    quiet(command.arg("lint").args(catalogs), &[0])
}

fn quiet(command: &mut Command, ends: &[i32]) -> Taken {
    taken(command.stdout(Stdio::null()).stderr(Stdio::null()), ends)
}

fn milliseconds(Taken { wall, cpu }: Taken) -> (f64, f64) {
    (wall.as_secs_f64() * 1e3, cpu.as_secs_f64() * 1e3)
}

/// The number of runs, of which the fastest counts.
const RUNS: usize = 7;
