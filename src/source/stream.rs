//! One file through a bounded buffer, which grows to the size of the largest blob at most.

use std::io::{self, Read};

use super::error::SourceError;
use super::lines;
use super::pipeline::Pipeline;
use olmguard_catalog::fbc::advance::{Advance, advance};
use olmguard_catalog::fbc::intake::Intake;
use olmguard_catalog::fbc::reader::{BLOB_LIMIT, Reader};
use olmguard_catalog::heap::allocated;
use olmguard_catalog::memory::{Account, Loan, TooLarge};

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
        let (past, next) = if lines::are_worth_threads(&reader, text) {
            lines::read(&mut reader, text, ended, pipeline)?
        } else {
            (0, advance(&mut reader, text, ended, pipeline)?)
        };
        buffer.start += past;
        match next {
            Advance::Past(consumed) => buffer.start += consumed,
            Advance::More => {
                let least = lines::wanted(&reader).unwrap_or(CHUNK);
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
