//! Advances through a file by one item: passes the item to a consumer, and continues after a fault
//! if possible. Other threads can read blobs ahead ([`Ahead`]).

use std::fmt;
use std::ops::Range;
use std::vec::IntoIter;

use memchr::memmem;

use crate::blob::Position;
use crate::fbc::json::{Cursor, CursorResult, skip_space};
use crate::fbc::reader::{NextItem, Reader, YamlDocument};
use crate::fbc::{FbcError, Intake, TextOrigin};
use crate::memory::{Loan, Pool};

/// Receives the items of a file, in order.
pub trait Consumer<I: Intake> {
    /// The reason why the consumer stops.
    type Error;

    /// Receives a blob, and the text that it was read from.
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

    /// Receives a YAML document.
    ///
    /// # Errors
    /// If the consumer stops.
    fn document(&mut self, document: &YamlDocument<&[u8]>) -> Result<(), Self::Error>;

    /// Receives a fault, and the text that has it.
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

/// The action after a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Advance {
    /// Skip this many bytes.
    Past(usize),
    /// Read more: the item that starts here is not complete.
    More,
    /// Stop: there are no more items.
    End,
}

/// Passes the first item of `text` to the consumer. `text` is the file from the reader's position
/// on; `ended` means that the file ends with it.
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

/// Does the same as [`advance`], with blobs that were read ahead.
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
            let skipped = reader.recover(&fault, text);
            consumer.fault(fault, origin, text)?;
            return Ok(skipped.map_or(Advance::End, Advance::Past));
        }
    };
    Ok(match next {
        NextItem::Blob {
            blob,
            position,
            consumed,
            loan: _loan,
        } => {
            let text = text.get(..consumed).unwrap_or_default();
            consumer.blob(blob, position, origin, text)?;
            Advance::Past(consumed)
        }
        NextItem::Document { document, consumed } => {
            consumer.document(&document)?;
            Advance::Past(consumed)
        }
        NextItem::Skipped { consumed } => Advance::Past(consumed),
        NextItem::Incomplete => Advance::More,
        NextItem::End => Advance::End,
    })
}

/// The blobs of a piece of text, in order, read ahead of a [`Reader`] on another thread.
///
/// JSON lines can be cut where a line starts with `{`. The text after the cut is read as if a blob
/// started there. Whether one does is known when the reader arrives. The reader uses results that
/// start at exactly its position, and reads everything else itself. So a cut within a blob costs
/// time, but does not change the result.
pub struct Ahead<'a, I: Intake>(IntoIter<AheadBlob<'a, I>>);

struct AheadBlob<'a, I: Intake> {
    blob: I::Blob<'a>,
    /// Number of bytes from its first byte to the end of the whole text.
    left: usize,
    length: usize,
    loan: Loan,
}

/// Cuts the start of a text into at most `most` pieces of similar size. `ended` means that the file
/// ends with the text.
pub fn pieces(text: &[u8], ended: bool, most: usize) -> Vec<Range<usize>> {
    let end = if ended {
        text.len()
    } else {
        memmem::rfind(text, CUT).unwrap_or_default()
    };
    let size = end.div_ceil(most.max(1)).max(1);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < end {
        let rest = text.get(start + size..end).unwrap_or_default();
        let cut = memmem::find(rest, CUT).map_or(end, |cut| start + size + cut);
        pieces.push(start..cut);
        start = cut;
    }
    pieces
}

impl<'a, I: Intake> Ahead<'a, I> {
    /// Reads a piece of a text, up to the first fault. Nothing is charged to the account of the
    /// intake. The memory of these blobs has a small limit of its own.
    pub fn read(text: &'a [u8], piece: Range<usize>) -> Self {
        let after = text.len().saturating_sub(piece.end);
        let account = Pool::new(MEMORY, MEMORY).account();
        let mut rest = text.get(piece).unwrap_or_default();
        let mut blobs = Vec::new();
        loop {
            rest = rest.get(skip_space(rest)..).unwrap_or_default();
            let mut cursor = Cursor::counted(rest, account.loan());
            let Ok(blob) = I::read(&mut cursor) else {
                return Self(blobs.into_iter());
            };
            let (left, length) = (rest.len() + after, cursor.at());
            rest = rest.get(length..).unwrap_or_default();
            let loan = cursor.into_loan().unwrap_or_default();
            blobs.push(AheadBlob {
                blob,
                left,
                length,
                loan,
            });
        }
    }

    /// Returns the blob at the cursor, either the one read ahead or one read now.
    ///
    /// # Errors
    /// The same as [`Intake::read`].
    pub fn take(&mut self, cursor: &mut Cursor<'a>) -> CursorResult<I::Blob<'a>> {
        let here = cursor.rest().len();
        let passed = |blob: &AheadBlob<'a, I>| blob.left > here;
        while self.0.as_slice().first().is_some_and(passed) {
            self.0.next();
        }
        let is_here = |blob: &AheadBlob<'a, I>| blob.left == here;
        if self.0.as_slice().first().is_some_and(is_here)
            && let Some(read) = self.0.next()
        {
            cursor.hold_as(&read.loan)?;
            cursor.advance(read.length);
            return Ok(read.blob);
        }
        I::read(cursor)
    }
}

impl<I: Intake> Default for Ahead<'_, I> {
    fn default() -> Self {
        Self(Vec::new().into_iter())
    }
}

impl<I: Intake> fmt::Debug for Ahead<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ahead").field(&self.0.len()).finish()
    }
}

/// The start of a line that is most likely a blob.
const CUT: &[u8] = b"\n{";

/// Memory limit for the blobs of one piece: several times what half a megabyte of normal text
/// needs.
const MEMORY: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::fbc::Decisive;

    fn blob(name: &str) -> String {
        format!("{{\"schema\":\"olm.package\",\"name\":\"{name}\"}}")
    }

    #[test]
    fn a_text_is_cut_before_lines_that_begin_an_object() {
        let text = b"{}\n{}\n\n{}\n {}\n{}\n{";
        assert_eq!(pieces(text, true, 1), from_ref(&(0..18)));
        assert_eq!(pieces(text, false, 1), from_ref(&(0..16)));
        assert_eq!(pieces(text, true, 2), [0..13, 13..18]);
        assert_eq!(pieces(text, false, 3), [0..6, 6..13, 13..16]);
        assert_eq!(pieces(b"{}\n", false, 2), []);
        assert_eq!(pieces(b"", true, 2), []);
    }

    /// The blob that is taken at a place, and where the cursor is then.
    fn taken<'t>(
        ahead: &mut Ahead<'t, Decisive<'_>>,
        text: &'t [u8],
        at: usize,
    ) -> (String, usize) {
        let mut cursor = Cursor::new(&text[at..]);
        let blob = ahead.take(&mut cursor).expect("a blob");
        (format!("{blob:?}"), at + cursor.at())
    }

    #[test]
    fn what_was_read_from_another_place_is_passed_over() {
        let text = ["a", "b", "c", "d"].map(blob).join("\n");
        let (text, line) = (text.as_bytes(), blob("a").len() + 1);
        let mut none = Ahead::default();
        let mut ahead = Ahead::read(text, line - 1..text.len());
        assert_eq!(format!("{ahead:?}"), "Ahead(3)");
        for (at, left) in [(0, 3), (line, 2), (3 * line, 0), (2 * line, 0)] {
            let want = taken(&mut none, text, at);
            assert_eq!(taken(&mut ahead, text, at), want, "{at}");
            assert_eq!(format!("{ahead:?}"), format!("Ahead({left})"));
        }
    }

    #[test]
    fn reading_ahead_ends_at_a_fault_and_at_its_bound() {
        let text = [&blob("a"), "{\"schema\":7}", &blob("b")].join("\n");
        let ahead = Ahead::<Decisive<'_>>::read(text.as_bytes(), 0..text.len());
        assert_eq!(format!("{ahead:?}"), "Ahead(1)");
        let many = "{\"schema\":\"olm.channel\",\"entries\":[{}".to_owned()
            + &",{}".repeat(100_000)
            + "]}";
        let ahead = Ahead::<Decisive<'_>>::read(many.as_bytes(), 0..many.len());
        assert_eq!(format!("{ahead:?}"), "Ahead(0)");
    }
}
