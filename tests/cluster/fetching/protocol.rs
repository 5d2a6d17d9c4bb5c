//! The requests, and answers other than 200.

use super::scene::{Scene, fails, fetch, text, trusting};
use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::{FetchClass, FetchLimits};
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::authority::Authority;
use olmguard_support::catalogd::scripted::Scripted;

#[tokio::test]
async fn what_is_asked_has_no_condition() {
    let scene = Scene::answering(Answer::ok(b"x")).await;
    assert_eq!(scene.fetch().await.unwrap().value, "x");
    let asked = scene.server.asked();
    let want = format!(
        "GET /catalogs/c/api/v1/all HTTP/1.1\r\nhost: localhost:{}\r\nuser-agent: olmguard/{}\r\n\
        accept-encoding: gzip\r\n\r\n",
        scene.server.port(),
        env!("CARGO_PKG_VERSION"),
    );
    assert_eq!(asked[0].head, want);
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_404_is_tried_again_on_a_new_connection() {
    let scene = Scene::of(|asked| match asked.number {
        0 => Answer::status("404 Not Found"),
        _ => Answer::ok(b"x"),
    });
    let scene = scene.await;
    let catalogd = scene.catalogd();
    let error = fetch(&catalogd, &scene.server).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Status);
    assert_eq!(fetch(&catalogd, &scene.server).await.unwrap().value, "x");
    let connections: Vec<_> = scene
        .server
        .asked()
        .iter()
        .map(|asked| asked.connection)
        .collect();
    assert_eq!(connections, [0, 1]);
    scene.server.open(0).await;
}

#[tokio::test]
async fn a_storm_of_500_has_the_same_words_all_along() {
    let scene = Scene::answering(Answer::status("500 Internal Server Error")).await;
    let catalogd = scene.catalogd();
    for _ in 0..50 {
        let error = fetch(&catalogd, &scene.server).await.unwrap_err();
        let words = "answered HTTP 500 Internal Server Error, expected 200 OK";
        assert_eq!(
            (error.class(), &*error.to_string()),
            (FetchClass::Status, words)
        );
    }
    assert_eq!(scene.server.connections(), 50);
    scene.server.open(0).await;
}

#[tokio::test]
async fn a_status_is_named() {
    let not_yet = "answered HTTP 404 Not Found, expected 200 OK; catalogd answers so until it has \
                   loaded the catalog";
    fails(Answer::status("404 Not Found"), "status", not_yet).await;
    let forbidden = "answered HTTP 403 Forbidden, expected 200 OK";
    fails(Answer::status("403 My Own Words"), "status", forbidden).await;
    let unknown = "answered HTTP 299 <unknown status code>, expected 200 OK";
    fails(Answer::status("299 x"), "status", unknown).await;
    let nothing = "answered HTTP 204 No Content, expected 200 OK";
    fails(
        Answer::raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
        "status",
        nothing,
    )
    .await;
    let same = "answered HTTP 304 Not Modified, expected 200 OK; redirects are not followed";
    fails(
        Answer::raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        "status",
        same,
    )
    .await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let words = "answered HTTP 302 Found, expected 200 OK; redirects are not followed";
    fails(Answer::redirect("/catalogs/c/api/v1/all"), "status", words).await;
}

#[tokio::test]
async fn what_is_not_http_is_told() {
    let words = "answer is not HTTP/1.1: invalid HTTP version parsed";
    fails(Answer::raw(b"SSH-2.0-OpenSSH_10.0\r\n\r\n"), "other", words).await;
    let words = "answer is not HTTP/1.1: invalid HTTP status-code parsed";
    fails(Answer::raw(b"HTTP/1.1 twenty OK\r\n\r\n"), "other", words).await;
    let head = "HTTP/1.1 200 OK\r\nx: ".to_owned() + &"x".repeat(1 << 20);
    let words = "answer is not HTTP/1.1: message head is too large";
    fails(Answer::raw(head.as_bytes()), "other", words).await;
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_told() {
    let words = "connection was closed without an answer";
    fails(Answer::raw(b"").cut(0), "other", words).await;
    fails(
        Answer::raw(b"HTTP/1.1 200 OK\r\nconte").cut(0),
        "other",
        words,
    )
    .await;
}

#[tokio::test]
async fn a_chunk_that_is_none_is_told() {
    let words = "connection broke: Invalid chunk size line: missing size digit";
    let answer = Answer::with("transfer-encoding: chunked\r\n", b"zz\r\n");
    fails(answer, "other", words).await;
}

#[tokio::test]
async fn http_without_tls_needs_no_ca() {
    let server = Scripted::plain(|_| Answer::gzip(b"x")).await;
    let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
    assert_eq!(fetch(&catalogd, &server).await.unwrap().value, "x");
}

#[tokio::test]
async fn a_server_with_http2_alone_is_told() {
    let authority = Authority::new("catalogd");
    let ca = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(ca.path(), authority.pem()).unwrap();
    let mut config = authority.server();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let server = Scripted::tls(config, |_| Answer::ok(b"x")).await;
    let error = fetch(&trusting(ca.path()), &server).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Tls);
    let words = "expected a server with HTTP/1.1, found one that refuses it";
    let want = format!("TLS with localhost:{}: {words}", server.port());
    assert_eq!(error.to_string(), want);
}

/// These are the first bytes of a server that speaks HTTP/2 immediately.
#[tokio::test]
async fn http2_without_a_choice_is_told() {
    let words = "answer is not HTTP/1.1: invalid HTTP version parsed";
    let settings = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64";
    fails(Answer::raw(settings), "other", words).await;
}

#[tokio::test]
async fn nobody_there_is_told() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
    for scheme in ["http", "https"] {
        let base = format!("{scheme}://localhost:{port}/c");
        let error = catalogd.fetch(&base, text).await.unwrap_err();
        let words = format!("cannot connect to localhost:{port}: connection refused");
        assert_eq!(
            (error.class(), error.to_string()),
            (FetchClass::Connect, words)
        );
    }
}

#[tokio::test]
async fn a_name_that_nobody_has_is_told() {
    let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
    let error = catalogd
        .fetch("https://no-such-host.invalid/c", text)
        .await
        .unwrap_err();
    assert_eq!(error.class(), FetchClass::Connect);
    let words = "cannot connect to no-such-host.invalid: failed to lookup address information";
    assert!(error.to_string().starts_with(words), "{error}");
}

#[tokio::test]
async fn a_base_that_is_no_url_is_told() {
    let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
    let error = catalogd.fetch("catalogs/c", text).await.unwrap_err();
    assert_eq!(error.class(), FetchClass::Address);
    let words = "base \"catalogs/c\": expected a URL that starts with https:// or http://";
    assert_eq!(error.to_string(), words);
}
