//! Every metric of a server, as it changes while the server gets requests, is overloaded and is
//! kept waiting.
//!
//! Each scene has its own server, and returns the series that changed;
//! `tests/server/telemetry/moved/server.txt` lists the series that all scenes together must change.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::task::yield_now;

use super::catalogs::{CatalogScene, edit_of, upgrade};
use super::overload::{Panics, busy, places, token, with};
use super::protocol::{Wire, soon};
use super::{
    LOOPBACK, Started, listen_on, policy_review, post, post_to, review, start, start_with,
};
use crate::telemetry::Metrics;
use crate::tls::self_managed::{AuthorityError, StoreError};
use crate::tls::{TlsConfig, TlsError, self_signed};
use crate::{Guard, Limits, Patience, Server};
use olmguard_admission::{Enforcement, Mode};
use olmguard_catalog::olm::Rules;
use olmguard_engine::judge::{Policies, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::moved::{Moved, rows};
use olmguard_fixtures::question::content;
use olmguard_policy::UpgradePolicy;

/// The metrics of one server.
struct Counted {
    metrics: Metrics,
    moved: Moved,
}

impl Counted {
    /// Starts with a new server, before any request.
    fn of(server: &Server) -> Self {
        let metrics = server.metrics.clone();
        let mut counted = Self {
            metrics,
            moved: Moved::default(),
        };
        counted.look();
        counted
    }

    fn look(&mut self) {
        self.moved.look(&self.metrics.render());
    }

    /// Waits until this series has changed.
    async fn until(&mut self, series: &str) {
        let moves = async {
            while !self.moved.series().contains(series) {
                yield_now().await;
                self.look();
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(20), moves).await;
        assert!(ended.is_ok(), "{series} does not move");
    }

    fn series(mut self) -> BTreeSet<String> {
        self.look();
        self.moved.series()
    }
}

#[tokio::test]
async fn every_metric_of_a_server_moves() {
    let mut moved = answers().await;
    moved.extend(policies().await);
    moved.extend(catalogs().await);
    moved.extend(faults().await);
    moved.extend(no_reviews().await);
    moved.extend(no_room_for_bodies().await);
    moved.extend(overload().await);
    moved.extend(handshakes().await);
    moved.extend(certificates());
    moved.extend(too_many_connections().await);
    moved.extend(slow_connections().await);
    // Runs on a thread without a runtime, which the metrics would include.
    moved.extend(thread::spawn(a_runtime).join().unwrap());
    let listed = include_str!("../../../../tests/server/telemetry/moved/server.txt");
    let still: Vec<_> = rows(listed).filter(|row| !moved.contains(*row)).collect();
    assert_eq!(still, [""; 0], "no scene moves these");
}

fn guard() -> Guard {
    let catalog = r#"
        {"schema": "olm.package", "name": "p"}
        {"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1"}]}
        {"schema": "olm.bundle", "package": "p", "name": "p.v1", "properties": [
            {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}"#;
    let rules = Rules::default();
    let catalog = CatalogState::named("hub", content(catalog, &rules));
    Guard::from(Snapshot::new(rules, [catalog]))
}

/// An edit that violates two policies, and one write of each kind of policy.
async fn policies() -> BTreeSet<String> {
    let policy = |enforcement: &str| {
        UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": enforcement.to_lowercase()},
            "spec": {"enforcement": enforcement, "rules": {"catalogs": ["other"]}},
        }))
    };
    let policies = Policies {
        upgrades: UpgradePolicies::of(["Deny", "Warn"].map(policy)),
        ..Policies::default()
    };
    let guard = guard().with_policies(Arc::new(ArcSwap::from_pointee(policies)));
    let started = start_with(LOOPBACK, Limits::default(), Arc::new(guard)).await;
    let counted = Counted::of(&started.server);
    assert_eq!(token(&ask(&started, &review(0)).await), "Policy");
    for step in ["Minor", "Tiny"] {
        let review = policy_review(step).to_string();
        let mut wire = Wire::to(&started).await;
        let asked = wire.ask(&post_to("/validate-policy", &review, "")).await;
        assert_eq!(asked.status(), 200);
    }
    counted.series()
}

/// An edit of a catalog with each result.
async fn catalogs() -> BTreeSet<String> {
    let scene = CatalogScene::start();
    let mut counted = Counted::of(&scene.started.server);
    for spec in [
        json!({"priority": 5}),
        json!({}),
        json!({"source": {"image": {"ref": "example.com/hub:v2"}}}),
        json!({"priority": "high"}),
    ] {
        scene.ask("/validate-catalog", &edit_of(&spec)).await;
    }
    let edit = edit_of(&json!({"priority": 5}));
    scene.never_lists();
    scene.ask("/validate-catalog?timeout=300ms", &edit).await;
    counted.look();
    scene.may_not_list();
    scene.ask("/validate-catalog", &edit).await;
    let mut moved = counted.series();
    let scene = CatalogScene::denying(Mode::Enforce);
    let counted = Counted::of(&scene.started.server);
    scene.ask("/validate-catalog", &upgrade()).await;
    moved.extend(counted.series());
    moved
}

/// One answer of each verdict, in observe mode.
async fn answers() -> BTreeSet<String> {
    let enforcement = Enforcement {
        mode: Mode::Observe,
        ..Enforcement::default()
    };
    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let certificate = certificates.leaf().der().clone();
    let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
    let started = Started {
        server: listening
            .certify(certificates)
            .open(Arc::new(guard()), enforcement),
        certificate,
    };
    let mut counted = Counted::of(&started.server);
    let mut denied = review(0);
    denied["request"]["object"]["spec"]["source"]["catalog"]["packageName"] = json!("absent");
    let mut undecided = review(0);
    undecided["request"]["operation"] = json!("UPDATE");
    undecided["request"]["dryRun"] = json!(true);
    let mut unchanged = undecided.clone();
    unchanged["request"]["oldObject"] = unchanged["request"]["object"].clone();
    for (review, expected) in [
        (review(0), "Resolved"),
        (denied, "PackageNotFound"),
        (undecided, "InstalledUnknown"),
        (unchanged, "NotJudged"),
    ] {
        assert_eq!(token(&ask(&started, &review).await), expected);
    }
    counted.look();
    counted.series()
}

async fn ask(started: &Started, review: &Value) -> super::protocol::Response {
    let mut wire = Wire::to(started).await;
    wire.ask(&post(&review.to_string(), "")).await
}

async fn faults() -> BTreeSet<String> {
    let started = start_with(LOOPBACK, Limits::default(), Arc::new(Panics::default())).await;
    let counted = Counted::of(&started.server);
    assert_eq!(ask(&started, &review(0)).await.status(), 500);
    counted.series()
}

/// Requests that are not reviews, in each way.
async fn no_reviews() -> BTreeSet<String> {
    let started = start(LOOPBACK).await;
    let counted = Counted::of(&started.server);
    let json = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    for (request, status) in [
        (post("{}", "content-encoding: gzip\r\n"), 415),
        (format!("{json}content-length: 8000000\r\n\r\n"), 413),
        (post("{", ""), 400),
        (post("{}", ""), 400),
        (
            format!("{json}transfer-encoding: chunked\r\n\r\nx\r\n"),
            400,
        ),
    ] {
        let response = Wire::to(&started).await.ask(&request).await;
        assert_eq!(response.status(), status, "{request}");
    }
    counted.series()
}

async fn no_room_for_bodies() -> BTreeSet<String> {
    let started = with(Limits {
        body_memory: 1 << 20,
        ..Limits::default()
    })
    .await;
    let counted = Counted::of(&started.server);
    let large = review(900 << 10).to_string();
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut wire = Wire::to(&started).await;
        let request = post(&large, "");
        wire.send(request.split_at(request.len() - 1).0).await;
        stalled.push(wire);
    }
    let request = post_to("/validate?timeout=300ms", &large, "");
    let response = Wire::to(&started).await.ask(&request).await;
    assert_eq!(response.status(), 503);
    counted.series()
}

/// A judge that is busy, a review that waits for it, and one without a place in the queue.
async fn overload() -> BTreeSet<String> {
    let (started, judge, mut first) = busy(1).await;
    let mut counted = Counted::of(&started.server);
    let short = post_to("/validate?timeout=300ms", &review(0).to_string(), "");
    let response = Wire::to(&started).await.ask(&short).await;
    assert_eq!(token(&response), "DeadlineExceeded");
    let mut second = Wire::to(&started).await;
    second.send(&post(&review(0).to_string(), "")).await;
    counted.until("olmguard_admission_queued").await;
    assert_eq!(token(&ask(&started, &review(0)).await), "Overloaded");
    let mut cut = Wire::to(&started).await;
    cut.send(short.split_at(short.len() - 1).0).await;
    assert_eq!(cut.response().await.status(), 408);
    drop(judge);
    for wire in [&mut first, &mut second] {
        assert_eq!(wire.response().await.status(), 200);
    }
    let mut moved = counted.series();
    moved.extend(a_slow_judge().await);
    moved
}

async fn a_slow_judge() -> BTreeSet<String> {
    let (held, judge) = super::overload::held();
    let started = start_with(LOOPBACK, Limits::default(), Arc::new(held)).await;
    let counted = Counted::of(&started.server);
    let short = post_to("/validate?timeout=300ms", &review(0).to_string(), "");
    let response = Wire::to(&started).await.ask(&short).await;
    assert_eq!(token(&response), "DeadlineExceeded");
    drop(judge);
    counted.series()
}

/// Handshakes that fail, in each way that a client without a certificate can cause.
async fn handshakes() -> BTreeSet<String> {
    let started = start(LOOPBACK).await;
    let mut counted = Counted::of(&started.server);
    let errors = |class: &str| format!("olmguard_tls_handshake_errors_total{{class=\"{class}\"}}");
    drop(TcpStream::connect(started.server.addr()).await.unwrap());
    counted.until(&errors("closed")).await;
    let mut plain = Wire::plain(started.server.addr()).await;
    assert_eq!(plain.ask(&post("{}", "")).await.status(), 400);
    counted.until(&errors("not_tls")).await;
    let other = Wire::with(&started, rustls::DEFAULT_VERSIONS, &[b"h2"]).await;
    assert!(other.is_err());
    counted.until(&errors("nothing_in_common")).await;
    let stranger = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let started = Started {
        certificate: stranger.leaf().der().clone(),
        ..started
    };
    let distrusts = Wire::with(&started, rustls::DEFAULT_VERSIONS, &[]).await;
    assert!(distrusts.is_err());
    counted.until(&errors("refused_by_peer")).await;
    let mut moved = counted.series();

    let handshake = SHORT;
    let started = with(patient(Patience {
        handshake,
        ..Patience::default()
    }));
    let started = started.await;
    let mut counted = Counted::of(&started.server);
    let _silent = TcpStream::connect(started.server.addr()).await.unwrap();
    counted.until(&errors("timeout")).await;
    moved.extend(counted.series());
    moved
}

fn patient(patience: Patience) -> Limits {
    Limits {
        patience,
        ..Limits::default()
    }
}

/// No certificate, then one, another, and one that cannot be obtained.
fn certificates() -> BTreeSet<String> {
    let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
    let mut counted = Counted::of(listening.server());
    let observer = listening.observer();
    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let certified = listening.certify(certificates);
    counted.look();
    let another = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    observer.reloaded(&another.leaf());
    let away = StoreError::Unavailable("it is away".into());
    observer.refused(&TlsError::from(AuthorityError::Store(away)));
    let _server = certified.open_with(Router::new());
    counted.series()
}

/// One seat on the port for reviews: an idle connection is evicted, a waiting one is not.
async fn too_many_connections() -> BTreeSet<String> {
    let (held, judge) = super::overload::held();
    let started = start_with(LOOPBACK, places(1), Arc::new(held.clone())).await;
    let mut counted = Counted::of(&started.server);
    let _silent = TcpStream::connect(started.server.addr()).await.unwrap();
    let mut first = Wire::to(&started).await;
    first.send(&post(&review(0).to_string(), "")).await;
    held.holds(1).await;
    let _refused = TcpStream::connect(started.server.addr()).await.unwrap();
    let refused = "olmguard_connections_refused_total{port=\"reviews\",reason=\"full\"}";
    counted.until(refused).await;
    let mut ops = Wire::plain(started.server.ops_addr()).await;
    let ready = ops.ask("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(ready.status(), 200);
    counted.until("olmguard_connections{port=\"ops\"}").await;
    drop(judge);
    assert_eq!(first.response().await.status(), 200);
    counted.series()
}

/// Clients that keep the server waiting, in each way.
async fn slow_connections() -> BTreeSet<String> {
    let limits = patient(Patience {
        head: SHORT,
        body: SHORT,
        write: SHORT,
        ..Patience::default()
    });
    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let certificate = certificates.leaf().der().clone();
    let listening = listen_on(LOOPBACK.parse().unwrap(), limits);
    let routes = Router::new()
        .route("/large", get(async || "x".repeat(64 << 20)))
        .fallback(async |_: String| ());
    let server = listening.certify(certificates).open_with(routes);
    let started = Started {
        server,
        certificate,
    };
    let mut counted = Counted::of(&started.server);
    let body = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n";
    for (sent, reason) in [
        ("POST", "slow_header"),
        (body, "slow_body"),
        ("GET /large HTTP/1.1\r\nhost: x\r\n\r\n", "slow_reader"),
    ] {
        let mut wire = Wire::to(&started).await;
        wire.send(sent).await;
        let port = "port=\"reviews\"";
        let series = format!("olmguard_connections_evicted_total{{{port},reason=\"{reason}\"}}");
        counted.until(&series).await;
    }
    let mut moved = counted.series();
    moved.extend(idle_connections().await);
    moved
}

async fn idle_connections() -> BTreeSet<String> {
    let started = with(patient(Patience {
        idle: SHORT,
        ..Patience::default()
    }));
    let started = started.await;
    let mut counted = Counted::of(&started.server);
    let _reviews = Wire::to(&started).await;
    let _ops = Wire::plain(started.server.ops_addr()).await;
    for port in ["reviews", "ops"] {
        let series = "olmguard_connections_evicted_total";
        let series = format!("{series}{{port=\"{port}\",reason=\"idle\"}}");
        counted.until(&series).await;
    }
    counted.series()
}

/// A short time limit.
const SHORT: Duration = Duration::from_millis(50);

/// A runtime whose only thread is busy while another thread adds a task.
fn a_runtime() -> BTreeSet<String> {
    let mut runtime = runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    let metrics = Metrics::new();
    let mut moved = Moved::default();
    moved.look(&metrics.render());
    let (begun, begins) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    runtime.spawn(async move {
        begun.send(()).unwrap();
        // The task ends when the sender is dropped.
        let _ended = wait.recv();
    });
    begins.recv_timeout(Duration::from_secs(20)).unwrap();
    let waiting = runtime.spawn(async {});
    {
        let _within = runtime.enter();
        moved.look(&metrics.render());
    }
    drop(go_on);
    runtime.block_on(async { soon(waiting).await.unwrap() });
    moved.series()
}
