//! `cargo xtask mutants`: whether a test fails when the code is changed, as a table.
//!
//! cargo-mutants changes one function or one operator at a time, and runs the tests of the crate. A mutant that no test
//! notices is a survivor. `.ci/mutants` lists the survivors that need no test of their crate, each with its reason.

mod area;
mod options;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::area::{AREAS, Area, Found, Share};
use self::options::{Options, OptionsError};
use crate::left_out::{Allowed, ListError};
use crate::page::{FiguresPage, PageError};
use crate::program::{Program, ProgramError, root};
use crate::report::say;
use crate::steps::pinned::CARGO_MUTANTS;

/// Why mutants were not tried, or why the tests do not notice enough of them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MutantsError {
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error("cargo-mutants cannot be used: {why}")]
    Tool { why: String },
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    List(#[from] ListError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(
        "no test notices these mutants: write one, or give the reason in {LIST}\n  {}",
        .survivors.join("\n  ")
    )]
    Survived { survivors: Vec<String> },
}

/// Tries the mutants that the arguments choose, prints their table, and writes it into the page if that is wanted.
pub(crate) fn run(arguments: &[&str]) -> Result<(), MutantsError> {
    let options = Options::read(arguments)?;
    let facts = options.is_written.then(|| PAGE.facts()).transpose()?;
    let tool = CARGO_MUTANTS.program();
    let tool = tool.map_err(|error| MutantsError::Tool {
        why: error.to_string(),
    })?;
    let rows = tried(&tool, &options)?;
    let table = table(&rows);
    say(&table);
    if let Some(facts) = facts {
        PAGE.write(&format!("{facts}.\n\n{table}"))?;
    }
    refuse_survivors(&rows)
}

/// Whether the last commit changed a file of which [`of_the_last_commit`] tries mutants.
pub(crate) fn are_in_the_last_commit() -> bool {
    let same = Program::new("git").args(["diff", "--quiet", "HEAD^", "--"]);
    !same.args(AREAS.iter().flat_map(|area| area.files)).works()
}

/// Tries at most ten mutants of an area on the lines that the last commit changed.
pub(crate) fn of_the_last_commit(tool: &Path) -> Result<(), MutantsError> {
    let options = Options {
        areas: AREAS.iter().collect(),
        share: Share::AtMost(MOST),
        since: Some("HEAD^".to_owned()),
        ..Options::default()
    };
    refuse_survivors(&tried(tool, &options)?)
}

fn tried(tool: &Path, options: &Options) -> Result<Vec<TriedArea>, MutantsError> {
    let changes = options.since.as_deref().map(changes).transpose()?;
    let allowed = Allowed::read(LIST)?;
    let areas = options.areas.iter();
    let rows = areas.map(|area| {
        let found = area.run(tool, &options.share, changes.as_deref())?;
        Ok(TriedArea::of(area, found, &allowed))
    });
    rows.collect()
}

/// The file with what has changed since a revision.
fn changes(since: &str) -> Result<PathBuf, MutantsError> {
    let diff = Program::new("git").args(["diff", "--no-color", since, "--", "*.rs"]);
    let diff = diff.output()?;
    let path = root().join("target/mutants.diff");
    match fs::write(&path, diff) {
        Ok(()) => Ok(path),
        Err(source) => Err(MutantsError::File { path, source }),
    }
}

/// An area whose mutants were tried.
struct TriedArea {
    area: &'static str,
    found: Found,
    /// The survivors without a reason.
    refused: Vec<String>,
}

impl TriedArea {
    fn of(area: &Area, found: Found, allowed: &Allowed) -> Self {
        let names: Vec<_> = found.missed.iter().map(|line| name(line)).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let refused = allowed.refused(&names).into_iter().map(str::to_owned);
        Self {
            area: area.name,
            refused: refused.collect(),
            found,
        }
    }
}

/// A mutant without its line and its column, which change with every edit of the file.
fn name(line: &str) -> String {
    let mut parts = line.splitn(4, ':');
    match [(); 4].map(|()| parts.next()) {
        [Some(file), Some(_), Some(_), Some(change)] => format!("{file}:{change}"),
        _ => line.to_owned(),
    }
}

fn refuse_survivors(areas: &[TriedArea]) -> Result<(), MutantsError> {
    let survivors = areas.iter().flat_map(|area| area.refused.clone());
    let survivors: Vec<_> = survivors.collect();
    if survivors.is_empty() {
        Ok(())
    } else {
        Err(MutantsError::Survived { survivors })
    }
}

fn table(areas: &[TriedArea]) -> String {
    let mut table = "| area | mutants | tried | do not compile | caught | time out | survive | caught of those that compile |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for TriedArea { area, found, .. } in areas {
        let Found {
            all,
            caught,
            timed_out,
            unviable,
            missed,
        } = found;
        let missed = missed.len();
        let tried = caught + timed_out + unviable + missed;
        // A string takes whatever is written.
        let _ = writeln!(
            table,
            "| {area} | {all} | {tried} | {unviable} | {caught} | {timed_out} | {missed} | {} |",
            percent(*caught, caught + timed_out + missed)
        );
    }
    table
}

/// Rounded down: 100 % are all of them.
fn percent(part: usize, all: usize) -> String {
    (part * 100)
        .checked_div(all)
        .map_or_else(|| "none".to_owned(), |percent| format!("{percent} %"))
}

/// The most mutants of an area that `cargo xtask test` has the time for.
const MOST: usize = 10;

/// The survivors that have a reason: a file, from the root.
const LIST: &str = ".ci/mutants";

/// The page with the table.
pub(crate) const PAGE: FiguresPage = FiguresPage {
    file: "docs/reliability.md",
    start: "<!-- written by cargo xtask mutants --write -->",
};

#[cfg(test)]
mod tests {
    use super::*;

    fn row(list: &str) -> TriedArea {
        let missed = ["src/a.rs:3:5: replace is_a -> bool with true"];
        let found = Found {
            all: 40,
            caught: 9,
            timed_out: 1,
            unviable: 2,
            missed: missed.map(str::to_owned).to_vec(),
        };
        TriedArea::of(&AREAS[0], found, &Allowed::parse(LIST, list).unwrap())
    }

    #[test]
    fn a_survivor_without_a_reason_fails_and_one_with_a_reason_does_not() {
        let rows = [row("")];
        assert_eq!(
            refuse_survivors(&rows).unwrap_err().to_string(),
            "no test notices these mutants: write one, or give the reason in .ci/mutants\n  src/a.rs: replace is_a -> \
             bool with true"
        );
        let list = "src/a.rs: replace is_a -> bool with true | the same answer, later\n";
        assert!(refuse_survivors(&[row(list)]).is_ok());
        assert_eq!(
            table(&rows).lines().last().unwrap(),
            "| engine | 40 | 13 | 2 | 9 | 1 | 1 | 81 % |"
        );
    }

    #[test]
    fn the_operator_of_a_mutant_is_no_separator_of_the_list() {
        let list = "src/a.rs: replace | with ^ in f | no bit is set twice\n";
        let allowed = Allowed::parse(LIST, list).unwrap();
        let refused = allowed.refused(&["src/a.rs: replace | with ^ in f"]);
        assert_eq!(refused, [""; 0]);
    }

    #[test]
    fn without_mutants_there_is_no_percentage() {
        assert_eq!(percent(0, 0), "none");
    }

    #[test]
    fn the_list_of_this_repository_can_be_read() {
        assert!(Allowed::read(LIST).is_ok());
    }
}
