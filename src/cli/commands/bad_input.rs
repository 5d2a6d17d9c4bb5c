//! An input that could not be read, of any command that reads manifests.

use std::fmt;

use crate::facts::given::GivenFault;
use crate::manifest::{DocumentError, InputError, Position};
use crate::revision::FileError;
use olmguard_admission::ReviewError;
use olmguard_catalog::version::go;
use olmguard_views::migrate::ClassicError;

/// An input that could not be read, and its place.
#[derive(Debug)]
pub(super) struct BadInput {
    pub(super) file: String,
    pub(super) lies: Lies,
    pub(super) problem: InputProblem,
}

/// Where the file of an input is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Lies {
    /// In the file system.
    #[default]
    OnDisk,
    /// In a git revision.
    InRevision,
}

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputProblem {
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file of a revision.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Document(DocumentError),
    /// A catalog or a policy.
    #[error("{1}")]
    Given(Position, GivenFault),
    #[error("{1}")]
    Review(Position, ReviewError),
    /// An extension in an `apiVersion` that is not known.
    #[error("unknown apiVersion {} of an extension", go::quote(.1))]
    Version(Position, String),
    /// An object of OLM v0.
    #[error("{1}")]
    Classic(Position, ClassicError),
}

impl BadInput {
    /// Where in the file, if somewhere in it.
    pub(super) fn at(&self) -> Option<Position> {
        match &self.problem {
            InputProblem::Input(_) | InputProblem::File(_) => None,
            InputProblem::Document(error) => Some(error.at),
            InputProblem::Given(at, _)
            | InputProblem::Review(at, _)
            | InputProblem::Version(at, _)
            | InputProblem::Classic(at, _) => Some(*at),
        }
    }

    /// The file, and the place in it if it has one.
    pub(super) fn place(&self) -> String {
        match self.at() {
            Some(at) => format!("{}:{at}", self.file),
            None => self.file.clone(),
        }
    }

    /// The reason, without the place.
    pub(super) fn why(&self) -> String {
        match &self.problem {
            InputProblem::Document(error) => error.kind.to_string(),
            problem => problem.to_string(),
        }
    }

    pub(super) fn new(file: &str, problem: InputProblem) -> Self {
        Self {
            file: file.to_owned(),
            lies: Lies::default(),
            problem,
        }
    }

    /// The input as a file of a revision, which is shown by this name.
    pub(super) fn in_revision(self, name: &str) -> Self {
        Self {
            file: name.to_owned(),
            lies: Lies::InRevision,
            ..self
        }
    }
}

impl InputProblem {
    /// Whether only its file or directory is affected, and not everything after it as well.
    pub(super) fn ends_with_its_file(&self) -> bool {
        !matches!(
            self,
            Self::File(FileError::TooMany { .. } | FileError::TooDeep { .. })
        )
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            // The error has the place itself.
            InputProblem::Document(error) => write!(f, "{}:{error}", self.file),
            problem => write!(f, "{}: {problem}", self.place()),
        }
    }
}
