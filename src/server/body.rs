//! Reading the body of a request: as much as a review can be, in bounded memory, in time.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::server::deadline::Deadline;

/// The memory that the bodies of a server share.
#[derive(Clone, Debug)]
pub(super) struct BodyMemory(Arc<Semaphore>);

/// A body that was read, and its share of the memory.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    _share: OwnedSemaphorePermit,
}

/// Why a body is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    /// It is longer than any review.
    #[error("body larger than {BODY_LIMIT} bytes: expected an AdmissionReview")]
    TooLarge,
    /// Too many are read at once.
    #[error("too many large bodies are being read: expected fewer at once; try again")]
    NoMemory,
    /// It did not come in time.
    #[error("body incomplete after {} ms: expected all of it", .0.within.as_millis())]
    TooSlow(Deadline),
    /// It broke off.
    #[error("body cannot be read: {0}")]
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
        body: Body,
        deadline: Deadline,
    ) -> Result<Read, BodyError> {
        let read = async {
            if declared(headers).is_some_and(|length| length > BODY_LIMIT) {
                return Err(BodyError::TooLarge);
            }
            self.collect(declared(headers).unwrap_or_default(), body)
                .await
        };
        match timeout_at(deadline.at, read).await {
            Ok(read) => read,
            Err(_) => Err(BodyError::TooSlow(deadline)),
        }
    }

    async fn collect(&self, declared: usize, mut body: Body) -> Result<Read, BodyError> {
        let mut share = self.share(0)?;
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(BodyError::Broken)?.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > BODY_LIMIT {
                return Err(BodyError::TooLarge);
            }
            share.merge(self.share(data.len())?);
            if bytes.is_empty() {
                // A length that lies costs no more than a page or two.
                bytes.reserve_exact(declared.clamp(data.len(), data.len() + BELIEVED));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Read {
            bytes,
            _share: share,
        })
    }

    fn share(&self, bytes: usize) -> Result<OwnedSemaphorePermit, BodyError> {
        let count = u32::try_from(bytes).map_err(|_| BodyError::TooLarge)?;
        let share = Arc::clone(&self.0).try_acquire_many_owned(count);
        share.map_err(|_| BodyError::NoMemory)
    }
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

/// How many bytes are set aside on the word of a request.
const BELIEVED: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Bytes;
    use axum::http::HeaderValue;
    use tokio::time::Instant;

    use super::*;

    fn deadline() -> Deadline {
        let within = Duration::from_secs(1);
        Deadline {
            at: Instant::now() + within,
            within,
        }
    }

    fn length(bytes: usize) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_LENGTH, HeaderValue::from(bytes))])
    }

    async fn refused(memory: &BodyMemory, headers: &HeaderMap, body: Body) -> String {
        let read = memory.read(headers, body, deadline()).await;
        read.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_body_takes_its_share_while_it_is_held() {
        let memory = BodyMemory::of(10);
        let body = || Body::from(vec![b'x'; 8]);
        let headers = length(8);
        let read = memory.read(&headers, body(), deadline()).await.unwrap();
        assert_eq!(read.bytes, [b'x'; 8]);
        assert_eq!(
            refused(&memory, &headers, body()).await,
            "too many large bodies are being read: expected fewer at once; try again"
        );
        drop(read);
        assert!(memory.read(&headers, body(), deadline()).await.is_ok());
        assert_eq!(memory.0.available_permits(), 10);
    }

    #[tokio::test]
    async fn a_length_is_believed_only_so_far() {
        let memory = BodyMemory::of(BODY_LIMIT);
        let read = memory
            .read(&length(BODY_LIMIT), Body::from("x"), deadline())
            .await
            .unwrap();
        assert_eq!(read.bytes.capacity(), 1 + BELIEVED);
    }

    #[tokio::test]
    async fn what_is_too_large_is_refused_by_its_length_or_as_it_comes() {
        let memory = BodyMemory::of(8 << 20);
        let expected = "body larger than 7340032 bytes: expected an AdmissionReview";
        let told = length(BODY_LIMIT + 1);
        assert_eq!(refused(&memory, &told, Body::empty()).await, expected);
        let huge = || Body::from(vec![b' '; BODY_LIMIT + 1]);
        assert_eq!(refused(&memory, &HeaderMap::new(), huge()).await, expected);
        assert_eq!(refused(&memory, &length(1), huge()).await, expected);
        assert_eq!(memory.0.available_permits(), 8 << 20);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_in_time_or_breaks_off_is_refused() {
        let memory = BodyMemory::of(1);
        let never = futures_util::stream::pending::<Result<Bytes, axum::Error>>();
        assert_eq!(
            refused(&memory, &HeaderMap::new(), Body::from_stream(never)).await,
            "body incomplete after 1000 ms: expected all of it"
        );
        let broken = futures_util::stream::iter([Err::<Bytes, _>(axum::Error::new("gone"))]);
        assert_eq!(
            refused(&memory, &HeaderMap::new(), Body::from_stream(broken)).await,
            "body cannot be read: gone"
        );
    }
}
