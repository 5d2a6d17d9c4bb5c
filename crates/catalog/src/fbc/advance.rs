//! One step through a file: hands the next item to a consumer, and goes on after a fault if it can.

use super::ahead::Ahead;
use super::error::FbcError;
use super::intake::{Intake, TextOrigin};
use super::reader::{Document, Next, Reader};
use crate::blob::Position;

/// Receives the items of a file, in order.
pub trait Consumer<I: Intake> {
    /// Why the consumer stops.
    type Error;

    /// A blob, and the text that it was read from.
    ///
    /// # Errors
    /// If the consumer stops.
    fn blob(
        &mut self,
        blob: I::Blob<'_>,
        position: Position,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), Self::Error>;

    /// A YAML document.
    ///
    /// # Errors
    /// If the consumer stops.
    fn document(&mut self, document: &Document<&[u8]>) -> Result<(), Self::Error>;

    /// A fault, and the text that it is in.
    ///
    /// # Errors
    /// If the consumer stops.
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

/// Hands the first item of `text`, the file from the reader's position on, to the consumer. `ended` says
/// that nothing follows `text`.
///
/// # Errors
/// If the consumer stops.
pub fn advance<I: Intake, C: Consumer<I>>(
    reader: &mut Reader,
    text: &[u8],
    ended: bool,
    consumer: &mut C,
) -> Result<Advance, C::Error> {
    advance_with(reader, text, ended, consumer, &mut Ahead::default())
}

/// As [`advance`], with blobs that were read ahead.
///
/// # Errors
/// If the consumer stops.
pub fn advance_with<'a, I: Intake, C: Consumer<I>>(
    reader: &mut Reader,
    text: &'a [u8],
    ended: bool,
    consumer: &mut C,
    ahead: &mut Ahead<'a, I>,
) -> Result<Advance, C::Error> {
    let origin = reader.origin();
    let next = match reader.next(text, ended, |cursor| ahead.take(cursor)) {
        Ok(next) => next,
        Err(fault) => {
            let goes_on = reader.recover(&fault);
            consumer.fault(fault, origin, text)?;
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
            consumer.blob(blob, position, origin, text)?;
            Advance::Past(consumed)
        }
        Next::Document { document, consumed } => {
            consumer.document(&document)?;
            Advance::Past(consumed)
        }
        Next::Skipped { consumed } => Advance::Past(consumed),
        Next::Incomplete => Advance::More,
        Next::End => Advance::End,
    })
}
