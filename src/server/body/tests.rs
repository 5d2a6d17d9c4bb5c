//! Bodies that are large, late or broken off.

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
        "no room for a large body within 1000 ms: expected fewer at once; try again"
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

/// A body of unknown length, in pieces.
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
