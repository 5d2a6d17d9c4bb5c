//! Faults that make a whole catalog unreadable, for catalogd or for operator-controller.
//!
//! Upstream stops at the first such fault and serves nothing of the catalog; so do we.

use crate::blob::{JsonKind, Position};
use crate::memory::TooLarge;

/// A fault for which the whole catalog is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{position}: {malformed}")]
pub struct FbcError {
    /// Place in the file.
    pub position: Position,
    /// The fault.
    pub malformed: FbcErrorKind,
}

impl From<TooLarge> for FbcError {
    /// The whole catalog is too large.
    fn from(too_large: TooLarge) -> Self {
        Self {
            position: Position::Byte(0),
            malformed: too_large.into(),
        }
    }
}

/// Fault of a catalog that cannot be read at all.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FbcErrorKind {
    /// JSON: an unexpected byte.
    #[error("invalid JSON: expected {expected}, found {}", escaped(*.found))]
    Unexpected {
        /// What is expected there.
        expected: &'static str,
        /// The byte that was found.
        found: u8,
    },
    /// JSON: the text ends within a value.
    #[error("incomplete JSON: the catalog ends within a value")]
    Truncated,
    /// JSON: objects and lists in one another, too many.
    #[error("more than {limit} levels of nesting")]
    TooDeep {
        /// How many are read.
        limit: usize,
    },
    /// A number that no 64-bit float holds.
    #[error("number is too large: expected at most 1.8e308")]
    NumberRange,
    /// A blob that is no object.
    #[error("expected an object with schema, package and name, found {found}")]
    NotAnObject {
        /// What it is.
        found: JsonKind,
    },
    /// Two spellings of one key of a blob.
    #[error("duplicate keys for key {folded:?}: [{}]; keep one of them", .spellings.join(" "))]
    DuplicateKeys {
        /// The key without regard to case.
        folded: Box<str>,
        /// The spellings found, sorted.
        spellings: Vec<Box<str>>,
    },
    /// `schema`, `package` or `name` of another type.
    #[error("expected value for key {key:?} to be a string, found {found}")]
    NotAString {
        /// The key as written.
        key: Box<str>,
        /// What its value is.
        found: JsonKind,
    },
    /// A package, schema or name that cannot name a file of operator-controller's cache.
    #[error("{what} {name:?} cannot name a file: {reason}")]
    Unfilable {
        /// Which of the three.
        what: &'static str,
        /// Beginning of the text.
        name: Box<str>,
        /// Reason why the text cannot name a file.
        reason: &'static str,
    },
    /// A blob of a size at which reading it could exhaust memory.
    #[error("a blob is larger than {limit} bytes; split it, or move large data out of it")]
    BlobTooLarge {
        /// How many bytes are read.
        limit: usize,
    },
    /// A blob of more keys and list items than are kept: small as text, large in memory.
    #[error("a blob has more than {limit} keys and list items; split it")]
    TooManyItems {
        /// How many are kept.
        limit: usize,
    },
    /// More than there is memory for.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// More blobs than a catalog can sensibly have.
    #[error("more than {limit} blobs; a catalog has at most tens of thousands")]
    TooManyBlobs {
        /// How many are read.
        limit: u32,
    },
    /// Text after the `---` of a line.
    #[error(
        "invalid YAML document separator: expected only a comment after \"---\", found {found:?}"
    )]
    Separator {
        /// Text that was found.
        found: Box<str>,
    },
    /// YAML that cannot be parsed or has no counterpart in JSON.
    #[error("invalid YAML: {reason}")]
    Yaml {
        /// Error of the parser.
        reason: Box<str>,
    },
    /// More anchors than are remembered.
    #[error("more than {limit} YAML anchors in one document; write the values out")]
    TooManyAnchors {
        /// How many are remembered.
        limit: usize,
    },
    /// Aliases that make a document far larger than it is written.
    #[error(
        "YAML aliases expand to more than {limit} bytes; write the values out, or use fewer aliases"
    )]
    Aliases {
        /// How many bytes are built.
        limit: usize,
    },
}

/// Item in the directory of a catalog that is not a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected a file, found {}; exclude it with an .indexignore file, or remove it", .0.as_str())]
pub struct NotAFile(pub FileKind);

word_set! {
    /// Kind of an item in a directory where a file is expected.
    pub enum FileKind {
        /// A symbolic link to a directory. Go's walk does not enter it, and then reads it as a file.
        LinkToFolder => "a symbolic link to a directory",
        /// A symbolic link to something else, for example to a pipe.
        LinkToOther => "a symbolic link to something other than a file",
        /// A pipe, a socket or a device.
        Special => "a pipe, socket or device",
    }
}

/// A byte as text.
fn escaped(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("{:?}", char::from(byte))
    } else {
        format!("byte 0x{byte:02x}")
    }
}
