//! The loaded catalogs, each under the name that the cluster or the configuration gives it.

use std::time::{Duration, SystemTime};

use prometheus::{GaugeVec, IntCounter, IntCounterVec, IntGaugeVec};

use crate::telemetry::metrics::{PerLabel, Register, label, unix_seconds, whole};
use olmguard_engine::snapshot::{Currency, ServingState};

label! {
    /// Why the content of a catalog could not be loaded.
    pub enum LoadFailure {
        /// Nobody takes the connection.
        Connect => "connect",
        /// The peer is not who it has to be.
        Tls => "tls",
        /// The fetch took too long, or nothing arrived for too long.
        Timeout => "timeout",
        /// The answer is another than 200.
        Status => "status",
        /// The body ended early.
        Truncated => "truncated",
        /// The content is larger than is taken.
        TooLarge => "too_large",
        /// The content is no catalog.
        Content => "content",
        /// The content is not believed before it was fetched again.
        Implausible => "implausible",
        /// The object names no address, or none that can be used.
        Address => "address",
        /// The object named other content once this was fetched.
        Moved => "moved",
        /// A file of the cache is damaged, or cannot be read or written.
        Cache => "cache",
        /// Anything else.
        Other => "other",
    }
}

/// The content of a catalog that was loaded.
#[derive(Clone, Copy, Debug)]
pub struct CatalogLoad {
    /// When.
    pub at: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// What came over the wire for it; 0 where it was read from a file.
    pub wire_bytes: u64,
    /// What it takes of memory.
    pub resident_bytes: usize,
    /// The number of packages.
    pub packages: usize,
    /// The number of bundles.
    pub bundles: usize,
}

/// The catalogs that are judged by.
///
/// Their names are the only labels that are not known beforehand: whoever configures catalogs
/// decides how many there are, and one that is gone takes its series along. The first that is told
/// of a catalog makes all of its series.
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

    /// The content of a catalog is held, which a file gave or a fetch.
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

    /// Nothing of a catalog is held, or not any more.
    pub fn not_loaded(&self, catalog: &str) {
        self.holds(catalog, 0, 0, 0, 0);
    }

    /// A try to load the content failed; what is held is still held.
    pub fn load_failed(&self, catalog: &str, failure: LoadFailure) {
        self.make(catalog);
        self.load_errors
            .with_label_values(&[catalog, failure.as_str()])
            .inc();
    }

    /// What its object says of it.
    pub fn told(&self, catalog: &str, serving: ServingState, currency: Currency) {
        self.make(catalog);
        let is_serving = i64::from(serving == ServingState::Presumed);
        let is_superseded = i64::from(currency == Currency::Superseded);
        self.serving.with_label_values(&[catalog]).set(is_serving);
        self.newer_known
            .with_label_values(&[catalog])
            .set(is_superseded);
    }

    /// Whether something was fetched for it that is not believed.
    pub fn held_back(&self, catalog: &str, is_held_back: bool) {
        self.make(catalog);
        let value = i64::from(is_held_back);
        self.held_back.with_label_values(&[catalog]).set(value);
    }

    /// How long ago its object was last known to name the content that is held.
    pub fn aged(&self, catalog: &str, age: Duration) {
        self.make(catalog);
        self.content_age
            .with_label_values(&[catalog])
            .set(age.as_secs_f64());
    }

    /// There is no such catalog any more.
    pub fn gone(&self, catalog: &str) {
        // One that was never there is gone as well.
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

    /// Another snapshot is judged by from now on.
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

    /// Makes what is not there, so that the number of series does not depend on what became of it.
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

// === Reviews of edits of catalogs ===

label! {
    /// What became of the review of a catalog.
    pub enum CatalogReviewResult {
        /// Every installed extension was checked.
        Checked => "checked",
        /// An upgrade policy denies the edit.
        Denied => "denied",
        /// The edit changes nothing that OLM resolves by.
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
