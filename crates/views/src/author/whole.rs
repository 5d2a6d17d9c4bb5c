//! The blobs of a file, whole: what the index of a catalog reduces is kept here.
//!
//! Each is read twice, once for what decides, so that it is checked as the index checks it, and once
//! for all of it. A blob that is null is passed over.

use crate::author::blob::BlobText;
use crate::author::value::{self, Value};
use crate::author::written::WrittenError;
use olmguard_catalog::blob::Content;
use olmguard_catalog::fbc::intake::{BlobPlace, Intake, TextOrigin};
use olmguard_catalog::fbc::json::{Cursor, CursorResult};
use olmguard_catalog::fbc::reader::Places;
use olmguard_catalog::fbc::{FbcError, meta};
use olmguard_catalog::read_guardrails;

/// Takes them.
#[derive(Debug, Default)]
pub(super) struct WholeCatalog {
    /// The blobs so far.
    pub(super) blobs: Vec<BlobText>,
    /// Why the first does not do that does not.
    pub(super) fault: Option<WrittenError>,
}

impl Intake for WholeCatalog {
    type Blob<'a> = (meta::Value<'a>, Value);

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>> {
        cursor.kind()?;
        let start = cursor.at();
        let decisive = meta::read(cursor)?;
        let value = cursor.revisit(start, value::read)?;
        Ok((decisive, value))
    }

    fn take(&mut self, (decisive, value): Self::Blob<'_>, place: &BlobPlace<'_>) {
        if let meta::Value::Blob(blob) = decisive
            && self.fault.is_none()
        {
            self.fault = fault(blob, place);
        }
        if let Value::Object(members) = value {
            let at = place.position.in_file(place.file);
            self.blobs.push(BlobText::at(&at, members));
        }
    }

    fn fault(&mut self, _: &str, fault: FbcError, _: TextOrigin, _: &[u8]) -> Result<(), FbcError> {
        Err(fault)
    }
}

/// Why a blob does not decode, or the guardrails in it cannot be read.
fn fault(blob: meta::Blob<'_>, place: &BlobPlace<'_>) -> Option<WrittenError> {
    let stated = match blob.content {
        Err(fault) => {
            let fault = place.blame(&blob.filed, fault);
            return Some(WrittenError::Blob(Box::new(fault)));
        }
        Ok(Content::Guardrails(text)) => vec![text],
        Ok(Content::Package(package)) => package.guardrails,
        Ok(_) => return None,
    };
    let unread = stated.iter().find_map(|text| read_guardrails(text).err())?;
    Some(WrittenError::Guardrails {
        file: place.file.into(),
        position: place.position,
        package: blob.filed.key().folder().into(),
        unread,
    })
}
