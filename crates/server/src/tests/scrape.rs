//! Metrics over TLS, for authorized users.

use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::duplex;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::protocol::{Response, Wire, soon};
use super::{LOOPBACK, post, review, told};
use crate::connection::{ConnectionConfig, Phase, serve};
use crate::handler::{Handler, Telemetry, routes};
use crate::pace::PeerWait;
use crate::telemetry::log::DecisionLog;
use crate::telemetry::metrics::FaultClass;
use crate::telemetry::{Authorizer, Authorizing, EditEvents, Metrics, ScrapeDenied};
use crate::tls::self_managed::tests::World;
use crate::tls::{Certificates, ClientCa, TlsConfig, self_signed};
use crate::{Config, Guard, Limits, ListeningServer, Patience, Scrapes, Server};
use olmguard_admission::Enforcement;
use olmguard_engine::snapshot::Snapshot;

/// An authorizer that knows one token of each kind, and records its requests.
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

/// Prometheus has no certificate that API servers trust, and authenticates with its token.
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

// === An authority that is replaced while three servers are called all the time, in virtual time ===

/// One replica, with its configuration.
#[derive(Clone)]
struct Replica {
    certificates: Certificates,
    config: ConnectionConfig,
    metrics: Metrics,
}

impl Replica {
    fn of(certificates: Certificates, phase: watch::Receiver<Phase>) -> Self {
        let metrics = Metrics::new();
        let guard = Guard::from(Snapshot::default());
        let telemetry = Telemetry::of(&metrics, DecisionLog::default(), EditEvents::default());
        let limits = Limits::default();
        let handler = Handler::new(Arc::new(guard), Enforcement::default(), &limits, telemetry);
        let config = ConnectionConfig {
            router: routes(Arc::new(handler)),
            patience: Patience::default(),
            phase,
        };
        Self {
            certificates,
            config,
            metrics,
        }
    }

    /// Connects with the published bundle, and sends two requests; panics on any failure.
    async fn call(&self, world: &World) {
        let (near, far) = duplex(1 << 16);
        let Self {
            certificates,
            config,
            metrics,
        } = self.clone();
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(certificates.server_config());
            let stream = acceptor.accept(near).await.unwrap();
            let (peer, pace) = (([127, 0, 0, 1], 0).into(), Arc::new(PeerWait::new()));
            serve(stream, peer, &pace, config, &metrics.connections).await;
        });
        let connector = TlsConnector::from(world.client(&world.store.bundle()));
        let name = ServerName::try_from("localhost").unwrap();
        let mut wire = Wire::over(connector.connect(name, far).await.unwrap());
        for _ in 0..2 {
            let response = wire.ask(&post(&review(0).to_string(), "")).await;
            assert_eq!(response.status(), 200, "{response:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_authority_is_replaced_under_load_without_a_failed_call() {
    let world = Arc::new(World::new());
    let (_phase, watched) = watch::channel(Phase::Serving);
    let replicas = world
        .three()
        .await
        .map(|certificates| Replica::of(certificates, watched.clone()));
    let first = world.store.bundle();
    world.clock.jump(242 * DAY);
    pass(2).await;

    let answered = Arc::new(AtomicU32::new(0));
    let mut load = JoinSet::new();
    for replica in replicas {
        let (world, answered) = (Arc::clone(&world), Arc::clone(&answered));
        load.spawn(async move {
            loop {
                replica.call(&world).await;
                answered.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(OFTEN).await;
            }
        });
    }
    world.clock.jump(DAY);
    pass(2).await;
    assert_eq!(world.store.authorities(), 2, "old and new together");
    pass(15).await;
    for _ in 0..9 * 24 {
        world.clock.jump(HOUR);
        pass(1).await;
    }
    assert_eq!(world.store.authorities(), 1, "the old one is gone");
    assert_ne!(world.store.bundle(), first);
    assert!(load.try_join_next().is_none(), "a call failed");
    assert!(answered.load(Ordering::Relaxed) > 3 * 200);
}

async fn pass(minutes: u64) {
    tokio::time::sleep(Duration::from_mins(minutes)).await;
}

const HOUR: i64 = 60 * 60;

const DAY: i64 = 24 * HOUR;

/// The interval at which a client calls each server.
const OFTEN: Duration = Duration::from_secs(7);
