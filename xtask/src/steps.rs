//! The checks of `cargo xtask test`, in order: the cheap ones first, the tests last, so that their
//! results close the run.

mod dependencies;
mod manifests;
mod pure;
mod tests;
mod tools;

use std::time::Instant;

use crate::program::{Cargo, CargoError};
use crate::render::RenderError;
use crate::report::{Report, say};

/// Runs every check; the first that fails ends the run.
pub(crate) fn run_all() -> Result<Report, Failed> {
    let start = Instant::now();
    let mut report = Report::default();
    for (name, check) in STEPS {
        say(format_args!("\n== {name}"));
        check(&mut report).map_err(|source| Failed { name, source })?;
        report.passed.push(name);
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
    Cargo(#[from] CargoError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("this toolchain has no {component}: `rustup component add {component}` gets it")]
    MissingComponent { component: &'static str },
    #[error("the library without features depends on {}", .crates.join(", "))]
    ImpureDependencies { crates: Vec<String> },
    #[error("no test printed what it compared with recorded answers")]
    NothingCompared,
}

type Check = fn(&mut Report) -> Result<(), StepError>;

const STEPS: [(&str, Check); 8] = [
    ("tools", tools::check),
    ("format", |_| cargo("fmt --all -- --check")),
    ("clippy", |_| {
        cargo("clippy --workspace --all-targets -- -D warnings")
    }),
    ("pure part", pure::check),
    ("documentation", |_| {
        let doc = Cargo::new("doc --workspace --no-deps");
        Ok(doc.env("RUSTDOCFLAGS", "-D warnings").run()?)
    }),
    ("dependencies", dependencies::check),
    ("manifests", manifests::check),
    ("tests", tests::check),
];

fn cargo(arguments: &'static str) -> Result<(), StepError> {
    Ok(Cargo::new(arguments).run()?)
}
