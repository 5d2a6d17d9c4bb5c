//! The server over real sockets on loopback.

mod catalogs;
mod moved;
mod overload;
mod protocol;
mod scrape;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::http::header::CONTENT_TYPE;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::handler::{Handler, Rejection, Telemetry};
use crate::telemetry::log::DecisionLog;
use crate::telemetry::{EditEvents, Metrics};
use crate::tls::self_managed::{AuthorityError, StoreError};
use crate::tls::{TlsConfig, TlsError, self_signed};
use crate::{Config, Guard, Judge, Limits, ListeningServer, Newer, PendingReview, Server};
use olmguard_admission::{Enforcement, Review};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Policies, Requester, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Content, Currency, Snapshot};
use olmguard_policy::UpgradePolicy;
use protocol::{Wire, soon};

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
    /// Returns the value of a metric by its name and labels.
    #[track_caller]
    fn told(&self, series: &str) -> u32 {
        let text = self.server.metrics.render();
        let value = text.lines().find_map(|line| line.strip_prefix(series));
        value.unwrap().parse().unwrap()
    }
}

/// Returns a review of a new extension that contains a text of this many bytes.
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

// === Answers of the health port before reviews are accepted ===

/// Returns the status and the body of an answer of the health port.
async fn told(ops: SocketAddr, path: &str) -> (u16, String) {
    let ask = async {
        let mut stream = TcpStream::connect(ops).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = soon(ask).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// The store of a certificate may be an unavailable API server, which is no reason to restart the
/// process.
#[tokio::test]
async fn health_is_told_while_a_certificate_is_waited_for() {
    let listening = listen_on(LOOPBACK.parse().unwrap(), Limits::default());
    let ops = listening.server().ops_addr();
    assert_eq!(told(ops, "/livez").await.0, 200);
    assert_eq!(told(ops, "/metrics").await.0, 200);
    let waits = "waits for a certificate";
    let expected = (503, format!("not started: {waits}\n"));
    assert_eq!(told(ops, "/startupz").await, expected);

    let away = AuthorityError::Store(StoreError::Unavailable("it is away".into()));
    listening.observer().refused(&TlsError::from(away));
    let waits = format!("{waits}: the store of the certificate authority: it is away\n");
    let expected = (503, format!("not started: {waits}"));
    assert_eq!(told(ops, "/startupz").await, expected);
    let expected = format!("not ready: {waits}[-] certificate: {waits}");
    assert_eq!(told(ops, "/readyz").await, (503, expected));
    assert_eq!(told(ops, "/livez").await.0, 200);

    let expected = (503, format!("no certificate: {waits}"));
    assert_eq!(told(ops, "/certificate").await, expected);

    let certificates = self_signed(&TlsConfig::default(), Vec::new()).unwrap();
    let leaf = certificates.leaf().der().clone();
    let certified = listening.certify(certificates);
    let (code, chain) = told(ops, "/certificate").await;
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes());
    let chain: Vec<_> = chain.map(Result::unwrap).collect();
    assert_eq!((code, chain), (200, vec![leaf]));
    let expected = (503, "not started: it takes no reviews yet\n".to_owned());
    assert_eq!(told(ops, "/startupz").await, expected);
    let guard = Guard::from(Snapshot::default());
    let _server = certified.open(Arc::new(guard), Enforcement::default());
    for path in ["/startupz", "/readyz"] {
        assert_eq!(told(ops, path).await.0, 200);
    }
}

// === Answers that wait for newer content, in virtual time ===

/// A judge by one catalog without packages, which counts its answers.
#[derive(Clone, Debug)]
struct Counting {
    guard: Guard,
    answered: Arc<AtomicUsize>,
}

impl Judge for Counting {
    fn answer(&self, review: &Review, pending: &PendingReview) -> Answer {
        let answer = self.guard.answer(review, pending);
        self.answered.fetch_add(1, Ordering::Relaxed);
        answer
    }

    fn newer(&self) -> Option<Newer> {
        self.guard.newer()
    }
}

/// A handler, with control over its catalog.
struct Scene {
    handler: Handler,
    snapshot: Arc<ArcSwap<Snapshot>>,
    loads_newer: watch::Sender<bool>,
    answered: Arc<AtomicUsize>,
}

fn at(currency: Currency) -> Arc<Snapshot> {
    let rules = Rules::default();
    let empty = CatalogBuilder::new(&rules).finish().expect("no bound");
    let hub = CatalogState::named("hub", Content::Loaded(Arc::new(empty)));
    let hub = CatalogState { currency, ..hub };
    Arc::new(Snapshot::new(rules, [hub]))
}

impl Scene {
    fn new(currency: Currency, is_loading: bool) -> Self {
        let snapshot = Arc::new(ArcSwap::new(at(currency)));
        let loads_newer = watch::Sender::new(is_loading);
        let guard = Guard::new(Arc::clone(&snapshot)).awaiting(loads_newer.subscribe());
        let answered = Arc::default();
        let judge = Counting {
            guard,
            answered: Arc::clone(&answered),
        };
        let telemetry = Telemetry::of(
            &Metrics::new(),
            DecisionLog::default(),
            EditEvents::default(),
        );
        let limits = Limits::default();
        let handler = Handler::new(Arc::new(judge), Enforcement::default(), &limits, telemetry);
        Self {
            handler,
            snapshot,
            loads_newer,
            answered,
        }
    }

    /// Returns the reason code of the answer, its duration, and how often the edit was checked.
    async fn ask(&self, uri: &str) -> (String, Duration, usize) {
        let begun = Instant::now();
        let request = Request::post(uri)
            .header(CONTENT_TYPE, "application/json")
            .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))))
            .body(Body::from(review(0).to_string()))
            .unwrap();
        let reply = self.handler.admit(request).await.unwrap();
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        let token = &reply["response"]["auditAnnotations"]["token"];
        let answered = self.answered.load(Ordering::Relaxed);
        (
            token.as_str().unwrap().to_owned(),
            begun.elapsed(),
            answered,
        )
    }

    /// Replaces the content by newer content once an edit was checked with the old one.
    async fn load(&self) {
        while self.answered.load(Ordering::Relaxed) == 0 {
            yield_now().await;
        }
        self.snapshot.store(at(Currency::Current));
        self.loads_newer.send_replace(false);
    }
}

#[tokio::test(start_paused = true)]
async fn newer_content_that_is_being_loaded_answers() {
    let scene = Scene::new(Currency::Superseded, true);
    let (told, ()) = tokio::join!(scene.ask("/validate?timeout=5s"), scene.load());
    assert_eq!(told, ("PackageNotFound".to_owned(), Duration::ZERO, 2));
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_an_end() {
    for (uri, millis) in [
        ("/validate", 1_000),
        ("/validate?timeout=3s", 1_000),
        // Half of the 900 ms in which the answer must be sent.
        ("/validate?timeout=1s", 450),
        ("/validate?timeout=200ms", 50),
    ] {
        let (token, took, answered) = Scene::new(Currency::Superseded, true).ask(uri).await;
        assert_eq!((token.as_str(), answered), ("CatalogOutdated", 1), "{uri}");
        // A timer rounds up to whole milliseconds.
        let late = took.checked_sub(Duration::from_millis(millis));
        assert!(
            late.is_some_and(|late| late.as_millis() <= 1),
            "{uri}: {took:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_else_waits() {
    for (currency, is_loading, expected) in [
        (Currency::Superseded, false, "CatalogOutdated"),
        (Currency::Current, true, "PackageNotFound"),
    ] {
        let told = Scene::new(currency, is_loading).ask("/validate").await;
        assert_eq!(told, (expected.to_owned(), Duration::ZERO, 1));
    }
}

/// All such clients would share the limits of one.
#[tokio::test]
async fn a_request_without_the_address_of_its_peer_is_a_fault_of_ours() {
    let scene = Scene::new(Currency::Current, false);
    let request = || {
        Request::post("/validate")
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(review(0).to_string()))
            .unwrap()
    };
    let refused = scene.handler.admit(request()).await.unwrap_err();
    assert!(matches!(refused, Rejection::Lost), "{refused}");
    let refused = scene.handler.admit_catalog(request()).await.unwrap_err();
    assert!(matches!(refused, Rejection::Lost), "{refused}");
}

// === `POST /validate-policy`, and the client facts that reach the judge ===

fn policy_review(step: &str) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "CREATE",
            "kind": {"group": "olmguard.dev", "version": "v1alpha1", "kind": "UpgradePolicy"},
            "object": {
                "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
                "metadata": {"name": "a"}, "spec": {"rules": {"step": step}},
            },
        },
    })
}

async fn answer(started: &Started, path: &str, review: &Value) -> (String, Value) {
    let mut wire = Wire::to(started).await;
    wire.send(&post_to(path, &review.to_string(), "")).await;
    let response = wire.response().await;
    let status = response.head.lines().next().unwrap_or_default().to_owned();
    (
        status,
        serde_json::from_slice(&response.body).unwrap_or_default(),
    )
}

#[tokio::test]
async fn a_policy_is_read_when_it_is_written() {
    let started = start(LOOPBACK).await;
    for (step, is_allowed) in [("Minor", true), ("Tiny", false)] {
        let (status, reply) = answer(&started, "/validate-policy", &policy_review(step)).await;
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert_eq!(reply["response"]["uid"], "u");
        assert_eq!(reply["response"]["allowed"], is_allowed, "{reply}");
    }
    for (is_accepted, count) in [(true, 1), (false, 1)] {
        let series = format!(
            "olmguard_policy_reviews_total{{accepted=\"{is_accepted}\",kind=\"UpgradePolicy\"}} "
        );
        assert_eq!(started.told(&series), count);
    }
}

/// A written policy is checked together with the current policies, by which edits are judged.
#[tokio::test]
async fn a_policy_that_is_written_is_checked_beside_those_in_force() {
    let all = "user.groups.all(g, user.groups.all(h, g != h || true))";
    let costly = |name: String| {
        UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": name},
            "spec": {"rules": {"conditions": [{"expression": all}]}},
        }))
    };
    let guard = Guard::from(Snapshot::new(Rules::default(), Vec::new()));
    let policies = Arc::<ArcSwap<Policies>>::default();
    let judge = Arc::new(guard.with_policies(Arc::clone(&policies)));
    let started = start_with(LOOPBACK, Limits::default(), judge).await;
    let mut review = policy_review("Minor");
    review["request"]["object"]["spec"]["rules"] = json!({"conditions": [{"expression": all}]});
    let (_, alone) = answer(&started, "/validate-policy", &review).await;
    assert_eq!(alone["response"], json!({"uid": "u", "allowed": true}));
    policies.store(Arc::new(Policies {
        upgrades: UpgradePolicies::of((1..=7).map(|number| costly(format!("p{number}")))),
        ..Policies::default()
    }));
    let (_, beside) = answer(&started, "/validate-policy", &review).await;
    assert_eq!(beside["response"]["allowed"], true);
    assert_eq!(
        beside["response"]["warnings"][0],
        "with this change policy p7 is not valid"
    );
}

#[tokio::test]
async fn what_is_no_review_is_refused() {
    let started = start(LOOPBACK).await;
    let (status, _) = answer(&started, "/validate-policy", &json!({})).await;
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
}

/// A judge that records the user of a request.
#[derive(Debug, Default)]
struct Witness(Mutex<Option<Requester>>);

impl Judge for Witness {
    fn answer(&self, review: &Review, _: &PendingReview) -> Answer {
        *self.0.lock().unwrap() = Some(review.requester().clone());
        review.unanswered(olmguard_engine::judge::UnansweredReason::QueueFull { waiting: 0 })
    }
}

#[tokio::test]
async fn the_judge_is_told_who_asks_and_when() {
    let witness = Arc::new(Witness::default());
    let judge: Arc<dyn Judge> = Arc::clone(&witness) as _;
    let started = start_with(LOOPBACK, Limits::default(), judge).await;
    let mut review = review(0);
    review["request"]["userInfo"] = json!({"username": "jane", "groups": ["platform"]});
    answer(&started, "/validate", &review).await;
    let requester = witness.0.lock().unwrap().take().expect("it was asked");
    let user = requester.user.expect("a user");
    assert_eq!(
        (&*user.name, &*user.groups),
        ("jane", &["platform".to_owned()][..])
    );
    let now = olmguard_policy::Moment::from_unix_seconds(1_700_000_000);
    assert!(requester.at > now, "{:?}", requester.at);
}
