//! The program with all benches, built in one of three ways.

use std::path::PathBuf;

use super::BenchError;
use crate::build::{Build, Target, with_means};
use crate::program::Program;
use crate::suite::Built;

/// Its name among what cargo builds.
pub(super) const NAME: &str = "benches";

/// As tests are built: in less time, for answers only.
pub(super) fn unoptimized() -> Result<PathBuf, BenchError> {
    built(Program::cargo("build --workspace --bins --bench").arg(NAME))
}

/// With the profile of what is delivered, for this machine.
pub(super) fn optimized() -> Result<PathBuf, BenchError> {
    built(Program::cargo("bench --profile dist --no-run --package olmguard --bench").arg(NAME))
}

/// As what is delivered is built: static, with its allocator. The program that it starts is then what is delivered.
pub(super) fn delivered() -> Result<PathBuf, BenchError> {
    let target = Target::here();
    target.prepare()?;
    let build = Program::cargo("bench --profile dist --no-run --locked --package olmguard --bench")
        .arg(NAME);
    let build = build.arg("--target").arg(target.triple());
    let program = built(with_means(target, build)?)?;
    // In the place of the olmguard that was built with it, and with what only tests need.
    Build::of(target)?;
    Ok(program)
}

fn built(build: Program) -> Result<PathBuf, BenchError> {
    let messages = build
        .arg("--message-format=json-render-diagnostics")
        .output()?;
    let mut all = Built::read(&messages)?;
    all.benches.remove(NAME).ok_or(BenchError::NotBuilt)
}
