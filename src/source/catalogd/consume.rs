//! A body, from the runtime to a thread that reads it.
//!
//! Reading a catalog is seconds of work for a processor: it has no place on the threads that answer
//! the API server, and gives way to them. What is on its way between the two is a few frames.

use std::error::Error;
use std::io::Read;
use std::thread;

use hyper::HeaderMap;
use hyper::body::{Body, Bytes};
use hyper::header::CONTENT_ENCODING;
use rustix::process::setpriority_process;
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::oneshot;

use super::cause::innermost;
use super::feed::feed;
use super::pieces::{Content, Piece, Pieces};
use super::{FetchError, FetchLimits, FetchedBody, ResponseFault};
use crate::source::SourceError;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// Not at all.
    Identity,
    /// With gzip, in one piece or several.
    Gzip,
}

impl Encoding {
    /// What the head of an answer says.
    ///
    /// # Errors
    /// If it is another one, or several.
    pub fn of(headers: &HeaderMap) -> Result<Self, ResponseFault> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let (first, more) = (values.next(), values.next());
        let value = first.map_or("identity", |value| value.to_str().unwrap_or("?"));
        if more.is_none() && value.eq_ignore_ascii_case("identity") {
            Ok(Self::Identity)
        } else if more.is_none() && value.eq_ignore_ascii_case("gzip") {
            Ok(Self::Gzip)
        } else {
            let found = value.chars().take(ENCODING_SHOWN).collect::<String>();
            Err(ResponseFault::Encoding {
                found: found.into(),
            })
        }
    }
}

/// Reads a body from anywhere as that of catalogd is read: by `f`, on a thread of its own of the
/// lowest priority, decompressed, within the limits on silence and size. Whoever calls it sees to
/// the total time.
///
/// # Errors
/// Those of [`Catalogd::fetch`](super::Catalogd::fetch) that concern a body.
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
        // Nobody waits for it any more where the fetch was given up.
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

/// What the thread does.
fn read<T>(
    queue: Receiver<Piece>,
    encoding: Encoding,
    limit: u64,
    f: impl FnOnce(&mut dyn Read) -> Result<T, SourceError>,
) -> Result<(T, [u8; 32]), FetchError> {
    let mut content = Content::new(Pieces::new(queue), encoding, limit);
    let value = f(&mut content);
    content.finish(value)
}

/// On Linux a priority is that of a thread; elsewhere it would be that of the whole process.
fn give_way() {
    if cfg!(target_os = "linux") {
        // Without it the work is done all the same.
        setpriority_process(None, LOWEST_PRIORITY).unwrap_or_default();
    }
}

/// How many frames are on their way: with frames of 64 KiB a quarter of a megabyte.
const IN_FLIGHT: usize = 4;

/// The largest nice value there is.
const LOWEST_PRIORITY: i32 = 19;

/// How much of an unknown encoding is told.
const ENCODING_SHOWN: usize = 40;
