//! Requests, valid and invalid.

use serde_json::{Value, json};

/// A request, and the expected outcome.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) manner: Manner,
    pub(crate) expected: &'static str,
}

/// The way in which a request is sent.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Manner {
    /// Over TLS. More data could follow.
    Open,
    /// Over TLS. No more data follows.
    Ended,
    /// Without TLS.
    Plain,
}

/// Returns a request over TLS, after which more data could follow.
pub(crate) fn row(name: &'static str, bytes: Vec<u8>, expected: &'static str) -> Row {
    Row {
        name,
        bytes,
        manner: Manner::Open,
        expected,
    }
}

/// Returns a valid review, for which there are no facts.
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

/// Returns a valid request.
pub(crate) fn valid() -> Vec<u8> {
    post(review().to_string().as_bytes())
}

/// Posts a body as an API server does.
pub(crate) fn post(body: &[u8]) -> Vec<u8> {
    with_head("POST /validate HTTP/1.1", JSON, body)
}

/// Returns a request with this line, these headers and its correct length.
pub(crate) fn with_head(line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = format!("content-length: {}\r\n", body.len());
    raw(line, &format!("{headers}{length}"), body)
}

/// Returns a request with this line, only these headers and a host, and any body.
pub(crate) fn raw(line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{line}\r\nhost: x\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

pub(crate) const JSON: &str = "content-type: application/json\r\n";
