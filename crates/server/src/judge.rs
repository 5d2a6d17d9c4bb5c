//! The judge of reviews: the catalogs of the moment, or a stand-in for them.

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
/// It runs for at most as many reviews at the same time as there are workers, on a separate thread unless it is quick. It
/// can take longer than the deadline of a review: the reply is then what is known until the deadline.
pub trait Judge: fmt::Debug + Send + Sync + 'static {
    /// The answer to a review. What is refused is noted in `pending` as soon as that is known, before
    /// the search for advice, and the search ends when `pending` says so.
    fn answer(&self, review: &Review, pending: &PendingReview) -> Answer;

    /// The answer, if it takes some tenths of a millisecond at most. It is made on the thread of the connection,
    /// because to wake another thread costs more.
    fn quick_answer(&self, _review: &Review) -> Option<Answer> {
        None
    }

    /// The policies that edits are judged by at the moment; none where there never are any.
    fn policies(&self) -> Arc<Policies> {
        Arc::default()
    }

    /// What shows whether newer content of a catalog is being loaded; nothing where none ever is.
    fn newer(&self) -> Option<Newer> {
        None
    }
}

/// An answer that somebody waits for.
#[derive(Debug, Default)]
pub struct PendingReview {
    refusal: Mutex<Option<Answer>>,
    stop: Stop,
}

impl PendingReview {
    /// Notes a refusal that is known, without its advice.
    pub fn refuse(&self, answer: Answer) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// The signal that nobody waits for advice any more.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The refusal that is known so far.
    pub(super) fn refusal(&self) -> Option<Answer> {
        let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.take()
    }
}

/// Judges by the catalogs of the moment.
///
/// An edit is judged by one snapshot from its beginning to its end, whatever is put in its place
/// meanwhile. Whoever puts another one there holds on to the old one until nobody judges by it, so
/// that no edit pays for its end.
#[derive(Clone, Debug)]
pub struct Guard {
    facts: LiveFacts,
    loads_newer: Option<watch::Receiver<bool>>,
}

impl Guard {
    /// Judges by whatever is in there.
    pub fn new(snapshot: Arc<ArcSwap<Snapshot>>) -> Self {
        let policies = Arc::default();
        Self {
            facts: LiveFacts { snapshot, policies },
            loads_newer: None,
        }
    }

    /// The same judge, which waits for newer content while this is true and the loaded content cannot decide.
    pub fn awaiting(self, loads_newer: watch::Receiver<bool>) -> Self {
        Self {
            loads_newer: Some(loads_newer),
            ..self
        }
    }

    /// What it judges by.
    pub fn facts(&self) -> &LiveFacts {
        &self.facts
    }

    /// The same judge, which applies these policies too.
    pub fn with_policies(self, policies: Arc<ArcSwap<Policies>>) -> Self {
        let facts = LiveFacts {
            policies,
            ..self.facts
        };
        Self { facts, ..self }
    }
}

/// A judge by catalogs that never change.
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

    /// A quick answer is ready before any deadline, so a refusal is not noted before its advice is found.
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
    let filter = review.extension().map(|new| new.filter.as_ref());
    matches!(filter, Some(Ok(filter)) if basis.is_quick_on(filter))
}

// === Newer content of a catalog that is being loaded, and how long an answer waits for it ===
//
// If the loaded content cannot decide and newer content is being loaded, an answer a moment later is
// better. The wait takes no worker.
//
// Invariant: no wait is longer than [`LONGEST`], or than half of the time that is left for the answer.

/// Whether newer content is being loaded, seen from the moment at which an edit is checked.
#[derive(Debug)]
pub struct Newer(watch::Receiver<bool>);

impl Newer {
    /// From now on; the receiver sees whether newer content is being loaded.
    pub fn from_now(mut loading: watch::Receiver<bool>) -> Self {
        loading.mark_unchanged();
        Self(loading)
    }

    /// Waits for the newer content. True if loading has ended, so that another answer is possible.
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
