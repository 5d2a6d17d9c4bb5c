//! Accepted and rejected protocols.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{LOOPBACK, Started, listen_on, post, review, start};
use crate::connection::Phase;
use crate::telemetry::Metrics;
use crate::tls::{TlsConfig, self_signed};
use crate::{Guard, Limits, Server};
use olmguard_admission::Enforcement;
use olmguard_engine::snapshot::Snapshot;
use olmguard_views::readiness::Readiness;

#[tokio::test]
async fn a_review_is_answered_on_either_family() {
    for listen in [LOOPBACK, "[::1]:0"] {
        if TcpListener::bind(listen).is_err() {
            println!("left out: {listen} is no address of this machine");
            continue;
        }
        let started = start(listen).await;
        let mut wire = Wire::to(&started).await;
        for _ in 0..2 {
            let response = wire.ask(&post(&review(0).to_string(), "")).await;
            assert_eq!(response.status(), 200, "{response:?}");
            assert_eq!(response.header("content-type"), Some("application/json"));
            assert_eq!(response.header("connection"), None);
            let reply: Value = serde_json::from_slice(&response.body).unwrap();
            assert_eq!(reply["response"]["uid"], "u-1");
            assert_eq!(reply["response"]["auditAnnotations"]["token"], "NoCatalogs");
        }
    }
}

#[tokio::test]
async fn only_http_1_1_is_offered() {
    let started = start(LOOPBACK).await;
    let both: &[&[u8]] = &[b"h2", b"http/1.1"];
    let wire = Wire::with(&started, rustls::DEFAULT_VERSIONS, both)
        .await
        .unwrap();
    assert_eq!(wire.alpn(), Some(&b"http/1.1"[..]));
    let none = Wire::with(&started, rustls::DEFAULT_VERSIONS, &[])
        .await
        .unwrap();
    assert_eq!(none.alpn(), None);
    assert!(
        Wire::with(&started, rustls::DEFAULT_VERSIONS, &[b"h2"])
            .await
            .is_err()
    );
}

#[tokio::test]
async fn tls_1_2_and_1_3_are_spoken() {
    let started = start(LOOPBACK).await;
    for version in [&TLS12, &TLS13] {
        let mut wire = Wire::with(&started, &[version], &[b"http/1.1"])
            .await
            .unwrap();
        let response = wire.ask(&post(&review(0).to_string(), "")).await;
        assert_eq!(response.status(), 200, "{version:?}");
    }
}

#[tokio::test]
async fn what_is_no_review_is_refused_in_one_line() {
    let started = start(LOOPBACK).await;
    let rows = [
        (
            "GET /validate HTTP/1.1\r\nhost: x\r\n\r\n",
            405,
            "expected POST\n",
        ),
        (
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n",
            404,
            "not found: expected /validate or /validate-policy\n",
        ),
        (
            "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}",
            415,
            "content-type is not JSON: expected application/json\n",
        ),
        (
            "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}",
            415,
            "content-type is not JSON: expected application/json\n",
        ),
        (
            "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: Application/JSON; charset=UTF-8\r\ncontent-length: 2\r\n\r\n{}",
            400,
            "not an AdmissionReview: kind is absent: expected AdmissionReview\n",
        ),
    ];
    for (request, status, text) in rows {
        let response = Wire::to(&started).await.ask(request).await;
        assert_eq!(
            (response.status(), response.text()),
            (status, text),
            "{request}"
        );
    }
}

#[tokio::test]
async fn a_body_is_taken_up_to_the_limit() {
    let started = start(LOOPBACK).await;
    let mut wire = Wire::to(&started).await;
    let response = wire.ask(&post(&review(6_500 << 10).to_string(), "")).await;
    assert_eq!(response.status(), 200, "{response:?}");

    // The server has answered, so it may or may not read the rest.
    drop(wire.try_send(&post(&review(8 << 20).to_string(), "")).await);
    assert_eq!(wire.response().await.status(), 413);
}

#[tokio::test]
async fn a_body_of_unknown_length_is_cut_off_at_the_limit() {
    let started = start(LOOPBACK).await;
    let mut wire = Wire::to(&started).await;
    wire.send(
        "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n",
    )
    .await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..128 {
        if wire.try_send(&chunk).await.is_err() {
            break;
        }
    }
    let response = wire.response().await;
    assert_eq!(response.status(), 413);
    assert_eq!(
        response.text(),
        "body larger than 7340032 bytes: expected an AdmissionReview\n"
    );
}

#[tokio::test]
async fn idle_handshakes_keep_nobody_out() {
    let started = start(LOOPBACK).await;
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(TcpStream::connect(started.server.addr()).await.unwrap());
    }
    let response = Wire::to(&started)
        .await
        .ask(&post(&review(0).to_string(), ""))
        .await;
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn health_is_told_in_plain_http() {
    let started = start(LOOPBACK).await;
    for (path, expected) in [
        ("/startupz", "started\n"),
        ("/livez", "alive\n"),
        (
            "/readyz",
            "ready\n[+] certificate: for localhost, 127.0.0.1, ::1, until ",
        ),
    ] {
        let mut wire = Wire::plain(started.server.ops_addr()).await;
        let response = wire
            .ask(&format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"))
            .await;
        assert_eq!(response.status(), 200, "{path}");
        assert!(response.text().starts_with(expected), "{response:?}");
    }
}

#[tokio::test]
async fn readiness_is_told_to_programs_as_json() {
    let started = start(LOOPBACK).await;
    for (query, is_json) in [
        ("?format=json", true),
        ("?verbose&format=json", true),
        ("?format=text", false),
        ("?format=jsonl", false),
    ] {
        let mut wire = Wire::plain(started.server.ops_addr()).await;
        let request = format!("GET /readyz{query} HTTP/1.1\r\nhost: x\r\n\r\n");
        let response = wire.ask(&request).await;
        assert_eq!(response.status(), 200, "{query}");
        let read = Readiness::from_json(response.text());
        let checks = read.map(|readiness| readiness.checks.len()).ok();
        assert_eq!(checks, is_json.then_some(1), "{query}: {response:?}");
    }
}

// === A client that sees every byte ===

/// A connection below HTTP.
pub(super) struct Wire<S> {
    stream: S,
    read: Vec<u8>,
}

/// One response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// A condition that a test waits for comes true in time, or the test fails.
pub(super) async fn soon<T>(condition: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), condition)
        .await
        .expect("in time")
}

impl Wire<TlsStream<TcpStream>> {
    pub(super) async fn to(started: &Started) -> Self {
        let versions = rustls::DEFAULT_VERSIONS;
        Self::with(started, versions, &[b"http/1.1"]).await.unwrap()
    }

    pub(super) async fn with(
        started: &Started,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
    ) -> std::io::Result<Self> {
        Self::at(started.server.addr(), &started.certificate, versions, alpn).await
    }

    /// Connects to this address, and trusts this certificate.
    pub(super) async fn at(
        addr: SocketAddr,
        certificate: &CertificateDer<'static>,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
    ) -> std::io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        let tcp = TcpStream::connect(addr).await?;
        let name = ServerName::from(addr.ip());
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, tcp)
            .await?;
        Ok(Self::over(stream))
    }

    pub(super) fn alpn(&self) -> Option<&[u8]> {
        self.stream.get_ref().1.alpn_protocol()
    }
}

impl Wire<TcpStream> {
    pub(super) async fn plain(addr: SocketAddr) -> Self {
        Self::over(TcpStream::connect(addr).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn over(stream: S) -> Self {
        Self {
            stream,
            read: Vec::new(),
        }
    }

    pub(super) async fn send(&mut self, bytes: &str) {
        self.try_send(bytes).await.unwrap();
    }

    /// Sends bytes. A server that has already answered need not read them.
    pub(super) async fn try_send(&mut self, bytes: &str) -> std::io::Result<()> {
        self.stream.write_all(bytes.as_bytes()).await?;
        self.stream.flush().await
    }

    pub(super) async fn response(&mut self) -> Response {
        soon(async {
            let head = self.until_blank_line().await;
            let length = header(&head, "content-length").map_or(0, |n| n.parse().unwrap());
            while self.read.len() < length {
                assert_ne!(self.more().await, 0, "body cut off");
            }
            let body = self.read.drain(..length).collect();
            Response { head, body }
        })
        .await
    }

    pub(super) async fn ask(&mut self, request: &str) -> Response {
        self.send(request).await;
        self.response().await
    }

    /// Checks that the server has closed without another byte.
    pub(super) async fn is_closed(&mut self) -> bool {
        soon(self.more()).await == 0 && self.read.is_empty()
    }

    async fn until_blank_line(&mut self) -> String {
        loop {
            let end = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            if let Some(end) = end {
                let head = self.read.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            assert_ne!(self.more().await, 0, "no response: {:?}", self.read);
        }
    }

    async fn more(&mut self) -> usize {
        self.stream.read_buf(&mut self.read).await.unwrap_or(0)
    }
}

impl Response {
    pub(super) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let mut values = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value)
}

// === Shutdown: no accepted request is lost ===

const READYZ: &str = "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n";

async fn readyz(started: &Started) -> u16 {
    let mut wire = Wire::plain(started.server.ops_addr()).await;
    wire.ask(READYZ).await.status()
}

#[tokio::test]
async fn who_leaves_is_not_ready_but_answers_and_says_so() {
    let started = start(LOOPBACK).await;
    let body = review(0).to_string();
    let (mut idle, mut silent) = (Wire::to(&started).await, Wire::to(&started).await);
    for wire in [&mut idle, &mut silent] {
        assert_eq!(wire.ask(&post(&body, "")).await.header("connection"), None);
    }
    let mut fresh = Wire::to(&started).await;

    started.server.leave();
    assert_eq!(readyz(&started).await, 503);

    let mut late = Wire::to(&started).await;
    for wire in [&mut idle, &mut fresh, &mut late] {
        let response = wire.ask(&post(&body, "")).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.header("connection"), Some("close"));
        assert!(wire.is_closed().await);
    }
    let ((), is_closed) = tokio::join!(soon(started.server.close()), silent.is_closed());
    assert!(is_closed);
}

#[tokio::test]
async fn what_is_under_way_is_answered_before_the_end() {
    let started = start(LOOPBACK).await;
    let addr = started.server.addr();
    let mut wire = Wire::to(&started).await;
    let request = post(&review(0).to_string(), "");
    let (first, rest) = request.split_at(request.len() / 2);
    wire.send(first).await;

    let closing = tokio::spawn(started.server.close());
    soon(async { while TcpStream::connect(addr).await.is_ok() {} }).await;
    assert!(!closing.is_finished());

    wire.send(rest).await;
    let response = wire.response().await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.header("connection"), Some("close"));
    soon(closing).await.unwrap();
}

/// A signal may come while the server waits for its catalogs.
#[tokio::test]
async fn who_is_told_to_leave_before_it_opens_stays_on_its_way_out() {
    let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
    listening.server().leave();
    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let certificate = certificates.leaf().der().clone();
    let guard = Arc::new(Guard::from(Snapshot::default()));
    let server = listening.certify(certificates);
    let started = Started {
        server: server.open(guard, Enforcement::default()),
        certificate,
    };
    assert_eq!(readyz(&started).await, 503);
    let mut wire = Wire::to(&started).await;
    let response = wire.ask(&post(&review(0).to_string(), "")).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.header("connection"), Some("close"));
}

#[tokio::test(start_paused = true)]
async fn closing_waits_no_longer_than_an_api_server() {
    for (last_request, expected) in [(0, 0), (29, 29), (31, 30), (3600, 30)] {
        let address = LOOPBACK.parse().unwrap();
        let port = tokio::spawn(sleep(Duration::from_secs(last_request)));
        let server = Server {
            addr: address,
            ops_addr: address,
            scrapes_addr: None,
            phase: watch::Sender::new(Phase::Serving),
            metrics: Metrics::new(),
            ports: vec![port],
        };
        let begun = Instant::now();
        server.close().await;
        assert_eq!(begun.elapsed().as_secs(), expected, "{last_request}");
    }
}
