//! The webhooks of a bundle: the rules for their names, deployments, conversions and scopes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Faults, RegistryBundle, SINCE_VALIDATORS, invalid_subdomain, items, names, repeated, text,
};
use crate::PreflightCheck;
use olmguard_catalog::version::go;

impl RegistryBundle {
    /// Before 1.6, a bundle with webhooks could not list another install mode than `AllNamespaces`, even as an
    /// unsupported one.
    pub(super) fn webhook_modes(&self, faults: &mut Faults) {
        let modes = items(&self.csv, "/spec/installModes").iter();
        let modes: BTreeSet<_> = modes.map(|mode| text(mode, "/type")).collect();
        if !self.webhooks().is_empty() && modes != BTreeSet::from(["AllNamespaces"]) {
            let why = "bundle contains webhook definitions but supported install modes beyond AllNamespaces";
            faults.add(PreflightCheck::WebhookDefinitions, why.to_owned());
        }
    }

    pub(super) fn conversion_modes(&self, faults: &mut Faults) {
        let modes = items(&self.csv, "/spec/installModes").iter();
        let supported = modes.filter(|mode| mode.get("supported") == Some(&Value::Bool(true)));
        // Includes modes that OLM does not know.
        let modes: BTreeSet<_> = supported.map(|mode| text(mode, "/type")).collect();
        let modes: Vec<_> = modes.into_iter().collect();
        if modes == ["AllNamespaces"] {
            return;
        }
        for webhook in self.conversion_webhooks() {
            let (name, modes) = (go::quote(webhook.name()), modes.join(" "));
            faults.add(
                PreflightCheck::ConversionWebhook,
                format!(
                    "bundle contains conversion webhook {name} and supports install modes [{modes}] - conversion webhooks \
                     are only supported for bundles that only support AllNamespaces install mode"
                ),
            );
        }
    }

    pub(super) fn webhook_deployments(&self, faults: &mut Faults) {
        let deployments = names(&self.csv, "/spec/install/spec/deployments");
        let mut lost: Vec<_> = self
            .webhooks()
            .into_iter()
            .map(|webhook| {
                (
                    text(webhook.0, "/deploymentName"),
                    webhook.kind(),
                    webhook.name(),
                )
            })
            .filter(|(deployment, ..)| !deployments.contains(deployment))
            .collect();
        lost.sort_unstable();
        for (deployment, kind, name) in lost {
            faults.add(
                PreflightCheck::WebhookDefinitions,
                format!(
                    "webhook of type '{kind}' with name '{name}' references non-existent deployment '{deployment}'"
                ),
            );
        }
    }

    pub(super) fn webhook_names(&self, faults: &mut Faults) {
        let webhooks = self.webhooks().into_iter();
        let mut named: Vec<_> = webhooks
            .map(|webhook| (webhook.kind(), webhook.name()))
            .collect();
        named.sort_unstable();
        for (kind, name) in repeated(named.iter().copied()) {
            faults.add(
                PreflightCheck::WebhookDefinitions,
                format!("duplicate webhook '{name}' of type '{kind}'"),
            );
        }
        named.dedup();
        for (kind, name) in named {
            let wrong = invalid_subdomain(name).join(",");
            if !wrong.is_empty() {
                faults.add(
                    PreflightCheck::WebhookDefinitions,
                    format!("webhook of type '{kind}' has invalid name '{name}': {wrong}"),
                );
            }
        }
    }

    /// Returns the names of admission webhooks that API servers refuse, without duplicates: a name needs three
    /// segments, `a.b.c`. OLM creates no configuration for a conversion webhook. Releases before 1.3 install no
    /// webhooks.
    ///
    /// Upstream: apimachinery, [`pkg/util/validation/validation.go`], `IsFullyQualifiedName`. OLM strips one trailing
    /// `-` from the name.
    ///
    /// [`pkg/util/validation/validation.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/validation/validation.go
    pub fn short_webhook_names(&self, minor: u8) -> Vec<&str> {
        if minor < SINCE_VALIDATORS {
            return Vec::new();
        }
        let webhooks = self.webhooks().into_iter();
        let admission = webhooks.filter(CsvWebhook::is_admission);
        let mut names: Vec<_> = admission.map(|webhook| webhook.rendered_name()).collect();
        names.retain(|name| name.split('.').count() < LEAST_SEGMENTS);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Reports conversion webhooks of the same CRD, and of CRDs that the bundle does not own.
    pub(super) fn conversions(&self, faults: &mut Faults) {
        let mut by_crd: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let (owned, mut foreign) = (self.owned_crds(), Vec::new());
        let mut webhooks: Vec<_> = self.conversion_webhooks().collect();
        webhooks.sort_by_key(CsvWebhook::name);
        for webhook in webhooks {
            let crds = items(webhook.0, "/conversionCRDs").iter();
            let mut crds: Vec<_> = crds.filter_map(Value::as_str).collect();
            crds.sort_unstable();
            for crd in crds {
                by_crd.entry(crd).or_default().push(webhook.name());
                if !owned.contains(crd) {
                    foreign.push((webhook.name(), crd));
                }
            }
        }
        for (crd, mut webhooks) in by_crd
            .into_iter()
            .filter(|(_, webhooks)| webhooks.len() > 1)
        {
            webhooks.sort_unstable();
            let webhooks = webhooks.join(",");
            faults.add(
                PreflightCheck::ConversionWebhook,
                format!("conversion webhooks [{webhooks}] reference same custom resource definition '{crd}'"),
            );
        }
        for (webhook, crd) in foreign {
            faults.add(
                PreflightCheck::ConversionWebhook,
                format!("conversion webhook '{webhook}' references custom resource definition '{crd}' not owned bundle"),
            );
        }
    }

    pub(super) fn webhook_rules(&self, faults: &mut Faults) {
        let webhooks = self.webhooks().into_iter();
        for webhook in webhooks.filter(|webhook| !webhook.is_conversion()) {
            let head = format!(
                "webhook {} contains forbidden rule: admission webhook rules cannot reference ",
                go::quote(webhook.name())
            );
            for rule in items(webhook.0, "/rules") {
                for forbidden in forbidden_of(rule) {
                    faults.add(
                        PreflightCheck::WebhookDefinitions,
                        format!("{head}{forbidden}"),
                    );
                }
            }
        }
    }
}

/// A webhook of a `ClusterServiceVersion`.
pub(super) struct CsvWebhook<'a>(pub(super) &'a Value);

impl<'a> CsvWebhook<'a> {
    pub(super) fn name(&self) -> &'a str {
        text(self.0, "/generateName")
    }

    /// The name of the webhook's configuration, and of the webhook inside it.
    pub(super) fn rendered_name(&self) -> &'a str {
        let name = self.name();
        name.strip_suffix('-').unwrap_or(name)
    }

    pub(super) fn kind(&self) -> &'a str {
        text(self.0, "/type")
    }

    fn is_admission(&self) -> bool {
        matches!(
            self.kind(),
            "ValidatingAdmissionWebhook" | "MutatingAdmissionWebhook"
        )
    }

    pub(super) fn is_conversion(&self) -> bool {
        self.kind() == "ConversionWebhook"
    }
}

/// Returns the forbidden parts of a rule: everything, OLM's own objects, and the configurations of webhooks.
fn forbidden_of(rule: &Value) -> Vec<String> {
    let of_group = |group: &str| {
        if matches!(group, "*" | "olm.operatorframework.io") {
            return vec![format!("API group {}", go::quote(group))];
        }
        let resources = items(rule, "/resources").iter().filter_map(Value::as_str);
        let forbidden =
            resources.filter(|resource| group == ADMISSION && is_configuration(resource));
        let named = forbidden.map(|resource| {
            format!(
                "resource {} for API group \"{ADMISSION}\"",
                go::quote(resource)
            )
        });
        named.collect()
    };
    let groups = items(rule, "/apiGroups").iter().filter_map(Value::as_str);
    groups.flat_map(of_group).collect()
}

pub(super) fn is_configuration(resource: &str) -> bool {
    let resource = resource.to_ascii_lowercase();
    let kind = resource.strip_suffix('s').unwrap_or(&resource);
    let kinds = [
        "mutatingwebhookconfiguration",
        "validatingwebhookconfiguration",
    ];
    resource == "*" || kinds.contains(&kind)
}

/// The minimum number of segments in the name of a webhook in its configuration.
const LEAST_SEGMENTS: usize = 3;

const ADMISSION: &str = "admissionregistration.k8s.io";
