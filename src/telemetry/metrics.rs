//! Metrics: one module for each subject, all in one registry that belongs to the server.
//!
//! Every series is there from the start, at 0, so that `rate()` sees the first event; only the
//! catalogs come and go. What an edit touches are counters that were found beforehand: an answer
//! costs no look-up by label.

mod admission;
mod audit;
mod catalogs;
mod connections;
mod label;
mod policies;
mod process;
mod watches;

pub use admission::{AdmissionMetrics, AnsweredReview, DecodeError, WaitedFor};
pub use audit::{AuditFigures, AuditMetrics, ReportFate};
pub use catalogs::{
    CatalogLoad, CatalogMetrics, CatalogReviewMetrics, CatalogReviewResult, LoadFailure,
};
pub use connections::{
    ConnectionMetrics, ConnectionRefusal, Eviction, HandshakeFailure, Reload, TlsMetrics,
};
pub use policies::{
    ConfigurationField, ConfigurationMetrics, GuardrailMetrics, PolicyEffect, PolicyMetrics,
    PolicyObjectLabel,
};
pub use process::{EventFate, EventMetrics, LogMetrics};
pub use watches::{FaultClass, WatchMetrics, WatchedResource};

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry, TextEncoder,
};

use crate::telemetry::metrics::label::{Label, PerLabel};
use connections::{ConnectionFamilies, PortLabel};
use process::ProcessMetrics;

/// All that is counted; a clone counts into the same registry.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Reviews and their answers.
    pub admission: Arc<AdmissionMetrics>,
    /// Connections of the port that takes reviews.
    pub connections: Arc<ConnectionMetrics>,
    /// Connections of the port that tells health and metrics.
    pub ops_connections: Arc<ConnectionMetrics>,
    /// Connections of the port that serves metrics over TLS.
    pub scrape_connections: Arc<ConnectionMetrics>,
    /// The certificate that is shown.
    pub tls: Arc<TlsMetrics>,
    /// The catalogs that are judged by.
    pub catalogs: Arc<CatalogMetrics>,
    /// Edits of catalogs.
    pub catalog_reviews: Arc<CatalogReviewMetrics>,
    /// The guardrails that are judged by.
    pub guardrails: Arc<GuardrailMetrics>,
    /// The Events about extensions.
    pub events: Arc<EventMetrics>,
    /// The audits of what is installed.
    pub audit: Arc<AuditMetrics>,
    /// The upgrade policies that are judged by.
    pub policies: Arc<PolicyMetrics>,
    /// The webhook configuration in the cluster.
    pub configuration: Arc<ConfigurationMetrics>,
    /// What is watched in the cluster.
    pub watches: Arc<WatchMetrics>,
    /// What the log lost.
    pub log: Arc<LogMetrics>,
    process: Arc<ProcessMetrics>,
    registry: Registry,
}

impl Metrics {
    /// Counts from 0, in a registry of its own.
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
            policies: Arc::new(PolicyMetrics::new(&register)),
            configuration: Arc::new(ConfigurationMetrics::new(&register)),
            watches: Arc::new(WatchMetrics::new(&register)),
            log: Arc::new(LogMetrics::new(&register)),
            process: Arc::new(ProcessMetrics::new(&register)),
            registry,
        }
    }

    /// Everything as of now, in Prometheus' text format ([`CONTENT_TYPE`]).
    ///
    /// Within a tokio runtime it tells of that runtime, too.
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

fn unix_seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// The media type of what [`Metrics::render`] returns.
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

// Registration of metrics: under one prefix, each with its help, from 0.

/// Makes metrics and enters them into a registry.
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

    /// Enters what brings names of its own.
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

/// What every name of ours begins with.
const PREFIX: &str = "olmguard";

// A gauge that always goes down again, on an early return and on a panic too.

/// Counts one more of something in a gauge until it is dropped.
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
