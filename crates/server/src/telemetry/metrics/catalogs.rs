//! The loaded catalogs, each under its name in the cluster or the configuration.

use std::time::{Duration, SystemTime};

use prometheus::{GaugeVec, IntCounter, IntCounterVec, IntGaugeVec};

use crate::telemetry::metrics::{PerLabel, Register, label, unix_seconds, whole};
use olmguard_engine::snapshot::{Currency, ServingState};

label! {
    /// The reason why the content of a catalog could not be loaded.
    pub enum LoadFailure {
        /// The connection was refused.
        Connect => "connect",
        /// The identity of the peer could not be verified.
        Tls => "tls",
        /// The fetch took too long, or nothing arrived for too long.
        Timeout => "timeout",
        /// The answer has a status other than 200.
        Status => "status",
        /// The body ended early.
        Truncated => "truncated",
        /// The content is larger than the limit.
        TooLarge => "too_large",
        /// The content is not a valid catalog.
        Content => "content",
        /// The content is implausible, and not accepted until it is fetched again.
        Implausible => "implausible",
        /// The object names no address, or an unusable one.
        Address => "address",
        /// The object named other content by the time this content was fetched.
        Moved => "moved",
        /// A file of the cache is damaged, or cannot be read or written.
        Cache => "cache",
        /// Anything else.
        Other => "other",
    }
}

/// The loaded content of a catalog.
#[derive(Clone, Copy, Debug)]
pub struct CatalogLoad {
    /// The time of the load.
    pub at: SystemTime,
    /// The duration of the load.
    pub took: Duration,
    /// The downloaded bytes; 0 if the content was read from a file.
    pub wire_bytes: u64,
    /// The memory that the content occupies, in bytes.
    pub resident_bytes: usize,
    /// The number of packages.
    pub packages: usize,
    /// The number of bundles.
    pub bundles: usize,
}

/// The catalogs in use.
///
/// Catalog names are the only labels that are not known in advance. The configuration decides how
/// many catalogs there are, and a removed catalog loses its series. The first update of a catalog
/// creates all its series.
#[derive(Debug)]
pub struct CatalogMetrics {
    loaded: IntGaugeVec,
    serving: IntGaugeVec,
    newer_known: IntGaugeVec,
    held_back: IntGaugeVec,
    packages: IntGaugeVec,
    bundles: IntGaugeVec,
    resident_bytes: IntGaugeVec,
    wire_bytes: IntGaugeVec,
    load_seconds: GaugeVec,
    last_success: GaugeVec,
    content_age: GaugeVec,
    load_errors: IntCounterVec,
    swaps: IntCounter,
}

impl CatalogMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        let whole = |name, help| register.gauges(name, help, &[CATALOG]);
        let seconds = |name, help| register.seconds_each(name, help, &[CATALOG]);
        Self {
            loaded: whole("catalog_loaded", LOADED),
            serving: whole("catalog_serving", SERVING),
            newer_known: whole("catalog_newer_known", NEWER_KNOWN),
            held_back: whole("catalog_held_back", HELD_BACK),
            packages: whole("catalog_packages", PACKAGES),
            bundles: whole("catalog_bundles", BUNDLES),
            resident_bytes: whole("catalog_resident_bytes", RESIDENT),
            wire_bytes: whole("catalog_fetched_bytes", FETCHED),
            load_seconds: seconds("catalog_load_seconds", LOAD),
            last_success: seconds("catalog_last_success_timestamp_seconds", LAST_SUCCESS),
            content_age: seconds("catalog_content_age_seconds", CONTENT_AGE),
            load_errors: register.counters(
                "catalog_load_errors_total",
                LOAD_ERRORS,
                &[CATALOG, CLASS],
            ),
            swaps: register.counter("snapshot_swaps_total", SWAPS),
        }
    }

    /// Records that the content of a catalog is loaded, from a file or a download.
    pub fn loaded(&self, catalog: &str, load: &CatalogLoad) {
        self.holds(catalog, 1, load.packages, load.bundles, load.resident_bytes);
        self.wire_bytes
            .with_label_values(&[catalog])
            .set(whole(load.wire_bytes));
        for (gauges, value) in [
            (&self.load_seconds, load.took.as_secs_f64()),
            (&self.last_success, unix_seconds(load.at)),
        ] {
            gauges.with_label_values(&[catalog]).set(value);
        }
    }

    /// Records that no content of a catalog is loaded, or not any more.
    pub fn not_loaded(&self, catalog: &str) {
        self.holds(catalog, 0, 0, 0, 0);
    }

    /// Counts a failed load. Content that is already loaded stays in use.
    pub fn load_failed(&self, catalog: &str, failure: LoadFailure) {
        self.make(catalog);
        self.load_errors
            .with_label_values(&[catalog, failure.as_str()])
            .inc();
    }

    /// Records what the object of a catalog reports.
    pub fn told(&self, catalog: &str, serving: ServingState, currency: Currency) {
        self.make(catalog);
        let is_serving = i64::from(serving == ServingState::Presumed);
        let is_superseded = i64::from(currency == Currency::Superseded);
        self.serving.with_label_values(&[catalog]).set(is_serving);
        self.newer_known
            .with_label_values(&[catalog])
            .set(is_superseded);
    }

    /// Records whether fetched content is held back as implausible.
    pub fn held_back(&self, catalog: &str, is_held_back: bool) {
        self.make(catalog);
        let value = i64::from(is_held_back);
        self.held_back.with_label_values(&[catalog]).set(value);
    }

    /// Records how long ago the object of a catalog last named the loaded content.
    pub fn aged(&self, catalog: &str, age: Duration) {
        self.make(catalog);
        self.content_age
            .with_label_values(&[catalog])
            .set(age.as_secs_f64());
    }

    /// Removes a catalog that no longer exists.
    pub fn gone(&self, catalog: &str) {
        // The error for a catalog without series is ignored.
        for gauges in self.whole() {
            let _ = gauges.remove_label_values(&[catalog]);
        }
        for gauges in self.seconds() {
            let _ = gauges.remove_label_values(&[catalog]);
        }
        for failure in LoadFailure::ALL {
            let _ = self
                .load_errors
                .remove_label_values(&[catalog, failure.as_str()]);
        }
    }

    /// Counts a new snapshot.
    pub fn swapped(&self) {
        self.swaps.inc();
    }

    fn holds(&self, catalog: &str, loaded: i64, packages: usize, bundles: usize, resident: usize) {
        self.make(catalog);
        for (gauges, value) in [
            (&self.loaded, loaded),
            (&self.packages, whole(packages)),
            (&self.bundles, whole(bundles)),
            (&self.resident_bytes, whole(resident)),
        ] {
            gauges.with_label_values(&[catalog]).set(value);
        }
    }

    /// Creates all missing series, so their number does not depend on what has happened to the
    /// catalog.
    fn make(&self, catalog: &str) {
        for gauges in self.whole() {
            let _ = gauges.with_label_values(&[catalog]);
        }
        for gauges in self.seconds() {
            let _ = gauges.with_label_values(&[catalog]);
        }
        for failure in LoadFailure::ALL {
            let _ = self
                .load_errors
                .with_label_values(&[catalog, failure.as_str()]);
        }
    }

    fn whole(&self) -> [&IntGaugeVec; 8] {
        [
            &self.loaded,
            &self.serving,
            &self.newer_known,
            &self.held_back,
            &self.packages,
            &self.bundles,
            &self.resident_bytes,
            &self.wire_bytes,
        ]
    }

    fn seconds(&self) -> [&GaugeVec; 3] {
        [&self.load_seconds, &self.last_success, &self.content_age]
    }
}

const CATALOG: &str = "catalog";

const CLASS: &str = "class";

const LOADED: &str = "1 if content of the catalog is loaded, 0 otherwise.";

const SERVING: &str = "0 if the ClusterCatalog reports that it is not served, 1 otherwise.";

const NEWER_KNOWN: &str =
    "1 if the catalog is known to have newer content than is loaded, 0 otherwise.";

const HELD_BACK: &str =
    "1 while olmguard holds back implausible content of the catalog, 0 otherwise.";

const PACKAGES: &str = "Packages in the loaded content of the catalog.";

const BUNDLES: &str = "Bundles in the loaded content of the catalog.";

const RESIDENT: &str = "Estimated memory of the loaded content of the catalog, in bytes.";

const FETCHED: &str =
    "Download size of the loaded content of the catalog, in bytes; 0 if it was read from a file.";

const LOAD: &str = "Duration of the last load of the catalog, in seconds; 0 before the first.";

const LAST_SUCCESS: &str =
    "Unix time of the last load of the catalog, in seconds; 0 before the first.";

const CONTENT_AGE: &str =
    "Time since the loaded content of the catalog was last known to be current, in seconds.";

const LOAD_ERRORS: &str = "Failed loads of the catalog, by error class.";

const SWAPS: &str = "Replacements of the snapshot of all catalogs by a newer one.";

// === Reviews of catalog edits ===

label! {
    /// The result of a review of a catalog.
    pub enum CatalogReviewResult {
        /// Every installed extension was checked.
        Checked => "checked",
        /// An upgrade policy denies the edit.
        Denied => "denied",
        /// The edit changes nothing that affects how OLM resolves.
        Idle => "idle",
        /// The content of the catalog after the edit is not loaded.
        UnknownContent => "unknown_content",
        /// The installed extensions, or some of them, could not be listed.
        NotListed => "not_listed",
        /// Not every extension was checked in time.
        NotInTime => "not_in_time",
        /// An object in the review could not be read.
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

    /// Counts a review with this result.
    pub fn reviewed(&self, result: CatalogReviewResult) {
        self.reviews.of(result).inc();
    }
}
