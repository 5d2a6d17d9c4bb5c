//! More to judge than there are workers, and judges that take too long.

use olmguard_engine::judge::Basis;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio_rustls::client::TlsStream;

use super::wire::{Response, Wire, soon};
use super::{LOOPBACK, Started, post, post_to, review, start_with};
use crate::admission::Review;
use crate::server::{Guard, Judge, Limits, PendingReview};
use olmguard_engine::explain::Answer;
use olmguard_engine::snapshot::Snapshot;

/// Judges nothing until it is let go.
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

    /// Waits until so many edits are being judged.
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

/// A test that failed lets the judge's threads end.
impl Drop for LetGo {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

pub(super) struct LetGo(Held);

/// One of these, and what lets it go.
pub(super) fn held() -> (Held, LetGo) {
    let held = Held::default();
    (held.clone(), LetGo(held))
}

/// A server with one worker, which is busy until the end of the test.
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

/// How many reviews were answered at their deadline, by what they waited for.
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

/// Fails at the first review.
#[derive(Debug, Default)]
pub(super) struct Panics(std::sync::atomic::AtomicBool);

impl Judge for Panics {
    fn answer(&self, review: &Review, _pending: &PendingReview) -> Answer {
        let failed_before = self.0.swap(true, std::sync::atomic::Ordering::Relaxed);
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
            "no room for a large body within 200 ms: expected fewer at once; try again\n"
        )
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
