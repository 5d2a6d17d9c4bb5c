//! Connections over a pipe, with a clock that the tests control.

use axum::Router;
use axum::routing::post;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Duration, Instant, timeout};

use super::*;
use crate::pace::heard;
use crate::telemetry::Metrics;

const PATIENCE: Patience = Patience {
    handshake: Duration::from_secs(5),
    head: Duration::from_secs(5),
    body: Duration::from_secs(30),
    write: Duration::from_secs(5),
    idle: Duration::from_secs(90),
    age: Some(Duration::from_mins(10)),
};

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi";

/// A connection, with the client's end of it.
struct Line {
    far: DuplexStream,
    phase: watch::Sender<Phase>,
}

impl Line {
    fn open() -> Self {
        Self::with(PATIENCE)
    }

    fn with(patience: Patience) -> Self {
        let (near, far) = duplex(1 << 16);
        let (phase, watched) = watch::channel(Phase::Serving);
        let config = ConnectionConfig {
            router: Router::new().route("/", post(async |body: String| body)),
            patience,
            phase: watched,
        };
        tokio::spawn(async move {
            let (pace, metrics) = (Arc::new(PeerWait::new()), Metrics::new());
            let near = heard(near, &pace);
            let peer = ([127, 0, 0, 1], 0).into();
            serve(near, peer, &pace, config, &metrics.connections).await;
        });
        Self { far, phase }
    }

    async fn ask(&mut self) -> String {
        self.far.write_all(REQUEST).await.unwrap();
        self.response().await
    }

    async fn response(&mut self) -> String {
        let mut response = vec![0; 1024];
        let length = self.far.read(&mut response).await.unwrap();
        response.truncate(length);
        String::from_utf8(response).unwrap()
    }

    /// Returns after how many seconds it is closed without another byte.
    async fn closed_after(mut self, begun: Instant) -> u64 {
        let mut rest = String::new();
        self.far.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "");
        begun.elapsed().as_secs()
    }
}

/// Returns how many requests at this interval it answers before it announces its end, and when that
/// is.
async fn lifetime(apart: Duration) -> (u32, Duration) {
    let mut line = Line::open();
    let begun = Instant::now();
    for answered in 1..=1000 {
        let response = line.ask().await;
        assert!(response.ends_with("\r\n\r\nhi"), "{response}");
        if response.contains("\r\nconnection: close\r\n") {
            let told = begun.elapsed();
            assert_eq!(line.closed_after(Instant::now()).await, 0);
            return (answered, told);
        }
        sleep(apart).await;
    }
    panic!("it is never old");
}

async fn pass(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn who_never_asks_is_idle() {
    let begun = Instant::now();
    assert_eq!(Line::open().closed_after(begun).await, 90);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_never_ends_is_cut_off_wherever_it_begins() {
    for requests_before in 0..3 {
        let mut line = Line::open();
        for _ in 0..requests_before {
            line.ask().await;
            pass(60).await;
        }
        let begun = Instant::now();
        for byte in b"POST" {
            line.far.write_all(&[*byte]).await.unwrap();
            pass(1).await;
        }
        assert_eq!(line.closed_after(begun).await, 5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_may_be_idle_between_requests() {
    let mut line = Line::open();
    for _ in 0..5 {
        pass(89).await;
        let response = line.ask().await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        assert!(response.ends_with("\r\n\r\nhi"), "{response}");
    }
    let begun = Instant::now();
    assert_eq!(line.closed_after(begun).await, 90);
}

#[tokio::test(start_paused = true)]
async fn who_is_idle_is_closed_when_the_server_is() {
    for (idle, delay, expected) in [(0, 0, 1), (20, 0, 0), (0, 10, 10), (20, 10, 10)] {
        let mut line = Line::open();
        line.ask().await;
        pass(idle).await;
        let begun = Instant::now();
        line.phase.send_replace(Phase::Leaving);
        pass(delay).await;
        let more = line.far.read_u8();
        let is_open = timeout(Duration::ZERO, more).await.is_err();
        assert!(is_open, "{idle} {delay}");
        line.phase.send_replace(Phase::Closed);
        assert_eq!(line.closed_after(begun).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn who_was_idle_when_the_server_left_is_answered_for_the_last_time() {
    let mut line = Line::open();
    line.ask().await;
    pass(20).await;
    line.phase.send_replace(Phase::Leaving);
    pass(9).await;
    let response = line.ask().await;
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
    assert_eq!(line.closed_after(Instant::now()).await, 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_on_its_way_when_the_server_leaves_is_answered() {
    let mut line = Line::open();
    line.ask().await;
    pass(20).await;
    let (first, rest) = REQUEST.split_at(10);
    line.far.write_all(first).await.unwrap();
    tokio::task::yield_now().await;
    line.phase.send_replace(Phase::Leaving);
    pass(3).await;
    line.far.write_all(rest).await.unwrap();
    let response = line.response().await;
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_cut_off() {
    let mut line = Line::open();
    let begun = Instant::now();
    line.far
        .write_all(&REQUEST[..REQUEST.len() - 1])
        .await
        .unwrap();
    assert_eq!(line.closed_after(begun).await, 30);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_given_up() {
    let mut line = Line::open();
    let begun = Instant::now();
    let body = "x".repeat(1 << 20);
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    line.far.write_all(head.as_bytes()).await.unwrap();
    line.far.write_all(body.as_bytes()).await.unwrap();
    line.far.shutdown().await.unwrap();
    pass(10).await;
    let mut rest = Vec::new();
    line.far.read_to_end(&mut rest).await.unwrap();
    assert!(rest.len() < body.len(), "{}", rest.len());
    assert_eq!(begun.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn who_has_not_asked_yet_may_while_the_server_leaves() {
    let mut line = Line::open();
    line.phase.send_replace(Phase::Leaving);
    pass(20).await;
    let response = line.ask().await;
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
    let begun = Instant::now();
    assert_eq!(line.closed_after(begun).await, 0);
}

#[tokio::test(start_paused = true)]
async fn who_never_asked_goes_with_the_server() {
    let line = Line::open();
    let begun = Instant::now();
    line.phase.send_replace(Phase::Closed);
    assert_eq!(line.closed_after(begun).await, 0);
}

#[tokio::test(start_paused = true)]
async fn who_is_old_is_closed_with_the_next_answer() {
    let mut ages = Vec::new();
    for _ in 0..32 {
        let (answered, age) = lifetime(Duration::from_secs(1)).await;
        assert_eq!(u64::from(answered), age.as_secs() + 1, "one a second");
        assert!((540..=661).contains(&age.as_secs()), "{age:?}");
        ages.push(age.as_secs());
    }
    ages.sort_unstable();
    ages.dedup();
    assert!(ages.len() > 8, "they end at different times: {ages:?}");
}

/// A request may be in flight at any moment, so only an answer ends an old connection.
#[tokio::test(start_paused = true)]
async fn who_is_old_is_not_cut_off_between_two_requests() {
    let (answered, age) = lifetime(Duration::from_secs(89)).await;
    assert!((7..=9).contains(&answered), "{answered}");
    assert!(age.as_secs().is_multiple_of(89), "{age:?}");
}

/// The request starts before the maximum age, and is answered after it.
#[tokio::test(start_paused = true)]
async fn what_is_under_way_when_it_becomes_old_is_answered() {
    let mut line = Line::with(Patience {
        age: Some(Duration::from_secs(10)),
        ..PATIENCE
    });
    pass(8).await;
    let (first, rest) = REQUEST.split_at(10);
    line.far.write_all(first).await.unwrap();
    pass(4).await;
    line.far.write_all(rest).await.unwrap();
    let response = line.response().await;
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
    assert!(response.ends_with("\r\n\r\nhi"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_a_connection_is_never_old() {
    let mut line = Line::with(Patience {
        age: None,
        ..PATIENCE
    });
    for _ in 0..1000 {
        let response = line.ask().await;
        assert!(!response.contains("connection: close"), "{response}");
        pass(89).await;
    }
}

// === From a socket to TLS, or to an error in plain HTTP ===

#[test]
fn each_fault_has_a_class() {
    let failed = |error: rustls::Error| {
        HandshakeError::Failed(io::Error::new(io::ErrorKind::InvalidData, error)).class()
    };
    let end = io::ErrorKind::UnexpectedEof.into();
    for (class, expected) in [
        (HandshakeError::PlainHttp.class(), "not_tls"),
        (HandshakeError::TooSlow.class(), "timeout"),
        (HandshakeError::Failed(end).class(), "closed"),
        (
            failed(rustls::InvalidMessage::InvalidContentType.into()),
            "not_tls",
        ),
        (
            failed(rustls::Error::NoApplicationProtocol),
            "nothing_in_common",
        ),
        (
            failed(rustls::CertificateError::UnknownIssuer.into()),
            "client_certificate",
        ),
        (
            failed(rustls::Error::AlertReceived(
                rustls::AlertDescription::UnknownCA,
            )),
            "refused_by_peer",
        ),
        (failed(rustls::Error::DecryptError), "other"),
    ] {
        assert_eq!(class.as_str(), expected);
    }
}

#[test]
fn the_length_is_that_of_the_text() {
    let (head, text) = PLAIN_HTTP.split_once("\r\n\r\n").unwrap();
    assert!(
        head.ends_with(&format!("content-length: {}", text.len())),
        "{}",
        text.len()
    );
}
