//! `olmguard serve` as a process: its output, its end, and its refusals to start.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there"
)]

mod scrapes;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Instant;

use olmguard_support::https::{Certificate, post};
use olmguard_support::process::{DEADLINE, Process, run};

const ANY: [&str; 5] = [
    "--listen",
    "127.0.0.1:0",
    "--ops-listen",
    "127.0.0.1:0",
    concat!(
        "--catalog=spare=",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/support/src/load/catalog.jsonl"
    ),
];

/// Writes a file of this test run.
fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

fn serve(arguments: &[&str]) -> Process {
    Process::start(&[&["serve"], &ANY[..], arguments].concat())
}

/// Returns the address in a line such as `listening on https://127.0.0.1:41234`.
#[track_caller]
fn address<'a>(line: &'a str, scheme: &str) -> &'a str {
    let address = line
        .strip_prefix("listening on ")
        .and_then(|url| url.strip_prefix(scheme));
    let address = address.unwrap_or_else(|| panic!("{line:?}"));
    assert!(!address.ends_with(":0"), "{line:?}");
    address
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn it_says_where_it_listens_and_ends_well() {
    let mut server = serve(&["--self-signed", "--shutdown-delay", "0s"]);
    let (https, http) = (server.line(), server.line());
    TcpStream::connect(address(&https, "https://")).unwrap();
    let ready = get(address(&http, "http://"), "/readyz");
    assert!(ready.starts_with("HTTP/1.1 200 OK\r\n"), "{ready}");
    server.terminate();
    let ended = server.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, "", "nothing but the two lines");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut server = serve(&["--self-signed", "--shutdown-delay", "1h"]);
    server.line();
    let http = server.line();
    server.terminate();
    let begun = Instant::now();
    while get(address(&http, "http://"), "/readyz").starts_with("HTTP/1.1 200") {
        assert!(begun.elapsed() < DEADLINE, "it is ready still");
    }
    server.terminate();
    assert_eq!(server.ended().code, Some(143));
}

/// Other servers reload their files or write a report on these signals. A process that does not handle them would end.
#[test]
fn a_signal_that_ends_others_is_logged_and_nothing_more() {
    let mut process = serve(&["--self-signed", "--log-format=json", "--shutdown-delay=0s"]);
    let (_reviews, ops) = (process.line(), process.line());
    let ops = address(&ops, "http://").to_owned();
    for signal in ["HUP", "USR1", "USR2", "ALRM", "HUP"] {
        process.signal(signal);
        assert!(get(&ops, "/livez").starts_with("HTTP/1.1 200"), "{signal}");
    }
    process.signal("QUIT");
    let ended = process.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for signal in ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM"] {
        let is_it = |line: &str| line.contains(IGNORED) && line.contains(&format!("\"{signal}\""));
        assert!(
            ended.stderr.lines().any(is_it),
            "{signal}: {}",
            ended.stderr
        );
    }
    assert!(
        ended.stderr.contains("\"signal\":\"SIGQUIT\""),
        "{}",
        ended.stderr
    );
}

const IGNORED: &str = "Ignored a signal, files are reloaded when they change";

#[test]
fn reviews_are_judged_on_the_catalogs_given() {
    let certificate = Certificate::generate();
    let cert = file("serve.crt", &certificate.pem());
    let key = file("serve.key", &certificate.key_pem());
    let catalog = file(
        "serve.json",
        r#"{"schema": "olm.package", "name": "there"}"#,
    );
    let catalog = format!("c={}", catalog.display());
    let mut server = serve(&[
        "--tls-cert",
        cert.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
        "--shutdown-delay=0s",
        "--log-format=json",
        "--catalog",
        &catalog,
        "--catalog=unread=/no/such/catalog",
    ]);
    let https = server.line();
    let undecided = post(
        address(&https, "https://"),
        &certificate,
        &review("absent", ""),
    );
    assert!(
        undecided.contains("\"token\":\"CatalogNotLoaded\""),
        "{undecided}"
    );
    let selector =
        r#", "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": "c"}}"#;
    let denied = post(
        address(&https, "https://"),
        &certificate,
        &review("absent", selector),
    );
    assert!(denied.contains("\"token\":\"PackageNotFound\""), "{denied}");
    assert!(denied.contains("\"uid\":\"u-1\""), "{denied}");

    server.terminate();
    let log = server.ended().stderr;
    for expected in [
        r#""message":"Loaded catalog","catalog":"c","packages":1"#,
        r#""error":"/no/such/catalog: cannot open: "#,
        r#""message":"Denied""#,
        r#""token":"PackageNotFound""#,
        r#""uid":"u-1""#,
    ] {
        assert!(log.contains(expected), "{expected} in {log}");
    }
    assert!(!log.contains("canary"), "{log}");
}

#[test]
fn wrong_usage_says_what_to_write_instead() {
    for (arguments, expected) in [
        (
            &[] as &[&str],
            "expected --tls-cert and --tls-key, --certs self-managed in a cluster, or --self-signed",
        ),
        (&["--tls-cert=x"], "--tls-key is missing"),
        (
            &["--self-signed", "--tls-cert=x", "--tls-key=y"],
            "--self-signed and --tls-cert cannot be used together",
        ),
        (&["--self-signed", "--catalog=x"], "write NAME=PATH"),
        (
            &["--self-signed", "--catalog=a=x", "--catalog=a=y"],
            "catalog \"a\" is given twice",
        ),
        (
            &["--self-signed", "--olm-release=0.1"],
            "unknown OLM release \"0.1\": expected 1.0 to",
        ),
        (
            &["--self-signed", "--olm-feature-gates=X=true"],
            "unknown feature gate \"X\"",
        ),
        (
            &["--self-signed", "--shutdown-delay=10"],
            "unit missing: expected one of",
        ),
        (&["--self-signed", "--listen=9443"], "expected IP:PORT"),
        (
            &["--self-signed", "--catalog=a=x", "--cache-dir=x"],
            "--cache-dir and --catalog cannot be used together",
        ),
        (
            &["--self-signed", "--catalog=a=x", "--context=x"],
            "--context and --catalog cannot be used together",
        ),
        (
            &["--self-signed", "--on-old-catalog=warn"],
            "--on-old-catalog is given without --max-catalog-age",
        ),
        (
            &["--self-signed", "--cache-limit=1"],
            "--cache-limit is given without --cache-dir",
        ),
        (
            &["--self-signed", "--audit-cluster-report"],
            "--audit-cluster-report is given without --audit-interval",
        ),
        (
            &["--self-signed", "--catalog=a=x", "--audit-interval=1h"],
            "--audit-interval and --catalog cannot be used together",
        ),
        (
            &["--self-signed", "--audit-interval=1s"],
            "expected 10s or more, such as 10m, or 0s for no audit",
        ),
        (
            &["--self-signed", "--kubeconfig=no/such/file"],
            "no/such/file",
        ),
        (
            &[
                "--self-signed",
                "--catalog=a=x",
                "--metrics-listen=127.0.0.1:1",
            ],
            "--metrics-listen needs a cluster that checks tokens, and --catalog uses files",
        ),
        (
            &[
                "--self-signed",
                "--ops-listen=127.0.0.1:1",
                "--metrics-listen=127.0.0.1:1",
            ],
            "--ops-listen and --metrics-listen are both 127.0.0.1:1: expected two addresses",
        ),
        (
            &["--self-signed", "--memory-limit=much"],
            "\"much\" is not a quantity of memory: expected one such as 384Mi",
        ),
        (
            &["--self-signed", "--memory-limit=64Mi"],
            "the memory limit is 64Mi: expected at least",
        ),
        (
            &["--self-signed", "--on-undecided=no"],
            "possible values: warn, deny",
        ),
    ] {
        let ended = run(&[&["serve"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(expected),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_certificate_that_cannot_be_read_is_bad_input() {
    let ended = run(&[
        "serve",
        "--tls-cert=/no/such/file",
        "--tls-key=/no/such/file",
        "--catalog=a=/no/such/catalog",
    ]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("/no/such/file: cannot read: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_demo_needs_nothing() {
    let ended = run(&["demo"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
    assert!(
        ended.stdout.contains("\nError from server (Forbidden): "),
        "{}",
        ended.stdout
    );
}

#[test]
fn the_demo_stays_where_asked() {
    let mut demo = Process::start(&["demo", "--keep"]);
    while !demo.line().starts_with("curl -sk https://127.0.0.1:") {}
    demo.terminate();
    assert_eq!(demo.ended().code, Some(0));
}

fn review(package: &str, more: &str) -> String {
    format!(
        r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {{
            "uid": "u-1", "operation": "CREATE", "object": {{
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {{"name": "x", "annotations": {{"secret": "canary"}}}},
            "spec": {{"source": {{"sourceType": "Catalog", "catalog": {{
            "packageName": "{package}"{more}}}}}}}}}}}}}"#
    )
}
