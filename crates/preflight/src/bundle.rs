//! A bundle of the format registry+v1, as its manifests have it, and the validators that operator-controller puts it to.
//!
//! All validators run, and their errors come in their order. Upstream: operator-controller,
//! [`rukpak/bundle/source/source.go`] and [`rukpak/render/registryv1/validators/validator.go`].
//!
//! [`rukpak/bundle/source/source.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/bundle/source/source.go
//! [`rukpak/render/registryv1/validators/validator.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/render/registryv1/validators/validator.go

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::PreflightCheck;
use crate::support::Supported;
use olmguard_catalog::InstallModes;
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::version::go;

/// The manifests of a bundle.
#[derive(Clone, Debug)]
pub struct RegistryBundle {
    /// The package that its `annotations.yaml` names; empty if it names none.
    pub package: String,
    /// Its `ClusterServiceVersion`: of several the last one.
    csv: Value,
    /// Its CRDs.
    crds: Vec<Value>,
    /// All other objects.
    others: Vec<Value>,
}

/// The manifests hold no `ClusterServiceVersion`; printed as operator-controller prints it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no ClusterServiceVersion found in \"manifests\"")]
pub struct NoCsv;

/// What a validator says of a bundle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BundleFault {
    /// The check that fails.
    pub check: PreflightCheck,
    /// The text of operator-controller.
    pub upstream: String,
}

impl RegistryBundle {
    /// The bundle of these objects, in the order of their files.
    ///
    /// # Errors
    /// If none of them is a `ClusterServiceVersion`.
    pub fn of(package: &str, objects: impl IntoIterator<Item = Value>) -> Result<Self, NoCsv> {
        let (mut csv, mut crds, mut others) = (None, Vec::new(), Vec::new());
        for object in objects {
            match text(&object, "/kind") {
                "ClusterServiceVersion" => csv = Some(object),
                "CustomResourceDefinition" => crds.push(object),
                _ => others.push(object),
            }
        }
        Ok(Self {
            package: package.to_owned(),
            csv: csv.ok_or(NoCsv)?,
            crds,
            others,
        })
    }

    /// The name of its `ClusterServiceVersion`.
    pub fn name(&self) -> &str {
        text(&self.csv, "/metadata/name")
    }

    /// The version that its `ClusterServiceVersion` states.
    pub fn version(&self) -> &str {
        text(&self.csv, "/spec/version")
    }

    /// Its CRDs, in the order of their files.
    pub fn crds(&self) -> &[Value] {
        &self.crds
    }

    /// What decides whether operator-controller installs it at all.
    pub fn supported(&self) -> Supported {
        let mut modes = InstallModes::default();
        for mode in items(&self.csv, "/spec/installModes") {
            if mode.get("supported").and_then(Value::as_bool) == Some(true) {
                modes.add(text(mode, "/type"));
            }
        }
        Supported {
            modes,
            owns_api_services: !items(&self.csv, "/spec/apiservicedefinitions/owned").is_empty(),
            has_webhooks: Some(!self.webhooks().is_empty()),
        }
    }

    /// What the validators of operator-controller 1.`minor` say; nothing of releases before 1.7, which have others.
    pub fn faults(&self, minor: u8) -> Vec<BundleFault> {
        if minor < SINCE_VALIDATORS {
            return Vec::new();
        }
        let mut faults = Faults(Vec::new());
        self.deployments(&mut faults);
        self.crd_names(&mut faults);
        if self.package.is_empty() {
            faults.add(
                PreflightCheck::PackageNameEmpty,
                "package name is empty".to_owned(),
            );
        }
        self.conversion_modes(&mut faults);
        self.webhook_deployments(&mut faults);
        self.webhook_names(&mut faults);
        self.conversions(&mut faults);
        self.webhook_rules(&mut faults);
        self.kinds(&mut faults);
        faults.0
    }

    fn deployments(&self, faults: &mut Faults) {
        let names = names(&self.csv, "/spec/install/spec/deployments");
        for name in repeated(names.iter().copied()) {
            faults.add(
                PreflightCheck::DeploymentNames,
                format!(
                    "cluster service version contains duplicate strategy deployment spec '{name}'"
                ),
            );
        }
        for name in names.into_iter().collect::<BTreeSet<_>>() {
            let wrong = invalid_subdomain(name).join(", ");
            if !wrong.is_empty() {
                faults.add(
                    PreflightCheck::DeploymentNames,
                    format!(
                        "invalid cluster service version strategy deployment name '{name}': {wrong}"
                    ),
                );
            }
        }
    }

    fn crd_names(&self, faults: &mut Faults) {
        let there: Vec<&str> = self
            .crds
            .iter()
            .map(|crd| text(crd, "/metadata/name"))
            .collect();
        for name in repeated(there.iter().copied()) {
            faults.add(
                PreflightCheck::CrdManifests,
                format!("bundle contains duplicate custom resource definition '{name}'"),
            );
        }
        for name in self.owned_crds().difference(&there.into_iter().collect()) {
            faults.add(
                PreflightCheck::CrdManifests,
                format!(
                    "cluster service definition references owned custom resource definition '{name}' not found in bundle"
                ),
            );
        }
    }

    fn owned_crds(&self) -> BTreeSet<&str> {
        names(&self.csv, "/spec/customresourcedefinitions/owned")
            .into_iter()
            .collect()
    }

    fn webhooks(&self) -> Vec<CsvWebhook<'_>> {
        let webhooks = items(&self.csv, "/spec/webhookdefinitions").iter();
        webhooks.map(CsvWebhook).collect()
    }

    fn conversion_modes(&self, faults: &mut Faults) {
        let modes: Vec<_> = self.supported().modes.names().collect();
        if modes == ["AllNamespaces"] {
            return;
        }
        for webhook in self
            .webhooks()
            .into_iter()
            .filter(CsvWebhook::is_conversion)
        {
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

    fn webhook_deployments(&self, faults: &mut Faults) {
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

    fn webhook_names(&self, faults: &mut Faults) {
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

    /// Conversion webhooks of the same CRD, and of CRDs that the bundle does not own.
    fn conversions(&self, faults: &mut Faults) {
        let mut by_crd: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let (owned, mut foreign) = (self.owned_crds(), Vec::new());
        for webhook in self
            .webhooks()
            .into_iter()
            .filter(CsvWebhook::is_conversion)
        {
            for crd in items(webhook.0, "/conversionCRDs")
                .iter()
                .filter_map(Value::as_str)
            {
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
        foreign.sort_unstable();
        for (webhook, crd) in foreign {
            faults.add(
                PreflightCheck::ConversionWebhook,
                format!("conversion webhook '{webhook}' references custom resource definition '{crd}' not owned bundle"),
            );
        }
    }

    fn webhook_rules(&self, faults: &mut Faults) {
        for webhook in self
            .webhooks()
            .into_iter()
            .filter(|webhook| !webhook.is_conversion())
        {
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

    fn kinds(&self, faults: &mut Faults) {
        for object in &self.others {
            let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
            if !KINDS.contains(&kind) {
                let (name, kind) = (go::quote(name), go::quote(kind));
                faults.add(
                    PreflightCheck::ManifestKindUnsupported,
                    format!("unsupported resource {name} with kind {kind}"),
                );
            }
        }
    }
}

/// The faults so far.
struct Faults(Vec<BundleFault>);

impl Faults {
    fn add(&mut self, check: PreflightCheck, upstream: String) {
        self.0.push(BundleFault { check, upstream });
    }
}

/// A webhook of a `ClusterServiceVersion`.
struct CsvWebhook<'a>(&'a Value);

impl<'a> CsvWebhook<'a> {
    fn name(&self) -> &'a str {
        text(self.0, "/generateName")
    }

    fn kind(&self) -> &'a str {
        text(self.0, "/type")
    }

    fn is_conversion(&self) -> bool {
        self.kind() == "ConversionWebhook"
    }
}

/// What no webhook may see: everything, OLM's own objects, and the configurations of webhooks.
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

fn is_configuration(resource: &str) -> bool {
    let resource = resource.to_ascii_lowercase();
    let kind = resource.strip_suffix('s').unwrap_or(&resource);
    matches!(
        kind,
        "*" | "mutatingwebhookconfiguration" | "validatingwebhookconfiguration"
    )
}

const ADMISSION: &str = "admissionregistration.k8s.io";

/// Those that are there more than once, each once, in their order.
fn repeated<T: Copy + Ord>(all: impl Iterator<Item = T>) -> BTreeSet<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| !seen.insert(*one)).collect()
}

/// What is wrong with a name that must be a DNS subdomain, as apimachinery says it.
fn invalid_subdomain(name: &str) -> Vec<&'static str> {
    let is_long = name.len() > 253;
    // The name is cut so that only its form is looked at.
    let is_formed = match name.get(..253).filter(|_| is_long) {
        Some(head) => is_subdomain(head.trim_end_matches(['-', '.'])) && is_subdomain_form(name),
        None => is_subdomain(name),
    };
    let long = is_long.then_some("must be no more than 253 characters");
    long.into_iter()
        .chain((!is_formed).then_some(SUBDOMAIN))
        .collect()
}

/// Whether a name has the form of a subdomain, however long it is.
fn is_subdomain_form(name: &str) -> bool {
    let is_end = |byte: Option<u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.split('.').all(|label| {
        let is_inner = |byte: u8| is_end(Some(byte)) || byte == b'-';
        is_end(label.bytes().next())
            && is_end(label.bytes().next_back())
            && label.bytes().all(is_inner)
    })
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object
        .pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn items<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    let items = object.pointer(path).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

fn names<'a>(object: &'a Value, path: &str) -> Vec<&'a str> {
    items(object, path)
        .iter()
        .map(|item| text(item, "/name"))
        .collect()
}

/// The kinds that a bundle may have besides its CRDs and its `ClusterServiceVersion`.
const KINDS: [&str; 20] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
    "ConsoleQuickStart",
    "ConsoleYAMLSample",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "PodMonitor",
    "PriorityClass",
    "PrometheusRule",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceMonitor",
    "VerticalPodAutoscaler",
];

/// The release 1.x whose validators these are.
const SINCE_VALIDATORS: u8 = 7;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn csv(spec: &Value) -> Value {
        json!({"kind": "ClusterServiceVersion", "metadata": {"name": "p.v1"}, "spec": spec})
    }

    fn said(package: &str, objects: Vec<Value>) -> Vec<String> {
        let bundle = RegistryBundle::of(package, objects).unwrap();
        bundle
            .faults(11)
            .into_iter()
            .map(|fault| fault.upstream)
            .collect()
    }

    #[test]
    fn a_bundle_needs_a_csv_and_the_last_one_counts() {
        assert_eq!(
            RegistryBundle::of("p", [json!({"kind": "Role"})]).unwrap_err(),
            NoCsv
        );
        let mut last = csv(&json!({"version": "2.0.0"}));
        last["metadata"]["name"] = json!("p.v2");
        let bundle = RegistryBundle::of("p", [csv(&json!({})), last]).unwrap();
        assert_eq!((bundle.name(), bundle.version()), ("p.v2", "2.0.0"));
    }

    #[test]
    fn names_are_checked_once_and_in_order() {
        let deployments = json!([{"name": "b"}, {"name": "A"}, {"name": "b"}]);
        let spec = json!({"install": {"spec": {"deployments": deployments}},
            "customresourcedefinitions": {"owned": [{"name": "w"}, {"name": "x"}, {"name": "w"}]}});
        let crd = json!({"kind": "CustomResourceDefinition", "metadata": {"name": "x"}});
        let said = said(
            "",
            vec![
                csv(&spec),
                crd.clone(),
                crd,
                json!({"kind": "Pod", "metadata": {"name": "a"}}),
            ],
        );
        let starts = [
            "cluster service version contains duplicate strategy deployment spec 'b'",
            "invalid cluster service version strategy deployment name 'A': a lowercase RFC 1123 subdomain",
            "bundle contains duplicate custom resource definition 'x'",
            "cluster service definition references owned custom resource definition 'w' not found in bundle",
            "package name is empty",
            "unsupported resource \"a\" with kind \"Pod\"",
        ];
        assert_eq!(said.len(), starts.len(), "{said:?}");
        for (line, start) in said.iter().zip(starts) {
            assert!(line.starts_with(start), "{line}");
        }
    }

    #[test]
    fn webhooks_are_checked() {
        let webhook = |kind: &str, name: &str| {
            json!({"type": kind, "generateName": name, "deploymentName": "d", "conversionCRDs": ["w"],
                "rules": [{"apiGroups": ["*", "admissionregistration.k8s.io"], "resources": ["pods", "*"]}]})
        };
        let spec = json!({"webhookdefinitions": [
            webhook("ConversionWebhook", "c"), webhook("ConversionWebhook", "c"),
            webhook("ValidatingAdmissionWebhook", "v-")]});
        let said = said("p", vec![csv(&spec)]);
        let expected = [
            "bundle contains conversion webhook \"c\" and supports install modes []",
            "webhook of type 'ConversionWebhook' with name 'c' references non-existent deployment 'd'",
            "webhook of type 'ValidatingAdmissionWebhook' with name 'v-' references",
            "duplicate webhook 'c' of type 'ConversionWebhook'",
            "webhook of type 'ValidatingAdmissionWebhook' has invalid name 'v-': a lowercase",
            "conversion webhooks [c,c] reference same custom resource definition 'w'",
            "conversion webhook 'c' references custom resource definition 'w' not owned bundle",
            "cannot reference API group \"*\"",
            "cannot reference resource \"*\" for API group \"admissionregistration.k8s.io\"",
        ];
        for text in expected {
            assert!(
                said.iter().any(|line| line.contains(text)),
                "{text}: {said:#?}"
            );
        }
    }
}
