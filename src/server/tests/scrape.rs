//! Metrics over TLS, to those who can read them.

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rustls::pki_types::CertificateDer;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::LOOPBACK;
use super::starting::told;
use super::wire::{Response, Wire, soon};
use crate::admission::Enforcement;
use crate::server::{Config, Guard, Limits, ListeningServer, Scrapes, Server};
use crate::telemetry::EditEvents;
use crate::telemetry::log::DecisionLog;
use crate::telemetry::metrics::FaultClass;
use crate::telemetry::{Authorizer, Authorizing, Metrics, ScrapeDenied};
use crate::tls::{Certificates, ClientCa, TlsConfig, self_signed};
use olmguard_engine::snapshot::Snapshot;

/// Knows one token of each kind, and what it was asked.
#[derive(Debug, Default)]
struct Known(Mutex<Vec<String>>);

impl Authorizer for Known {
    fn authorize<'a>(&'a self, token: &'a str) -> Authorizing<'a> {
        self.0.lock().unwrap().push(token.to_owned());
        Box::pin(async move {
            match token {
                "good" => Ok(()),
                "other" => Err(ScrapeDenied::Forbidden {
                    user: "someone".to_owned(),
                }),
                "away" => Err(ScrapeDenied::Unavailable {
                    class: FaultClass::Silent,
                }),
                _ => Err(ScrapeDenied::Unauthenticated),
            }
        })
    }
}

struct Scene {
    server: Server,
    certificate: CertificateDer<'static>,
    known: Arc<Known>,
}

fn listening(known: &Arc<Known>) -> ListeningServer {
    let loopback = LOOPBACK.parse().unwrap();
    let listening = Server::listen(Config {
        listen: loopback,
        ops_listen: loopback,
        limits: Limits::default(),
        scrapes: Some(Scrapes {
            listen: loopback,
            authorizer: Arc::clone(known) as _,
        }),
        checks: Vec::new(),
        metrics: Metrics::new(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    });
    listening.unwrap()
}

impl Scene {
    fn new() -> Self {
        Self::with(self_signed(&TlsConfig::default(), Vec::new()).unwrap())
    }

    fn with(certificates: Certificates) -> Self {
        let known = Arc::default();
        let certificate = certificates.leaf().der().clone();
        let certified = listening(&known).certify(certificates);
        let guard = Guard::from(Snapshot::default());
        Self {
            server: certified.open(Arc::new(guard), Enforcement::default()),
            certificate,
            known,
        }
    }

    fn addr(&self) -> SocketAddr {
        self.server.scrapes_addr().unwrap()
    }

    async fn wire(&self) -> Wire<TlsStream<TcpStream>> {
        let versions = rustls::DEFAULT_VERSIONS;
        let wire = Wire::at(self.addr(), &self.certificate, versions, &[b"http/1.1"]);
        wire.await.unwrap()
    }

    async fn get(&self, path: &str, headers: &str) -> Response {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n");
        self.wire().await.ask(&request).await
    }
}

#[tokio::test]
async fn metrics_are_for_those_who_can_read_them() {
    let scene = Scene::new();
    for (headers, status, text) in [
        ("", 401, "unauthorized: expected"),
        ("authorization: Basic Z29vZDo=\r\n", 401, "unauthorized"),
        ("authorization: Bearer bad\r\n", 401, "unauthorized"),
        (
            "authorization: Bearer good\r\nauthorization: Bearer good\r\n",
            401,
            "unauthorized",
        ),
        (
            "authorization: Bearer other\r\n",
            403,
            "forbidden: user \"someone\" ",
        ),
        (
            "authorization: Bearer away\r\n",
            503,
            "cannot check the token: ",
        ),
        ("authorization: Bearer good\r\n", 200, "# HELP olmguard_"),
        ("Authorization: bearer good\r\n", 200, "# HELP olmguard_"),
    ] {
        let response = scene.get("/metrics", headers).await;
        assert_eq!(response.status(), status, "{headers}");
        assert!(
            response.text().starts_with(text),
            "{headers}: {}",
            response.text()
        );
        let asks = response.header("www-authenticate");
        assert_eq!(asks, (status == 401).then_some("Bearer"), "{headers}");
        assert!(
            status == 200 || !response.text().contains("olmguard_"),
            "{headers}"
        );
    }
    let asked = scene.known.0.lock().unwrap().join(" ");
    assert_eq!(
        asked, "bad other away good good",
        "what is no token is not asked about"
    );
}

#[tokio::test]
async fn the_port_has_nothing_else() {
    let scene = Scene::new();
    for path in ["/", "/readyz", "/validate", "/debug/loglevel", "/metrics/x"] {
        let response = scene.get(path, "authorization: Bearer good\r\n").await;
        let said = (response.status(), response.text());
        assert_eq!(said, (404, "not found: expected /metrics\n"), "{path}");
    }
    let post = "POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(scene.wire().await.ask(post).await.status(), 405);
    assert_eq!(*scene.known.0.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn the_plain_port_tells_health_and_the_version_and_no_metrics() {
    let scene = Scene::new();
    let ops = scene.server.ops_addr();
    let expected = "not found: metrics are served over TLS, on --metrics-listen\n";
    assert_eq!(told(ops, "/metrics").await, (404, expected.to_owned()));
    assert_eq!(told(ops, "/readyz").await.0, 200);
    let version = format!("olmguard {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(told(ops, "/version").await, (200, version));
}

#[tokio::test]
async fn connections_are_counted_as_those_of_a_port_of_their_own() {
    let scene = Scene::new();
    let wire = scene.wire().await;
    let of_port = |scene: &Scene| {
        let text = scene.server.metrics.render();
        let mut lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("olmguard_connections{port=\"metrics\"} "));
        lines.next().unwrap().to_owned()
    };
    assert_eq!(of_port(&scene), "1");
    let text = scene
        .get("/metrics", "authorization: Bearer good\r\n")
        .await;
    assert!(
        text.text()
            .contains("olmguard_connections{port=\"reviews\"} 0\n")
    );
    drop(wire);
    soon(async {
        while of_port(&scene) != "0" {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Prometheus has no certificate that API servers trust, and proves who it is by its token.
#[tokio::test]
async fn a_scraper_needs_no_certificate_where_api_servers_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.crt");
    let names = vec!["localhost".to_owned()];
    let ca = rcgen::generate_simple_self_signed(names).unwrap();
    fs::write(&file, ca.cert.pem()).unwrap();
    let terms = TlsConfig {
        client_ca: Some(ClientCa {
            file,
            allowed: std::collections::BTreeSet::new(),
        }),
        ..TlsConfig::default()
    };
    let scene = Scene::with(self_signed(&terms, Vec::new()).unwrap());
    let response = scene
        .get("/metrics", "authorization: Bearer good\r\n")
        .await;
    assert_eq!(response.status(), 200);
    let versions = [&rustls::version::TLS12];
    let addr = scene.server.addr();
    let refused = Wire::at(addr, &scene.certificate, &versions, &[b"http/1.1"]).await;
    assert!(refused.is_err(), "the port for reviews asks for one");
}

#[tokio::test]
async fn plain_http_is_told_to_use_https() {
    let scene = Scene::new();
    let request = "GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\n\r\n";
    let response = Wire::plain(scene.addr()).await.ask(request).await;
    assert_eq!(response.status(), 400);
    assert!(
        response.text().ends_with(": use https\n"),
        "{}",
        response.text()
    );
}

#[tokio::test]
async fn it_closes_with_the_others() {
    let scene = Scene::new();
    let addr = scene.addr();
    soon(scene.server.close()).await;
    assert!(TcpStream::connect(addr).await.is_err());
}
