//! JSON lines on all cores, in order.
//!
//! What is held of a file is cut into pieces. The first is read here; meanwhile each other piece is read ahead on a
//! thread, and is handed over here once the reader arrives at it. So blobs come in the order of the file and from
//! the places where one core finds them, whatever the number of cores.

use std::ops::Range;
use std::thread::{self, Scope, ScopedJoinHandle};

use super::error::SourceError;
use super::pipeline::{Pipeline, cores};
use olmguard_catalog::fbc::advance::{Advance, Ahead, advance_with, pieces};
use olmguard_catalog::fbc::intake::Intake;
use olmguard_catalog::fbc::reader::Reader;

/// How much of a file is read at a time, if several cores can read its blobs. One core reads as much: memory is bounded,
/// and a bound must not depend on the machine.
pub(super) fn wanted(reader: &Reader) -> Option<usize> {
    reader.is_among_objects().then_some(HELD)
}

/// Whether so much of a file is worth a thread.
pub(super) fn are_worth_threads(reader: &Reader, text: &[u8]) -> bool {
    text.len() >= WORTH_A_THREAD && reader.is_among_objects() && cores() > 1
}

/// Reads what `text` begins with: nearly all of it, if it can be cut. Returns how many bytes that were, and what to do
/// then.
pub(super) fn read<I: Intake>(
    reader: &mut Reader,
    text: &[u8],
    ended: bool,
    pipeline: &mut Pipeline<'_, '_, '_, I>,
) -> Result<(usize, Advance), SourceError> {
    let mut walk = TextWalk {
        reader,
        text,
        ended,
        past: 0,
    };
    let pieces = pieces(text, ended, cores().min(THREADS));
    if pieces.len() < 2 {
        // Looking for cuts again after each blob would take more than reading them.
        let last = walk.to(text.len(), Ahead::default(), pipeline)?;
        return Ok((walk.past, last));
    }
    thread::scope(|scope| {
        let later = pieces.iter().skip(1);
        let later = later.map(|piece| start::<I>(scope, text, piece));
        let later: Vec<_> = later.collect();
        let mut last = Advance::Past(0);
        let threads = std::iter::once(None).chain(later);
        for (piece, thread) in pieces.iter().zip(threads) {
            // What a lost thread was to read is read here.
            let ahead = thread.and_then(|thread| thread.join().ok());
            last = walk.to(piece.end, ahead.unwrap_or_default(), pipeline)?;
            if last != Advance::Past(0) {
                break;
            }
        }
        Ok((walk.past, last))
    })
}

/// Reads a piece on a thread; none if the system has no more.
fn start<'scope, 'text, I: Intake + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    text: &'text [u8],
    piece: &Range<usize>,
) -> Option<ScopedJoinHandle<'scope, Ahead<'text, I>>>
where
    'text: 'scope,
{
    let piece = piece.clone();
    let builder = thread::Builder::new()
        .name("json".to_owned())
        .stack_size(STACK);
    let read = move || Ahead::read(text, piece);
    builder.spawn_scoped(scope, read).ok()
}

/// The reader's walk over a text.
struct TextWalk<'r, 'text> {
    reader: &'r mut Reader,
    text: &'text [u8],
    ended: bool,
    /// Bytes of the text that are done with.
    past: usize,
}

impl<'text> TextWalk<'_, 'text> {
    /// Goes on to a place at least, unless more of the file is needed before.
    fn to<I: Intake>(
        &mut self,
        end: usize,
        mut ahead: Ahead<'text, I>,
        pipeline: &mut Pipeline<'_, '_, '_, I>,
    ) -> Result<Advance, SourceError> {
        while self.past < end {
            let rest = self.text.get(self.past..).unwrap_or_default();
            match advance_with(self.reader, rest, self.ended, pipeline, &mut ahead)? {
                Advance::Past(consumed) => self.past += consumed,
                last => return Ok(last),
            }
        }
        Ok(Advance::Past(0))
    }
}

/// How much of a file is held, but for a larger blob.
const HELD: usize = 1 << 20;

/// Less is read before a thread would have started.
const WORTH_A_THREAD: usize = 512 << 10;

/// More do not help: one thread makes use of what comes back.
const THREADS: usize = 4;

/// Nothing that reads a blob recurses.
const STACK: usize = 512 << 10;
