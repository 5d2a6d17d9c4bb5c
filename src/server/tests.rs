//! The server over real sockets on loopback.

mod drain;
mod protocol;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};

use crate::admission::OnUndecided;
use crate::server::{Config, Guard, Server};
use crate::snapshot::Snapshot;
use crate::tls::{Terms, self_signed};

const LOOPBACK: &str = "127.0.0.1:0";

/// A server without catalogs, and the certificate to trust.
struct Started {
    server: Server,
    certificate: CertificateDer<'static>,
}

async fn start(listen: &str) -> Started {
    let certificates = self_signed(&Terms::default(), Vec::new()).unwrap();
    let certificate = certificates.leaf().der().clone();
    let listen: SocketAddr = listen.parse().unwrap();
    let server = Server::start(Config {
        listen,
        ops_listen: LOOPBACK.parse().unwrap(),
        certificates,
        guard: Guard {
            snapshot: Arc::new(Snapshot::default()),
            on_undecided: OnUndecided::Warn,
        },
    });
    Started {
        server: server.await.unwrap(),
        certificate,
    }
}

/// A review of a new extension, with a text of this many bytes in it.
fn review(padding: usize) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u-1",
            "operation": "CREATE",
            "object": {
                "apiVersion": "olm.operatorframework.io/v1",
                "kind": "ClusterExtension",
                "metadata": {"name": "x", "annotations": {"a": "x".repeat(padding)}},
                "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}}},
            },
        },
    })
}

fn post(body: &str, headers: &str) -> String {
    format!(
        "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}
