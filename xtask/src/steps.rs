//! The checks of `cargo xtask test`, in order: the cheap ones first, the tests last, so that their
//! results close the run, and last of all those that need the most.

mod book;
mod browser;
mod dependencies;
mod end_to_end;
mod manifests;
mod programs;
mod pure;
mod tests;
mod tools;

use std::env::{self, JoinPathsError};
use std::time::Instant;

use crate::assets::AssetsError;
use crate::e2e::E2eError;
use crate::program::{Program, ProgramError};
use crate::render::RenderError;
use crate::report::{Report, say};

/// Runs every check; the first that fails ends the run.
pub(crate) fn run_all() -> Result<Report, Failed> {
    let start = Instant::now();
    let mut report = Report::default();
    for (name, check) in STEPS {
        say(format_args!("\n== {name}"));
        match check(&mut report) {
            Ok(()) => report.passed.push(name),
            Err(StepError::LeftOut { why }) => report.left_out.push(format!("{name}: {why}")),
            Err(source) => return Err(Failed { name, source }),
        }
    }
    report.took = start.elapsed();
    Ok(report)
}

/// The check that ended the run.
#[derive(Debug, thiserror::Error)]
#[error("check {name:?} failed: {source}")]
pub(crate) struct Failed {
    name: &'static str,
    source: StepError,
}

/// Why a check failed.
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
    #[error("the library without features depends on {}", .crates.join(", "))]
    ImpureDependencies { crates: Vec<String> },
    #[error("left out: {why}")]
    LeftOut { why: String },
    #[error(transparent)]
    EndToEnd(#[from] E2eError),
    #[error("no chromedriver on the PATH: Debian's packages chromium and chromium-driver have it")]
    NoBrowser,
    #[error("no test printed what it compared with recorded answers")]
    NothingCompared,
}

type Check = fn(&mut Report) -> Result<(), StepError>;

const STEPS: [(&str, Check); 11] = [
    ("tools", tools::check),
    ("format", |_| cargo("fmt --all -- --check")),
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
    ("programs", programs::check),
    ("manifests", manifests::check),
    ("tests", tests::check),
    ("end to end", end_to_end::check),
];

fn cargo(arguments: &'static str) -> Result<(), StepError> {
    Ok(Program::cargo(arguments).run()?)
}

/// Whether what a machine lacks is a failure: there it has to be had.
fn is_continuous_integration() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}
