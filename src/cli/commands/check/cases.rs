//! The cases of a run: extensions, and reviews of edits of extensions; and the inputs that could not be read.

use std::fmt;

use crate::admission::{Review, ReviewError};
use crate::cli::commands::check::base::Past;
use crate::facts::given::GivenFault;
use crate::manifest::{DocumentError, InputError, Position};
use crate::revision::FileError;
use olmguard_engine::extension::schema::Finding;
use olmguard_engine::extension::{Extension, Identity};
use olmguard_engine::judge::Exemption;

/// One edit to judge, and its place.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) place: CasePlace,
    pub(super) identity: Identity,
    pub(super) subject: Subject,
    pub(super) past: Past,
    pub(super) told: InstalledSource,
}

/// Where the installed version comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum InstalledSource {
    /// The base, or the object itself.
    #[default]
    Manifests,
    /// A cluster; the object has it.
    Cluster,
    /// A flag or the project file; the object has it.
    Flag,
}

/// The place of a case in the inputs.
#[derive(Clone, Debug)]
pub(super) struct CasePlace {
    /// As the user would write it; `-` for standard input.
    pub(super) file: String,
    /// 0-based.
    pub(super) document: usize,
    /// The position of the deciding field.
    pub(super) at: Position,
}

/// The object of a case.
#[derive(Debug)]
pub(super) enum Subject {
    /// A manifest, with what the CRD would refuse of it.
    Manifest(Box<Extension>, Vec<Finding>),
    /// A dump of what an API server asked.
    Review(Box<Review>),
    /// An extension whose `apiVersion` is not known.
    Unknown(Exemption),
}

/// An input that could not be read, and its place.
#[derive(Debug)]
pub(super) struct BadInput {
    pub(super) file: String,
    pub(super) lies: Lies,
    pub(super) problem: Problem,
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
