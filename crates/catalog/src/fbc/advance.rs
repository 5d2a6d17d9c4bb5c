//! One step through a file: what comes next is handed over, and reading goes on behind a fault where it can.

use super::error::FbcError;
use super::intake::{Intake, TextOrigin};
use super::reader::{Document, Next, Reader};
use crate::blob::Position;

/// Takes what a file holds, in its order.
pub trait Taker<I: Intake> {
    /// Why it takes no more.
    type Error;

    /// Takes a blob, and the text that it was read from.
    ///
    /// # Errors
    /// If it takes no more.
    fn blob(
        &mut self,
        blob: I::Blob<'_>,
        position: Position,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), Self::Error>;

    /// Takes a YAML document.
    ///
    /// # Errors
    /// If it takes no more.
    fn document(&mut self, document: &Document<&[u8]>) -> Result<(), Self::Error>;

    /// Takes a fault, and the text that it is in.
    ///
    /// # Errors
    /// If it takes no more.
    fn fault(
        &mut self,
        fault: FbcError,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), Self::Error>;
}

/// What to do after a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Advance {
    /// Go past so many bytes.
    Past(usize),
    /// Read on: what begins here does not end here.
    More,
    /// Nothing follows.
    End,
}

/// Hands over what `text`, the file from where `reader` stands, begins with; `ended` tells that nothing
/// follows it.
///
/// # Errors
/// If the taker takes no more.
pub fn advance<I: Intake, R: Taker<I>>(
    reader: &mut Reader,
    text: &[u8],
    ended: bool,
    taker: &mut R,
) -> Result<Advance, R::Error> {
    let origin = reader.origin();
    let next = match reader.next(text, ended, I::read) {
        Ok(next) => next,
        Err(fault) => {
            let goes_on = reader.recover(&fault);
            taker.fault(fault, origin, text)?;
            return Ok(if goes_on {
                Advance::Past(0)
            } else {
                Advance::End
            });
        }
    };
    Ok(match next {
        Next::Blob {
            blob,
            position,
            consumed,
            loan: _loan,
        } => {
            let text = text.get(..consumed).unwrap_or_default();
            taker.blob(blob, position, origin, text)?;
            Advance::Past(consumed)
        }
        Next::Document { document, consumed } => {
            taker.document(&document)?;
            Advance::Past(consumed)
        }
        Next::Skipped { consumed } => Advance::Past(consumed),
        Next::Incomplete => Advance::More,
        Next::End => Advance::End,
    })
}
