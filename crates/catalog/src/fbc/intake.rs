//! Intake of the blobs of a file: how a blob is read, who receives it, and whether a fault ends reading.
//!
//! There is one way to read files and two readers of blobs. The index of a catalog takes what
//! decides ([`Decisive`]) and stops where upstream would; `lint` takes what is written
//! ([`raw`](super::raw)), with its place, and goes on.

use std::fmt;

use crate::blob::{BlobFault, Fault, Position, Sink};
use crate::fbc::error::{FbcError, NotAFile};
use crate::fbc::json::{Cursor, CursorResult};
use crate::fbc::members::FiledKey;
use crate::fbc::meta::{self, BlobInCatalog, FiledBlob};
use crate::fbc::yaml::YamlMarks;
use crate::memory::Account;

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
