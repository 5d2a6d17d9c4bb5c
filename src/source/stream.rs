//! Reading of one file through a bounded buffer, which grows at most to the size of the largest blob. JSON lines are
//! read on all cores.

use std::io::{self, Read};
use std::ops::Range;
use std::thread::{self, Scope, ScopedJoinHandle};

use super::pipeline::{Pipeline, cores};
use super::{SourceError, io_error};
use olmguard_catalog::fbc::Intake;
use olmguard_catalog::fbc::advance::{Advance, Ahead, advance, advance_with, pieces};
use olmguard_catalog::fbc::reader::{BLOB_LIMIT, Reader};
use olmguard_catalog::memory::{Account, Loan, TooLarge, allocated};

/// Reads the file called `name` to its end.
pub(super) fn read<I: Intake>(
    name: &str,
    input: io::Result<impl Read>,
    pipeline: &mut Pipeline<'_, '_, '_, I>,
) -> Result<(), SourceError> {
    let failed = |source| io_error(name, "read", source);
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
                // The same on one core: memory is bounded, and a bound must not depend on the machine.
                let has_lines = reader.is_among_objects();
                let least = if has_lines { HELD } else { CHUNK };
                let wanted = buffer.make_room(least).map_err(refused)?;
                buffer.fill(wanted).map_err(failed)?;
                buffer.check(name)?;
            }
            Advance::End => return Ok(()),
        }
    }
}

/// The part of a file that is in memory.
struct Buffer<R> {
    input: R,
    /// The allocated space. The text is a part of it.
    bytes: Vec<u8>,
    /// The end of the bytes that have been consumed.
    start: usize,
    /// The end of the bytes that have been read.
    end: usize,
    /// Whether the file was read to its end.
    ended: bool,
    total: u64,
    /// The memory that the buffer takes from the account.
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

    /// Refuses a file that is too large or an archive.
    fn check(&self, name: &str) -> Result<(), SourceError> {
        let file = name.into();
        if self.total > TOTAL_LIMIT {
            let limit = TOTAL_LIMIT;
            return Err(SourceError::TooLarge { file, limit });
        }
        if self.is_tar() {
            return Err(SourceError::NoCatalog { file, found: TAR });
        }
        Ok(())
    }

    /// Whether the file is a tar archive, as long as its first bytes are held. No YAML and no JSON has a zero byte.
    fn is_tar(&self) -> bool {
        let text = self.text();
        let header = text.split_at_checked(257);
        let is_whole = self.total == text.len() as u64;
        is_whole
            && header.is_some_and(|(name, rest)| name.contains(&0) && rest.starts_with(b"ustar"))
    }

    /// Makes room for at least as many bytes as are buffered, so scanning an unfinished blob again costs no more than
    /// scanning it once. Returns the number of bytes to read. While bytes are moved, they are in memory twice.
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

    /// Reads `wanted` more bytes, or to the end.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
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
        Ok(())
    }
}

const TAR: &str =
    "is a tar archive: unpack it, and name the file or directory of the catalog in it";

/// The minimum number of bytes to read at a time. They and the values made of them fit into the CPU's cache.
const CHUNK: usize = 256 << 10;

/// The largest size of a catalog in bytes. The largest known ones have a few hundred megabytes.
pub(super) const TOTAL_LIMIT: u64 = 768 << 20;

// === JSON lines on all cores, in order ===
//
// The buffered text is cut into pieces. The first piece is read on this thread. Meanwhile other threads read the other
// pieces ahead, and this thread hands them over when the reader reaches them. So blobs keep the order of the file, and
// their positions are those that one core would find, whatever the number of cores.

/// Whether this much text is worth the start of threads.
fn are_worth_threads(reader: &Reader, text: &[u8]) -> bool {
    text.len() >= WORTH_A_THREAD && reader.is_among_objects() && cores() > 1
}

/// Reads the text, or nearly all of it if it can be cut. Returns how many bytes were consumed, and what to do next.
fn read_lines<I: Intake>(
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
        // Searching for cuts again after each blob would take longer than reading the text.
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
            // If a thread was lost, its piece is read here.
            let ahead = thread.and_then(|thread| thread.join().ok());
            last = walk.to(piece.end, ahead.unwrap_or_default(), pipeline)?;
            if last != Advance::Past(0) {
                break;
            }
        }
        Ok((walk.past, last))
    })
}

/// Starts a thread that reads a piece. Returns `None` if the system cannot start one.
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

/// The progress of the reader through a text.
struct TextWalk<'r, 'text> {
    reader: &'r mut Reader,
    text: &'text [u8],
    ended: bool,
    /// The number of bytes consumed.
    past: usize,
}

impl<'text> TextWalk<'_, 'text> {
    /// Advances at least to `end`, unless more of the file is needed first.
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

/// The number of bytes that are buffered if their blobs can be read by several cores, unless a blob is larger.
const HELD: usize = 1 << 20;

/// The minimum number of bytes that is worth a thread: fewer are read before it would have started.
const WORTH_A_THREAD: usize = 512 << 10;

/// The maximum number of threads. More do not help, because one thread consumes the results.
const THREADS: usize = 4;

/// The stack of a thread in bytes. No reader of blobs is recursive.
const STACK: usize = 512 << 10;
