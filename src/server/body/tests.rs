//! Bodies that are large, late or broken off.

use std::time::Duration;

use axum::http::HeaderValue;
use tokio::time::Instant;

use super::*;

const LARGE: usize = FREE + 8;

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

async fn read(memory: &BodyMemory, bytes: usize) -> Result<Read, BodyError> {
    memory.read(&length(bytes), body(bytes), deadline()).await
}

async fn refused(memory: &BodyMemory, headers: &HeaderMap, body: Body) -> String {
    let read = memory.read(headers, body, deadline()).await;
    read.unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_large_body_takes_its_share_until_it_is_given_back() {
    let memory = BodyMemory::of(10);
    let first = read(&memory, LARGE).await.unwrap();
    assert_eq!(first.bytes.len(), LARGE);
    assert_eq!(memory.0.available_permits(), 2);
    assert_eq!(
        read(&memory, LARGE).await.unwrap_err().to_string(),
        "no room for a large body within 1000 ms: expected fewer at once; try again"
    );
    let (second, ()) = tokio::join!(read(&memory, LARGE), async { drop(first) });
    drop(second.unwrap());
    assert_eq!(memory.0.available_permits(), 10);
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
    let read = memory.read(&length(BODY_LIMIT), body(1), deadline()).await;
    assert_eq!(read.unwrap().bytes.capacity(), 1 + FREE);
}

#[tokio::test]
async fn what_is_too_large_is_refused_by_its_length_or_as_it_comes() {
    let memory = BodyMemory::of(8 << 20);
    let expected = "body larger than 7340032 bytes: expected an AdmissionReview";
    let huge = BODY_LIMIT + 1;
    assert_eq!(refused(&memory, &length(huge), body(0)).await, expected);
    assert_eq!(
        refused(&memory, &HeaderMap::new(), body(huge)).await,
        expected
    );
    assert_eq!(refused(&memory, &length(1), body(huge)).await, expected);
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
    let gone = axum::Error::new(axum::Error::new(std::io::Error::other("gone")));
    let broken = futures_util::stream::iter([Err::<Bytes, _>(gone)]);
    assert_eq!(
        refused(&memory, &HeaderMap::new(), Body::from_stream(broken)).await,
        "body cannot be read: gone"
    );
}
