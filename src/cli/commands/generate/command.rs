//! How a command that makes catalogs can fail, and with which exit code.

use std::io;

use crate::cli::Exit;
use crate::source::SourceError;
use olmguard_catalog::version::go;
use olmguard_views::author::promote::PromoteError;
use olmguard_views::author::template::TemplateError;
use olmguard_views::author::zstream::ZStreamError;
use olmguard_views::author::{ShelfError, WrittenError};

/// Why there is no catalog to print.
#[derive(Debug, thiserror::Error)]
pub(super) enum GenerateError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Written(#[from] WrittenError),
    #[error("standard input is named twice: use \"-\" only once")]
    StdinTwice,
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(
        "the catalog has no channel {} of package {}: expected one of {found}",
        go::quote(channel),
        go::quote(package)
    )]
    NoChannel {
        package: String,
        channel: String,
        found: Names,
    },
    #[error(
        "the catalog has no package {}: expected one of {found}",
        go::quote(package)
    )]
    NoPackage { package: String, found: Names },
    #[error(
        "no bundle of package {} has {what}: expected one in the catalog or in --bundles",
        go::quote(package)
    )]
    NoBundle { package: String, what: String },
    #[error("channel {}: {source}", go::quote(channel))]
    ZStream {
        channel: String,
        source: ZStreamError,
    },
    #[error(transparent)]
    Promote(#[from] PromoteError),
    #[error("cannot write the result: {0}")]
    Write(io::Error),
}

/// Names that there are instead of the one asked for.
#[derive(Debug)]
pub(super) struct Names(pub(super) Vec<String>);

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("none, for it has none"),
            names => f.write_str(&names.join(", ")),
        }
    }
}

impl GenerateError {
    /// A fault of ours is one only where nothing can be written; all else is an input that does not do.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::StdinTwice => Exit::Usage,
            Self::Write(_) => Exit::Internal,
            _ => Exit::BadInput,
        }
    }
}
