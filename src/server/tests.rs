//! The server over real sockets on loopback.

mod catalogs;
mod drain;
mod moved;
mod newer;
mod overload;
mod patience;
mod policies;
mod protocol;
mod refusal;
mod rollover;
mod scrape;
mod starting;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};

use crate::admission::Enforcement;
use crate::server::{Config, Guard, Judge, Limits, ListeningServer, Server};
use crate::telemetry::EditEvents;
use crate::telemetry::Metrics;
use crate::telemetry::log::DecisionLog;
use crate::tls::{TlsConfig, self_signed};
use olmguard_engine::snapshot::Snapshot;

const LOOPBACK: &str = "127.0.0.1:0";

/// A server without catalogs, and the certificate to trust.
struct Started {
    server: Server,
    certificate: CertificateDer<'static>,
}

async fn start(listen: &str) -> Started {
    let guard = Guard::from(Snapshot::default());
    start_with(listen, Limits::default(), Arc::new(guard)).await
}

async fn start_with(listen: &str, limits: Limits, judge: Arc<dyn Judge>) -> Started {
    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let certificate = certificates.leaf().der().clone();
    let listening = listen_on(listen.parse().unwrap(), limits);
    Started {
        server: listening
            .certify(certificates)
            .open(judge, Enforcement::default()),
        certificate,
    }
}

fn listen_on(listen: SocketAddr, limits: Limits) -> ListeningServer {
    let listening = Server::listen(Config {
        listen,
        ops_listen: LOOPBACK.parse().unwrap(),
        limits,
        scrapes: None,
        checks: Vec::new(),
        metrics: Metrics::new(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    });
    listening.unwrap()
}

impl Started {
    /// The value of a metric by its name and labels.
    #[track_caller]
    fn told(&self, series: &str) -> u32 {
        let text = self.server.metrics.render();
        let value = text.lines().find_map(|line| line.strip_prefix(series));
        value.unwrap().parse().unwrap()
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
    post_to("/validate", body, headers)
}

fn post_to(target: &str, body: &str, headers: &str) -> String {
    format!(
        "POST {target} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}
