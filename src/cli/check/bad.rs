//! Inputs that could not be read, and where they stand.

use std::fmt;

use crate::admission::ReviewError;
use crate::cli::check::cases::Place;
use crate::manifest::{DocumentError, InputError, Position};
use crate::revision::FileError;
use crate::snapshot::ClusterCatalogError;

/// An input that could not be read, and where it stands.
#[derive(Debug)]
pub(super) struct BadInput {
    pub(super) file: String,
    pub(super) problem: Problem,
}

/// What is wrong with it.
#[derive(Debug)]
pub(super) enum Problem {
    Input(InputError),
    /// Of a revision.
    File(FileError),
    Document(DocumentError),
    Catalog(Place, ClusterCatalogError),
    Review(Place, ReviewError),
}

impl BadInput {
    /// The file it is about.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Where in the file, if somewhere in it.
    pub(super) fn at(&self) -> Option<Position> {
        match &self.problem {
            Problem::Input(_) | Problem::File(_) => None,
            Problem::Document(error) => Some(error.at),
            Problem::Catalog(place, _) | Problem::Review(place, _) => Some(place.at),
        }
    }

    pub(super) fn document(file: &str, error: DocumentError) -> Self {
        Self {
            file: file.to_owned(),
            problem: Problem::Document(error),
        }
    }

    /// The same of a file that is called otherwise.
    pub(super) fn in_file(self, name: impl FnOnce(&str) -> String) -> Self {
        Self {
            file: name(&self.file),
            ..self
        }
    }
}

impl From<InputError> for BadInput {
    fn from(error: InputError) -> Self {
        Self {
            file: String::new(),
            problem: Problem::Input(error),
        }
    }
}

impl From<FileError> for BadInput {
    fn from(error: FileError) -> Self {
        Self {
            file: String::new(),
            problem: Problem::File(error),
        }
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Input(error) => write!(f, "{}: {error}", self.file),
            Problem::File(error) => write!(f, "{}: {error}", self.file),
            Problem::Document(error) => write!(f, "{}:{error}", self.file),
            Problem::Catalog(place, error) => write!(f, "{place}: {error}"),
            Problem::Review(place, error) => write!(f, "{place}: {error}"),
        }
    }
}
