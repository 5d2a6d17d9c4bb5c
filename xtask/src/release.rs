//! Builds olmguard as it is delivered: once, for whoever needs it.

use std::path::PathBuf;

use serde::Deserialize;

use crate::program::{Program, ProgramError};

/// Why there is no program to deliver.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("cargo does not say where it builds: {0}")]
    Metadata(#[from] serde_json::Error),
}

/// Builds what has changed, and says where the program is.
pub(crate) fn guard() -> Result<PathBuf, ReleaseError> {
    Program::cargo("build --release --package olmguard").run()?;
    Ok(target_folder()?.join("release/olmguard"))
}

/// Where cargo builds, which the environment and its configuration may decide.
fn target_folder() -> Result<PathBuf, ReleaseError> {
    let metadata = Program::cargo("metadata --no-deps --format-version 1").output()?;
    let metadata: Metadata = serde_json::from_str(&metadata)?;
    Ok(metadata.target_directory)
}

#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
}
