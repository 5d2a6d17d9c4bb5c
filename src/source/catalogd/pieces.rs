//! What the thread reads: the frames of a body, decompressed, measured and digested.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use hyper::body::{Buf, Bytes};
use ring::digest::{Context, SHA256};
use tokio::sync::mpsc::Receiver;

use super::cause::innermost;
use super::{Encoding, End, FetchError, Size};
use crate::source::SourceError;

/// One step of a body.
#[derive(Debug)]
pub(super) enum Piece {
    Data(Bytes),
    /// It is whole. A queue that ends without it was given up.
    End,
}

impl Piece {
    /// In bytes.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Data(data) => data.len() as u64,
            Self::End => 0,
        }
    }
}

/// A body as it comes.
pub(super) struct Pieces {
    queue: Receiver<Piece>,
    current: Bytes,
    ended: bool,
}

impl Pieces {
    pub(super) fn new(queue: Receiver<Piece>) -> Self {
        let (current, ended) = (Bytes::new(), false);
        Self {
            queue,
            current,
            ended,
        }
    }
}

impl BufRead for Pieces {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.current.is_empty() && !self.ended {
            match self.queue.blocking_recv() {
                Some(Piece::Data(data)) => self.current = data,
                Some(Piece::End) => self.ended = true,
                None => return Err(io::Error::new(ErrorKind::ConnectionAborted, GIVEN_UP)),
            }
        }
        Ok(&self.current)
    }

    fn consume(&mut self, count: usize) {
        self.current.advance(count);
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// A body as `consume` reads it.
pub(super) struct Content {
    input: DecodedPieces,
    digest: Context,
    bytes: u64,
    limit: u64,
    /// What ended it too early. A reader may word an error anew, or pass over it: this stays.
    fault: Option<FetchError>,
}

enum DecodedPieces {
    Identity(Pieces),
    Gzip(Box<MultiGzDecoder<Pieces>>),
}

impl Content {
    pub(super) fn new(pieces: Pieces, encoding: Encoding, limit: u64) -> Self {
        let input = match encoding {
            Encoding::Identity => DecodedPieces::Identity(pieces),
            Encoding::Gzip => DecodedPieces::Gzip(Box::new(MultiGzDecoder::new(pieces))),
        };
        Self {
            input,
            digest: Context::new(&SHA256),
            bytes: 0,
            limit,
            fault: None,
        }
    }

    /// What was made of it, if it is whole: what was left unread is looked at for that.
    pub(super) fn finish<T>(
        mut self,
        value: Result<T, SourceError>,
    ) -> Result<(T, [u8; 32]), FetchError> {
        if value.is_ok() {
            // An error of it is kept as the fault.
            drop(io::copy(&mut self, &mut io::sink()));
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let value = value.map_err(FetchError::Content)?;
        let digest = self.digest.finish();
        let sha256 = digest.as_ref().try_into().expect("SHA-256 has 32 bytes");
        Ok((value, sha256))
    }

    fn fail(&mut self, error: io::Error) -> io::Error {
        let fault = match (&self.input, error.kind()) {
            (DecodedPieces::Gzip(_), ErrorKind::UnexpectedEof) => {
                FetchError::Truncated { end: End::Gzip }
            }
            (_, ErrorKind::ConnectionAborted) => FetchError::Lost,
            _ => FetchError::Gzip {
                why: innermost(&error),
            },
        };
        self.fault.get_or_insert(fault);
        error
    }

    fn count(&mut self, read: &[u8]) -> io::Result<()> {
        self.bytes += read.len() as u64;
        if self.bytes > self.limit {
            let (size, limit) = (Size::Decompressed, self.limit);
            self.fault
                .get_or_insert(FetchError::TooLarge { size, limit });
            return Err(io::Error::other("more than is read"));
        }
        self.digest.update(read);
        Ok(())
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer);
        let count = read.map_err(|error| self.fail(error))?;
        self.count(buffer.get(..count).unwrap_or_default())?;
        Ok(count)
    }
}

impl Read for DecodedPieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Identity(input) => input.read(buffer),
            Self::Gzip(input) => input.read(buffer),
        }
    }
}

/// Seen only by a reader whose fetch has ended otherwise.
const GIVEN_UP: &str = "the fetch was given up";
