//! `/debug/loglevel`: who may ask, and what is answered.

use std::net::SocketAddr;

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use olmguard::telemetry::log::{LogFormat, LogHandle, LogLevel, routes};

use super::captured::lines;

#[tokio::main(flavor = "current_thread")]
async fn ask(handle: &LogHandle, method: &str, peer: Option<&str>, body: &str) -> (u16, String) {
    let mut request = Request::builder().method(method).uri("/debug/loglevel");
    if let Some(peer) = peer {
        let peer: SocketAddr = peer.parse().unwrap();
        request = request.extension(ConnectInfo(peer));
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let service = TowerToHyperService::new(routes(handle.clone()));
    let response = service.call(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1024).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[test]
fn the_level_is_told_and_changed_from_this_machine_only() {
    const HERE: Option<&str> = Some("127.0.0.1:1");
    const UNKNOWN: &str = "unknown level: expected error, warn, info or debug\n";
    const ELSEWHERE: &str =
        "not from here: expected a peer on a loopback address, such as kubectl port-forward\n";
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
