//! Why a file cannot be read. The texts do not repeat the path: [`Input`](super::Input) has it.

use std::io;

/// Why there is no content for a path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Nothing there.
    #[error("does not exist: expected a file, a directory, or \"-\" for standard input")]
    NotFound,
    /// The system refused.
    #[error("cannot be read: {source}")]
    Io {
        /// What the system says.
        source: io::Error,
    },
    /// Larger than a manifest may be.
    #[error(
        "is larger than {} MiB: expected a manifest, so split it, or omit it",
        limit >> 20
    )]
    TooLarge {
        /// The most bytes allowed.
        limit: u64,
    },
    /// A link leads back to a folder that it is in.
    #[error("is a link back to a directory that contains it: expected no loop, so remove the link")]
    Loop,
    /// The target of a link is outside the directory that was named.
    #[error(
        "is a link out of the directory: expected a target inside it, so copy the target there, or \
         name it on its own"
    )]
    LinkLeadsOut,
    /// A pipe, socket or device among the files of a folder.
    #[error("is not a regular file: expected a manifest, so name it on its own, or omit it")]
    NotAFile,
}

impl From<io::Error> for InputError {
    fn from(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::Io { source },
        }
    }
}
