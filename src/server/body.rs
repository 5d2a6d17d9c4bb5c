//! Reading the body of a request: as much as a review can be, in bounded memory, in time.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::server::deadline::Deadline;
use crate::server::peers::Peers;

/// The memory that the large bodies of a server share.
///
/// Each body has [`FREE`] bytes for itself, so that an ordinary review never needs a share: bodies that
/// are large and slow are only in each other's way. One that is larger is weighed from its first byte,
/// by the memory that is set aside for it and before it is. Half of the memory is the most that one
/// address has of it.
#[derive(Debug)]
pub(super) struct BodyMemory {
    all: Arc<Semaphore>,
    peers: Peers,
}

/// A body that was read.
#[derive(Debug, Default)]
pub(super) struct ReadBody {
    pub(super) bytes: Vec<u8>,
    _share: Share,
}

/// What a body takes of the memory, until it is dropped: what was read from it may be as large.
#[derive(Debug, Default)]
#[must_use = "the memory is given back when it is dropped"]
pub(super) struct Share {
    /// Of all, and of what its address has.
    _permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
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

impl ReadBody {
    /// Whether it has more than every body has for itself.
    pub(super) fn is_large(&self) -> bool {
        self.bytes.capacity() > FREE
    }
}

impl BodyMemory {
    /// So many bytes in all.
    pub(super) fn of(bytes: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))),
            peers: Peers::of(bytes),
        }
    }

    /// Reads the body that an address sends, until the deadline.
    pub(super) async fn read(
        &self,
        peer: IpAddr,
        headers: &HeaderMap,
        mut body: Body,
        deadline: Deadline,
    ) -> Result<ReadBody, BodyError> {
        let declared = declared(headers).unwrap_or_default();
        if declared > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
        let mut read = ReadBody::default();
        while let Some(data) = next(&mut body, deadline).await? {
            let length = read.bytes.len() + data.len();
            if length > BODY_LIMIT {
                return Err(BodyError::TooLarge);
            }
            if length > read.bytes.capacity() {
                let room = room(length, declared);
                read = self.moved(read, room, peer, deadline).await?;
            }
            read.bytes.extend_from_slice(&data);
        }
        Ok(read)
    }

    /// What was read, where there is room for so many bytes. Both places are weighed while there are two.
    async fn moved(
        &self,
        read: ReadBody,
        room: usize,
        peer: IpAddr,
        deadline: Deadline,
    ) -> Result<ReadBody, BodyError> {
        let share = self.share(peer, room, deadline).await?;
        let mut bytes = Vec::with_capacity(room);
        bytes.extend_from_slice(&read.bytes);
        Ok(ReadBody {
            bytes,
            _share: share,
        })
    }

    async fn share(
        &self,
        peer: IpAddr,
        bytes: usize,
        deadline: Deadline,
    ) -> Result<Share, BodyError> {
        if bytes <= FREE {
            return Ok(Share::default());
        }
        let count = |bytes| u32::try_from(bytes).map_err(|_| BodyError::TooLarge);
        // One that is larger than what its address may have takes that whole.
        let (of_all, of_peer) = (count(bytes)?, count(bytes.min(self.peers.each))?);
        let taken = async {
            let of_peer = self.peers.share(peer).acquire_many_owned(of_peer).await?;
            let of_all = Arc::clone(&self.all).acquire_many_owned(of_all).await?;
            Ok::<_, AcquireError>((of_all, of_peer))
        };
        match timeout_at(deadline.at, taken).await {
            Ok(Ok(permits)) => Ok(Share {
                _permits: Some(permits),
            }),
            Ok(Err(_)) | Err(_) => Err(BodyError::NoRoom(deadline)),
        }
    }
}

/// How much room a body gets that has so many bytes and says how many there will be. A length that lies
/// costs no more than what every body has for itself, until more than that has come.
fn room(length: usize, declared: usize) -> usize {
    if length <= FREE {
        return declared.clamp(length, FREE);
    }
    let doubled = length.next_power_of_two().min(BODY_LIMIT);
    if declared < length { doubled } else { declared }
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

/// What every body has for itself: the connections that may be open bound it as a whole. A review of an
/// ordinary extension has 7 KB.
pub(super) const FREE: usize = 16 << 10;

#[cfg(test)]
mod tests;
