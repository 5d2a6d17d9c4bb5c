//! Watches of the cluster: whether the API server is connected, and failures.

use std::time::SystemTime;

use prometheus::{Gauge, IntCounter, IntGauge};

use crate::telemetry::metrics::register::{PerLabel, Register, label, unix_seconds};

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
    /// Why the API server did not answer as it should.
    pub enum FaultClass {
        /// No connection, or one that broke.
        Unreachable => "unreachable",
        /// A connection, and no answer in time.
        Silent => "silent",
        /// 401, or no credentials to be had.
        Unauthorized => "unauthorized",
        /// 403.
        Forbidden => "forbidden",
        /// The cluster does not serve the API.
        NotServed => "not_served",
        /// 410: what was known is too old to go on from.
        Gone => "gone",
        /// 429.
        Throttled => "throttled",
        /// 5xx.
        Server => "server",
        /// An answer that is none of Kubernetes'.
        Undecodable => "undecodable",
        /// Any other answer.
        Refused => "refused",
        /// An answer of which one object cannot be read; the others are.
        Object => "object",
        /// Anything else.
        Other => "other",
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
    errors: PerLabel<FaultClass, IntCounter>,
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
                errors: PerLabel::new(|class: FaultClass| {
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
    pub fn failed(&self, watched: WatchedResource, class: FaultClass) {
        self.watches.of(watched).errors.of(class).inc();
    }
}

const RESOURCE: &str = "resource";
