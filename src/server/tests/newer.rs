//! Answers that wait for newer content, in virtual time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::http::header::CONTENT_TYPE;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::review;
use crate::admission::{Enforcement, Review};
use crate::server::handler::{Handler, Rejection, Telemetry};
use crate::server::{Guard, Judge, Limits, Newer, PendingReview};
use crate::telemetry::EditEvents;
use crate::telemetry::Metrics;
use crate::telemetry::log::DecisionLog;
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::Answer;
use olmguard_engine::snapshot::{CatalogState, Content, Currency, Snapshot};

/// A judge by one catalog without packages, who counts what it answers.
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

/// A handler, and what happens to its catalog.
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

    /// The token of the answer, how long it took, and how often the edit was checked.
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

    /// Newer content takes the place of the old once an edit was checked by the old.
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
        // Half of the 900 ms in which the answer must leave.
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

/// All such peers would share the limits of one.
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
