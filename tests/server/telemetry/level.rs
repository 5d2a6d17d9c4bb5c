//! `/debug/loglevel`: the permitted clients, and the answers.

use std::net::SocketAddr;

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::http::request::Builder;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use olmguard_server::telemetry::log::{LogFormat, LogHandle, LogLevel, routes};

use super::captured::{lines, objects};

fn ask(handle: &LogHandle, method: &str, peer: Option<&str>, body: &str) -> (u16, String) {
    let request = Request::builder().method(method).uri("/debug/loglevel");
    send(handle, from(request, peer), body)
}

fn from(request: Builder, peer: Option<&str>) -> Builder {
    match peer {
        Some(peer) => request.extension(ConnectInfo::<SocketAddr>(peer.parse().unwrap())),
        None => request,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn send(handle: &LogHandle, request: Builder, body: &str) -> (u16, String) {
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let service = TowerToHyperService::new(routes(handle.clone()));
    let response = service.call(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1024).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[test]
fn the_level_is_told_and_changed_from_this_machine_only() {
    const UNKNOWN: &str = "unknown level: expected error, warn, info or debug\n";
    const ELSEWHERE: &str =
        "not from here: expected a peer at 127.0.0.1 or ::1, such as kubectl port-forward\n";
    let padded = "debug".to_owned() + &" ".repeat(64);
    let asked = [
        ("GET", HERE, "", 200, "info\n"),
        ("PUT", HERE, "debug", 200, "debug\n"),
        ("GET", Some("[::1]:1"), "", 200, "debug\n"),
        ("PUT", Some("[::ffff:127.0.0.1]:1"), "warn\n", 200, "warn\n"),
        ("PUT", HERE, "trace", 400, UNKNOWN),
        ("PUT", HERE, "", 400, UNKNOWN),
        ("PUT", HERE, &padded, 400, UNKNOWN),
        ("PUT", Some("10.1.2.3:1"), "debug", 403, ELSEWHERE),
        ("GET", Some("10.1.2.3:1"), "", 403, ELSEWHERE),
        ("GET", Some("[::ffff:10.1.2.3]:1"), "", 403, ELSEWHERE),
        ("PUT", None, "debug", 403, ELSEWHERE),
        // Istio connects from this address to the program in the same pod.
        ("PUT", Some("127.0.0.6:1"), "debug", 403, ELSEWHERE),
        ("GET", Some("[::ffff:127.0.0.6]:1"), "", 403, ELSEWHERE),
        ("DELETE", HERE, "", 405, "expected GET or PUT\n"),
        ("GET", HERE, "", 200, "warn\n"),
    ];
    lines(LogFormat::Json, LogLevel::Info, |handle| {
        for (method, peer, body, status, answer) in asked {
            let answered = ask(handle, method, peer, body);
            assert_eq!(
                answered,
                (status, answer.to_owned()),
                "{method} {peer:?} {body:?}"
            );
        }
        assert_eq!(handle.level(), LogLevel::Warn);
    });
}

#[test]
fn who_comes_through_a_proxy_is_sent_away() {
    const PROXY: &str =
        "through a proxy: expected to be asked directly, such as by kubectl port-forward\n";
    lines(LogFormat::Json, LogLevel::Info, |handle| {
        for (header, status, answer) in [
            ("forwarded", 403, PROXY),
            ("x-forwarded-for", 403, PROXY),
            ("X-Forwarded-For", 403, PROXY),
            ("x-forwarded-proto", 403, PROXY),
            ("x-forwarded-client-cert", 403, PROXY),
            ("X-Envoy-Attempt-Count", 403, PROXY),
            ("x-request-id", 403, PROXY),
            ("via", 403, PROXY),
            ("X-Real-IP", 403, PROXY),
            ("CF-Connecting-IP", 403, PROXY),
            ("CF-Ray", 403, PROXY),
            ("True-Client-IP", 403, PROXY),
            ("Fastly-Client-IP", 403, PROXY),
            ("X-Cluster-Client-IP", 403, PROXY),
            ("X-Forwarded", 403, PROXY),
            ("X-Amzn-Trace-Id", 403, PROXY),
            ("l5d-client-id", 403, PROXY),
            ("x-other", 200, "debug\n"),
        ] {
            let request = Request::put("/debug/loglevel").header(header, "");
            let answered = send(handle, from(request, HERE), "debug");
            assert_eq!(answered, (status, answer.to_owned()), "{header}");
            assert_eq!(handle.level() == LogLevel::Debug, status == 200);
        }
    });
}

#[test]
fn a_page_in_a_browser_is_sent_away() {
    const HOST: &str = "for another host: expected the host localhost, 127.0.0.1 or ::1\n";
    const ORIGIN: &str = "from a page of another host: expected to be asked directly, such as by kubectl port-forward\n";
    const DONE: &str = "debug\n";
    let here = [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1",
        "127.0.0.1:8080",
        "[::1]",
        "[::1]:80",
    ];
    lines(LogFormat::Json, LogLevel::Info, |handle| {
        for host in here {
            let request = Request::put("/debug/loglevel").header("host", host);
            let answered = send(handle, from(request, HERE), "debug");
            assert_eq!(answered, (200, DONE.to_owned()), "{host}");
            handle.set(LogLevel::Info);
        }
        for (uri, headers, answer) in [
            (PATH, &[("host", "evil.example")][..], HOST),
            (PATH, &[("host", "localhost.evil.example")], HOST),
            (PATH, &[("host", "127.0.0.1.nip.io:8080")], HOST),
            (PATH, &[("host", "olmguard.olmguard-system.svc")], HOST),
            (PATH, &[("host", "10.1.2.3:8080")], HOST),
            (PATH, &[("host", "")], HOST),
            (
                PATH,
                &[("host", "localhost"), ("host", "evil.example")],
                HOST,
            ),
            (
                "http://evil.example/debug/loglevel",
                &[("host", "localhost")],
                HOST,
            ),
            (
                PATH,
                &[("host", "localhost:80"), ("origin", "http://evil.example")],
                ORIGIN,
            ),
            (
                PATH,
                &[
                    ("host", "localhost:80"),
                    ("origin", "http://localhost:3000"),
                ],
                ORIGIN,
            ),
            (
                PATH,
                &[("host", "localhost:80"), ("origin", "https://localhost:80")],
                ORIGIN,
            ),
            (
                PATH,
                &[("host", "localhost:80"), ("origin", "null")],
                ORIGIN,
            ),
            (PATH, &[("origin", "http://localhost")], ORIGIN),
        ] {
            let mut request = Request::put(uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let answered = send(handle, from(request, HERE), "debug");
            assert_eq!(answered, (403, answer.to_owned()), "{uri} {headers:?}");
            assert_eq!(handle.level(), LogLevel::Info);
        }
        let own = Request::put(PATH)
            .header("host", "localhost:80")
            .header("origin", "http://localhost:80");
        assert_eq!(
            send(handle, from(own, HERE), "debug"),
            (200, DONE.to_owned())
        );
    });
}

const PATH: &str = "/debug/loglevel";

#[test]
fn a_change_of_the_level_is_told_at_any_level() {
    let words = ["debug", "info", "warn", "error", "warn", "error", "debug"];
    let logged = objects(LogLevel::Error, |handle| {
        for word in words {
            assert_eq!(ask(handle, "PUT", HERE, word).0, 200);
        }
    });
    let told: Vec<_> = logged.iter().map(|line| &line["now"]).collect();
    assert_eq!(told, words);
}

const HERE: Option<&str> = Some("127.0.0.1:1");
