//! The record of a catalog: its reduced blobs, to be handed over again later.
//!
//! ```text
//! reader --> Recorder --> zstd frame { piece, piece, ..., end } --replay--> Sink
//! ```
//!
//! A record holds what a [`Sink`] is given, so it knows nothing of the rules of an OLM, and an index is
//! always built by a [`CatalogBuilder`](olmguard_catalog::CatalogBuilder): a damaged record can at worst be
//! refused. It is one zstd frame, which says itself where it ends, so records may follow one another.
//!
//! Invariants: what was recorded is replayed in its order, errors included; a record that lacks its
//! end is never taken for a whole one; replaying holds one blob in memory, whatever the input claims.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde::{Deserialize, Serialize};
use zstd::stream::{read, write};

use crate::source::framed::{self, FrameError};
use olmguard_catalog::blob::{BlobFault, Content, Key, Sink};
use olmguard_catalog::heap::Heap;
use olmguard_catalog::memory::{Account, TooLarge};

/// The version of the form, and of what is reduced to it; a record of another one is not replayed.
pub(super) const VERSION: u32 = 4;

/// Records the blobs it takes.
pub struct Recorder<W: Write> {
    frame: write::Encoder<'static, W>,
    /// Room for one blob.
    buffer: Vec<u8>,
    written: RecordContent,
    /// The first thing that went wrong; nothing is written after it.
    fault: Option<io::Error>,
}

/// What was written, before compression.
#[derive(Clone, Copy, Debug, Default)]
struct RecordContent {
    blobs: u64,
    bytes: u64,
}

/// Gives each blob to two sinks.
pub struct Both<'a>(pub &'a mut dyn Sink, pub &'a mut dyn Sink);

/// Why a record cannot be replayed. What was handed over until then means nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It cannot be read or decompressed, or ends early.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A blob in it is not as one was written.
    #[error("blob {number} of the record: {reason}")]
    Blob {
        /// Which one, counted from 1.
        number: u64,
        /// What is wrong with it.
        reason: Box<str>,
    },
    /// It holds more than is read.
    #[error("larger than {limit} bytes, decompressed: expected the record of a catalog")]
    TooLarge {
        /// How many bytes are read.
        limit: u64,
    },
    /// It needs more memory than there is for it.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// Something follows its end.
    #[error("more bytes after the end of the record")]
    Trailing,
}

/// One blob as it is written.
#[derive(Deserialize, Serialize)]
struct RecordedBlob<'a> {
    #[serde(borrow)]
    key: Key<'a>,
    #[serde(borrow)]
    content: Result<Content<'a>, BlobFault>,
}

impl<W: Write> Recorder<W> {
    /// Begins a record.
    pub fn new(to: W) -> io::Result<Self> {
        let mut frame = write::Encoder::new(to, LEVEL)?;
        frame.window_log(WINDOW_LOG)?;
        frame.include_checksum(true)?;
        Ok(Self {
            frame,
            buffer: Vec::new(),
            written: RecordContent::default(),
            fault: None,
        })
    }

    /// Ends the record.
    ///
    /// # Errors
    /// The first thing that went wrong since it was begun: a write, or a blob or a catalog of a size
    /// that would not be replayed.
    pub fn finish(self) -> io::Result<W> {
        let Self {
            mut frame, fault, ..
        } = self;
        fault.map_or(Ok(()), Err)?;
        framed::write_end(&mut frame)?;
        frame.finish()
    }

    fn write(&mut self, blob: &RecordedBlob<'_>) -> Result<(), RecordError> {
        self.written.blobs += 1;
        framed::write(blob, BLOB_LIMIT, &mut self.buffer, &mut self.frame)
            .map_err(|fault| RecordError::blob(self.written.blobs, fault))?;
        self.written.bytes += framed::PREFIX + self.buffer.len() as u64;
        if self.written.bytes > TOTAL_LIMIT {
            return Err(RecordError::TooLarge { limit: TOTAL_LIMIT });
        }
        Ok(())
    }
}

impl<W: Write> Sink for Recorder<W> {
    fn blob(&mut self, key: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        if self.fault.is_none() {
            self.fault = self
                .write(&RecordedBlob { key, content })
                .err()
                .map(Into::into);
        }
    }
}

impl Sink for Both<'_> {
    fn memory(&self) -> Account {
        self.0.memory()
    }

    fn blob(&mut self, key: Key<'_>, content: Result<Content<'_>, BlobFault>) {
        // A copy, and the text of it in a buffer that may be growing.
        let Ok(_copies) = self.memory().lend(content.heap_bytes().saturating_mul(4)) else {
            return;
        };
        self.0.blob(key, content.clone());
        self.1.blob(key, content);
    }

    fn unfiled(&mut self, has_schema: bool) {
        self.0.unfiled(has_schema);
        self.1.unfiled(has_schema);
    }
}

/// Hands over the blobs of a record, which is all that `input` holds.
///
/// # Errors
/// Whatever tells a damaged, cut or foreign record from a whole one.
pub fn replay(input: impl Read, sink: &mut dyn Sink) -> Result<(), RecordError> {
    let mut input = BufReader::new(input);
    replay_next(&mut input, sink)?;
    if input.fill_buf()?.is_empty() {
        Ok(())
    } else {
        Err(RecordError::Trailing)
    }
}

/// Hands over the blobs of the record that `input` begins with, and leaves what follows it unread.
pub(super) fn replay_next(
    input: &mut impl BufRead,
    sink: &mut dyn Sink,
) -> Result<(), RecordError> {
    let mut frame = read::Decoder::with_buffer(input)?.single_frame();
    frame.window_log_max(WINDOW_LOG)?;
    let mut pieces = frame.take(TOTAL_LIMIT + framed::PREFIX);
    let replayed = replay_pieces(&mut pieces, sink);
    if matches!(replayed, Err(RecordError::Memory(_))) {
        // What follows the record is read all the same.
        io::copy(&mut pieces, &mut io::sink())?;
    }
    if pieces.limit() == 0 && replayed.is_err() {
        return Err(RecordError::TooLarge { limit: TOTAL_LIMIT });
    }
    replayed?;
    // The checksum of the frame stands behind what it holds.
    match pieces.into_inner().read(&mut [0])? {
        0 => Ok(()),
        _ => Err(RecordError::Trailing),
    }
}

fn replay_pieces(from: &mut impl Read, sink: &mut dyn Sink) -> Result<(), RecordError> {
    let account = sink.memory();
    let (mut buffer, mut held) = (Vec::new(), account.loan());
    for number in 1.. {
        let blob = framed::read_within(from, BLOB_LIMIT, &mut buffer, &mut held);
        let blob = blob.map_err(|fault| RecordError::blob(number, fault))?;
        let Some(RecordedBlob { key, content }) = blob else {
            break;
        };
        sink.blob(key, content);
        account.check()?;
    }
    Ok(())
}

impl RecordError {
    fn blob(number: u64, fault: FrameError) -> Self {
        match fault {
            FrameError::Io(error) => Self::Io(error),
            FrameError::Memory(too_large) => Self::Memory(too_large),
            FrameError::TooLarge { .. } | FrameError::Form { .. } => Self::Blob {
                number,
                reason: fault.to_string().into(),
            },
        }
    }
}

impl From<RecordError> for io::Error {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Io(error) => error,
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}

impl<W: Write> fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("written", &self.written)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Both<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Both").finish_non_exhaustive()
    }
}

/// How much of a blob decides is a few kilobytes of names, in the largest channels known a few
/// hundred; a blob as read has at most 250,000 items.
const BLOB_LIMIT: usize = 8 << 20;

/// What decides in the whole catalogs known is less than a megabyte.
const TOTAL_LIMIT: u64 = 64 << 20;

/// Beyond it records grow no smaller, only slower to make.
const LEVEL: i32 = 3;

/// 2^19 bytes: a reader and a writer hold no more of what was read or written.
const WINDOW_LOG: u32 = 19;
