//! Who judges: the catalogs of the moment, or whatever a program puts in their place.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::admission::Review;
use crate::explain::Answer;
use crate::snapshot::Snapshot;

/// Answers reviews.
///
/// It is called on a thread of its own, on as many at once as there are workers, and may take its
/// time: who waits for too long is answered without it.
pub trait Judge: fmt::Debug + Send + Sync + 'static {
    /// The answer to a review.
    fn answer(&self, review: &Review) -> Answer;
}

/// Judges by the catalogs of the moment.
///
/// An edit is judged by one snapshot from its beginning to its end, whatever is put in its place
/// meanwhile. Whoever puts another one there holds on to the old one until nobody judges by it, so
/// that no edit pays for its end.
#[derive(Clone, Debug)]
pub struct Guard {
    snapshot: Arc<ArcSwap<Snapshot>>,
}

impl Guard {
    /// Judges by whatever is in there.
    pub fn new(snapshot: Arc<ArcSwap<Snapshot>>) -> Self {
        Self { snapshot }
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
        review.answer(&self.snapshot.load())
    }
}
