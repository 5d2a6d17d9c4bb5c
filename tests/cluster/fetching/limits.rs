//! Servers that are too slow, and bodies that are too large.

use std::io::Read;
use std::time::Duration;

use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::{FetchClass, FetchLimits};
use tokio::task::yield_now;

use super::scene::{Scene, catalog, fails, fails_within, text, unreadable};
use olmguard_support::catalogd::answer::{Answer, Step, gzip};

/// A short limit, so that no test waits long.
const SHORT: Duration = Duration::from_millis(200);

fn limits() -> FetchLimits {
    FetchLimits::default()
}

fn endless(start: &str) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\n{start}\r\n");
    Answer::raw(head.as_bytes())
}

/// Returns chunks that are generated while they are sent.
fn two_gigabytes() -> Answer {
    let mut chunk = b"10000\r\n".to_vec();
    chunk.resize(chunk.len() + 65536, b' ');
    chunk.extend_from_slice(b"\r\n");
    endless("transfer-encoding: chunked\r\n").then(Step::Repeat(chunk, 32768))
}

#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let limits = FetchLimits {
        silence: SHORT,
        ..limits()
    };
    let words = "timed out: no answer within 200ms";
    fails_within(limits, Answer(vec![Step::Silence]), "timeout", words).await;
}

#[tokio::test]
async fn a_body_that_falls_silent_is_left() {
    let limits = FetchLimits {
        silence: SHORT,
        ..limits()
    };
    let answer = endless("content-length: 100\r\n")
        .then(Step::Send("{}\n".into()))
        .then(Step::Silence);
    let words = "timed out: no further byte of the body within 200ms";
    fails_within(limits, answer, "timeout", words).await;
}

#[tokio::test]
async fn a_body_that_drips_is_read() {
    let limits = FetchLimits {
        silence: Duration::from_millis(500),
        ..limits()
    };
    let body = b"0123456789abcdef".to_vec();
    let answer =
        endless("content-length: 16\r\n").then(Step::Drip(body, Duration::from_millis(40)));
    let scene = Scene::answering(answer).await.within(limits);
    assert_eq!(scene.fetch().await.unwrap().value, "0123456789abcdef");
}

#[tokio::test]
async fn a_body_that_drips_for_too_long_is_left() {
    let limits = FetchLimits {
        total: SHORT,
        ..limits()
    };
    let answer = endless("content-length: 1000\r\n")
        .then(Step::Drip(vec![b' '; 1000], Duration::from_millis(10)));
    let words = "timed out: not fetched within 200ms";
    fails_within(limits, answer, "timeout", words).await;
}

#[tokio::test]
async fn a_listener_that_never_begins_tls_is_left() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limits = FetchLimits {
        connect: SHORT,
        ..limits()
    };
    let catalogd = Catalogd::new(None, limits).unwrap();
    let base = format!(
        "https://localhost:{}/c",
        listener.local_addr().unwrap().port()
    );
    let error = catalogd.fetch(&base, text).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Timeout);
    assert_eq!(error.to_string(), "timed out: no connection within 200ms");
}

#[tokio::test]
async fn a_length_that_is_too_much_is_not_even_begun() {
    let answer =
        endless("content-length: 2147483648\r\n").then(Step::Repeat(vec![b' '; 65536], 32768));
    let words = "body is larger than 805306368 bytes, as sent";
    fails(answer, "too_large", words).await;
}

/// The 2 GB are generated while they are sent. The part that is not read stays with the server.
#[tokio::test]
async fn two_gigabytes_end_early_and_are_never_held() {
    let answer = two_gigabytes();
    let limits = FetchLimits {
        wire: 32 << 20,
        ..limits()
    };
    let scene = Scene::answering(answer).await.within(limits);
    let error = scene.fetch().await.unwrap_err();
    assert_eq!(error.class(), FetchClass::TooLarge);
    assert_eq!(
        error.to_string(),
        "body is larger than 33554432 bytes, as sent"
    );
    let sent = scene.server.sent();
    assert!(sent < 64 << 20, "{sent} bytes were sent");
}

/// A reader that does not read stops the server: only the socket's buffers and a few frames are
/// under way.
#[tokio::test]
async fn a_slow_reader_holds_the_server_up() {
    let answer = two_gigabytes();
    let scene = Scene::answering(answer).await;
    let (base, catalogd) = (scene.server.base("c"), scene.catalogd());
    let (begun, mut begins) = tokio::sync::mpsc::channel(1);
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let fetch = tokio::spawn(async move {
        let fetched = catalogd.fetch(&base, move |input| {
            input.read_exact(&mut [0]).map_err(unreadable)?;
            begun.blocking_send(()).unwrap();
            Ok(wait.recv().is_ok())
        });
        fetched.await
    });
    begins.recv().await.unwrap();
    // Everything except the reader runs on this thread, so if nothing has moved for this many
    // turns, it waits for the reader.
    let (mut sent, mut turns) = (0, 0);
    while turns < 10_000 {
        yield_now().await;
        let now = scene.server.sent();
        turns = if now == sent { turns + 1 } else { 0 };
        sent = now;
    }
    let on_their_way = 1 << 16..32 << 20;
    assert!(on_their_way.contains(&sent), "{sent} bytes");
    fetch.abort();
    assert!(fetch.await.unwrap_err().is_cancelled());
    drop(go_on);
    scene.server.open(0).await;
}

#[tokio::test]
async fn a_gzip_bomb_is_not_unpacked() {
    let bomb = gzip(&vec![b' '; 8 << 20]).repeat(256);
    let limits = FetchLimits {
        content: 16 << 20,
        ..limits()
    };
    let scene = Scene::answering(Answer::gzipped(&bomb))
        .await
        .within(limits);
    let base = scene.server.base("c");
    let error = scene.catalogd().fetch(&base, catalog).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::TooLarge);
    assert_eq!(
        error.to_string(),
        "body is larger than 16777216 bytes, decompressed"
    );
}

/// The unread rest is bounded like the part that was read.
#[tokio::test]
async fn a_gzip_bomb_behind_the_reader_is_not_unpacked() {
    let bomb = gzip(&vec![b' '; 8 << 20]).repeat(256);
    let limits = FetchLimits {
        content: 16 << 20,
        ..limits()
    };
    let scene = Scene::answering(Answer::gzipped(&bomb))
        .await
        .within(limits);
    let base = scene.server.base("c");
    let first = |input: &mut dyn Read| {
        let mut byte = [0];
        input.read_exact(&mut byte).map_err(unreadable)?;
        Ok(byte)
    };
    let error = scene.catalogd().fetch(&base, first).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "body is larger than 16777216 bytes, decompressed"
    );
}
