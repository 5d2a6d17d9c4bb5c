//! The way out: nothing that was accepted is lost.

use tokio::net::TcpStream;

use super::wire::{Wire, soon};
use super::{LOOPBACK, Started, post, review, start};

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
