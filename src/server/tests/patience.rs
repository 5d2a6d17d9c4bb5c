//! Clients that are slow, or too many.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::wire::{Wire, soon};
use super::{LOOPBACK, Started, post, review, start, start_with};
use crate::server::{Guard, Limits, Patience};
use olmguard_engine::snapshot::Snapshot;

pub(super) async fn with(limits: Limits) -> Started {
    let guard = Guard::from(Snapshot::default());
    start_with(LOOPBACK, limits, Arc::new(guard)).await
}

pub(super) fn places(count: usize) -> Limits {
    let count = NonZeroUsize::new(count).unwrap();
    Limits {
        connections: count,
        connections_per_peer: count,
        ..Limits::default()
    }
}

async fn is_answered(started: &Started) -> bool {
    let mut wire = Wire::to(started).await;
    let response = wire.ask(&post(&review(0).to_string(), "")).await;
    response.status() == 200
}

#[tokio::test]
async fn a_handshake_that_takes_too_long_is_cut_off() {
    let started = with(Limits {
        patience: Patience {
            handshake: Duration::from_millis(50),
            ..Patience::default()
        },
        ..Limits::default()
    })
    .await;
    let mut silent = TcpStream::connect(started.server.addr()).await.unwrap();
    assert_eq!(soon(silent.read(&mut [0; 8])).await.unwrap(), 0);
    assert!(is_answered(&started).await);
    assert_eq!(
        started.told("olmguard_tls_handshake_errors_total{class=\"timeout\"} "),
        1
    );
}

#[tokio::test]
async fn who_is_silent_makes_room() {
    let started = with(places(2)).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(started.server.addr()).await.unwrap());
        assert!(is_answered(&started).await);
    }
    let cut_off = silent.len() - 1;
    for stream in silent.iter_mut().take(cut_off) {
        assert_eq!(soon(stream.read(&mut [0; 8])).await.unwrap_or(0), 0);
    }
}

#[tokio::test]
async fn plain_http_is_told_what_is_spoken() {
    let started = start(LOOPBACK).await;
    let mut plain = Wire::plain(started.server.addr()).await;
    let response = plain.ask(&post(&review(1 << 20).to_string(), "")).await;
    assert_eq!(
        (response.status(), response.text()),
        (400, "plain HTTP on a port that speaks TLS: use https\n")
    );
    assert!(plain.is_closed().await);
}
