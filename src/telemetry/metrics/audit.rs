//! The audit of installed extensions, which one replica does.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use prometheus::{GaugeVec, IntCounter, IntGaugeVec};

use crate::telemetry::metrics::register::{PerLabel, Register, label, unix_seconds, whole};
use olmguard_engine::audit::Concern;

label! {
    /// Whether a `ClusterReport` was written.
    pub enum ReportFate {
        /// The API server has it.
        Written => "written",
        /// The API server did not take it.
        Failed => "failed",
    }
}

/// What an audit that ended found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditFigures {
    /// When it ended.
    pub at: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// How many extensions there are.
    pub extensions: usize,
    /// How many of them have each finding; one that is absent is on none.
    pub findings: BTreeMap<Concern, usize>,
}

/// The audits with `--audit-interval`.
///
/// The gauges are shown from the first audit of the replica that leads until it leads no more: two replicas would count
/// everything twice.
#[derive(Debug)]
pub struct AuditMetrics {
    extensions: IntGaugeVec,
    findings: IntGaugeVec,
    timestamp: GaugeVec,
    duration: GaugeVec,
    failures: IntCounter,
    reports: PerLabel<ReportFate, IntCounter>,
}

impl AuditMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            extensions: register.gauges("audit_extensions", EXTENSIONS, &[]),
            findings: register.gauges("audit_findings", FINDINGS, &["finding"]),
            timestamp: register.seconds_each("audit_timestamp_seconds", TIMESTAMP, &[]),
            duration: register.seconds_each("audit_duration_seconds", DURATION, &[]),
            failures: register.counter("audit_failures_total", FAILURES),
            reports: register.counter_per("audit_reports_total", REPORTS, "result"),
        }
    }

    /// An audit ended.
    pub fn ended(&self, figures: &AuditFigures) {
        for concern in Concern::ALL {
            let count = figures.findings.get(&concern).copied().unwrap_or_default();
            let gauge = self.findings.with_label_values(&[concern.as_str()]);
            gauge.set(whole(count));
        }
        let none: [&str; 0] = [];
        let extensions = self.extensions.with_label_values(&none);
        extensions.set(whole(figures.extensions));
        let (timestamp, duration) = (&self.timestamp, &self.duration);
        let took = figures.took.as_secs_f64();
        duration.with_label_values(&none).set(took);
        let at = unix_seconds(figures.at);
        timestamp.with_label_values(&none).set(at);
    }

    /// Another replica audits from now on.
    pub fn withdraw(&self) {
        self.extensions.reset();
        self.findings.reset();
        self.timestamp.reset();
        self.duration.reset();
    }

    /// An audit did not end. The figures of the last one that did stay.
    pub fn failed(&self) {
        self.failures.inc();
    }

    /// The API server took a `ClusterReport`, or did not.
    pub fn reported(&self, fate: ReportFate) {
        self.reports.of(fate).inc();
    }
}

const EXTENSIONS: &str =
    "ClusterExtensions in the last audit that ended. Only the replica that audits has this series.";
const FINDINGS: &str = "ClusterExtensions with the finding in the last audit that ended. Only the replica that audits has this series.";
const TIMESTAMP: &str = "Unix time of the last audit that ended, in seconds. Only the replica that audits has this series.";
const DURATION: &str = "Duration of the last audit that ended, in seconds. Only the replica that audits has this series.";
const FAILURES: &str =
    "Audits that did not end, for example because ClusterExtensions could not be listed.";
const REPORTS: &str = "ClusterReport objects of --audit-cluster-report, by whether the API server accepted the write.";
