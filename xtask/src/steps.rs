//! The checks of `cargo xtask test`, in order: cheap checks first, then the tests, so that their results are at the
//! end, and last the checks that need the most resources.
//!
//! The Go programs and the static program are built in the background from the first step on. Tests start after this
//! has ended, because some of them measure.

mod benches;
mod book;
mod dependencies;
mod end_to_end;
mod fuzz;
mod machine;
mod manifests;
mod mutants;
pub(crate) mod pinned;
mod programs;
mod pure;
mod tests;
mod tools;

use std::env::{self, JoinPathsError};
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use crate::assets::AssetsError;
use crate::attack;
use crate::bench::BenchError;
use crate::build::BuildError;
use crate::e2e::E2eError;
use crate::fuzz::FuzzError;
use crate::left_out::{Allowed, LIST, ListError};
use crate::mutants::MutantsError;
use crate::program::{Program, ProgramError};
use crate::render::RenderError;
use crate::report::{Report, Step, say, seconds};
use crate::shape::{self, ShapeError};
use crate::suite::{MessageError, OrderError};

/// Runs the checks with these names, or every check. The first failure ends the run.
pub(crate) fn run(names: &[&str]) -> Result<Report, Failed> {
    let mut report = Report::default();
    for (name, check) in chosen(names)? {
        say(format_args!("\n== {name}"));
        let start = Instant::now();
        let ended = check(&mut report).or_else(|error| is_left_out(name, error, &mut report));
        let ended = ended.and_then(|()| refuse_left_out(&report));
        let took = start.elapsed();
        say(format_args!("-- {name}: {}", seconds(took)));
        report.steps.push(Step { name, took });
        if let Err(source) = ended {
            report.print_times(&mut io::stdout());
            return Err(Failed::Check { name, source });
        }
    }
    note_unused(&mut report)?;
    Ok(report)
}

fn chosen(names: &[&str]) -> Result<Vec<(&'static str, Check)>, Failed> {
    let is_known = |name: &&&str| STEPS.iter().any(|(known, _)| known == *name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(Failed::Unknown {
            asked: (*unknown).to_owned(),
            known: STEPS.map(|(name, _)| name).join(", "),
        });
    }
    let steps = STEPS.into_iter();
    let steps = steps.filter(|(name, _)| names.is_empty() || names.contains(name));
    Ok(steps.collect())
}

fn is_left_out(name: &str, error: StepError, report: &mut Report) -> Result<(), StepError> {
    let StepError::LeftOut { why } = error else {
        return Err(error);
    };
    report.left_out.push(format!("{name}: {why}"));
    Ok(())
}

/// Refuses skipped parts in CI, unless they are on the list.
fn refuse_left_out(report: &Report) -> Result<(), StepError> {
    if !is_continuous_integration() {
        return Ok(());
    }
    let left_out = report.all_left_out();
    let refused = Allowed::read(LIST)?.refused(&left_out);
    if refused.is_empty() {
        return Ok(());
    }
    let lines = refused.join("\n  ");
    Err(StepError::MayNotBeLeftOut { lines })
}

/// Notes entries of the list that are no longer needed, so that they get removed.
fn note_unused(report: &mut Report) -> Result<(), ListError> {
    if is_continuous_integration() {
        let allowed = Allowed::read(LIST)?;
        let unused = allowed.unused(&report.all_left_out()).join("; ");
        if !unused.is_empty() {
            let note = format!("LOOK: {LIST} allows what was not left out: {unused}");
            report.notes.push(note);
        }
    }
    Ok(())
}

/// The reason why the run ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("check {name:?} failed: {source}")]
    Check {
        name: &'static str,
        source: StepError,
    },
    #[error("no check {asked:?}, expected one of: {known}")]
    Unknown { asked: String, known: String },
    #[error(transparent)]
    List(#[from] ListError),
}

/// The reason why a check failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Assets(#[from] AssetsError),
    #[error("a folder of programs cannot be named in a PATH: {0}")]
    Folder(#[from] JoinPathsError),
    #[error("this toolchain has no {component}: `rustup component add {component}` gets it")]
    MissingComponent { component: &'static str },
    #[error(
        "{program} was installed and is not to be found: set CARGO_HOME, or put it on the PATH"
    )]
    LostProgram { program: &'static str },
    #[error("the pure crates depend on {}", .crates.join(", "))]
    ImpureDependencies { crates: Vec<String> },
    #[error("left out: {why}")]
    LeftOut { why: String },
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    EndToEnd(#[from] E2eError),
    #[error(transparent)]
    Fuzz(#[from] FuzzError),
    #[error(transparent)]
    Mutants(#[from] MutantsError),
    #[error("CI is true, and there are no {programs} on the PATH")]
    MissingPrograms { programs: String },
    #[error(
        "CI is true, and there are no recorded answers in {folder}: set OLMGUARD_SHARED",
        folder = .folder.display()
    )]
    NoRecordedAnswers { folder: PathBuf },
    #[error("CI is true, and {LIST} does not allow to leave out:\n  {lines}")]
    MayNotBeLeftOut { lines: String },
    #[error(transparent)]
    List(#[from] ListError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error("the background process cannot be run: {0}")]
    Background(io::Error),
    #[error("these tests failed, see above:\n  {}", .executables.join("\n  "))]
    Tests { executables: Vec<String> },
    #[error("cargo has built no {program}")]
    NotBuilt { program: &'static str },
    #[error("no test printed what it compared with recorded answers")]
    NothingCompared,
}

type Check = fn(&mut Report) -> Result<(), StepError>;

const STEPS: [(&str, Check); 18] = [
    ("tools", tools::check),
    ("machine", machine::check),
    ("format", |_| cargo("fmt --all -- --check")),
    ("shape", |_| Ok(shape::check()?)),
    ("clippy", |_| {
        cargo("clippy --workspace --all-targets -- -D warnings")
    }),
    ("pure part", pure::check),
    ("documentation", |_| {
        let doc = Program::cargo("doc --workspace --no-deps");
        Ok(doc.env("RUSTDOCFLAGS", "-D warnings").run()?)
    }),
    ("book", book::check),
    ("dependencies", dependencies::check),
    ("fuzz", fuzz::check),
    ("mutants", mutants::check),
    ("test programs", tests::build),
    ("programs", programs::check),
    ("manifests", manifests::check),
    ("tests", tests::check),
    ("benches", benches::check),
    ("attack", |_| Ok(attack::run()?)),
    ("end to end", end_to_end::check),
];

fn cargo(arguments: &'static str) -> Result<(), StepError> {
    Ok(Program::cargo(arguments).run()?)
}

/// Whether this is CI, where everything must be available and a missing tool is a failure.
pub(crate) fn is_continuous_integration() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}

#[cfg(test)]
mod test {
    use super::*;

    fn names(names: &[&str]) -> Vec<&'static str> {
        let chosen = chosen(names).unwrap_or_default();
        chosen.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn checks_run_in_their_order_whatever_the_order_of_the_names() {
        assert_eq!(names(&[]), STEPS.map(|(name, _)| name));
        assert_eq!(
            names(&["tests", "test programs"]),
            ["test programs", "tests"]
        );
    }

    #[test]
    fn a_name_of_no_check_is_refused_with_the_names() {
        let error = chosen(&["book", "books"])
            .err()
            .map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(
            error.starts_with("no check \"books\", expected one of: tools, machine, "),
            "{error}"
        );
    }
}
