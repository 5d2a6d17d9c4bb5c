//! Inputs that could not be read, and where they stand.

use std::fmt;

use crate::admission::ReviewError;
use crate::cli::commands::check::cases::CasePlace;
use crate::facts::given::GivenFault;
use crate::manifest::{DocumentError, InputError, Position};
use crate::revision::FileError;

/// An input that could not be read, and where it stands.
#[derive(Debug)]
pub(super) struct BadInput {
    pub(super) file: String,
    pub(super) lies: Lies,
    pub(super) problem: Problem,
}

/// Where its file lies.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Lies {
    /// Among files that anybody can open.
    #[default]
    OnDisk,
    /// In a git revision.
    InRevision,
}

/// What is wrong with it.
#[derive(Debug)]
pub(super) enum Problem {
    Input(InputError),
    /// Of a revision.
    File(FileError),
    Document(DocumentError),
    /// Of a catalog or a policy.
    Given(CasePlace, GivenFault),
    Review(CasePlace, ReviewError),
}

impl BadInput {
    /// Where in the file, if somewhere in it.
    pub(super) fn at(&self) -> Option<Position> {
        match &self.problem {
            Problem::Input(_) | Problem::File(_) => None,
            Problem::Document(error) => Some(error.at),
            Problem::Given(place, _) | Problem::Review(place, _) => Some(place.at),
        }
    }

    /// The file, and the place in it if it has one.
    pub(super) fn place(&self) -> String {
        match self.at() {
            Some(at) => format!("{}:{at}", self.file),
            None => self.file.clone(),
        }
    }

    /// What is wrong, without the place.
    pub(super) fn why(&self) -> String {
        match &self.problem {
            Problem::Document(error) => error.kind.to_string(),
            problem => problem.to_string(),
        }
    }

    pub(super) fn new(file: &str, problem: Problem) -> Self {
        Self {
            file: file.to_owned(),
            lies: Lies::default(),
            problem,
        }
    }

    /// The same of a file of a revision, which is shown by this name.
    pub(super) fn in_revision(self, name: &str) -> Self {
        Self {
            file: name.to_owned(),
            lies: Lies::InRevision,
            ..self
        }
    }
}

impl Problem {
    /// Whether it is with its file or folder alone, and not with all that comes behind as well.
    pub(super) fn ends_with_its_file(&self) -> bool {
        !matches!(
            self,
            Self::File(FileError::TooMany { .. } | FileError::TooDeep { .. })
        )
    }
}

impl From<InputError> for Problem {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::Document(error) => error.fmt(f),
            Self::Given(_, fault) => fault.fmt(f),
            Self::Review(_, error) => error.fmt(f),
        }
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, problem, .. } = self;
        match problem {
            Problem::Input(_) | Problem::File(_) => write!(f, "{file}: {problem}"),
            Problem::Document(_) => write!(f, "{file}:{problem}"),
            Problem::Given(place, _) | Problem::Review(place, _) => {
                write!(f, "{place}: {problem}")
            }
        }
    }
}
