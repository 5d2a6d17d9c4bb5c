//! What is made of the blobs of a file: how one is read, who takes it, and whether a fault ends it.
//!
//! There is one way to read files and two readers of blobs. The index of a catalog takes what
//! decides ([`Decisive`]) and stops where upstream would; `lint` takes what is written
//! ([`raw`](super::raw)), with its place, and goes on.

use std::fmt;

use super::error::{FbcError, NotAFile};
use super::filed::FiledKey;
use super::json::{Cursor, CursorResult};
use super::meta::{self, Blob, Value};
use super::reader::Places;
use super::yaml::Marks;
use crate::blob::{BlobFault, Fault, Position, Sink};
use crate::memory::Account;

/// Takes the blobs of files, in order.
pub trait Intake {
    /// What a blob is read as, perhaps on another core.
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

/// How much of a file comes before some text of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TextOrigin {
    /// Bytes of the file.
    pub bytes: u64,
    /// Whole lines, counted only where places are wanted.
    pub lines: u64,
    /// Bytes of the line that the text begins in.
    pub column: u64,
}

/// Where a blob stands.
#[derive(Debug)]
pub struct BlobPlace<'a> {
    /// Its path below the root of the catalog.
    pub file: &'a str,
    /// Where it begins, as faults tell it.
    pub position: Position,
    /// Where `text` begins.
    pub origin: TextOrigin,
    /// The blob as it is written, with blanks before it.
    pub text: &'a [u8],
    /// For YAML: where the parts of its JSON stand.
    pub marks: Option<&'a Marks>,
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
    type Blob<'a> = Value<'a>;

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>> {
        meta::read(cursor)
    }

    fn take(&mut self, blob: Self::Blob<'_>, place: &BlobPlace<'_>) {
        match blob {
            Value::Null => {}
            Value::Unfiled(object) => self.0.unfiled(object),
            Value::Blob(Blob { filed, content }) => {
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
