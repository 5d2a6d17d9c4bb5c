//! The blobs of a file, whole: what the index of a catalog reduces is kept here.
//!
//! Each is read twice, once for what decides, so that it is checked as the index checks it, and once
//! for all of it. A blob that is null is passed over.

use crate::author::blob::Blob;
use crate::author::value::{self, Value};
use crate::catalog::blob::{BlobFault, Content, Key, Sink};
use crate::catalog::fbc::intake::{Decisive, Intake, Origin, Place};
use crate::catalog::fbc::json::{Cursor, Step};
use crate::catalog::fbc::reader::Places;
use crate::catalog::fbc::{FbcError, meta};

/// Takes them.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The blobs so far.
    pub(super) blobs: Vec<Blob>,
    /// The first that does not decode as its schema.
    pub(super) fault: Option<BlobFault>,
}

impl Intake for Whole {
    type Blob<'a> = (Option<meta::Blob<'a>>, Value);

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> Step<Self::Blob<'a>> {
        cursor.kind()?;
        let start = cursor.at();
        let decisive = meta::read(cursor)?;
        let value = cursor.revisit(start, value::read)?;
        Ok((decisive, value))
    }

    fn take(&mut self, (decisive, value): Self::Blob<'_>, place: &Place<'_>) {
        Decisive(&mut Decodes(&mut self.fault)).take(decisive, place);
        if let Value::Object(members) = value {
            self.blobs.push(Blob::new(members));
        }
    }

    fn fault(&mut self, _: &str, fault: FbcError, _: Origin, _: &[u8]) -> Result<(), FbcError> {
        Err(fault)
    }
}

/// Notes the first blob that does not decode.
struct Decodes<'f>(&'f mut Option<BlobFault>);

impl Sink for Decodes<'_> {
    fn blob(&mut self, _: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        if let Err(fault) = content {
            self.0.get_or_insert(fault);
        }
    }
}
