//! The blobs of a file as they are written, for those who write them again.

use super::error::FbcError;
use super::intake::{Intake, Origin, Place};
use super::json::{Cursor, Step};
use super::meta::{self, Blob};
use super::read_into;
use super::reader::Places;
use crate::catalog::blob::{BlobFault, Position};

/// Why a file cannot be taken whole.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WholeError {
    /// It is no catalog.
    #[error(transparent)]
    Fbc(#[from] FbcError),
    /// A blob in it is not of its schema.
    #[error(transparent)]
    Blob(#[from] BlobFault),
}

/// Hands over the blobs of one file whole, each as JSON of its own, in order.
///
/// What [`read`](super::read) reduces is kept here: keys of no known schema, custom blobs, the text of
/// numbers (of JSON; in YAML they are read as numbers first). A blob that is null is passed over.
///
/// # Errors
/// As for [`read`](super::read); and the first blob that does not decode as its schema.
pub(crate) fn each_whole(
    name: &str,
    text: &[u8],
    take: &mut dyn FnMut(&[u8], Position) -> Result<(), WholeError>,
) -> Result<(), WholeError> {
    let mut whole = Whole { take, fault: None };
    read_into(name, text, &mut whole)?;
    whole.fault.map_or(Ok(()), Err)
}

/// Takes each blob with its JSON, up to the first that is at fault.
struct Whole<'t> {
    take: &'t mut dyn FnMut(&[u8], Position) -> Result<(), WholeError>,
    fault: Option<WholeError>,
}

impl Intake for Whole<'_> {
    type Blob<'a> = (Option<Blob<'a>>, &'a [u8]);

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> Step<Self::Blob<'a>> {
        let start = cursor.at();
        let blob = meta::read(cursor)?;
        Ok((blob, cursor.since(start)))
    }

    fn take(&mut self, (blob, json): Self::Blob<'_>, place: &Place<'_>) {
        if self.fault.is_some() {
            return;
        }
        let decoded = blob.map_or(Ok(()), |Blob { filed, content }| {
            content
                .map(drop)
                .map_err(|fault| place.blame(&filed, fault))
        });
        let taken = match decoded {
            Ok(()) => (self.take)(json, place.position),
            Err(fault) => Err(fault.into()),
        };
        self.fault = taken.err();
    }

    fn fault(&mut self, _: &str, fault: FbcError, _: Origin, _: &[u8]) -> Result<(), FbcError> {
        Err(fault)
    }
}
