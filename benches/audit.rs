//! `olmguard audit` at the size of a large fleet: 2,000 extensions with five catalogs, before and after one of the
//! catalogs is replaced; and reports on 20 and on 200 clusters of 50 extensions each.

mod extensions;
mod fleet;
mod preview;

use std::process::{Command, Stdio};
use std::time::Instant;

use olmguard_figures::{Aim, Figure, Unit};
use tempfile::NamedTempFile;

use crate::process::{observed, olmguard, peak};
use crate::run::Run;
use crate::world::World;

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    let folder = tempfile::tempdir().expect("a directory to write to");
    // The kernel counts the peak of all children so far, so the smallest run must come first.
    fleet::measure(run, &world, folder.path());
    preview::measure(run, &world, folder.path());
}

/// The maximum time and memory of one run.
struct Aims {
    seconds: f64,
    mib: f64,
}

/// A call of `olmguard audit` that prints JSON.
fn audit() -> Command {
    let mut command = olmguard();
    command.args(["audit", "--no-project", "-o", "json"]);
    command
}

/// The output of one run, whose time and memory are noted as figures.
fn timed(run: &Run, row: &str, aims: &Aims, command: &Command) -> Vec<u8> {
    let file = NamedTempFile::new().expect("a file");
    let mut command = observed(command, file.path());
    let began = Instant::now();
    let output = command.stderr(Stdio::inherit()).output().expect("it runs");
    let seconds = began.elapsed().as_secs_f64();
    let peak = peak(file.path());
    let note = |row: String, unit, value, most| {
        run.note(&Figure {
            aim: Some(Aim::AtMost(most)),
            ..run.figure(row, unit, value)
        });
    };
    note(row.to_owned(), Unit::Seconds, seconds, aims.seconds);
    note(
        format!("{row}, peak of the process"),
        Unit::MiB,
        peak,
        aims.mib,
    );
    output.stdout
}
