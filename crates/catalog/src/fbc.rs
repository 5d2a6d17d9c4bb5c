//! Reads file-based catalogs: bytes in, blobs out.
//!
//! Two programs read a catalog before OLM resolves from it. catalogd converts a directory of YAML
//! and JSON to JSON lines. operator-controller files each line, and decodes the files of one
//! package at a time. This module does the work of both in one pass, so a fault has the same scope
//! as upstream: the whole catalog ([`FbcError`]) or one package ([`BlobFault`]).
//!
//! ```text
//! YAML --transcode--> JSON --one pass--> key, content or fault --> Sink
//! ```
//!
//! This module does not read files; its callers pass it pieces of bytes.
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
use reader::{BLOB_COUNT_LIMIT, BLOB_LIMIT, Reader, YamlDocument, hand_over_document};

use crate::blob::{BlobFault, Fault, JsonKind, Position, Sink};
use crate::fbc::json::{Cursor, CursorResult, ITEM_LIMIT};
use crate::fbc::members::FiledKey;
use crate::fbc::yaml::{ANCHOR_LIMIT, JSON_LIMIT, YamlMarks};
use crate::memory::{Account, TooLarge};
use meta::{BlobInCatalog, FiledBlob};

pub use shape::begins_with_brace;

/// Reads one file of a catalog from memory, and passes its blobs to `sink` in order. Faults use
/// `name` as the name of the file.
///
/// # Errors
/// The first fault for which upstream would reject the whole catalog. The blobs passed until then
/// are meaningless.
pub fn read(name: &str, text: &[u8], sink: &mut dyn Sink) -> Result<(), FbcError> {
    read_into(name, text, &mut Decisive(sink))
}

/// Does the same as [`read`], for any intake.
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

/// Passes the items of a file in memory to an intake.
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
        let marks = document.append_json(I::PLACES, JSON_LIMIT, &mut json);
        let taken = marks
            .and_then(|marks| hand_over_document(document, &json, &marks, self.name, self.intake));
        taken.or_else(|fault| self.fault(fault, document.origin, document.text))
    }

    fn fault(&mut self, fault: FbcError, origin: TextOrigin, text: &[u8]) -> Result<(), FbcError> {
        self.intake.fault(self.name, fault, origin, text)
    }
}

// === Intakes: how blobs are read, who receives them, and which faults stop reading ===
//
// Files are read in one way, but blobs in two. The index of a catalog reads the facts that decide
// ([`Decisive`]) and stops where upstream would. `lint` reads blobs as written
// ([`raw`](super::raw)), with positions, and continues after faults.

/// Receives the blobs of files, in order.
pub trait Intake {
    /// The result of reading a blob. It may be read on another thread.
    type Blob<'a>: Send;

    /// Whether positions within blobs are needed, which has a small cost.
    const PLACES: Places;

    /// Reads one blob. If a blob is not yet available completely, it is read again later.
    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>>;

    /// Receives one blob.
    fn take(&mut self, blob: Self::Blob<'_>, place: &BlobPlace<'_>);

    /// The account that reading is charged to. The default account has no limit.
    fn memory(&self) -> Account {
        Account::default()
    }

    /// Receives a fault. `text` is the available text of the file from `origin` on.
    ///
    /// # Errors
    /// Returns the fault if reading must stop.
    fn fault(
        &mut self,
        file: &str,
        fault: FbcError,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), FbcError>;

    /// Receives an item of a directory that is not a file.
    ///
    /// # Errors
    /// Returns the fault if reading must stop.
    fn not_a_file(&mut self, _path: &str, fault: NotAFile) -> Result<(), NotAFile> {
        Err(fault)
    }
}

/// Whether lines are counted in JSON as well.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Places {
    /// Lines are counted.
    Wanted,
    /// Lines are not counted: a byte offset is sufficient.
    Unwanted,
}

/// The part of a file that precedes a text of the file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TextOrigin {
    /// Number of bytes before the text.
    pub bytes: u64,
    /// Number of complete lines before the text; counted only if positions are wanted.
    pub lines: u64,
    /// Number of bytes before the text in its first line.
    pub column: u64,
}

/// Location of a blob.
#[derive(Debug)]
pub struct BlobPlace<'a> {
    /// Path of the file, relative to the root of the catalog.
    pub file: &'a str,
    /// Start of the blob, as faults report it.
    pub position: Position,
    /// Start of `text`.
    pub origin: TextOrigin,
    /// The blob as written, with the white space before it.
    pub text: &'a [u8],
    /// For YAML: the positions of the parts of its JSON.
    pub marks: Option<&'a YamlMarks>,
}

impl BlobPlace<'_> {
    /// Creates the fault of the blob at this location, which is filed under `filed`.
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

/// Reads the facts that decide, for a [`Sink`], and stops at the first fault.
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
// Upstream stops at the first such fault and serves nothing of the catalog. This module does the
// same.

/// A fault that makes the whole catalog invalid.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{position}: {malformed}")]
pub struct FbcError {
    /// Position in the file.
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

/// Kinds of faults that make a catalog unreadable.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FbcErrorKind {
    /// JSON: an unexpected byte.
    #[error("invalid JSON: expected {expected}, found {}", escaped(*.found))]
    Unexpected {
        /// The syntax that was expected.
        expected: &'static str,
        /// The byte that was found.
        found: u8,
    },
    /// JSON: the text ends within a value.
    #[error("incomplete JSON: the catalog ends within a value")]
    Truncated,
    /// JSON: objects and lists are nested too deeply.
    #[error("more than {limit} levels of nesting")]
    TooDeep {
        /// Maximum number of levels that are read.
        limit: usize,
    },
    /// A number is outside the range of a 64-bit float.
    #[error("number is too large: expected at most 1.8e308")]
    NumberRange,
    /// A blob is not an object.
    #[error("expected an object with schema, package and name, found {found}")]
    NotAnObject {
        /// Type of the value.
        found: JsonKind,
    },
    /// A blob has several spellings of one key.
    #[error("duplicate keys for key {folded:?}: [{}]; keep one of them", .spellings.join(" "))]
    DuplicateKeys {
        /// The key without regard to case.
        folded: Box<str>,
        /// The spellings found, sorted.
        spellings: Vec<Box<str>>,
    },
    /// The value of `schema`, `package` or `name` is not a string.
    #[error("expected value for key {key:?} to be a string, found {found}")]
    NotAString {
        /// The key as written.
        key: Box<str>,
        /// Type of the value.
        found: JsonKind,
    },
    /// A package, schema or name cannot name a file of operator-controller's cache.
    #[error("{what} {name:?} cannot name a file: {reason}")]
    Unfilable {
        /// Which of the three keys.
        what: &'static str,
        /// Beginning of the text.
        name: Box<str>,
        /// Reason why the text cannot name a file.
        reason: &'static str,
    },
    /// A blob is so large that reading it could exhaust memory.
    #[error("a blob is larger than {BLOB_LIMIT} bytes; split it, or move large data out of it")]
    BlobTooLarge,
    /// A blob has more keys and list items than are kept. Such a blob is small as text, but large
    /// in memory.
    #[error("a blob has more than {ITEM_LIMIT} keys and list items; split it")]
    TooManyItems,
    /// The catalog needs more memory than is available.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// The file has more blobs than a catalog can sensibly have.
    #[error("more than {BLOB_COUNT_LIMIT} blobs; a catalog has at most tens of thousands")]
    TooManyBlobs,
    /// A separator line has text after its `---`.
    #[error(
        "invalid YAML document separator: expected only a comment after \"---\", found {found:?}"
    )]
    Separator {
        /// The text that was found.
        found: Box<str>,
    },
    /// The YAML cannot be parsed, or has no equivalent in JSON.
    #[error("invalid YAML: {reason}")]
    Yaml {
        /// Error of the parser.
        reason: Box<str>,
    },
    /// A document has more anchors than are remembered.
    #[error("more than {ANCHOR_LIMIT} YAML anchors in one document; write the values out")]
    TooManyAnchors,
    /// Aliases make a document far larger than its text.
    #[error(
        "YAML aliases expand to more than {limit} bytes; write the values out, or use fewer aliases"
    )]
    Aliases {
        /// Maximum size of the JSON, in bytes.
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

/// Formats a byte for a message.
fn escaped(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("{:?}", char::from(byte))
    } else {
        format!("byte 0x{byte:02x}")
    }
}
