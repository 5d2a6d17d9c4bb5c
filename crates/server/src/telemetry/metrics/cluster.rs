//! The state of the cluster: its watches, its policies, guardrails and webhook configuration, and the audit of
//! installed extensions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use prometheus::{Gauge, GaugeVec, IntCounter, IntGauge, IntGaugeVec};

use crate::telemetry::metrics::{PerLabel, Register, label, unix_seconds, whole};
use olmguard_engine::audit::Concern;

// === Watches of the cluster: whether the API server is connected, and failures ===

label! {
    /// A watched resource.
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
    /// The reason why a request to the API server failed.
    pub enum FaultClass {
        /// No connection, or a broken one.
        Unreachable => "unreachable",
        /// A connection, but no answer in time.
        Silent => "silent",
        /// Status 401, or no credentials available.
        Unauthorized => "unauthorized",
        /// Status 403.
        Forbidden => "forbidden",
        /// The cluster does not serve the API.
        NotServed => "not_served",
        /// Status 410: the known state is too old to resume from.
        Gone => "gone",
        /// Status 429.
        Throttled => "throttled",
        /// Status 5xx.
        Server => "server",
        /// An answer that is not from the Kubernetes API.
        Undecodable => "undecodable",
        /// Any other answer.
        Refused => "refused",
        /// One object in an answer cannot be read; the others can.
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

/// The metrics of one watch.
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

    /// Records an answer or event from the API server, at this time.
    pub fn heard(&self, watched: WatchedResource, at: SystemTime) {
        let watch = self.watches.of(watched);
        watch.connected.set(1);
        watch.last_contact.set(unix_seconds(at));
    }

    /// Records that the watch ended: its state is unknown until the next contact.
    pub fn lost(&self, watched: WatchedResource) {
        self.watches.of(watched).connected.set(0);
    }

    /// Counts a restart of the watch.
    pub fn restarted(&self, watched: WatchedResource) {
        self.watches.of(watched).restarts.inc();
    }

    /// Counts an error of the watch, which does not necessarily end it.
    pub fn failed(&self, watched: WatchedResource, class: FaultClass) {
        self.watches.of(watched).errors.of(class).inc();
    }
}

const RESOURCE: &str = "resource";

// === The policies, guardrails and webhook configuration of the cluster, if they can be read ===

label! {
    /// A kind of object in which administrators set rules.
    pub enum PolicyObjectLabel {
        /// `UpgradePolicy`.
        UpgradePolicy => "UpgradePolicy",
        /// `UpgradeGuardrails`.
        UpgradeGuardrails => "UpgradeGuardrails",
    }
}

label! {
    /// Whether an object can be read.
    enum Accepted {
        /// The document can be read.
        Yes => "true",
        /// The object cannot be read, and denies upgrades.
        No => "false",
    }
}

/// The policies in use.
#[derive(Debug)]
pub struct PolicyMetrics {
    objects: PerLabel<PolicyObjectLabel, PerLabel<Accepted, IntGauge>>,
    known: PerLabel<PolicyObjectLabel, IntGauge>,
    findings: PerLabel<PolicyEffect, IntCounter>,
    reviews: PerLabel<PolicyObjectLabel, PerLabel<Accepted, IntCounter>>,
}

label! {
    /// The effect of a policy on an edit.
    pub enum PolicyEffect {
        /// The policy denies the edit.
        Deny => "Deny",
        /// The policy warns of the edit.
        Warn => "Warn",
    }
}

impl PolicyMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        let objects = register.gauges(
            "policy_objects",
            "UpgradePolicy and UpgradeGuardrails objects of the cluster, by kind and by whether they are accepted; one that is not accepted denies upgrades.",
            &["kind", "accepted"],
        );
        let known = register.gauges(
            "policies_known",
            "1 while all objects of the kind are known; 0 until they are listed, and while the cluster no longer serves a kind whose objects are still in use.",
            &["kind"],
        );
        let reviews = register.counters(
            "policy_reviews_total",
            "Writes of UpgradePolicy and UpgradeGuardrails objects that API servers asked about, by kind and by whether olmguard can read the object.",
            &["kind", "accepted"],
        );
        Self {
            reviews: PerLabel::new(|kind: PolicyObjectLabel| {
                PerLabel::new(|accepted: Accepted| {
                    reviews.with_label_values(&[kind.as_str(), accepted.as_str()])
                })
            }),
            objects: PerLabel::new(|kind: PolicyObjectLabel| {
                PerLabel::new(|accepted: Accepted| {
                    objects.with_label_values(&[kind.as_str(), accepted.as_str()])
                })
            }),
            // Without a cluster to list from, no objects exist, so all are known.
            known: PerLabel::new(|kind: PolicyObjectLabel| {
                let known = known.with_label_values(&[kind.as_str()]);
                known.set(1);
                known
            }),
            findings: register.counter_per(
                "policy_findings_total",
                "Edits that violate an upgrade policy, by what the policy does about it.",
                "enforcement",
            ),
        }
    }

    /// Sets the number of objects of a kind in use.
    pub fn taken(&self, kind: PolicyObjectLabel, accepted: usize, not_accepted: usize) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let objects = self.objects.of(kind);
        objects.of(Accepted::Yes).set(count(accepted));
        objects.of(Accepted::No).set(count(not_accepted));
    }

    /// Records whether all objects of a kind are known.
    pub fn known(&self, kind: PolicyObjectLabel, is_known: bool) {
        self.known.of(kind).set(i64::from(is_known));
    }

    /// Counts a review of a write to an object.
    pub fn reviewed(&self, kind: PolicyObjectLabel, is_accepted: bool) {
        let accepted = if is_accepted {
            Accepted::Yes
        } else {
            Accepted::No
        };
        self.reviews.of(kind).of(accepted).inc();
    }

    /// Counts an edit that violates a policy.
    pub fn found(&self, finding: PolicyEffect) {
        self.findings.of(finding).inc();
    }
}

// === The guardrails of administrators ===

label! {
    /// Whether a document can be read.
    pub(super) enum DocumentLabel {
        /// The document can be read.
        Read => "read",
        /// The document cannot be read, and forbids every upgrade of its packages.
        Unread => "unread",
    }
}

/// The guardrails in use.
#[derive(Debug)]
pub struct GuardrailMetrics {
    documents: PerLabel<DocumentLabel, IntGauge>,
    readable: IntGauge,
}

impl GuardrailMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            documents: register.gauge_per(
                "guardrail_documents",
                "Documents of --guardrails in use, by whether they are valid; an invalid one forbids every upgrade of its package.",
                "state",
            ),
            readable: register.gauge(
                "guardrail_files_readable",
                "1 if the last read of the --guardrails files succeeded, 0 if it failed and the last good version is in use.",
            ),
        }
    }

    /// Records whether the files can be read. If not, the content that was read before stays in use.
    pub fn looked(&self, is_readable: bool) {
        self.readable.set(i64::from(is_readable));
    }

    /// Sets the number of documents in use.
    pub fn taken(&self, read: usize, unread: usize) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.documents.of(DocumentLabel::Read).set(count(read));
        self.documents.of(DocumentLabel::Unread).set(count(unread));
    }
}

// === The webhook configuration in the cluster, compared with the shipped one ===

label! {
    /// A field of the webhook configuration that differs from the shipped one.
    pub enum ConfigurationField {
        /// The accepted versions of a review.
        AdmissionReviewVersions => "admissionReviewVersions",
        /// The called Service or URL.
        ClientConfig => "clientConfig",
        /// The conditions that exclude edits.
        MatchConditions => "matchConditions",
        /// Whether other versions of a kind count.
        MatchPolicy => "matchPolicy",
        /// The excluded namespaces.
        NamespaceSelector => "namespaceSelector",
        /// The excluded objects.
        ObjectSelector => "objectSelector",
        /// The edits that are sent.
        Rules => "rules",
        /// The declared side effects of a review.
        SideEffects => "sideEffects",
        /// The configuration is missing, or does not contain this webhook.
        Webhook => "webhook",
        /// The configuration contains other webhooks.
        Webhooks => "webhooks",
    }
}

impl ConfigurationField {
    /// Returns the field of this word.
    pub fn of(word: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|field| field.as_str() == word);
        known.copied()
    }
}

/// The webhook configuration.
#[derive(Debug)]
pub struct ConfigurationMetrics {
    changed: PerLabel<ConfigurationField, IntGauge>,
}

impl ConfigurationMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            changed: register.gauge_per(
                "webhook_configuration_changed",
                "1 if the field of the webhook configuration differs from the one that this version ships, 0 if it does not or was never read.",
                "field",
            ),
        }
    }

    /// Records a reading, and the fields that are not as shipped.
    pub fn read(&self, changed: &BTreeSet<ConfigurationField>) {
        for field in ConfigurationField::ALL {
            let is_changed = changed.contains(&field);
            self.changed.of(field).set(i64::from(is_changed));
        }
    }
}

// === The audit of installed extensions, which one replica runs ===

label! {
    /// The result of writing a `ClusterReport`.
    pub enum ReportFate {
        /// The API server accepted the write.
        Written => "written",
        /// The API server did not accept the write.
        Failed => "failed",
    }
}

/// The results of a completed audit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditFigures {
    /// The time at which it ended.
    pub at: SystemTime,
    /// The duration of the audit.
    pub took: Duration,
    /// The number of extensions.
    pub extensions: usize,
    /// The number of extensions with each finding; a missing finding has none.
    pub findings: BTreeMap<Concern, usize>,
}

/// The audits with `--audit-interval`.
///
/// The gauges exist from the first audit of the leading replica until it stops leading. With series from two replicas,
/// everything would count twice.
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

    /// Records a completed audit.
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

    /// Removes the gauges, because another replica audits from now on.
    pub fn withdraw(&self) {
        self.extensions.reset();
        self.findings.reset();
        self.timestamp.reset();
        self.duration.reset();
    }

    /// Counts an audit that did not complete. The results of the last complete one stay.
    pub fn failed(&self) {
        self.failures.inc();
    }

    /// Counts a written `ClusterReport`, or a failure to write one.
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
