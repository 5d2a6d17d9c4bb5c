//! The policies, guardrails and webhook configuration of the cluster, as far as they can be read.

use std::collections::BTreeSet;

use prometheus::{IntCounter, IntGauge};

use crate::telemetry::metrics::register::{PerLabel, Register, label};

label! {
    /// A kind of object with what administrators decide.
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

/// The policies that edits are checked by.
#[derive(Debug)]
pub struct PolicyMetrics {
    objects: PerLabel<PolicyObjectLabel, PerLabel<Accepted, IntGauge>>,
    known: PerLabel<PolicyObjectLabel, IntGauge>,
    findings: PerLabel<PolicyEffect, IntCounter>,
    reviews: PerLabel<PolicyObjectLabel, PerLabel<Accepted, IntCounter>>,
}

label! {
    /// What a policy does about an edit.
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
            // Without a cluster to list them in, there is none.
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

    /// Whether all objects of a kind are known from now on.
    pub fn known(&self, kind: PolicyObjectLabel, is_known: bool) {
        self.known.of(kind).set(i64::from(is_known));
    }

    /// An API server asked about a write of an object.
    pub fn reviewed(&self, kind: PolicyObjectLabel, is_accepted: bool) {
        let accepted = if is_accepted {
            Accepted::Yes
        } else {
            Accepted::No
        };
        self.reviews.of(kind).of(accepted).inc();
    }

    /// An edit violates a policy.
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

/// The guardrails that are judged by.
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

    /// Whether the files can be read; where not, what was read of them before goes on.
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
    /// What of the webhook configuration is not as shipped.
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

    /// Records a reading, and the fields that are not as shipped.
    pub fn read(&self, changed: &BTreeSet<ConfigurationField>) {
        for field in ConfigurationField::ALL {
            let is_changed = changed.contains(&field);
            self.changed.of(field).set(i64::from(is_changed));
        }
    }
}
