//! Runs the end-to-end tests, package `olmguard-e2e`, with everything that they need.
//!
//! The tests read these locations from the environment: `OLMGUARD_E2E_BIN`, directories with programs as in a `PATH`;
//! `OLMGUARD_E2E_CRDS`, directories with definitions of resources; `OLMGUARD_E2E_GUARD`, the olmguard under test;
//! `OLMGUARD_E2E_OTHER`, another build of the same version; and `OLMGUARD_E2E_IMAGE`, the image.

use std::env::{self, JoinPathsError};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::assets::{self, AssetsError};
use crate::build::{Build, BuildError};
use crate::image::{self, ENVIRONMENT, ImageError};
use crate::program::{Program, ProgramError};

/// The reason why the end-to-end tests did not pass.
#[derive(Debug, thiserror::Error)]
pub(crate) enum E2eError {
    #[error("they run in a network namespace, which only Linux has")]
    NoNamespaces,
    #[error(transparent)]
    Assets(#[from] AssetsError),
    #[error("a folder of programs cannot be named in a PATH: {0}")]
    Folder(#[from] JoinPathsError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl E2eError {
    /// Whether this machine cannot run the tests, even if olmguard is correct.
    pub(crate) fn is_for_want_of_means(&self) -> bool {
        match self {
            Self::NoNamespaces => true,
            Self::Assets(error) => error.is_for_want_of_means(),
            Self::Folder(_) | Self::Build(_) | Self::Image(_) | Self::Program(_) => false,
        }
    }
}

/// Builds the tests, and runs those that the arguments select.
pub(crate) fn run(arguments: &[&str]) -> Result<(), E2eError> {
    Ok(with_means(Program::at(&built()?))?.args(arguments).run()?)
}

/// Builds the tests, and runs the measurements with `name` in their names one by one, with these numbers in the
/// environment. Returns the lines that they print, even if they fail.
pub(crate) fn measure(name: &str, numbers: &[(&str, u64)]) -> (Vec<String>, Result<(), E2eError>) {
    let mut lines = Vec::new();
    let mut run = || {
        let tests = with_means(Program::at(&built()?))?;
        let mut tests = tests.args(["--ignored", "--test-threads=1", name]);
        for (variable, number) in numbers {
            tests = tests.env(variable, number.to_string());
        }
        Ok(tests.run_with_lines(|line| lines.push(line.to_owned()))?)
    };
    let ended = run();
    (lines, ended)
}

/// Parses the rest of each line that starts with `word`.
pub(crate) fn said<T: DeserializeOwned>(
    lines: &[String],
    word: &str,
) -> Result<Vec<T>, serde_json::Error> {
    let lines = lines.iter().filter_map(|line| line.strip_prefix(word));
    lines.map(serde_json::from_str).collect()
}

fn built() -> Result<PathBuf, E2eError> {
    // With the features of the whole workspace, as all tests are built.
    let build = Program::cargo("build --quiet --workspace --bin").arg(PROGRAM);
    build.run()?;
    let program = Build::here()?.target_folder.join("debug").join(PROGRAM);
    Ok(program)
}

/// Runs all tests, which are already built, and passes each line that they print to `each`.
pub(crate) fn run_with_lines(program: &Path, each: impl FnMut(&str)) -> Result<(), E2eError> {
    Ok(with_means(Program::at(program))?.run_with_lines(each)?)
}

/// The name of the package of the tests, and of their program.
pub(crate) const PROGRAM: &str = "olmguard-e2e";

fn with_means(tests: Program) -> Result<Program, E2eError> {
    if !cfg!(target_os = "linux") {
        return Err(E2eError::NoNamespaces);
    }
    let assets = assets::prepare()?;
    let build = Build::here()?;
    let image = image::write(&build, build.target_folder.join("image"))?;
    let other = other_build(&build)?;
    Ok(tests
        .env(ENVIRONMENT.0, ENVIRONMENT.1)
        .env("OLMGUARD_E2E_BIN", env::join_paths(assets.programs)?)
        .env("OLMGUARD_E2E_CRDS", env::join_paths(assets.crds)?)
        .env("OLMGUARD_E2E_GUARD", build.program)
        .env("OLMGUARD_E2E_OTHER", other)
        .env("OLMGUARD_E2E_IMAGE", image.folder))
}

/// Builds the program that replaces the release in an upgrade test, with another profile, C library and commit. It is
/// built as for a test, because only then do its dependencies have the features with which the tests built them.
fn other_build(release: &Build) -> Result<PathBuf, ProgramError> {
    let build = Program::cargo("test --locked --workspace --no-run --test server");
    build.env("OLMGUARD_COMMIT", "another-build").run()?;
    Ok(release.target_folder.join("debug/olmguard"))
}
