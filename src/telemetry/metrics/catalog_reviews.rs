//! Edits of catalogs that API servers asked about.

use prometheus::IntCounter;

use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;

label! {
    /// What became of the review of a catalog.
    pub enum CatalogReviewResult {
        /// Every installed extension was checked.
        Checked => "checked",
        /// An upgrade policy denies the edit.
        Denied => "denied",
        /// It changes nothing that OLM resolves by.
        Idle => "idle",
        /// The content of the catalog after the edit is not loaded.
        UnknownContent => "unknown_content",
        /// The installed extensions, or some of them, could not be listed.
        NotListed => "not_listed",
        /// Not every extension was checked in time.
        NotInTime => "not_in_time",
        /// An object in it could not be read.
        Unreadable => "unreadable",
    }
}

/// The reviews of catalogs.
#[derive(Debug)]
pub struct CatalogReviewMetrics {
    reviews: PerLabel<CatalogReviewResult, IntCounter>,
}

impl CatalogReviewMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            reviews: register.counter_per(
                "catalog_reviews_total",
                "Edits of ClusterCatalogs that API servers asked about, by result.",
                "result",
            ),
        }
    }

    /// A review was answered so.
    pub fn reviewed(&self, result: CatalogReviewResult) {
        self.reviews.of(result).inc();
    }
}
