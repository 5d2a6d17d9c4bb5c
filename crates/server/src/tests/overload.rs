//! More reviews than workers, and judges that take too long.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio_rustls::client::TlsStream;

use super::protocol::{Response, Wire, soon};
use super::{LOOPBACK, Started, post, post_to, review, start, start_with};
use crate::{Guard, Judge, Limits, Patience, PendingReview};
use olmguard_admission::Review;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Basis, Stop, Token, Verdict};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_policy::Moment;

/// A judge that blocks until it is released.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Arc<(Mutex<Hold>, Condvar)>);

#[derive(Debug, Default)]
pub(super) struct Hold {
    begun: usize,
    is_let_go: bool,
}

impl Held {
    fn let_go(&self) {
        self.0.0.lock().unwrap().is_let_go = true;
        self.0.1.notify_all();
    }

    /// Waits until this number of edits is being judged.
    pub(super) async fn holds(&self, count: usize) {
        soon(async {
            while self.0.0.lock().unwrap().begun < count {
                yield_now().await;
            }
        })
        .await;
    }
}

impl Judge for Held {
    fn answer(&self, review: &Review, _pending: &PendingReview) -> Answer {
        let (hold, changed) = &*self.0;
        let mut hold = hold.lock().unwrap();
        hold.begun += 1;
        while !hold.is_let_go {
            hold = changed.wait(hold).unwrap();
        }
        review.answer(Basis::without_policies(&Snapshot::default()))
    }
}

/// Releases the threads of the judge even if a test fails.
impl Drop for LetGo {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

pub(super) struct LetGo(Held);

/// Returns such a judge, with its release.
pub(super) fn held() -> (Held, LetGo) {
    let held = Held::default();
    (held.clone(), LetGo(held))
}

/// Returns a server with one worker, which is busy until the end of the test.
pub(super) async fn busy(queue: usize) -> (Started, LetGo, Wire<TlsStream<TcpStream>>) {
    let held = Held::default();
    let limits = Limits {
        workers: NonZeroUsize::MIN,
        queue,
        ..Limits::default()
    };
    let started = start_with(LOOPBACK, limits, Arc::new(held.clone())).await;
    let mut first = Wire::to(&started).await;
    first.send(&post(&review(0).to_string(), "")).await;
    held.holds(1).await;
    (started, LetGo(held), first)
}

pub(super) async fn ask(started: &Started, path: &str, review: &Value) -> Response {
    let mut wire = Wire::to(started).await;
    wire.ask(&post_to(path, &review.to_string(), "")).await
}

/// Returns how many reviews were answered at their deadline, by what they waited for.
pub(super) fn deadlines(started: &Started) -> [u32; 4] {
    ["body", "worker", "judge", "advice"].map(|waited_for| {
        let name = "olmguard_admission_deadline_exceeded_total";
        started.told(&format!("{name}{{waited_for=\"{waited_for}\"}} "))
    })
}

const OVERLOADS: &str = "olmguard_admission_queue_rejected_total ";

#[track_caller]
pub(super) fn token(response: &Response) -> Value {
    assert_eq!(response.status(), 200, "{response:?}");
    let reply: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(reply["response"]["uid"], "u-1");
    reply["response"]["auditAnnotations"]["token"].clone()
}

#[tokio::test]
async fn a_judge_who_takes_too_long_is_not_waited_for() {
    let held = Held::default();
    let judge = LetGo(held.clone());
    let started = start_with(LOOPBACK, Limits::default(), Arc::new(held)).await;
    let response = ask(&started, "/validate?timeout=300ms", &review(0)).await;
    assert_eq!(token(&response), "DeadlineExceeded");
    assert!(
        response.text().contains("did not finish within 200ms"),
        "{response:?}"
    );
    assert_eq!(deadlines(&started), [0, 0, 1, 0]);
    drop(judge);
    let response = ask(&started, "/validate?timeout=30s", &review(0)).await;
    assert_eq!(token(&response), "NoCatalogs");
}

#[tokio::test]
async fn who_gets_no_worker_in_time_is_told_so() {
    let (started, judge, mut first) = busy(8).await;
    let response = ask(&started, "/validate?timeout=300ms", &review(0)).await;
    assert_eq!(token(&response), "DeadlineExceeded");
    assert!(response.text().contains("worker"), "{response:?}");
    assert_eq!(deadlines(&started), [0, 1, 0, 0]);
    assert_eq!(started.told(OVERLOADS), 0);
    drop(judge);
    assert_eq!(token(&first.response().await), "NoCatalogs");
}

#[tokio::test]
async fn who_finds_the_queue_full_is_answered_at_once() {
    let (started, judge, mut first) = busy(1).await;
    let mut second = Wire::to(&started).await;
    second.send(&post(&review(0).to_string(), "")).await;
    soon(async {
        while started.told("olmguard_admission_queued ") == 0 {
            yield_now().await;
        }
    })
    .await;
    let response = ask(&started, "/validate", &review(0)).await;
    assert_eq!(token(&response), "Overloaded");
    assert_eq!(started.told(OVERLOADS), 1);
    assert_eq!(deadlines(&started), [0; 4]);
    drop(judge);
    for wire in [&mut first, &mut second] {
        assert_eq!(token(&wire.response().await), "NoCatalogs");
    }
}

#[tokio::test]
async fn what_is_not_judged_waits_for_nobody() {
    let (started, _judge, _first) = busy(0).await;
    let object = &review(0)["request"]["object"];
    let mut labelled = object.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    let mut edit = review(0);
    edit["request"]["operation"] = json!("UPDATE");
    edit["request"]["object"] = labelled;
    edit["request"]["oldObject"] = object.clone();
    assert_eq!(token(&ask(&started, "/validate", &edit).await), "NotJudged");
}

/// A judge that panics at the first review.
#[derive(Debug, Default)]
pub(super) struct Panics(std::sync::atomic::AtomicBool);

impl Judge for Panics {
    fn answer(&self, review: &Review, _pending: &PendingReview) -> Answer {
        let failed_before = self.0.swap(true, Ordering::Relaxed);
        assert!(failed_before, "on purpose");
        review.answer(Basis::without_policies(&Snapshot::default()))
    }
}

#[tokio::test]
async fn a_judge_who_panics_is_an_internal_fault_and_the_next_review_is_answered() {
    let started = start_with(LOOPBACK, Limits::default(), Arc::new(Panics::default())).await;
    let mut wire = Wire::to(&started).await;
    let request = post(&review(0).to_string(), "");
    let response = wire.ask(&request).await;
    assert_eq!(
        (response.status(), response.text()),
        (
            500,
            "internal fault: the review cannot be answered; please report this\n"
        )
    );
    assert_eq!(token(&wire.ask(&request).await), "NoCatalogs");
    assert_eq!(started.told("olmguard_panics_total "), 1);
}

#[tokio::test]
async fn large_bodies_that_stall_keep_no_ordinary_review_out() {
    let limits = Limits {
        body_memory: 1 << 20,
        ..Limits::default()
    };
    let guard = Guard::from(Snapshot::default());
    let started = start_with(LOOPBACK, limits, Arc::new(guard)).await;
    let large = post(&review(900 << 10).to_string(), "");
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut wire = Wire::to(&started).await;
        wire.send(large.split_at(large.len() - 1).0).await;
        stalled.push(wire);
    }
    let response = ask(&started, "/validate", &review(0)).await;
    assert_eq!(token(&response), "NoCatalogs");
    let waits = ask(&started, "/validate?timeout=300ms", &review(900 << 10)).await;
    assert_eq!(
        (waits.status(), waits.text()),
        (
            503,
            "no memory for the review within 200 ms: expected fewer large ones at once; try again\n"
        )
    );
}

/// While a large review is judged, there is no memory for an object that is read whole.
#[tokio::test]
async fn objects_share_the_memory_of_large_reviews() {
    let (held, _judge) = held();
    let limits = Limits {
        workers: NonZeroUsize::new(2).unwrap(),
        ..Limits::default()
    };
    let started = start_with(LOOPBACK, limits, Arc::new(held.clone())).await;
    let mut first = Wire::to(&started).await;
    first.send(&post(&review(900 << 10).to_string(), "")).await;
    held.holds(1).await;
    let mut policy = review(900 << 10);
    policy["request"]["kind"] = json!({"group": "olmguard.dev", "kind": "UpgradePolicy"});
    let waits = ask(&started, "/validate-policy?timeout=300ms", &policy).await;
    assert_eq!(
        (waits.status(), waits.text()),
        (
            503,
            "no memory for the review within 200 ms: expected fewer large ones at once; try again\n"
        )
    );
    assert_eq!(
        started.told("olmguard_decode_errors_total{class=\"no_memory\"} "),
        1
    );
}

#[tokio::test]
async fn a_body_that_does_not_come_in_time_is_refused() {
    let (started, _judge, _first) = busy(0).await;
    let mut wire = Wire::to(&started).await;
    let request = post_to("/validate?timeout=300ms", &review(0).to_string(), "");
    wire.send(request.split_at(request.len() - 1).0).await;
    let response = wire.response().await;
    assert_eq!(
        (response.status(), response.text()),
        (408, "body incomplete after 200 ms: expected all of it\n")
    );
    assert_eq!(deadlines(&started), [1, 0, 0, 0]);
    assert_eq!(started.told(OVERLOADS), 0);
}

// === Clients that are slow, or too many ===

pub(super) async fn with(limits: Limits) -> Started {
    let guard = Guard::from(Snapshot::default());
    start_with(LOOPBACK, limits, Arc::new(guard)).await
}

pub(super) fn places(count: usize) -> Limits {
    let count = NonZeroUsize::new(count).unwrap();
    Limits {
        connections: count,
        connections_per_peer: count,
        ..Limits::default()
    }
}

async fn is_answered(started: &Started) -> bool {
    let mut wire = Wire::to(started).await;
    let response = wire.ask(&post(&review(0).to_string(), "")).await;
    response.status() == 200
}

#[tokio::test]
async fn a_handshake_that_takes_too_long_is_cut_off() {
    let started = with(Limits {
        patience: Patience {
            handshake: Duration::from_millis(50),
            ..Patience::default()
        },
        ..Limits::default()
    })
    .await;
    let mut silent = TcpStream::connect(started.server.addr()).await.unwrap();
    assert_eq!(soon(silent.read(&mut [0; 8])).await.unwrap(), 0);
    assert!(is_answered(&started).await);
    assert_eq!(
        started.told("olmguard_tls_handshake_errors_total{class=\"timeout\"} "),
        1
    );
}

#[tokio::test]
async fn who_is_silent_makes_room() {
    let started = with(places(2)).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(started.server.addr()).await.unwrap());
        assert!(is_answered(&started).await);
    }
    let cut_off = silent.len() - 1;
    for stream in silent.iter_mut().take(cut_off) {
        assert_eq!(soon(stream.read(&mut [0; 8])).await.unwrap_or(0), 0);
    }
}

#[tokio::test]
async fn plain_http_is_told_what_is_spoken() {
    let started = start(LOOPBACK).await;
    let mut plain = Wire::plain(started.server.addr()).await;
    let response = plain.ask(&post(&review(1 << 20).to_string(), "")).await;
    assert_eq!(
        (response.status(), response.text()),
        (400, "plain HTTP on a port that speaks TLS: use https\n")
    );
    assert!(plain.is_closed().await);
}

// === A known refusal is the answer, however long the search for advice takes ===

/// A judge that refuses each review with another reason code, and searches for advice until it is stopped.
#[derive(Debug, Default)]
struct Searching(AtomicUsize);

impl Judge for Searching {
    fn answer(&self, review: &Review, pending: &PendingReview) -> Answer {
        let turn = self.0.fetch_add(1, Ordering::Relaxed);
        let refusal = Answer {
            token: denials()[turn],
            ..review.answer(Basis::without_policies(&Snapshot::default()))
        };
        pending.refuse(refusal);
        while !pending.stop().is_set() {
            std::thread::yield_now();
        }
        review.answer(Basis::without_policies(&Snapshot::default()))
    }
}

fn denials() -> Vec<Token> {
    let all = Token::ALL.iter().copied();
    all.filter(|token| token.verdict() == Verdict::Deny)
        .collect()
}

/// There is one worker. Each review finds it free, so the previous search has ended.
#[tokio::test]
async fn a_refusal_that_is_known_is_sent_at_the_deadline() {
    let limits = Limits {
        workers: NonZeroUsize::MIN,
        ..Limits::default()
    };
    let started = start_with(LOOPBACK, limits, Arc::new(Searching::default())).await;
    for expected in denials() {
        let response = ask(&started, "/validate?timeout=400ms", &review(0)).await;
        assert_eq!(token(&response), expected.as_str());
    }
    let refusals = u32::try_from(denials().len()).unwrap();
    assert_eq!(deadlines(&started), [0, 0, 0, refusals]);
}

/// Package `wide`, whose bundles all have a skipRange from 1.0.0, and package `chain`, each of whose bundles replaces
/// the one before.
fn large() -> Snapshot {
    let package = |package: &'static str, edge: fn(usize) -> Value| {
        let version = |at: usize| format!("1.{at}.0");
        let entry = move |at: usize| {
            let mut entry = edge(at);
            entry["name"] = json!(version(at));
            entry
        };
        let entries: Vec<_> = (0..BUNDLES).map(entry).collect();
        let channel =
            json!({"schema": "olm.channel", "package": package, "name": "c", "entries": entries});
        let bundles = (0..BUNDLES).map(move |at| {
            let value = json!({"packageName": package, "version": version(at)});
            json!({"schema": "olm.bundle", "package": package, "name": version(at),
                "properties": [{"type": "olm.package", "value": value}]})
        });
        bundles.chain([channel])
    };
    let wide = package(
        "wide",
        |at| json!({"skipRange": format!(">=1.0.0 <1.{at}.0")}),
    );
    let chain = package("chain", |at| match at.checked_sub(1) {
        Some(before) => json!({"replaces": format!("1.{before}.0")}),
        None => json!({}),
    });
    let lines: Vec<_> = wide.chain(chain).map(|blob| blob.to_string()).collect();
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("c", lines.join("\n").as_bytes(), &mut builder).unwrap();
    let content = Content::Loaded(Arc::new(builder.finish().expect("no bound")));
    Snapshot::new(rules, [CatalogState::named("c", content)])
}

/// Returns an edit of an extension that has version 1.0.0.
fn edit(package: &str, range: &str) -> Review {
    let mut edit = review(0);
    let mut old = edit["request"]["object"].clone();
    old["spec"]["source"]["catalog"]["packageName"] = json!(package);
    old["status"] = json!({"install": {"bundle": {"name": "1.0.0", "version": "1.0.0"}}});
    edit["request"]["operation"] = json!("UPDATE");
    edit["request"]["object"] = old.clone();
    edit["request"]["object"]["spec"]["source"]["catalog"]["version"] = json!(range);
    edit["request"]["oldObject"] = old;
    Review::read(&edit, Moment::EPOCH).unwrap()
}

const BUNDLES: usize = 100_000;

const NOTE: &str = "\nNote: the search for an upgrade path was cut short; try a nearer version, or run olmguard path";

#[test]
fn a_refusal_over_a_hundred_thousand_bundles_waits_for_no_search() {
    let snapshot = large();
    for (package, range, expected, is_cut) in [
        ("wide", "9.9.9", "VersionNotFound", false),
        ("wide", "<1.0.0-0", "VersionNotFound", false),
        ("chain", "1.1999.0", "NotASuccessor", true),
        ("chain", "1.99999.0", "NotASuccessor", true),
    ] {
        let edit = edit(package, range);
        for is_stopped in [true, false] {
            let (stop, first) = (Stop::default(), Mutex::new(None));
            if is_stopped {
                stop.set();
            }
            let answer = edit.answer_until(Basis::without_policies(&snapshot), &stop, |refusal| {
                *first.lock().unwrap() = Some(refusal);
            });
            let first = first.into_inner().unwrap().unwrap();
            for (answer, is_cut) in [(&first, true), (&answer, is_cut || is_stopped)] {
                let message = answer.message.as_deref().unwrap();
                assert_eq!(answer.token.as_str(), expected, "{package} {range}");
                assert_eq!(message.contains(NOTE), is_cut, "{message}");
                assert!(message.len() <= 1024, "{message}");
            }
            // The versions after the installed one need no further search, so a stop does not remove them.
            assert!(first.advice.allowed_next.is_empty());
            assert!(!answer.advice.allowed_next.is_empty());
        }
    }
}
