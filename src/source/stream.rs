//! One file through a bounded buffer: as much of it is held as the largest blob needs.

use std::io::{self, Read};

use super::SourceError;
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
        match advance(&mut reader, buffer.text(), buffer.ended, pipeline)? {
            Advance::Past(consumed) => buffer.start += consumed,
            Advance::More => {
                let wanted = buffer.make_room().map_err(refused)?;
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
    bytes: Vec<u8>,
    /// Bytes before this one are done with.
    start: usize,
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
            ended: false,
            total: 0,
            loan: account.loan(),
        }
    }

    fn text(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Makes room to read at least as much as is held, so that looking again at a blob that did not end
    /// costs no more than looking at it once. Returns how much that is. While bytes move, they are there
    /// twice.
    fn make_room(&mut self) -> Result<usize, TooLarge> {
        self.bytes.drain(..self.start);
        self.start = 0;
        let (held, room) = (self.bytes.len(), self.bytes.capacity());
        let wanted = held.clamp(CHUNK, BLOB_LIMIT.saturating_sub(held).max(CHUNK));
        if held + wanted > room {
            self.loan.more(allocated(held + wanted))?;
            self.bytes.reserve_exact(wanted);
            self.loan.less(allocated(room));
        }
        Ok(wanted)
    }

    /// Reads on. Returns how much was read in all.
    fn fill(&mut self, wanted: usize) -> io::Result<u64> {
        let mut input = self.input.by_ref().take(wanted as u64);
        let count = input.read_to_end(&mut self.bytes)?;
        self.ended = count < wanted;
        self.total += count as u64;
        Ok(self.total)
    }
}

/// How much is read at a time at least; it and what is made of it stay in the cache.
const CHUNK: usize = 256 << 10;

/// How large a catalog may be. The largest known ones are a few hundred megabytes.
pub(super) const TOTAL_LIMIT: u64 = 768 << 20;
