//! Who judges: the catalogs of the moment, or whatever a program puts in their place.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::admission::Review;
use crate::explain::Answer;
use crate::guardrail::Imposed;
use crate::server::newer::Newer;
use crate::snapshot::Snapshot;

/// Answers reviews.
///
/// It is called on a thread of its own, on as many at once as there are workers, and may take its
/// time: who waits for too long is answered without it.
pub trait Judge: fmt::Debug + Send + Sync + 'static {
    /// The answer to a review.
    fn answer(&self, review: &Review) -> Answer;

    /// What shows whether newer content of a catalog is being loaded; nothing where none ever is.
    fn newer(&self) -> Option<Newer> {
        None
    }
}

/// Judges by the catalogs of the moment.
///
/// An edit is judged by one snapshot from its beginning to its end, whatever is put in its place
/// meanwhile. Whoever puts another one there holds on to the old one until nobody judges by it, so
/// that no edit pays for its end.
#[derive(Clone, Debug)]
pub struct Guard {
    snapshot: Arc<ArcSwap<Snapshot>>,
    imposed: Arc<ArcSwap<Imposed>>,
    loads_newer: Option<watch::Receiver<bool>>,
}

impl Guard {
    /// Judges by whatever is in there.
    pub fn new(snapshot: Arc<ArcSwap<Snapshot>>) -> Self {
        Self {
            snapshot,
            imposed: Arc::default(),
            loads_newer: None,
        }
    }

    /// The same, waiting for newer content while this is true and the loaded content cannot decide.
    #[must_use]
    pub fn awaiting(self, loads_newer: watch::Receiver<bool>) -> Self {
        Self {
            loads_newer: Some(loads_newer),
            ..self
        }
    }

    /// The same by the guardrails, too, that are in there.
    #[must_use]
    pub fn imposing(self, imposed: Arc<ArcSwap<Imposed>>) -> Self {
        Self { imposed, ..self }
    }
}

/// By catalogs that never change.
impl From<Snapshot> for Guard {
    fn from(snapshot: Snapshot) -> Self {
        Self::new(Arc::new(ArcSwap::from_pointee(snapshot)))
    }
}

impl Judge for Guard {
    fn answer(&self, review: &Review) -> Answer {
        let (snapshot, imposed) = (self.snapshot.load(), self.imposed.load_full());
        if imposed.is_empty() {
            return review.answer(&snapshot);
        }
        let imposing = Snapshot::clone(&snapshot).imposing(imposed);
        review.answer(&imposing)
    }

    fn newer(&self) -> Option<Newer> {
        self.loads_newer.clone().map(Newer::from_now)
    }
}
