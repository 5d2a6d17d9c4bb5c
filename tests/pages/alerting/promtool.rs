//! The verdict of promtool on the rules, and on the metrics of a running server.
//!
//! promtool is searched in the directories of `OLMGUARD_E2E_BIN`, then on the PATH.
//! `cargo xtask alerts` fails if it is in none of them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use olmguard_support::process::Process;
use olmguard_support::programs::find;

#[test]
fn promtool_takes_the_rules() {
    let rules = "deploy/monitoring/olmguard-rules.yaml";
    promtool(&["check", "rules", "--lint=all", "--lint-fatal", rules], "");
}

#[test]
fn promtool_sees_each_alert_fire_and_not_fire() {
    promtool(
        &[
            "test",
            "rules",
            "deploy/monitoring/olmguard-rules.test.yaml",
        ],
        "",
    );
}

#[test]
fn promtool_has_nothing_to_say_to_what_a_guard_tells() {
    let said = promtool(&["check", "metrics"], &scraped());
    assert_eq!(said.unwrap_or_default(), "");
}

/// Returns the metrics of a server with one catalog.
fn scraped() -> String {
    let mut server = Process::start(&[
        "serve",
        "--catalog=hub=examples/NotASuccessor/hub.yaml",
        "--certs=self-signed",
        "--listen=127.0.0.1:0",
        "--ops-listen=127.0.0.1:0",
    ]);
    let mut address = || server.line().rsplit('/').next().unwrap().to_owned();
    let (_, ops) = (address(), address());
    let mut stream = TcpStream::connect(ops).unwrap();
    let request = "GET /metrics HTTP/1.1\r\nhost: guard\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, metrics) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(metrics.contains("olmguard_catalog_loaded{catalog=\"hub\"} 1"));
    metrics.to_owned()
}

/// Runs promtool at the root of the repository and returns its output, if it is installed.
#[track_caller]
fn promtool(arguments: &[&str], input: &str) -> Option<String> {
    let Some(program) = find("promtool") else {
        println!("left out: promtool, in no folder of OLMGUARD_E2E_BIN and not on the PATH");
        return None;
    };
    let mut promtool = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = promtool.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = promtool.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        output.status.success(),
        "promtool {}: {said}",
        arguments.join(" ")
    );
    Some(said)
}
