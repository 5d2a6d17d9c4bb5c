//! The webhook configuration in the cluster, as far as it is not the one that is shipped.

use std::collections::BTreeSet;

use prometheus::IntGauge;

use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;

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
