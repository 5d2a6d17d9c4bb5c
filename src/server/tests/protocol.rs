//! What is spoken, and what is refused.

use std::net::TcpListener;

use rustls::version::{TLS12, TLS13};
use serde_json::Value;
use tokio::net::TcpStream;

use super::wire::Wire;
use super::{LOOPBACK, post, review, start};
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

    // Whether the rest is still read is the server's choice: it has answered.
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
