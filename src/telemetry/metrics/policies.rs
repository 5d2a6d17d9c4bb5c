//! The policies, guardrails and webhook configuration of the cluster, as far as they can be read.

use std::collections::BTreeSet;

use prometheus::{IntCounter, IntGauge};

use crate::telemetry::metrics::Register;
use crate::telemetry::metrics::label::{PerLabel, label};

label! {
    /// A kind of object with what administrators decide.
    pub enum PolicyObject {
        /// `UpgradePolicy`.
        UpgradePolicy => "UpgradePolicy",
        /// `UpgradeGuardrails`.
        UpgradeGuardrails => "UpgradeGuardrails",
    }
}

label! {
    /// Whether an object can be read.
    enum Accepted {
        /// It can.
        Yes => "true",
        /// It cannot, and denies upgrades.
        No => "false",
    }
}

/// The policies that edits are checked by.
#[derive(Debug)]
pub struct PolicyMetrics {
    objects: PerLabel<PolicyObject, PerLabel<Accepted, IntGauge>>,
    known: PerLabel<PolicyObject, IntGauge>,
    findings: PerLabel<PolicyFinding, IntCounter>,
    reviews: PerLabel<PolicyObject, PerLabel<Accepted, IntCounter>>,
}

label! {
    /// What a policy does about an edit.
    pub enum PolicyFinding {
        /// It denies it.
        Deny => "Deny",
        /// It warns of it.
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
            reviews: PerLabel::new(|kind: PolicyObject| {
                PerLabel::new(|accepted: Accepted| {
                    reviews.with_label_values(&[kind.as_str(), accepted.as_str()])
                })
            }),
            objects: PerLabel::new(|kind: PolicyObject| {
                PerLabel::new(|accepted: Accepted| {
                    objects.with_label_values(&[kind.as_str(), accepted.as_str()])
                })
            }),
            // Without a cluster to list them in, there is none.
            known: PerLabel::new(|kind: PolicyObject| {
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

    /// So many objects of a kind are in use from now on.
    pub fn taken(&self, kind: PolicyObject, accepted: usize, not_accepted: usize) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let objects = self.objects.of(kind);
        objects.of(Accepted::Yes).set(count(accepted));
        objects.of(Accepted::No).set(count(not_accepted));
    }

    /// Whether all objects of a kind are known from now on.
    pub fn known(&self, kind: PolicyObject, is_known: bool) {
        self.known.of(kind).set(i64::from(is_known));
    }

    /// An API server asked about a write of an object.
    pub fn reviewed(&self, kind: PolicyObject, is_accepted: bool) {
        let accepted = if is_accepted {
            Accepted::Yes
        } else {
            Accepted::No
        };
        self.reviews.of(kind).of(accepted).inc();
    }

    /// An edit violates a policy.
    pub fn found(&self, finding: PolicyFinding) {
        self.findings.of(finding).inc();
    }
}

// The guardrails of administrators.

label! {
    /// Whether a document can be read.
    pub(super) enum Document {
        /// It can.
        Read => "read",
        /// It cannot, and forbids every upgrade of what it is about.
        Unread => "unread",
    }
}

/// The guardrails that are judged by.
#[derive(Debug)]
pub struct GuardrailMetrics {
    documents: PerLabel<Document, IntGauge>,
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

    /// Whether the files can be read; where not, what was read of them before goes on.
    pub fn looked(&self, is_readable: bool) {
        self.readable.set(i64::from(is_readable));
    }

    /// So many documents are judged by from now on.
    pub fn taken(&self, read: usize, unread: usize) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.documents.of(Document::Read).set(count(read));
        self.documents.of(Document::Unread).set(count(unread));
    }
}

// The webhook configuration in the cluster, compared with the shipped one.

label! {
    /// What of the webhook configuration is not as shipped.
    #[derive(Ord, PartialOrd)]
    pub enum ConfigurationField {
        /// Which versions of a review are understood.
        AdmissionReviewVersions => "admissionReviewVersions",
        /// Which Service or URL is called.
        ClientConfig => "clientConfig",
        /// Which edits are left out.
        MatchConditions => "matchConditions",
        /// Whether other versions of a kind count.
        MatchPolicy => "matchPolicy",
        /// Which namespaces are left out.
        NamespaceSelector => "namespaceSelector",
        /// Which objects are left out.
        ObjectSelector => "objectSelector",
        /// Which edits are sent.
        Rules => "rules",
        /// What a review does besides.
        SideEffects => "sideEffects",
        /// There is no configuration, or our webhook is not in it.
        Webhook => "webhook",
        /// There are other webhooks in it.
        Webhooks => "webhooks",
    }
}

impl ConfigurationField {
    /// The one of this word.
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

    /// It was read, and these fields are not as shipped.
    pub fn read(&self, changed: &BTreeSet<ConfigurationField>) {
        for field in ConfigurationField::ALL {
            let is_changed = changed.contains(field);
            self.changed.of(*field).set(i64::from(is_changed));
        }
    }
}
