//! `cargo xtask bench`: builds and runs the benches, and writes their figures as tables.
//!
//! The benches are one program (`benches/main.rs`), which runs each bench in a process of its own and writes figures
//! as data. This module measures nothing: compared values were measured in turns, in one run.

mod curves;
mod executable;
mod options;
mod peers;
mod picture;
mod record;
mod table;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use olmguard_figures::{Bench, Figure, LineError};

use self::options::{Options, OptionsError};
use self::peers::{Peers, PeersError};
use self::record::{Record, RecordError};
use self::table::Table;
use crate::build::BuildError;
use crate::commit::Commit;
use crate::machine::Facts;
use crate::page::{self, FiguresPage, PageError};
use crate::program::{Program, ProgramError};
use crate::report::say;
use crate::suite::MessageError;

/// The reason why there are no figures, or why they were not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error("cargo has built no benches")]
    NotBuilt,
    #[error(transparent)]
    Static(#[from] BuildError),
    #[error(transparent)]
    Peers(#[from] PeersError),
    #[error("the figures of {bench} cannot be read: {source}")]
    File { bench: Bench, source: io::Error },
    #[error("the figures of {bench} cannot be read: {source}")]
    Line { bench: Bench, source: LineError },
    #[error("{bench} wrote no figures, and nothing about what it left out")]
    NoFigures { bench: Bench },
    #[error("{bench} wrote {row:?} twice: the name of a row is its own")]
    Twice { bench: Bench, row: String },
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Page(#[from] PageError),
}

/// Runs the benches that the arguments select.
pub(crate) fn run(arguments: &[&str]) -> Result<(), BenchError> {
    let options = Options::read(arguments)?;
    if options.is_smoke {
        let program = executable::unoptimized()?;
        return smoke(&program, &options.benches, |_| ());
    }
    // Fail on unreadable or unwritable files before spending minutes.
    let before = options.against.map(Record::read).transpose()?;
    let save = options.save.map(record::path).transpose()?;
    let commit = options.is_written.then(|| PAGE.prepare()).transpose()?;
    let record = measured(&options)?;
    for table in table::tables(&record, before.as_ref()) {
        say(table.text());
    }
    say(table::summary(&record));
    let is_of_another = |before: &&Record| !before.facts.is_same_machine(&record.facts);
    if let Some(before) = before.as_ref().filter(is_of_another) {
        let facts = &before.facts;
        say(format_args!(
            "the baseline is of another machine, compare only its ratios: {facts}"
        ));
    }
    if let Some(path) = save {
        record.save(&path)?;
    }
    if let Some(commit) = commit {
        write(&record, &commit)?;
    }
    Ok(())
}

/// Writes the tables into their page, and the picture next to it.
fn write(record: &Record, commit: &Commit) -> Result<(), PageError> {
    PAGE.write(&section(record, commit))?;
    let picture = picture::picture(&record.figures);
    picture.map_or(Ok(()), |picture| page::put(PICTURE, &picture))
}

fn section(record: &Record, commit: &Commit) -> String {
    let date = commit.date.split('T').next().unwrap_or_default();
    let tables = table::tables(record, None);
    let tables = tables.iter().map(Table::markdown).collect::<Vec<_>>();
    let (facts, summary) = (&record.facts, table::summary(record));
    format!(
        "{facts}; committed on {date}. {summary}. A ratio is how many times better olmguard is.\n\n{}",
        tables.join("\n")
    )
}

/// Builds everything, then measures.
fn measured(options: &Options<'_>) -> Result<Record, BenchError> {
    let peers = if options.has_peers {
        Peers::build()?
    } else {
        Peers::default()
    };
    let delivered = options.is_static.then(executable::delivered).transpose()?;
    let program = executable::optimized()?;
    let figures = measure(&program, &options.benches, &peers)?;
    let of_processes = options.benches.iter().copied();
    let of_processes: Vec<_> = of_processes
        .filter(|bench| bench.measures_processes())
        .collect();
    let statics = delivered.map(|program| measure(&program, &of_processes, &Peers::default()));
    Ok(Record {
        figures,
        statics: statics.transpose()?.unwrap_or_default(),
        facts: Facts::gather(peers.versions),
    })
}

/// Runs each bench once with a small catalog, to check its answers. Passes each line of output to `each`.
pub(crate) fn smoke(
    program: &Path,
    benches: &[Bench],
    mut each: impl FnMut(&str),
) -> Result<(), BenchError> {
    for bench in benches {
        measure_one(program, *bench, &["--smoke"], &Peers::default(), &mut each)?;
    }
    Ok(())
}

/// The figures of these benches.
fn measure(program: &Path, benches: &[Bench], peers: &Peers) -> Result<Vec<Figure>, BenchError> {
    let mut figures = Vec::new();
    for bench in benches {
        figures.extend(measure_one(program, *bench, &[], peers, &mut |_| ())?);
    }
    Ok(figures)
}

fn measure_one(
    program: &Path,
    bench: Bench,
    flags: &[&str],
    peers: &Peers,
    each: &mut impl FnMut(&str),
) -> Result<Vec<Figure>, BenchError> {
    let failed = |source| BenchError::File { bench, source };
    let file = tempfile::NamedTempFile::new().map_err(failed)?;
    let run = Program::at(program).arg(bench.name()).args(flags);
    let run = run.arg("--figures").arg(file.path());
    let run = peers
        .programs
        .iter()
        .fold(run, |run, (name, path)| run.env(name, path));
    let mut is_left_out = false;
    run.run_with_lines(|line| {
        is_left_out |= line.starts_with("left out: ");
        each(line);
    })?;
    let lines = fs::read_to_string(file.path()).map_err(failed)?;
    let figures =
        olmguard_figures::read(&lines).map_err(|source| BenchError::Line { bench, source })?;
    if figures.is_empty() && !is_left_out {
        return Err(BenchError::NoFigures { bench });
    }
    match twice(&figures) {
        Some(row) => Err(BenchError::Twice { bench, row }),
        None => Ok(figures),
    }
}

/// The name of a row that occurs twice.
fn twice(figures: &[Figure]) -> Option<String> {
    let mut rows: Vec<_> = figures.iter().map(|figure| &figure.row).collect();
    rows.sort_unstable();
    let pair = rows.windows(2).find(|pair| pair.first() == pair.last());
    pair.and_then(|pair| pair.first()).map(|row| (*row).clone())
}

/// The name of the program that contains the benches.
pub(crate) const PROGRAM: &str = executable::NAME;

/// The directory for figures and programs of benches. It is not part of the repository.
fn folder() -> PathBuf {
    crate::program::root().join("target/bench")
}

/// An environment variable and the program that it names.
type Named = (&'static str, OsString);

/// The page with the tables.
pub(crate) const PAGE: FiguresPage = FiguresPage {
    file: "docs/performance.md",
    start: "<!-- written by cargo xtask bench --write -->",
};
const PICTURE: &str = "docs/growth.svg";
