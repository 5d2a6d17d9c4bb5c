//! The reading thread of a fetch: the frames of a body, decompressed, measured and digested.

use std::error::Error;
use std::io::{self, BufRead, ErrorKind, Read};
use std::pin::{Pin, pin};
use std::thread;
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Buf, Bytes};
use hyper::header::CONTENT_ENCODING;
use rustix::process::setpriority_process;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::{FailedLayer, innermost};
use super::{AwaitedPart, BodyEnd, BodySize, FetchError, FetchLimits, FetchedBody, ResponseFault};
use crate::source::SourceError;
use crate::source::digest::{Sha256, Sha256Context};

/// A piece of a body, or `None` at the end of a complete body. A queue that ends without `None` was abandoned.
type BodyPiece = Option<Bytes>;

/// The body of a response, as it arrives.
pub(super) struct Pieces {
    queue: Receiver<BodyPiece>,
    current: Bytes,
    ended: bool,
}

impl Pieces {
    pub(super) fn new(queue: Receiver<BodyPiece>) -> Self {
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
                Some(Some(data)) => self.current = data,
                Some(None) => self.ended = true,
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

/// The body as `consume` reads it, decompressed, counted and digested.
pub(super) struct ConsumedBody {
    input: Box<dyn Read>,
    is_gzip: bool,
    digest: Sha256Context,
    bytes: u64,
    limit: u64,
    /// The first fault of the body. It is kept here because a reader may reword or ignore an error.
    fault: Option<FetchError>,
}

impl ConsumedBody {
    pub(super) fn new(pieces: Pieces, encoding: Encoding, limit: u64) -> Self {
        let is_gzip = encoding == Encoding::Gzip;
        Self {
            input: match encoding {
                Encoding::Identity => Box::new(pieces),
                Encoding::Gzip => Box::new(MultiGzDecoder::new(pieces)),
            },
            is_gzip,
            digest: Sha256Context::default(),
            bytes: 0,
            limit,
            fault: None,
        }
    }

    /// Reads the rest of the body to check that it is complete, and then returns the value.
    pub(super) fn finish<T>(
        mut self,
        value: Result<T, SourceError>,
    ) -> Result<(T, Sha256), FetchError> {
        if value.is_ok() {
            // An error is kept in `fault`.
            drop(io::copy(&mut self, &mut io::sink()));
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let value = value.map_err(FetchError::Content)?;
        Ok((value, self.digest.finish()))
    }

    fn fail(&mut self, error: io::Error) -> io::Error {
        let fault = match error.kind() {
            ErrorKind::UnexpectedEof if self.is_gzip => {
                FetchError::Truncated { end: BodyEnd::Gzip }
            }
            ErrorKind::ConnectionAborted => FetchError::Lost,
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
            let (size, limit) = (BodySize::Decompressed, self.limit);
            self.fault
                .get_or_insert(FetchError::TooLarge { size, limit });
            return Err(io::Error::other("more than is read"));
        }
        self.digest.update(read);
        Ok(())
    }
}

impl Read for ConsumedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer);
        let count = read.map_err(|error| self.fail(error))?;
        self.count(buffer.get(..count).unwrap_or_default())?;
        Ok(count)
    }
}

/// The message of a read after the fetch has ended. Only a reader that is still running sees it.
const GIVEN_UP: &str = "the fetch was given up";

// === The frames of a body, handed to the thread that reads them ===

/// Sends a body to the reading thread, frame by frame, and counts its bytes. Stops if the reader has gone, because the
/// reader reports the reason.
pub(super) async fn feed<B>(
    body: B,
    limits: &FetchLimits,
    frames: Sender<BodyPiece>,
) -> Result<u64, FetchError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let length = body.size_hint();
    let end = length.exact().map_or(BodyEnd::LastChunk, BodyEnd::Length);
    let mut bytes = 0;
    within(length.lower(), limits.wire)?;
    let mut body = pin!(body);
    loop {
        let piece = tokio::select! {
            () = frames.closed() => return Ok(bytes),
            piece = next(body.as_mut(), end, limits.silence) => piece?,
        };
        let is_end = piece.is_none();
        bytes += piece.as_ref().map_or(0, Bytes::len) as u64;
        within(bytes, limits.wire)?;
        if frames.send(piece).await.is_err() || is_end {
            return Ok(bytes);
        }
    }
}

/// Returns the next piece of data. Trailers are skipped.
async fn next<B>(
    mut body: Pin<&mut B>,
    end: BodyEnd,
    silence: Duration,
) -> Result<BodyPiece, FetchError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    loop {
        let frame = timeout(silence, body.frame()).await;
        let frame = frame.map_err(|_| FetchError::Timeout {
            awaited: AwaitedPart::Progress,
            limit: silence,
        })?;
        let Some(frame) = frame else {
            return Ok(None);
        };
        let frame = frame.map_err(|error| broken(&*error.into(), end))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

fn within(bytes: u64, limit: u64) -> Result<(), FetchError> {
    let size = BodySize::Sent;
    if bytes > limit {
        return Err(FetchError::TooLarge { size, limit });
    }
    Ok(())
}

fn broken(error: &(dyn Error + 'static), end: BodyEnd) -> FetchError {
    let why = match FailedLayer::of(error) {
        FailedLayer::Ended => return FetchError::Truncated { end },
        FailedLayer::Tls(error) => innermost(error),
        FailedLayer::NotHttp(why) | FailedLayer::Other(why) => why,
    };
    ResponseFault::Broken { why }.into()
}

// === From the runtime to the thread that reads a body ===
//
// Reading a catalog takes seconds of CPU time. So it runs on its own thread, which has a lower priority than the
// threads that answer the API server. At most a few frames are queued between them.

/// The compression of a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// No compression.
    Identity,
    /// gzip, in one member or several.
    Gzip,
}

impl Encoding {
    /// Reads the encoding from the headers of a response.
    ///
    /// # Errors
    /// Fails if there are several encodings, or one that is not supported.
    pub fn of(headers: &HeaderMap) -> Result<Self, ResponseFault> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let (first, more) = (values.next(), values.next());
        let value = first.map_or("identity", |value| value.to_str().unwrap_or("?"));
        match value.to_ascii_lowercase().as_str() {
            "identity" if more.is_none() => Ok(Self::Identity),
            // RFC 9110, section 8.4.1.3: the second is an alias of the first.
            "gzip" | "x-gzip" if more.is_none() => Ok(Self::Gzip),
            _ => {
                let found = value.chars().take(ENCODING_SHOWN).collect::<String>();
                let found = found.into();
                Err(ResponseFault::Encoding { found })
            }
        }
    }
}

/// Reads any body as a fetch reads it: with `f`, on its own thread with the lowest priority, decompressed, within the
/// limits on silence and size. The caller must limit the total time.
///
/// # Errors
/// The errors of `HttpClient::fetch` about a body.
pub async fn consume<B, T, F>(
    body: B,
    encoding: Encoding,
    limits: &FetchLimits,
    f: F,
) -> Result<FetchedBody<T>, FetchError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    T: Send + 'static,
    F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
{
    let (frames, queue) = mpsc::channel(IN_FLIGHT);
    let (done, outcome) = oneshot::channel();
    let content = limits.content;
    let thread = thread::Builder::new().name("catalog".to_owned());
    let started = thread.spawn(move || {
        give_way();
        // No one receives the result if the fetch was abandoned.
        drop(done.send(read(queue, encoding, content, f)));
    });
    started.map_err(|error| FetchError::NoThread {
        why: innermost(&error),
    })?;

    let fed = feed(body, limits, frames).await;
    let read = outcome.await.unwrap_or(Err(FetchError::Lost));
    let (bytes, (value, sha256)) = (fed?, read?);
    Ok(FetchedBody {
        value,
        bytes,
        sha256,
    })
}

/// Runs on the reading thread.
fn read<T>(
    queue: Receiver<BodyPiece>,
    encoding: Encoding,
    limit: u64,
    f: impl FnOnce(&mut dyn Read) -> Result<T, SourceError>,
) -> Result<(T, Sha256), FetchError> {
    let mut content = ConsumedBody::new(Pieces::new(queue), encoding, limit);
    let value = f(&mut content);
    content.finish(value)
}

/// Lowers the priority of the thread. Only on Linux, because elsewhere this would affect the whole process.
fn give_way() {
    if cfg!(target_os = "linux") {
        // A failure only means that the thread keeps its priority.
        setpriority_process(None, LOWEST_PRIORITY).unwrap_or_default();
    }
}

/// The number of frames in the queue: a quarter of a megabyte with frames of 64 KiB.
const IN_FLIGHT: usize = 4;

/// The largest nice value.
const LOWEST_PRIORITY: i32 = 19;

/// The maximum number of characters of an unknown encoding that are shown.
const ENCODING_SHOWN: usize = 40;
