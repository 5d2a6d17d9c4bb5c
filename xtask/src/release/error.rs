//! The errors of making a release.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::chart::ChartError;
use super::options::OptionsError;
use crate::build::BuildError;
use crate::image::ImageError;
use crate::output::OutputError;
use crate::program::ProgramError;

/// The reason why there is no release.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseError {
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Chart(#[from] ChartError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cargo does not say what olmguard is made of: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error(
        "the release has no date, because the checkout differs from its commit: commit the changes, \
         or set SOURCE_DATE_EPOCH"
    )]
    NoDate,
    #[error("SOURCE_DATE_EPOCH is {0:?}: expected seconds since 1970")]
    Date(String),
    #[error("there is no program for this machine, {0}, which has to print the completions")]
    NothingRuns(String),
    #[error("left out: {0}; a release in continuous integration is complete")]
    LeftOut(String),
}

/// Reads a file, with its path in the error.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, ReleaseError> {
    fs::read(file).map_err(|source| ReleaseError::File {
        path: file.to_owned(),
        source,
    })
}
