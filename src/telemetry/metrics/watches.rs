//! What is watched in the cluster: whether the API server is in touch, and what went wrong.

use std::time::SystemTime;

use prometheus::{Gauge, IntCounter, IntGauge};

use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;
use crate::telemetry::metrics::unix_seconds;

label! {
    /// What is watched.
    pub enum WatchedResource {
        /// Every `ClusterCatalog`.
        ClusterCatalogs => "clustercatalogs",
        /// The Deployment of operator-controller.
        Deployment => "deployment",
        /// The webhook configuration, which is read every minute.
        WebhookConfiguration => "validatingwebhookconfiguration",
        /// Every `UpgradePolicy`.
        UpgradePolicies => "upgradepolicies",
        /// Every `UpgradeGuardrails` object.
        UpgradeGuardrails => "upgradeguardrails",
    }
}

label! {
    /// What went wrong with a watch.
    pub enum WatchFailure {
        /// The API server cannot be reached, or went away.
        Unreachable => "unreachable",
        /// It does not answer in time.
        Silent => "silent",
        /// It does not know who asks.
        Unauthorized => "unauthorized",
        /// It does not allow it.
        Forbidden => "forbidden",
        /// It serves no such kind.
        NotServed => "not_served",
        /// What was seen last is too old to go on from.
        Gone => "gone",
        /// It has too much to do.
        Throttled => "throttled",
        /// It has a fault.
        Server => "server",
        /// Its answer cannot be read.
        Undecodable => "undecodable",
        /// It refuses for another reason.
        Refused => "refused",
        /// An object cannot be read; the others are.
        Object => "object",
        /// Anything else.
        Other => "other",
    }
}

impl WatchFailure {
    /// The one of this word; one that is not known is another.
    pub fn of(word: &str) -> Self {
        let known = Self::ALL.iter().find(|failure| failure.as_str() == word);
        known.copied().unwrap_or(Self::Other)
    }
}

/// The watches of the cluster.
#[derive(Debug)]
pub struct WatchMetrics {
    watches: PerLabel<WatchedResource, Watch>,
}

/// One of them.
#[derive(Debug)]
struct Watch {
    connected: IntGauge,
    last_contact: Gauge,
    restarts: IntCounter,
    errors: PerLabel<WatchFailure, IntCounter>,
}

impl WatchMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        let connected = register.gauges(
            "watch_connected",
            "1 while the watched state is known to be current, 0 otherwise.",
            &[RESOURCE],
        );
        let last_contact = register.seconds_each(
            "watch_last_contact_timestamp_seconds",
            "Unix time of the last answer or event from the API server, in seconds; 0 before the first.",
            &[RESOURCE],
        );
        let restarts = register.counters(
            "watch_restarts_total",
            "Restarts of the watch, by resource.",
            &[RESOURCE],
        );
        let errors = register.counters(
            "watch_errors_total",
            "Errors of the watch, by resource and error class.",
            &[RESOURCE, "class"],
        );
        let of = |watched: WatchedResource| {
            let resource = watched.as_str();
            Watch {
                connected: connected.with_label_values(&[resource]),
                last_contact: last_contact.with_label_values(&[resource]),
                restarts: restarts.with_label_values(&[resource]),
                errors: PerLabel::new(|class: WatchFailure| {
                    errors.with_label_values(&[resource, class.as_str()])
                }),
            }
        };
        Self {
            watches: PerLabel::new(of),
        }
    }

    /// The API server told of it, at this time.
    pub fn heard(&self, watched: WatchedResource, at: SystemTime) {
        let watch = self.watches.of(watched);
        watch.connected.set(1);
        watch.last_contact.set(unix_seconds(at));
    }

    /// The watch ended; nothing is known of it until it is heard of again.
    pub fn lost(&self, watched: WatchedResource) {
        self.watches.of(watched).connected.set(0);
    }

    /// The watch is begun anew.
    pub fn restarted(&self, watched: WatchedResource) {
        self.watches.of(watched).restarts.inc();
    }

    /// Something went wrong with it, which need not end it.
    pub fn failed(&self, watched: WatchedResource, failure: WatchFailure) {
        self.watches.of(watched).errors.of(failure).inc();
    }
}

const RESOURCE: &str = "resource";
