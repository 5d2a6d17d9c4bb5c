//! The program with all benches, built in one of three ways.

use std::path::PathBuf;

use super::BenchError;
use crate::build::{Build, Target, with_means};
use crate::program::Program;
use crate::suite::Built;

/// The name of the program among the outputs of cargo.
pub(super) const NAME: &str = "benches";

/// Builds as for tests: quickly, and only for checking answers.
pub(super) fn unoptimized() -> Result<PathBuf, BenchError> {
    built(Program::cargo("build --workspace --bins --bench").arg(NAME))
}

/// Builds with the profile of the delivered program, for this machine.
pub(super) fn optimized() -> Result<PathBuf, BenchError> {
    built(Program::cargo("bench --profile dist --no-run --package olmguard --bench").arg(NAME))
}

/// Builds like the delivered program: static, with its allocator. It then starts the program exactly as delivered.
pub(super) fn delivered() -> Result<PathBuf, BenchError> {
    let target = Target::here();
    target.prepare()?;
    let build = Program::cargo("bench --profile dist --no-run --locked --package olmguard --bench")
        .arg(NAME);
    let build = build.arg("--target").arg(target.triple());
    let program = built(with_means(target, build)?)?;
    // This replaces the olmguard that was built with the benches, and with features that only tests need.
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
