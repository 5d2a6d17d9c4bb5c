//! One file through a bounded buffer, which grows to the size of the largest blob at most; JSON lines are read on all
//! cores.

use std::io::{self, Read};
use std::ops::Range;
use std::thread::{self, Scope, ScopedJoinHandle};

use super::SourceError;
use super::pipeline::{Pipeline, cores};
use olmguard_catalog::fbc::Intake;
use olmguard_catalog::fbc::advance::{Advance, Ahead, advance, advance_with, pieces};
use olmguard_catalog::fbc::reader::{BLOB_LIMIT, Reader};
use olmguard_catalog::memory::{Account, Loan, TooLarge, allocated};

/// Reads a file of this name to its end.
pub(super) fn read<I: Intake>(
    name: &str,
    input: io::Result<impl Read>,
    pipeline: &mut Pipeline<'_, '_, '_, I>,
) -> Result<(), SourceError> {
    let failed = |source| SourceError::Io {
        path: name.into(),
        action: "read",
        source,
    };
    let refused = |source| SourceError::Memory {
        file: name.into(),
        source,
    };
    let mut buffer = Buffer::new(input.map_err(failed)?, pipeline.memory());
    let mut reader = Reader::new(I::PLACES, pipeline.memory().clone());
    pipeline.begin_file(name)?;
    loop {
        let (text, ended) = (buffer.text(), buffer.ended);
        let (past, next) = if are_worth_threads(&reader, text) {
            read_lines(&mut reader, text, ended, pipeline)?
        } else {
            (0, advance(&mut reader, text, ended, pipeline)?)
        };
        buffer.start += past;
        match next {
            Advance::Past(consumed) => buffer.start += consumed,
            Advance::More => {
                let least = wanted(&reader).unwrap_or(CHUNK);
                let wanted = buffer.make_room(least).map_err(refused)?;
                if buffer.fill(wanted).map_err(failed)? > TOTAL_LIMIT {
                    let (file, limit) = (name.into(), TOTAL_LIMIT);
                    return Err(SourceError::TooLarge { file, limit });
                }
            }
            Advance::End => return Ok(()),
        }
    }
}

/// The part of a file that is held in memory.
struct Buffer<R> {
    input: R,
    /// Room: what is held is a part of it.
    bytes: Vec<u8>,
    /// Bytes before this one are done with.
    start: usize,
    /// Bytes from this one on were not read yet.
    end: usize,
    /// Whether the file was read to its end.
    ended: bool,
    total: u64,
    /// What it takes of memory.
    loan: Loan,
}

impl<R: Read> Buffer<R> {
    fn new(input: R, account: &Account) -> Self {
        Self {
            input,
            bytes: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
            total: 0,
            loan: account.loan(),
        }
    }

    fn text(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Makes room to read at least as much as is held, so that looking again at a blob that did not end
    /// costs no more than looking at it once. Returns how much that is. While bytes move, they are there
    /// twice.
    fn make_room(&mut self, least: usize) -> Result<usize, TooLarge> {
        let (held, room) = (self.end - self.start, self.bytes.len());
        let wanted = held.clamp(least, BLOB_LIMIT.saturating_sub(held).max(least));
        if held + wanted > room {
            self.loan.more(allocated(held + wanted))?;
            // Zeroed pages that were never written take no memory.
            let mut larger = vec![0; held + wanted];
            if let Some(front) = larger.get_mut(..held) {
                front.copy_from_slice(self.text());
            }
            self.bytes = larger;
            self.loan.less(allocated(room));
        } else {
            self.bytes.copy_within(self.start..self.end, 0);
        }
        (self.start, self.end) = (0, held);
        Ok(wanted)
    }

    /// Reads on. Returns how much was read in all.
    fn fill(&mut self, wanted: usize) -> io::Result<u64> {
        let until = self.end + wanted;
        while self.end < until && !self.ended {
            let room = self.bytes.get_mut(self.end..until).unwrap_or_default();
            match self.input.read(room) {
                Ok(count) => {
                    self.ended = count == 0;
                    self.end += count;
                    self.total += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.total)
    }
}

/// How much is read at a time at least; it and what is made of it stay in the cache.
const CHUNK: usize = 256 << 10;

/// How large a catalog may be. The largest known ones are a few hundred megabytes.
pub(super) const TOTAL_LIMIT: u64 = 768 << 20;

// === JSON lines on all cores, in order ===
//
// What is held of a file is cut into pieces. The first is read here; meanwhile each other piece is read ahead on a
// thread, and is handed over here once the reader arrives at it. So blobs come in the order of the file and from
// the places where one core finds them, whatever the number of cores.

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
pub(super) fn read_lines<I: Intake>(
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
