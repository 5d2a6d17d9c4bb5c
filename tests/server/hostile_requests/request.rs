//! Requests, right and wrong.

use serde_json::{Value, json};

/// What is sent, and what comes back.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) manner: Manner,
    pub(crate) expected: &'static str,
}

/// How it is sent.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Manner {
    /// Over TLS; more could follow.
    Open,
    /// Over TLS, and nothing will follow.
    Ended,
    /// Without TLS.
    Plain,
}

/// Over TLS, with more that could follow.
pub(crate) fn row(name: &'static str, bytes: Vec<u8>, expected: &'static str) -> Row {
    Row {
        name,
        bytes,
        manner: Manner::Open,
        expected,
    }
}

/// A review that is answered: nothing tells what to say of it.
pub(crate) fn review() -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u-1", "operation": "CREATE",
            "kind": {"group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterExtension"},
            "object": {
                "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
                "metadata": {"name": "x"},
                "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}}},
            },
        },
    })
}

/// A request that is answered.
pub(crate) fn valid() -> Vec<u8> {
    post(review().to_string().as_bytes())
}

/// Posts a body as an API server would.
pub(crate) fn post(body: &[u8]) -> Vec<u8> {
    with_head("POST /validate HTTP/1.1", JSON, body)
}

/// A request of this line, these headers and its right length.
pub(crate) fn with_head(line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = format!("content-length: {}\r\n", body.len());
    raw(line, &format!("{headers}{length}"), body)
}

/// A request of this line, no headers but these and a host, and anything as its body.
pub(crate) fn raw(line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{line}\r\nhost: x\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

pub(crate) const JSON: &str = "content-type: application/json\r\n";
