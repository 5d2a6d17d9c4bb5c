//! Reasons why a catalog cannot be read.

use std::io;
use std::path::Path;

use olmguard_catalog::Doubt;
use olmguard_catalog::fbc::{FbcError, NotAFile};
use olmguard_catalog::memory::TooLarge;

/// Why a catalog cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The operating system said no.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// The file or folder.
        path: Box<str>,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// Its content is no catalog.
    #[error("{}: {}", source.position.in_file(file), source.malformed)]
    Fbc {
        /// The file.
        file: Box<str>,
        /// What is wrong with it, and where.
        source: FbcError,
    },
    /// It is read without a fault, and has no blob of OLM.
    #[error("{file}: {found}; expected a file-based catalog, as opm render prints it")]
    NoCatalog {
        /// The file.
        file: Box<str>,
        /// What it is instead.
        found: &'static str,
    },
    /// There is no such file, and its name is that of an image.
    #[error("{image}: no such file or directory; for an image, write oci:{image}")]
    Image {
        /// The name.
        image: Box<str>,
    },
    /// The same in a directory, where other files can be, too.
    #[error("{0}; if the file is not part of the catalog, list it in .indexignore")]
    InDirectory(Box<Self>),
    /// It is read without a fault, and can hardly be what a catalog holds.
    #[error(
        "{file}: {doubt}; check what catalogd serves at status.urls.base of the ClusterCatalog, \
         and try again"
    )]
    Implausible {
        /// The file.
        file: Box<str>,
        /// What is odd about it.
        doubt: Doubt,
    },
    /// It holds more than is read.
    #[error(
        "{file}: larger than {limit} bytes, decompressed; a catalog has tens to hundreds of \
         megabytes"
    )]
    TooLarge {
        /// The file.
        file: Box<str>,
        /// How many bytes are read.
        limit: u64,
    },
    /// It needs more memory than there is for it.
    #[error("{file}: {source}")]
    Memory {
        /// The file.
        file: Box<str>,
        /// Which bound it exceeds.
        source: TooLarge,
    },
    /// A folder holds more files than are read.
    #[error(
        "{folder}: more than {limit} files and directories: expected the directory of a catalog"
    )]
    TooManyFiles {
        /// The folder.
        folder: Box<str>,
        /// How many are read.
        limit: usize,
    },
    /// A symbolic link leads out of the folder.
    #[error(
        "{link}: symbolic link points outside the directory of the catalog; copy the file into it"
    )]
    LinkLeadsOut {
        /// The link.
        link: Box<str>,
    },
    /// Something in a folder that is neither file nor folder.
    #[error("{path}: {fault}")]
    NotAFile {
        /// What was found.
        path: Box<str>,
        /// Its kind.
        fault: NotAFile,
    },
    /// A thread that turns YAML into JSON ended before its work; please report this.
    #[error("internal fault: a thread that reads YAML was lost; please report this")]
    WorkerLost,
    /// A line of an `.indexignore` that upstream cannot read.
    #[error("{file}: line {line} is longer than {limit} bytes")]
    IgnoreLine {
        /// The file.
        file: Box<str>,
        /// The line, counted from 1.
        line: usize,
        /// How long a line may be.
        limit: usize,
    },
}

pub(super) fn io_error(path: &Path, action: &'static str, source: io::Error) -> SourceError {
    let path = display(path);
    SourceError::Io {
        path,
        action,
        source,
    }
}

/// A path as messages show it.
pub(super) fn display(path: &Path) -> Box<str> {
    path.to_string_lossy().into()
}
