//! The frames of a body, handed to the thread that reads them.

use std::error::Error;
use std::pin::{Pin, pin};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use super::cause::{Cause, innermost};
use super::pieces::Piece;
use super::{AwaitedPart, End, FetchError, FetchLimits, ResponseFault, Size};

/// Hands a body over, frame by frame, and counts its bytes. If nobody takes them any more, it ends:
/// the other side says why.
pub(super) async fn feed<B>(
    body: B,
    limits: &FetchLimits,
    frames: Sender<Piece>,
) -> Result<u64, FetchError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let length = body.size_hint();
    let end = length.exact().map_or(End::LastChunk, End::Length);
    let mut bytes = 0;
    within(length.lower(), limits.wire)?;
    let mut body = pin!(body);
    loop {
        let piece = tokio::select! {
            () = frames.closed() => return Ok(bytes),
            piece = next(body.as_mut(), end, limits.silence) => piece?,
        };
        let is_end = matches!(piece, Piece::End);
        bytes += piece.length();
        within(bytes, limits.wire)?;
        if frames.send(piece).await.is_err() || is_end {
            return Ok(bytes);
        }
    }
}

/// What comes next, trailers aside.
async fn next<B>(mut body: Pin<&mut B>, end: End, silence: Duration) -> Result<Piece, FetchError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    loop {
        let frame = timeout(silence, body.frame()).await;
        let Some(frame) = frame.map_err(|_| silent(silence))? else {
            return Ok(Piece::End);
        };
        let frame = frame.map_err(|error| broken(&*error.into(), end))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Piece::Data(data));
        }
    }
}

fn within(bytes: u64, limit: u64) -> Result<(), FetchError> {
    let size = Size::Sent;
    if bytes > limit {
        return Err(FetchError::TooLarge { size, limit });
    }
    Ok(())
}

fn silent(limit: Duration) -> FetchError {
    let awaited = AwaitedPart::Progress;
    FetchError::Timeout { awaited, limit }
}

fn broken(error: &(dyn Error + 'static), end: End) -> FetchError {
    let why = match Cause::of(error) {
        Cause::Ended => return FetchError::Truncated { end },
        Cause::Tls(error) => innermost(error),
        Cause::NotHttp(why) | Cause::Other(why) => why,
    };
    ResponseFault::Broken { why }.into()
}
