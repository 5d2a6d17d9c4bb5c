//! The way out: nothing that was accepted is lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::wire::{Wire, soon};
use super::{LOOPBACK, Started, listen_on, post, review, start};
use crate::admission::Enforcement;
use crate::server::phase::Phase;
use crate::server::{Guard, Limits, Server};
use crate::telemetry::Metrics;
use crate::tls::{TlsConfig, self_signed};
use olmguard_engine::snapshot::Snapshot;

const READYZ: &str = "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n";

async fn readyz(started: &Started) -> u16 {
    let mut wire = Wire::plain(started.server.ops_addr()).await;
    wire.ask(READYZ).await.status()
}

#[tokio::test]
async fn who_leaves_is_not_ready_but_answers_and_says_so() {
    let started = start(LOOPBACK).await;
    let body = review(0).to_string();
    let mut idle = Wire::to(&started).await;
    assert_eq!(idle.ask(&post(&body, "")).await.header("connection"), None);
    let mut fresh = Wire::to(&started).await;

    started.server.leave();
    assert_eq!(readyz(&started).await, 503);
    assert!(idle.is_closed().await);

    let mut late = Wire::to(&started).await;
    for wire in [&mut fresh, &mut late] {
        let response = wire.ask(&post(&body, "")).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.header("connection"), Some("close"));
        assert!(wire.is_closed().await);
    }
    soon(started.server.close()).await;
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

/// A signal may come while it waits for its catalogs.
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
