//! Metrics: one module for each subject, all in one registry that belongs to the server.
//!
//! Every series is there from the start, at 0, so that `rate()` sees the first event; only the
//! catalogs come and go. What an edit touches are counters that were found beforehand: an answer
//! costs no look-up by label.

mod admission;
mod audit;
mod catalogs;
mod connections;
mod policies;
mod process;
mod register;
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
pub use register::GaugeGuard;
pub use watches::{FaultClass, WatchMetrics, WatchedResource};

use std::sync::Arc;

use prometheus::{IntCounter, IntGauge, Registry, TextEncoder};

use crate::telemetry::metrics::register::{PerLabel, Register, label, whole};
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
    /// The images of bundles that are read ahead.
    pub images: Arc<ImageMetrics>,
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
            images: Arc::new(ImageMetrics::new(&register)),
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

/// The media type of what [`Metrics::render`] returns.
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

// === The images of bundles that are read before an edit asks for them ===

label! {
    /// Whether an image is read.
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

    /// So many images are in this state.
    pub fn count(&self, state: ImageState, images: usize) {
        self.images.of(state).set(whole(images));
    }

    /// An image could not be read, the extensions could not be listed, or the CRDs not be watched.
    pub fn failed(&self) {
        self.failures.inc();
    }
}

const IMAGES: &str = "Images of bundles that installed ClusterExtensions can be upgraded to, with --pull, by whether they are read; an edit to one that is not read is checked without its manifests and CRDs.";
const FAILURES: &str = "Failed attempts to read the image of a bundle, to list ClusterExtensions, or to watch CRDs, with --pull.";
