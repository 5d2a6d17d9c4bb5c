//! The same edits through the webhook as a process, whose answers are those of `check`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::guardrail_cases::example::{A, B, C, D, Example};
use olmguard_fixtures::committed::compare;
use olmguard_support::https::{Certificate, post};
use olmguard_support::process::Process;

#[test]
fn the_webhook_answers_as_check_does() {
    let certificate = Certificate::generate();
    for (example, from, to) in [
        (A, "1.2.3", "1.5.0"),
        (B, "1.2.7", "1.3.4"),
        (C, "1.0.0", "1.3.0-rc.1"),
        (D, "1.0.0", "1.5.0"),
    ] {
        let extension = example.extension(from, Some(to));
        let response = ask(example, &certificate, &extension);
        let (_, checked) = example.check(&extension);
        assert_eq!(response["allowed"], false, "{example:?}");
        assert_eq!(
            response["status"]["message"], checked["message"],
            "{example:?}"
        );
        let pretty = serde_json::to_string_pretty(&response).unwrap() + "\n";
        compare(
            &format!("tests/guardrails/cases/{}/serve.json", example.file),
            &pretty,
        );
    }
}

/// Returns the response to an edit that requests another version than before.
fn ask(example: Example, certificate: &Certificate, extension: &Value) -> Value {
    let cert = file(&format!("cases-{}.crt", example.file), &certificate.pem());
    let key = file(
        &format!("cases-{}.key", example.file),
        &certificate.key_pem(),
    );
    let (name, path) = (example.catalog(), env!("CARGO_MANIFEST_DIR"));
    let catalog = name.replace("hub=", &format!("hub={path}/"));
    let mut server = Process::start(&[
        "serve",
        "--listen=127.0.0.1:0",
        "--ops-listen=127.0.0.1:0",
        "--shutdown-delay=0s",
        "--tls-cert",
        cert.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
        "--catalog",
        &catalog,
    ]);
    let line = server.line();
    let address = line.strip_prefix("listening on https://");
    let address = address.unwrap_or_else(|| panic!("{line:?}"));
    let response = post(address, certificate, &review(extension).to_string());
    server.terminate();
    assert_eq!(server.ended().code, Some(0));
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{response}");
    let mut reply: Value = serde_json::from_str(body).unwrap();
    reply["response"].take()
}

fn review(extension: &Value) -> Value {
    let mut old = extension.clone();
    old["spec"]["source"]["catalog"]["version"] =
        extension["status"]["install"]["bundle"]["version"].clone();
    let request =
        json!({"uid": "u-1", "operation": "UPDATE", "object": extension, "oldObject": old});
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}

/// Writes a file of this test run.
fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}
