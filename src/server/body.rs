//! Reading the body of a request: as much as a review can be, in bounded memory, in time.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::server::deadline::Deadline;

/// The memory that the large bodies of a server share.
///
/// Each body has [`FREE`] bytes for itself, so that an ordinary review never needs a share: bodies
/// that are large and slow are only in each other's way.
#[derive(Clone, Debug)]
pub(super) struct BodyMemory(Arc<Semaphore>);

/// A body that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    pub(super) share: Share,
}

/// What a body takes of the memory, until it is dropped: what was read from it may be as large.
#[derive(Debug)]
#[must_use = "the memory is given back when it is dropped"]
pub(super) struct Share {
    _permit: OwnedSemaphorePermit,
}

/// Why a body is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    /// It is longer than any review.
    #[error("body larger than {BODY_LIMIT} bytes: expected an AdmissionReview")]
    TooLarge,
    /// Too many large ones are held, and none was let go in time.
    #[error("no room for a large body within {} ms: expected fewer at once; try again", .0.within.as_millis())]
    NoRoom(Deadline),
    /// It did not come in time.
    #[error("body incomplete after {} ms: expected all of it", .0.within.as_millis())]
    TooSlow(Deadline),
    /// It broke off.
    #[error("body cannot be read: {}", cause(.0))]
    Broken(axum::Error),
}

impl BodyMemory {
    /// So many bytes in all.
    pub(super) fn of(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// Reads a body until the deadline.
    pub(super) async fn read(
        &self,
        headers: &HeaderMap,
        mut body: Body,
        deadline: Deadline,
    ) -> Result<Read, BodyError> {
        let declared = declared(headers).unwrap_or_default();
        if declared > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
        let mut share = self.share(0, deadline).await?;
        let mut bytes = Vec::new();
        while let Some(data) = next(&mut body, deadline).await? {
            let length = bytes.len() + data.len();
            if length > BODY_LIMIT {
                return Err(BodyError::TooLarge);
            }
            let more = length.saturating_sub(FREE.max(bytes.len()));
            share.merge(self.share(more, deadline).await?);
            if bytes.is_empty() {
                // A length that lies costs no more than what every body has for itself.
                bytes.reserve_exact(declared.clamp(data.len(), data.len() + FREE));
            }
            bytes.extend_from_slice(&data);
        }
        let share = Share { _permit: share };
        Ok(Read { bytes, share })
    }

    async fn share(
        &self,
        bytes: usize,
        deadline: Deadline,
    ) -> Result<OwnedSemaphorePermit, BodyError> {
        let count = u32::try_from(bytes).map_err(|_| BodyError::TooLarge)?;
        let share = Arc::clone(&self.0).acquire_many_owned(count);
        match timeout_at(deadline.at, share).await {
            Ok(Ok(share)) => Ok(share),
            Ok(Err(_)) | Err(_) => Err(BodyError::NoRoom(deadline)),
        }
    }
}

/// The next bytes of a body; none at its end.
async fn next(body: &mut Body, deadline: Deadline) -> Result<Option<Bytes>, BodyError> {
    loop {
        let frame = timeout_at(deadline.at, body.frame()).await;
        match frame.map_err(|_| BodyError::TooSlow(deadline))? {
            None => return Ok(None),
            Some(Err(error)) => return Err(BodyError::Broken(error)),
            // Whoever sends trailers sends them for nothing.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// What is at the bottom of an error: those above it say only that a body was read.
fn cause(error: &axum::Error) -> String {
    let error: &dyn Error = error;
    let chain = std::iter::successors(Some(error), |error| (*error).source());
    chain.last().map(ToString::to_string).unwrap_or_default()
}

/// The length that the request says its body has.
fn declared(headers: &HeaderMap) -> Option<usize> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// An API server sends at most two objects of 3 MiB, and what surrounds them.
pub(super) const BODY_LIMIT: usize = 7 << 20;

/// What every body has for itself: the connections that may be open bound it as a whole.
const FREE: usize = 64 << 10;

#[cfg(test)]
mod tests;
