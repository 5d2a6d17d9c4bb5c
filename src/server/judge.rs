//! Who judges: the catalogs of the moment, or whatever a program puts in their place.

use std::fmt;
use std::sync::Arc;

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

/// Judges by catalogs that never change.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The catalogs.
    pub snapshot: Arc<Snapshot>,
}

impl Judge for Guard {
    fn answer(&self, review: &Review) -> Answer {
        review.answer(&self.snapshot)
    }
}
