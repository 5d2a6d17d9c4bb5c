//! Secrets that the program must never log: whatever is sent to either port, answered or refused,
//! its secrets are in no line at any level.

use olmguard_support::https::Certificate;

use olmguard_server::telemetry::log::LogLevel;

use super::canary::{SECRET, review};
use super::served::Served;

#[test]
fn what_is_sent_is_in_no_line_of_the_program_at_any_level() {
    for level in LogLevel::ALL {
        for format in ["json", "text"] {
            let flags = [
                format!("--log-level={level}"),
                format!("--log-format={format}"),
            ];
            let flags: Vec<_> = flags.iter().map(String::as_str).collect();
            let name = format!("canary_{level}_{format}");
            let served = Served::start(&name, &[&flags[..], &["--log-user=name"]].concat());
            reviews(&served);
            refused(&served);
            broken(&served);
            ops(&served);
            let metrics = served.metrics();
            assert!(!metrics.contains(SECRET), "{metrics}");
            let log = served.ended();
            let leaked = log.lines().find(|line| line.contains(SECRET));
            assert_eq!(leaked, None, "{level} {format}");
            for (line, least) in SAID {
                assert_eq!(
                    log.contains(line),
                    level as u8 >= least as u8,
                    "{line}: {log}"
                );
            }
        }
    }
}

/// Texts that are logged at this level and at more verbose ones.
const SAID: [(&str, LogLevel); 6] = [
    ("Undecided", LogLevel::Warn),
    ("Denied", LogLevel::Info),
    ("Allowed", LogLevel::Debug),
    ("Rejected a request", LogLevel::Debug),
    ("TLS handshake failed", LogLevel::Debug),
    ("Connection closed with an error", LogLevel::Debug),
];

fn reviews(served: &Served) {
    for operation in ["CREATE", "UPDATE", "DELETE"] {
        for range in ["2", "3", "not a range"] {
            let body = review(operation, range).to_string();
            post(served, JSON, &body, "200");
        }
    }
    let mut unknown = review("UPDATE", "2");
    unknown["request"]["object"]["spec"]["source"]["catalog"]["version"] = "1".into();
    unknown["request"]["oldObject"]["status"]["conditions"][0]["status"] = "Unknown".into();
    post(served, JSON, &unknown.to_string(), "200");
}

fn refused(served: &Served) {
    let good = review("CREATE", "2").to_string();
    post(served, &format!("text/{SECRET}"), &good, "415");
    post(
        served,
        &format!("{JSON}\r\ncontent-encoding: {SECRET}"),
        &good,
        "415",
    );
    for body in [
        SECRET.to_owned(),
        format!("{{\"{SECRET}\": "),
        format!("{{\"{SECRET}\": \"\0\"}}"),
        format!("[\"{SECRET}\"]"),
        good.replace("\"object\"", &format!("\"{SECRET}\"")),
    ] {
        post(served, JSON, &body, "400");
    }
    for target in ["/validate", &format!("/{SECRET}")] {
        let request = format!("PUT {target} HTTP/1.1\r\n{}\r\n\r\n", headers());
        let answer = served.answer(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
    }
}

/// Sends data that does not even become a request.
fn broken(served: &Served) {
    let cut = format!(
        "POST /validate HTTP/1.1\r\n{}\r\ncontent-type: {JSON}\r\ncontent-length: 999\r\n\r\n{SECRET}",
        headers()
    );
    let answer = served.broken_off(cut.as_bytes());
    assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    for request in [
        format!("{SECRET}\r\n\r\n"),
        format!("GET /{SECRET} HTTP/1.1\r\n{CLOSE}\r\n{SECRET}\r\n\r\n"),
        format!(
            "GET / HTTP/1.1\r\n{CLOSE}\r\n{SECRET}: {}\r\n\r\n",
            "x".repeat(100_000)
        ),
    ] {
        let answer = served.answer(request.as_bytes());
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
    let plain = format!("GET /{SECRET} HTTP/1.1\r\n{}\r\n\r\n", headers());
    let answer = served.plain(plain.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    served.plain(
        &[
            b"\x16\x03\x01\x00\x20",
            SECRET.as_bytes(),
            SECRET.as_bytes(),
        ]
        .concat(),
    );
    let stranger = Certificate::generate();
    let name = format!("{SECRET}.example");
    assert!(served.handshake(&name, &stranger).is_err());
}

fn ops(served: &Served) {
    let query = served.ops(&format!("GET /metrics?{SECRET}={SECRET} HTTP/1.1"), "");
    assert!(query.starts_with("HTTP/1.1 200 "), "{query}");
    let path = served.ops(&format!("GET /{SECRET} HTTP/1.1"), "");
    assert!(path.starts_with("HTTP/1.1 404 "), "{path}");
    let head = format!("PUT /debug/loglevel HTTP/1.1\r\nauthorization: {SECRET}");
    let level = served.ops(&head, SECRET);
    assert!(level.starts_with("HTTP/1.1 400 "), "{level}");
}

/// Posts a body of this type, with the secret in the query and in the headers.
#[track_caller]
fn post(served: &Served, media_type: &str, body: &str, status: &str) {
    let (headers, length) = (headers(), body.len());
    let answer = served.answer(
        format!(
            "POST /validate?timeout=5s&token={SECRET} HTTP/1.1\r\n{headers}\r\n\
             content-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .as_bytes(),
    );
    let expected = format!("HTTP/1.1 {status} ");
    assert!(answer.starts_with(&expected), "{body}: {answer}");
}

fn headers() -> String {
    format!(
        "host: {SECRET}\r\nconnection: close\r\nauthorization: Bearer {SECRET}\r\n\
         cookie: a={SECRET}\r\nuser-agent: {SECRET}\r\n{SECRET}: {SECRET}"
    )
}

const JSON: &str = "application/json";
const CLOSE: &str = "connection: close";
