//! File-based catalogs as written: bytes in, blobs out.
//!
//! Two programs read a catalog before OLM resolves from it: catalogd turns a folder of YAML and
//! JSON into JSON lines, and operator-controller files each line and decodes the files of one
//! package at a time. This module does the work of both in one pass, so a fault lies where
//! theirs does: in the whole catalog ([`FbcError`]) or in one package
//! ([`BlobFault`]).
//!
//! ```text
//! YAML --transcode--> JSON --one pass--> key, content or fault --> Sink
//! ```
//!
//! Nothing here reads a file: the edges feed it pieces of bytes.
//!
//! Upstream: operator-registry, [`alpha/declcfg/load.go`] and [`alpha/declcfg/declcfg.go`]; apimachinery,
//! [`pkg/util/yaml/decoder.go`]; sigs.k8s.io/yaml.
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

pub mod advance;
pub mod json;
mod members;
pub mod meta;
pub mod raw;
pub mod reader;
pub(crate) mod shape;
pub mod yaml;

use std::fmt;

use advance::{Advance, Consumer, advance};
use reader::{Reader, YamlDocument, hand_over_document};

use crate::blob::{BlobFault, Fault, JsonKind, Position, Sink};
use crate::fbc::json::{Cursor, CursorResult};
use crate::fbc::members::FiledKey;
use crate::fbc::yaml::YamlMarks;
use crate::memory::{Account, TooLarge};
use meta::{BlobInCatalog, FiledBlob};

pub use shape::begins_with_brace;

/// Reads one file of a catalog that is held in memory, and hands its blobs to `sink` in order.
/// `name` is what faults call the file.
///
/// # Errors
/// The first fault for which upstream would refuse the whole catalog. The blobs handed over until
/// then mean nothing.
pub fn read(name: &str, text: &[u8], sink: &mut dyn Sink) -> Result<(), FbcError> {
    read_into(name, text, &mut Decisive(sink))
}

/// As [`read`], for any intake.
pub fn read_into<I: Intake>(name: &str, mut text: &[u8], intake: &mut I) -> Result<(), FbcError> {
    let account = intake.memory();
    let mut reader = Reader::new(I::PLACES, account.clone());
    let mut whole = FileConsumer {
        name,
        intake,
        account,
    };
    while let Advance::Past(consumed) = advance(&mut reader, text, true, &mut whole)? {
        text = text.get(consumed..).unwrap_or_default();
    }
    Ok(())
}

/// Hands what a file in memory holds to an intake, one after another.
struct FileConsumer<'f, I> {
    name: &'f str,
    intake: &'f mut I,
    account: Account,
}

impl<I: Intake> Consumer<I> for FileConsumer<'_, I> {
    type Error = FbcError;

    fn blob(
        &mut self,
        blob: I::Blob<'_>,
        position: Position,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), FbcError> {
        let place = BlobPlace {
            file: self.name,
            position,
            origin,
            text,
            marks: None,
        };
        self.intake.take(blob, &place);
        self.account.check().map_err(|too_large| FbcError {
            position,
            malformed: too_large.into(),
        })
    }

    fn document(&mut self, document: &YamlDocument<&[u8]>) -> Result<(), FbcError> {
        let mut json = Vec::new();
        let marks = document.append_json(I::PLACES, &mut json);
        let taken = marks
            .and_then(|marks| hand_over_document(document, &json, &marks, self.name, self.intake));
        taken.or_else(|fault| self.fault(fault, document.origin(), document.text))
    }

    fn fault(&mut self, fault: FbcError, origin: TextOrigin, text: &[u8]) -> Result<(), FbcError> {
        self.intake.fault(self.name, fault, origin, text)
    }
}

// === Intake of blobs: how one is read, who receives it, whether a fault ends reading ===
//
// There is one way to read files and two readers of blobs. The index of a catalog takes what
// decides ([`Decisive`]) and stops where upstream would; `lint` takes what is written
// ([`raw`](super::raw)), with its place, and goes on.

/// Takes the blobs of files, in order.
pub trait Intake {
    /// Result of reading a blob, perhaps on another core.
    type Blob<'a>: Send;

    /// Whether places within blobs are wanted: it costs a little.
    const PLACES: Places;

    /// Reads one blob. It may be called again for a blob that was not there as a whole.
    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>>;

    /// Takes one blob.
    fn take(&mut self, blob: Self::Blob<'_>, place: &BlobPlace<'_>);

    /// The account that reading is counted in; one without a bound unless there is one.
    fn memory(&self) -> Account {
        Account::default()
    }

    /// Takes a fault; `text` is what is known of the file from `origin` on.
    ///
    /// # Errors
    /// The fault, where reading must stop at it.
    fn fault(
        &mut self,
        file: &str,
        fault: FbcError,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), FbcError>;

    /// Takes what stands in a folder and is no file.
    ///
    /// # Errors
    /// The same, where reading must stop at it.
    fn not_a_file(&mut self, _path: &str, fault: NotAFile) -> Result<(), NotAFile> {
        Err(fault)
    }
}

/// Whether lines are counted in JSON, too.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Places {
    /// Yes.
    Wanted,
    /// No: a byte tells the place.
    Unwanted,
}

/// Amount of a file that comes before some text of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TextOrigin {
    /// Bytes of the file.
    pub bytes: u64,
    /// Whole lines, counted only where places are wanted.
    pub lines: u64,
    /// Bytes of the line that the text begins in.
    pub column: u64,
}

/// Place of a blob.
#[derive(Debug)]
pub struct BlobPlace<'a> {
    /// Path of the file below the root of the catalog.
    pub file: &'a str,
    /// Beginning of the blob, as faults report it.
    pub position: Position,
    /// Beginning of `text`.
    pub origin: TextOrigin,
    /// The blob as it is written, with blanks before it.
    pub text: &'a [u8],
    /// For YAML: where the parts of its JSON stand.
    pub marks: Option<&'a YamlMarks>,
}

impl BlobPlace<'_> {
    /// The fault of the blob that stands here and is filed so.
    pub fn blame(&self, filed: &FiledKey<'_>, fault: Fault) -> BlobFault {
        BlobFault {
            file: self.file.into(),
            position: self.position,
            package: filed.key().folder().into(),
            schema: filed.schema.as_ref().into(),
            name: filed.name.as_ref().into(),
            fault,
        }
    }
}

/// Takes what of each blob decides, for a [`Sink`]; stops at the first fault.
pub struct Decisive<'s>(pub &'s mut dyn Sink);

impl fmt::Debug for Decisive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decisive").finish_non_exhaustive()
    }
}

impl Intake for Decisive<'_> {
    type Blob<'a> = BlobInCatalog<'a>;

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>> {
        meta::read(cursor)
    }

    fn take(&mut self, blob: Self::Blob<'_>, place: &BlobPlace<'_>) {
        match blob {
            BlobInCatalog::Null => {}
            BlobInCatalog::Unfiled(object) => self.0.unfiled(object),
            BlobInCatalog::Blob(FiledBlob { filed, content }) => {
                let content = content.map_err(|fault| place.blame(&filed, fault));
                self.0.blob(filed.key(), content);
            }
        }
    }

    fn memory(&self) -> Account {
        self.0.memory()
    }

    fn fault(&mut self, _: &str, fault: FbcError, _: TextOrigin, _: &[u8]) -> Result<(), FbcError> {
        Err(fault)
    }
}

// === Faults that make a whole catalog unreadable, for catalogd or for operator-controller ===
//
// Upstream stops at the first such fault and serves nothing of the catalog; so do we.

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
