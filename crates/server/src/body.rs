//! Reads the body of a request: in bounded memory, before a deadline, up to the size of the largest review.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, header};
use http_body_util::BodyExt;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::limits::{Deadline, Peers};

/// The memory that all large bodies of a server share.
///
/// Each body has [`FREE`] bytes of its own, so an ordinary review needs no share, and large or slow bodies only delay
/// each other. A larger body acquires a share for its whole allocation, before the allocation is made. One address can
/// have at most half of the memory.
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

/// The share of a body in the memory. It is kept until it is dropped, because what was parsed from the body can be as
/// large.
#[derive(Debug, Default)]
#[must_use = "the memory is given back when it is dropped"]
pub(super) struct Share {
    /// The permits from all memory and from the share of the address.
    _permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

/// The reason why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    /// The body is longer than any review.
    #[error("body larger than {BODY_LIMIT} bytes: expected an AdmissionReview")]
    TooLarge,
    /// The memory for large bodies is in use, and too little was released in time.
    #[error("no memory for the review within {} ms: expected fewer large ones at once; try again", .0.within.as_millis())]
    NoRoom(Deadline),
    /// The body did not arrive in time.
    #[error("body incomplete after {} ms: expected all of it", .0.within.as_millis())]
    TooSlow(Deadline),
    /// The body broke off.
    #[error("body cannot be read: {}", cause(.0))]
    Broken(axum::Error),
}

impl ReadBody {
    /// Whether the body is larger than the bytes that every body has of its own.
    pub(super) fn is_large(&self) -> bool {
        self.bytes.capacity() > FREE
    }
}

impl BodyMemory {
    /// Creates a memory of `bytes` bytes.
    pub(super) fn of(bytes: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))),
            peers: Peers::of(bytes),
        }
    }

    /// Reads the body that `peer` sends, until the deadline.
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

    /// Moves the bytes to a new allocation of `room` bytes. The shares of both allocations count while both exist.
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
        // A body larger than the share of its address takes that whole share.
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

/// Returns the capacity for a body of `length` bytes so far that declares `declared` bytes. A false declaration
/// reserves no more than [`FREE`] bytes until more than that has arrived.
fn room(length: usize, declared: usize) -> usize {
    if length <= FREE {
        return declared.clamp(length, FREE);
    }
    let doubled = length.next_power_of_two().min(BODY_LIMIT);
    if declared < length { doubled } else { declared }
}

/// Returns the next bytes of a body; none at its end.
async fn next(body: &mut Body, deadline: Deadline) -> Result<Option<Bytes>, BodyError> {
    loop {
        let frame = timeout_at(deadline.at, body.frame()).await;
        match frame.map_err(|_| BodyError::TooSlow(deadline))? {
            None => return Ok(None),
            Some(Err(error)) => return Err(BodyError::Broken(error)),
            // Trailers are ignored.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// Returns the root cause of an error: the errors above it only report that reading a body failed.
fn cause(error: &axum::Error) -> String {
    let error: &dyn Error = error;
    let chain = std::iter::successors(Some(error), |error| (*error).source());
    chain.last().map(ToString::to_string).unwrap_or_default()
}

/// Returns the length that the request declares for its body.
fn declared(headers: &HeaderMap) -> Option<usize> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// The longest body. An API server sends at most two objects of 3 MiB, and the review around them.
pub(super) const BODY_LIMIT: usize = 7 << 20;

/// The bytes that every body has of its own; the limit on connections bounds their sum. A review of an ordinary
/// extension has 7 KB.
pub(super) const FREE: usize = 16 << 10;

// === The headers of a request: they must describe an unencoded JSON body ===

/// Whether `content-type` is `application/json`, in any case and with any parameters.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.map(|value| value.split(';').next().unwrap_or_default().trim());
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

/// Whether `content-encoding` names only `identity`, in any case.
pub(super) fn is_identity(headers: &HeaderMap) -> bool {
    codings(headers, &header::CONTENT_ENCODING)
        .all(|coding| coding.eq_ignore_ascii_case(b"identity"))
}

/// Whether `transfer-encoding` is absent or `chunked` alone.
///
/// hyper accepts any list that ends with `chunked` and removes only the chunks. RFC 9112, 6.1: a
/// server that does not understand a transfer coding answers 501.
pub(super) fn is_chunked_at_most(headers: &HeaderMap) -> bool {
    let mut codings = codings(headers, &header::TRANSFER_ENCODING);
    let first = codings.next();
    first.is_none_or(|coding| coding.eq_ignore_ascii_case(b"chunked")) && codings.next().is_none()
}

/// Returns the codings of a list header, from all its lines.
fn codings<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    let lines = headers.get_all(name).into_iter();
    let codings = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    codings
        .map(<[u8]>::trim_ascii)
        .filter(|coding| !coding.is_empty())
}

#[cfg(test)]
mod tests {
    //! Large, late and truncated bodies.

    use std::net::Ipv4Addr;
    use std::time::Duration;

    use axum::http::HeaderValue;
    use tokio::time::Instant;

    use super::*;

    const LARGE: usize = FREE + 8;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

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

    fn body(bytes: usize) -> Body {
        Body::from(vec![b'x'; bytes])
    }

    async fn read(memory: &BodyMemory, bytes: usize) -> Result<ReadBody, BodyError> {
        memory
            .read(PEER, &length(bytes), body(bytes), deadline())
            .await
    }

    async fn refused(memory: &BodyMemory, headers: &HeaderMap, body: Body) -> String {
        let read = memory.read(PEER, headers, body, deadline()).await;
        read.unwrap_err().to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_takes_its_share_until_it_is_given_back() {
        let memory = BodyMemory::of(2 * LARGE + 2);
        let first = read(&memory, LARGE).await.unwrap();
        assert_eq!((first.bytes.len(), first.bytes.capacity()), (LARGE, LARGE));
        assert_eq!(memory.all.available_permits(), LARGE + 2);
        assert_eq!(
            read(&memory, LARGE).await.unwrap_err().to_string(),
            "no memory for the review within 1000 ms: expected fewer large ones at once; try again"
        );
        let (second, ()) = tokio::join!(read(&memory, LARGE), async { drop(first) });
        drop(second.unwrap());
        assert_eq!(memory.all.available_permits(), 2 * LARGE + 2);
    }

    #[tokio::test(start_paused = true)]
    async fn no_address_has_more_than_half() {
        let memory = BodyMemory::of(4 * LARGE);
        let _two = (
            read(&memory, LARGE).await.unwrap(),
            read(&memory, LARGE).await.unwrap(),
        );
        let of_peer = read(&memory, LARGE);
        let headers = length(LARGE);
        let of_other = memory.read(OTHER, &headers, body(LARGE), deadline());
        let (of_peer, of_other) = tokio::join!(of_peer, of_other);
        assert!(matches!(of_peer.unwrap_err(), BodyError::NoRoom(_)));
        assert_eq!(of_other.unwrap().bytes.len(), LARGE);
    }

    /// Reads bodies of unknown length, in pieces.
    #[tokio::test]
    async fn what_is_set_aside_is_what_is_weighed() {
        let memory = BodyMemory::of(4 * BODY_LIMIT);
        for (pieces, expected) in [(1, 0), (3, 65_536), (100, 2 << 20), (448, BODY_LIMIT)] {
            let piece = || Ok::<_, axum::Error>(Bytes::from(vec![b'x'; 16 << 10]));
            let stream = futures_util::stream::iter((0..pieces).map(move |_| piece()));
            let body = Body::from_stream(stream);
            let read = memory.read(PEER, &HeaderMap::new(), body, deadline()).await;
            let read = read.unwrap();
            let taken = 4 * BODY_LIMIT - memory.all.available_permits();
            assert_eq!(taken, expected, "{pieces}");
            assert!(taken == 0 || read.bytes.capacity() == taken, "{pieces}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_ordinary_body_needs_no_share() {
        let memory = BodyMemory::of(0);
        for bytes in [0, 1, FREE] {
            assert_eq!(read(&memory, bytes).await.unwrap().bytes.len(), bytes);
        }
        assert!(read(&memory, FREE + 1).await.is_err());
    }

    #[tokio::test]
    async fn a_length_is_believed_only_so_far() {
        let memory = BodyMemory::of(BODY_LIMIT);
        let read = memory
            .read(PEER, &length(BODY_LIMIT), body(1), deadline())
            .await;
        assert_eq!(read.unwrap().bytes.capacity(), FREE);
    }

    #[tokio::test]
    async fn what_is_too_large_is_refused_by_its_length_or_as_it_comes() {
        let memory = BodyMemory::of(32 << 20);
        let expected = "body larger than 7340032 bytes: expected an AdmissionReview";
        let huge = BODY_LIMIT + 1;
        assert_eq!(refused(&memory, &length(huge), body(0)).await, expected);
        assert_eq!(
            refused(&memory, &HeaderMap::new(), body(huge)).await,
            expected
        );
        assert_eq!(refused(&memory, &length(1), body(huge)).await, expected);
        assert_eq!(memory.all.available_permits(), 32 << 20);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_in_time_or_breaks_off_is_refused() {
        let memory = BodyMemory::of(1);
        let never = futures_util::stream::pending::<Result<Bytes, axum::Error>>();
        assert_eq!(
            refused(&memory, &HeaderMap::new(), Body::from_stream(never)).await,
            "body incomplete after 1000 ms: expected all of it"
        );
        let gone = axum::Error::new(axum::Error::new(std::io::Error::other("gone")));
        let broken = futures_util::stream::iter([Err::<Bytes, _>(gone)]);
        assert_eq!(
            refused(&memory, &HeaderMap::new(), Body::from_stream(broken)).await,
            "body cannot be read: gone"
        );
    }

    #[test]
    fn json_is_written_in_many_ways() {
        for (value, expected) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("Application/JSON ;CHARSET=UTF-8", true),
            ("application/jsonp", false),
            ("text/json", false),
            ("application/yaml", false),
            ("", false),
        ] {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_json(&headers), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    fn lines(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        let values = values.iter().copied().map(HeaderValue::from_static);
        values.map(|value| (name.clone(), value)).collect()
    }

    #[test]
    fn identity_is_the_only_content_coding() {
        for (values, expected) in [
            (&[][..], true),
            (&["identity"], true),
            (&["Identity"], true),
            (&["IDENTITY, identity"], true),
            (&[" ,"], true),
            (&["gzip"], false),
            (&["identity, gzip"], false),
            (&["identity", "br"], false),
            (&["identities"], false),
        ] {
            let headers = lines(&header::CONTENT_ENCODING, values);
            assert_eq!(is_identity(&headers), expected, "{values:?}");
        }
    }

    #[test]
    fn chunked_is_the_only_transfer_coding() {
        for (values, expected) in [
            (&[][..], true),
            (&["chunked"], true),
            (&["Chunked"], true),
            (&["gzip, chunked"], false),
            (&["gzip", "chunked"], false),
            (&["chunked, chunked"], false),
            (&["identity"], false),
        ] {
            let headers = lines(&header::TRANSFER_ENCODING, values);
            assert_eq!(is_chunked_at_most(&headers), expected, "{values:?}");
        }
    }
}
