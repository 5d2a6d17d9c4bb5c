//! Metrics: one module per subject, all in one registry that belongs to the server.
//!
//! Every series exists from the start, at 0, so that `rate()` sees the first event. Only the series of catalogs come
//! and go. The counters of an edit are resolved in advance, so an answer needs no look-up by label. Below is how all
//! metrics are registered: families under one prefix, closed sets of label values, and gauges that always go down
//! again.

mod admission;
mod catalogs;
mod cluster;
mod process;

pub use admission::{AdmissionMetrics, AnsweredReview, DecodeError, WaitedFor};
pub use catalogs::{
    CatalogLoad, CatalogMetrics, CatalogReviewMetrics, CatalogReviewResult, LoadFailure,
};
pub use cluster::{
    AuditFigures, AuditMetrics, ConfigurationField, ConfigurationMetrics, FaultClass,
    GuardrailMetrics, PolicyEffect, PolicyMetrics, PolicyObjectLabel, ReportFate, WatchMetrics,
    WatchedResource,
};
pub use process::{
    ConnectionMetrics, ConnectionRefusal, EventFate, EventMetrics, Eviction, HandshakeFailure,
    LogMetrics, Reload, TlsMetrics,
};

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry, TextEncoder,
};

use process::{ConnectionFamilies, PortLabel, ProcessMetrics};

/// All metrics. A clone counts into the same registry.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Reviews and their answers.
    pub admission: Arc<AdmissionMetrics>,
    /// The connections of the port for reviews.
    pub connections: Arc<ConnectionMetrics>,
    /// The connections of the port for health and metrics.
    pub ops_connections: Arc<ConnectionMetrics>,
    /// The connections of the port that serves metrics over TLS.
    pub scrape_connections: Arc<ConnectionMetrics>,
    /// The served certificate.
    pub tls: Arc<TlsMetrics>,
    /// The catalogs in use.
    pub catalogs: Arc<CatalogMetrics>,
    /// Edits of catalogs.
    pub catalog_reviews: Arc<CatalogReviewMetrics>,
    /// The guardrails in use.
    pub guardrails: Arc<GuardrailMetrics>,
    /// The Events about extensions.
    pub events: Arc<EventMetrics>,
    /// The audits of installed extensions.
    pub audit: Arc<AuditMetrics>,
    /// The bundle images that are read ahead.
    pub images: Arc<ImageMetrics>,
    /// The upgrade policies in use.
    pub policies: Arc<PolicyMetrics>,
    /// The webhook configuration in the cluster.
    pub configuration: Arc<ConfigurationMetrics>,
    /// The watches of the cluster.
    pub watches: Arc<WatchMetrics>,
    /// The lost lines of the log.
    pub log: Arc<LogMetrics>,
    process: Arc<ProcessMetrics>,
    registry: Registry,
}

impl Metrics {
    /// Creates all metrics at 0, in a new registry.
    pub fn new() -> Self {
        let registry = Registry::new();
        let register = Register::new(&registry);
        let connections = ConnectionFamilies::new(&register);
        Self {
            admission: Arc::new(AdmissionMetrics::new(&register)),
            connections: Arc::new(connections.of(PortLabel::Reviews)),
            ops_connections: Arc::new(connections.of(PortLabel::Ops)),
            scrape_connections: Arc::new(connections.of(PortLabel::Metrics)),
            tls: Arc::new(TlsMetrics::new(&register)),
            catalogs: Arc::new(CatalogMetrics::new(&register)),
            catalog_reviews: Arc::new(CatalogReviewMetrics::new(&register)),
            guardrails: Arc::new(GuardrailMetrics::new(&register)),
            events: Arc::new(EventMetrics::new(&register)),
            audit: Arc::new(AuditMetrics::new(&register)),
            images: Arc::new(ImageMetrics::new(&register)),
            policies: Arc::new(PolicyMetrics::new(&register)),
            configuration: Arc::new(ConfigurationMetrics::new(&register)),
            watches: Arc::new(WatchMetrics::new(&register)),
            log: Arc::new(LogMetrics::new(&register)),
            process: Arc::new(ProcessMetrics::new(&register)),
            registry,
        }
    }

    /// Returns the current values in Prometheus' text format ([`CONTENT_TYPE`]).
    ///
    /// Within a tokio runtime, the values of that runtime are included.
    #[expect(
        clippy::missing_panics_doc,
        reason = "a gathered family has samples, and a text takes whatever is written"
    )]
    pub fn render(&self) -> String {
        self.log.look();
        self.process.look();
        TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .expect("a gathered family has samples, and a text takes whatever is written")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// The media type of the text that [`Metrics::render`] returns.
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

// === The bundle images that are read before an edit needs them ===

label! {
    /// The state of an image.
    pub enum ImageState {
        /// The image is read, and its CRDs are compared with the current CRDs of the cluster.
        Read => "read",
        /// The image is not read yet, or must be read again because a CRD has changed.
        Unread => "unread",
        /// The image cannot be read for now.
        Failed => "failed",
    }
}

/// The images with `--pull`.
#[derive(Debug)]
pub struct ImageMetrics {
    images: PerLabel<ImageState, IntGauge>,
    failures: IntCounter,
}

impl ImageMetrics {
    fn new(register: &Register<'_>) -> Self {
        Self {
            images: register.gauge_per("bundle_images", IMAGES, "state"),
            failures: register.counter("bundle_image_failures_total", FAILURES),
        }
    }

    /// Sets the number of images in a state.
    pub fn count(&self, state: ImageState, images: usize) {
        self.images.of(state).set(whole(images));
    }

    /// Counts a failure to read an image, to list the extensions, or to watch the CRDs.
    pub fn failed(&self) {
        self.failures.inc();
    }
}

const IMAGES: &str = "Images of bundles that installed ClusterExtensions can be upgraded to, with --pull, by whether they are read; an edit to one that is not read is checked without its manifests and CRDs.";
const FAILURES: &str = "Failed attempts to read the image of a bundle, to list ClusterExtensions, or to watch CRDs, with --pull.";

// === Registration of metrics: under one prefix, each with its help, from 0 ===

/// Creates metrics and adds them to a registry.
#[derive(Debug)]
struct Register<'r> {
    registry: &'r Registry,
}

impl<'r> Register<'r> {
    fn new(registry: &'r Registry) -> Self {
        Self { registry }
    }

    fn counter(&self, name: &str, help: &str) -> IntCounter {
        self.made(IntCounter::with_opts(opts(name, help)))
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.made(IntCounterVec::new(opts(name, help), labels))
    }

    /// One counter for each value of a label.
    fn counter_per<L: Label>(
        &self,
        name: &str,
        help: &str,
        label: &str,
    ) -> PerLabel<L, IntCounter> {
        let counters = self.counters(name, help, &[label]);
        PerLabel::new(|value: L| counters.with_label_values(&[value.as_str()]))
    }

    fn gauge(&self, name: &str, help: &str) -> IntGauge {
        self.made(IntGauge::with_opts(opts(name, help)))
    }

    /// One gauge for each value of a label.
    fn gauge_per<L: Label>(&self, name: &str, help: &str, label: &str) -> PerLabel<L, IntGauge> {
        let gauges = self.gauges(name, help, &[label]);
        PerLabel::new(|value: L| gauges.with_label_values(&[value.as_str()]))
    }

    fn seconds(&self, name: &str, help: &str) -> Gauge {
        self.made(Gauge::with_opts(opts(name, help)))
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.made(IntGaugeVec::new(opts(name, help), labels))
    }

    fn seconds_each(&self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.made(GaugeVec::new(opts(name, help), labels))
    }

    fn histograms(&self, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
        let opts = HistogramOpts::from(opts(name, help)).buckets(buckets.to_vec());
        self.made(HistogramVec::new(opts, labels))
    }

    /// Adds a collector with names of its own.
    fn enter(&self, collector: impl Collector + 'static) {
        self.registry
            .register(Box::new(collector))
            .expect("every name is given once");
    }

    fn made<M: Collector + Clone + 'static>(&self, metric: prometheus::Result<M>) -> M {
        let metric = metric.expect("names are words, and buckets rise");
        self.enter(metric.clone());
        metric
    }
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace(PREFIX)
}

/// The prefix of every name.
const PREFIX: &str = "olmguard";

fn unix_seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// Converts a count for a gauge; saturates.
fn whole(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

// === Closed sets of label values, and one metric for each of them ===

/// A label whose values are known when the program is built.
trait Label: Copy + 'static {
    /// Every value, each at its [`place`](Self::place).
    const ALL: &'static [Self];

    /// Returns the written form of the value.
    fn as_str(self) -> &'static str;

    /// Returns the index of the value in [`ALL`](Self::ALL).
    fn place(self) -> usize;
}

/// One `T` for each value of a label, found without a search.
#[derive(Debug)]
struct PerLabel<L, T> {
    made: Box<[T]>,
    label: PhantomData<L>,
}

impl<L: Label, T> PerLabel<L, T> {
    fn new(make: impl FnMut(L) -> T) -> Self {
        Self {
            made: L::ALL.iter().copied().map(make).collect(),
            label: PhantomData,
        }
    }

    fn of(&self, label: L) -> &T {
        self.made
            .get(label.place())
            .expect("one was made for every value")
    }
}

/// Makes an existing closed set of words a label.
macro_rules! labelled {
    ($name:ty) => {
        impl $crate::telemetry::metrics::Label for $name {
            const ALL: &'static [Self] = &Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn place(self) -> usize {
                self as usize
            }
        }
    };
}

/// Defines a closed set of words that is a label.
macro_rules! label {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($words:tt)+ }) => {
        olmguard_catalog::word_set! {
            $(#[$doc])*
            $vis enum $name { $($words)+ }
        }

        $crate::telemetry::metrics::labelled!($name);
    };
}

use {label, labelled};

// === A gauge that always goes down again, even on an early return or a panic ===

/// Increments a gauge until it is dropped.
#[derive(Debug)]
#[must_use = "it counts until it is dropped"]
pub struct GaugeGuard(IntGauge);

impl GaugeGuard {
    fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
