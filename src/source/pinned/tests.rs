//! Parsing of URLs, and fetches from a server on loopback that answers once.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::source::Progress;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;

const CATALOG: &[u8] = b"schema: olm.package\nname: p\n";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn sha256_of(content: &[u8]) -> String {
    Sha256::of(content).hex()
}

/// Starts a server that answers one request. Returns its host and a handle that yields the request.
fn server(status: &str, body: &[u8]) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), body].concat();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.extend(byte);
        }
        stream.write_all(&answer).unwrap();
        String::from_utf8(head).unwrap()
    });
    (host, answering)
}

fn load(url: &str) -> Content {
    let url: PinnedUrl = url.parse().unwrap();
    let (rules, progress, memory) = (Rules::default(), Progress::default(), Pool::unbounded());
    url.load(&mut Loader::new(&rules, &progress, &memory))
}

#[track_caller]
fn why(content: &Content) -> &str {
    match content {
        Content::Unreadable(why) => why,
        other => panic!("{other:?}"),
    }
}

/// Servers announce a stored `.gz` file with a Content-Encoding. Its digest is that of the file, as `sha256sum` prints it.
#[test]
fn a_compressed_file_has_the_digest_of_its_bytes() {
    let mut file = GzEncoder::new(Vec::new(), Compression::fast());
    file.write_all(CATALOG).unwrap();
    let file = file.finish().unwrap();
    for encoding in ["gzip", "x-gzip"] {
        let status = format!("200 OK\r\ncontent-encoding: {encoding}");
        let (host, asked) = server(&status, &file);
        let content = load(&format!("http://{host}/c.gz#sha256={}", sha256_of(&file)));
        assert!(matches!(content, Content::Loaded(_)), "{content:?}");
        assert!(asked.join().unwrap().contains("accept-encoding: identity"));
    }
}

#[test]
fn the_content_that_is_pinned_is_read() {
    let (host, asked) = server("200 OK", CATALOG);
    let content = load(&format!(
        "http://{host}/a/c.yaml?key=1#sha256={}",
        sha256_of(CATALOG)
    ));
    let Content::Loaded(catalog) = &content else {
        panic!("{content:?}");
    };
    assert_eq!(catalog.package_names().collect::<Vec<_>>(), ["p"]);
    let asked = asked.join().unwrap();
    assert!(
        asked.starts_with("GET /a/c.yaml?key=1 HTTP/1.1\r\n"),
        "{asked}"
    );
}

#[test]
fn other_content_is_not_even_read() {
    let (host, asked) = server("200 OK", b"<html>not found</html>");
    let content = load(&format!("http://{host}/c.yaml?key=1#sha256={ZEROS}"));
    let found = sha256_of(b"<html>not found</html>");
    assert_eq!(
        why(&content),
        format!(
            "http://{host}/c.yaml: content has the digest sha256={found}, expected sha256={ZEROS}"
        )
    );
    asked.join().unwrap();
}

#[test]
fn what_is_not_answered_well_says_so() {
    for (status, expected) in [
        (
            "404 Not Found",
            "answered HTTP 404 Not Found, expected 200 OK",
        ),
        (
            "302 Found",
            "answered HTTP 302 Found, expected 200 OK; redirects are not followed: give the URL of \
             the target",
        ),
    ] {
        let (host, asked) = server(status, b"");
        let content = load(&format!("http://{host}/c.yaml#sha256={ZEROS}"));
        assert_eq!(why(&content), format!("http://{host}/c.yaml: {expected}"));
        asked.join().unwrap();
    }
}

#[test]
fn nobody_who_answers_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    drop(listener);
    let content = load(&format!("http://{host}/c.yaml#sha256={ZEROS}"));
    let expected = format!("http://{host}/c.yaml: cannot connect to {host}: ");
    assert!(why(&content).starts_with(&expected), "{content:?}");
}

#[test]
fn what_is_pinned_is_shown_without_its_query() {
    let text = format!("https://h.example:8443/a%20b/c.yaml?key=1#sha256={ZEROS}");
    let url: PinnedUrl = text.parse().unwrap();
    assert_eq!(
        url.to_string(),
        format!("https://h.example:8443/a%20b/c.yaml#sha256={ZEROS}")
    );
    let upper = format!("https://h.example/c#sha256={}", "A".repeat(64));
    let url: PinnedUrl = upper.parse().unwrap();
    assert_eq!(
        url.to_string(),
        format!("https://h.example/c#sha256={}", "a".repeat(64))
    );
}

#[test]
fn what_is_no_pinned_url_is_refused() {
    let not_pinned = " has no digest: add #sha256=HEX to the URL, as sha256sum prints it";
    let digest = " is not a digest: expected sha256= and 64 hexadecimal digits";
    let not_http =
        " is not a URL that olmguard can fetch: expected https://HOST/FILE#sha256=HEX, or a path";
    let image =
        " is an image: write it as oci:HOST/REPOSITORY:TAG or oci:HOST/REPOSITORY@sha256:HEX";
    let rows = [
        (
            "https://h.example/c.yaml".to_owned(),
            "\"https://h.example/c.yaml\"",
            not_pinned,
        ),
        ("https://h.example/c#".to_owned(), "\"\"", digest),
        (
            "https://h.example/c#sha256=00".to_owned(),
            "\"sha256=00\"",
            digest,
        ),
        (
            format!("https://h.example/c#{ZEROS}"),
            &format!("\"{ZEROS}\""),
            digest,
        ),
        (
            format!("https://h.example/c#sha256={}", "g".repeat(64)),
            &format!("\"sha256={}\"", "g".repeat(64)),
            digest,
        ),
        (
            format!("https://h.example/c#sha256={}", "+1".repeat(32)),
            &format!("\"sha256={}\"", "+1".repeat(32)),
            digest,
        ),
        (
            "ftp://h.example/c".to_owned(),
            "\"ftp://h.example/c\"",
            not_http,
        ),
        ("file:///c.yaml".to_owned(), "\"file:///c.yaml\"", not_http),
        ("https://".to_owned(), "\"https://\"", not_http),
        (
            "docker://h.example/c:v1".to_owned(),
            "\"docker://h.example/c:v1\"",
            image,
        ),
        (
            "h.example/c@sha256:00".to_owned(),
            "\"h.example/c@sha256:00\"",
            image,
        ),
        (
            format!("https://me:secret@h.example/c#sha256={ZEROS}"),
            "the URL contains a user name: expected a URL that needs no login",
            ", or a path",
        ),
    ];
    let with_user = "the URL contains a user name: expected a URL that needs no login, or a path";
    for text in [
        "s3://me:secret@bucket/c",
        "HTTPS://token@h.example/c",
        "docker://me:secret@h.example/c",
        "https://me:pa#ss@h.example/c",
        "https://me:pa/ss@h.example/c",
        "https://me:secret@h.example/c@sha256:00",
        "me:secret@h.example/c@sha256:00",
    ] {
        let error = text.parse::<PinnedUrl>().unwrap_err().to_string();
        assert_eq!(error, with_user, "{text}");
    }
    for (text, subject, words) in rows {
        let error = text.parse::<PinnedUrl>().unwrap_err().to_string();
        assert_eq!(error, format!("{subject}{words}"), "{text}");
        assert!(PinnedUrl::is_meant_by(&text), "{text}");
    }
    for text in [
        "https://h.example/@v1/c",
        "https://h.example:8443/hub@v1.json",
    ] {
        let error = text.parse::<PinnedUrl>().unwrap_err();
        assert!(matches!(error, PinnedUrlError::NotPinned { .. }), "{text}");
    }
    for path in ["c.yaml", "./a@b/c", "/etc/https:/c", "-", "c:d"] {
        assert!(!PinnedUrl::is_meant_by(path), "{path}");
    }
}
