//! The judge of reviews: the current catalogs, or a stand-in for them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::limits::Deadline;
use crate::live_facts::LiveFacts;
use olmguard_admission::Review;
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{Basis, Policies, Stop};
use olmguard_engine::snapshot::Snapshot;

/// Answers reviews.
///
/// At most as many reviews run at the same time as there are workers, on separate threads unless they are quick. An
/// answer can take longer than the deadline of its review: the reply is then what is known at the deadline.
pub trait Judge: fmt::Debug + Send + Sync + 'static {
    /// Returns the answer to a review. A refusal is recorded in `pending` as soon as it is known, before the search for
    /// advice, and the search ends when `pending` signals it.
    fn answer(&self, review: &Review, pending: &PendingReview) -> Answer;

    /// Returns the answer, if it takes at most some tenths of a millisecond. It runs on the thread of the connection,
    /// because waking another thread costs more.
    fn quick_answer(&self, _review: &Review) -> Option<Answer> {
        None
    }

    /// Returns the policies that currently apply; empty by default.
    fn policies(&self) -> Arc<Policies> {
        Arc::default()
    }

    /// Returns a handle to check whether newer content of a catalog is being loaded; none if content is never reloaded.
    fn newer(&self) -> Option<Newer> {
        None
    }
}

/// The state shared between a judge and the request that waits for its answer.
#[derive(Debug, Default)]
pub struct PendingReview {
    refusal: Mutex<Option<Answer>>,
    stop: Stop,
}

impl PendingReview {
    /// Records a refusal that is known, without its advice.
    pub fn refuse(&self, answer: Answer) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// Returns the signal that the answer is no longer awaited, so the search for advice must end.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Takes the refusal that is known so far.
    pub(super) fn refusal(&self) -> Option<Answer> {
        let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.take()
    }
}

/// A judge by the current catalogs.
///
/// Each edit is judged by one snapshot from start to end, even if another snapshot replaces it meanwhile. The code that
/// replaces a snapshot keeps the old one until no edit uses it, so that no edit pays for dropping it.
#[derive(Clone, Debug)]
pub struct Guard {
    facts: LiveFacts,
    loads_newer: Option<watch::Receiver<bool>>,
}

impl Guard {
    /// Creates a judge by the current snapshot in `snapshot`.
    pub fn new(snapshot: Arc<ArcSwap<Snapshot>>) -> Self {
        let policies = Arc::default();
        Self {
            facts: LiveFacts { snapshot, policies },
            loads_newer: None,
        }
    }

    /// The same judge, which waits for newer content if that is being loaded and the loaded content cannot decide.
    pub fn awaiting(self, loads_newer: watch::Receiver<bool>) -> Self {
        Self {
            loads_newer: Some(loads_newer),
            ..self
        }
    }

    /// Returns the facts that edits are judged by.
    pub fn facts(&self) -> &LiveFacts {
        &self.facts
    }

    /// The same judge, which also applies these policies.
    pub fn with_policies(self, policies: Arc<ArcSwap<Policies>>) -> Self {
        let facts = LiveFacts {
            policies,
            ..self.facts
        };
        Self { facts, ..self }
    }
}

/// Judges by catalogs that never change.
impl From<Snapshot> for Guard {
    fn from(snapshot: Snapshot) -> Self {
        Self::new(Arc::new(ArcSwap::from_pointee(snapshot)))
    }
}

impl Judge for Guard {
    fn answer(&self, review: &Review, pending: &PendingReview) -> Answer {
        self.facts.judged(|basis| {
            review.answer_until(basis, pending.stop(), |refusal| pending.refuse(refusal))
        })
    }

    /// A quick answer is ready before any deadline, so its refusal is not recorded before its advice is found.
    fn quick_answer(&self, review: &Review) -> Option<Answer> {
        self.facts
            .judged(|basis| is_quick(basis, review).then(|| review.answer(basis)))
    }

    fn policies(&self) -> Arc<Policies> {
        self.facts.policies.load_full()
    }

    fn newer(&self) -> Option<Newer> {
        self.loads_newer.clone().map(Newer::from_now)
    }
}

fn is_quick(basis: Basis<'_>, review: &Review) -> bool {
    review.extension().is_some_and(|new| {
        let filter = new.filter.as_ref();
        filter.is_ok_and(|filter| basis.is_quick_on(filter, &new.installed))
    })
}

// === Newer content of a catalog that is being loaded, and how long an answer waits for it ===
//
// If the loaded content cannot decide and newer content is being loaded, a slightly later answer is better. The wait
// occupies no worker.
//
// Invariant: no wait is longer than [`LONGEST`], or than half of the time that is left for the answer.

/// A view of whether newer content is being loaded, from the moment at which an edit is checked.
#[derive(Debug)]
pub struct Newer(watch::Receiver<bool>);

impl Newer {
    /// Creates a view that starts now. The receiver reports whether newer content is being loaded.
    pub fn from_now(mut loading: watch::Receiver<bool>) -> Self {
        loading.mark_unchanged();
        Self(loading)
    }

    /// Waits for the newer content. Returns true if loading has ended, so another answer is possible.
    pub(super) async fn loaded(&self, deadline: Deadline) -> bool {
        if !*self.0.borrow() {
            return self.0.has_changed().unwrap_or_default();
        }
        let mut loading = self.0.clone();
        let ended = loading.wait_for(|is_loading| !is_loading);
        let ended = timeout_at(until(deadline, Instant::now()), ended).await;
        ended.is_ok_and(|ended| ended.is_ok())
    }
}

fn until(deadline: Deadline, now: Instant) -> Instant {
    let left = deadline.at.saturating_duration_since(now);
    now + LONGEST.min(left / 2)
}

const LONGEST: Duration = Duration::from_secs(1);
