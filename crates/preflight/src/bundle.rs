//! The manifests of a registry+v1 bundle, and the validators that operator-controller runs on them.
//!
//! All validators run, and their errors have a fixed order. Upstream: operator-controller,
//! [`rukpak/bundle/source/source.go`] and [`rukpak/render/registryv1/validators/validator.go`].
//!
//! [`rukpak/bundle/source/source.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/bundle/source/source.go
//! [`rukpak/render/registryv1/validators/validator.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/render/registryv1/validators/validator.go

mod decoded;
mod metadata;
mod phases;
mod rendered;
mod webhooks;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::bundle::webhooks::CsvWebhook;
use crate::{KubernetesVersion, PreflightCheck};
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::memory::{self, Heap};
use olmguard_catalog::version::go;
use olmguard_catalog::{CrdNames, DependencyKind, InstallFacts, InstallModes};

pub use crate::bundle::decoded::WrongField;
pub use crate::bundle::metadata::{dependencies_of, is_properties_file, package_of};
pub use crate::bundle::phases::MOST_OF_PHASE;
pub use crate::bundle::rendered::{RenderTarget, RenderedName, RenderedObject};

/// The manifests of a bundle.
#[derive(Clone, Debug)]
pub struct RegistryBundle {
    /// The package named in `annotations.yaml`; empty if it names none.
    pub package: String,
    /// The `ClusterServiceVersion`. If there are several, the last one.
    csv: Value,
    /// The CRDs, in the order of their files.
    crds: Vec<Value>,
    /// The identities of all other objects; nothing else of them is kept.
    others: Vec<Value>,
}

/// The reason why manifests are not a bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NoBundle {
    /// No manifest is a `ClusterServiceVersion`.
    #[error(
        "no ClusterServiceVersion found in \"manifests\": expected one with the kind ClusterServiceVersion"
    )]
    NoCsv,
    /// Go cannot read the properties.
    #[error(
        "the annotation olm.properties of the ClusterServiceVersion is not a list of properties: expected JSON such as \
         [{{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.20\"}}]"
    )]
    Properties,
}

/// A kind of object, in one version of its API.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct BundledKind {
    /// The API version, such as `apps/v1`.
    pub api_version: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
}

impl BundledKind {
    /// Returns a kind in an API version.
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        }
    }
}

impl Heap for RegistryBundle {
    fn heap_bytes(&self) -> usize {
        let objects = self.csv.heap_bytes() + self.crds.heap_bytes() + self.others.heap_bytes();
        objects + memory::allocated(self.package.len())
    }
}

/// A fault that a validator reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BundleFault {
    /// The check that fails.
    pub check: PreflightCheck,
    /// The error text of operator-controller.
    pub upstream: String,
}

impl RegistryBundle {
    /// Builds a bundle from its objects, in the order of their files.
    ///
    /// # Errors
    /// If no object is a `ClusterServiceVersion`, or the properties of the last one cannot be read.
    pub fn of(package: &str, objects: impl IntoIterator<Item = Value>) -> Result<Self, NoBundle> {
        let (mut csv, mut crds, mut others) = (None, Vec::new(), Vec::new());
        for object in objects {
            match text(&object, "/kind") {
                "ClusterServiceVersion" => csv = Some(object),
                "CustomResourceDefinition" => crds.push(object),
                _ => others.push(identity(&object)),
            }
        }
        let csv = csv.ok_or(NoBundle::NoCsv)?;
        if !metadata::has_readable_properties(&csv) {
            return Err(NoBundle::Properties);
        }
        Ok(Self {
            package: package.to_owned(),
            csv,
            crds,
            others,
        })
    }

    /// Returns a copy without the schemas of the CRDs, and without fields that no check reads.
    pub fn without_schemas(&self) -> Self {
        let crds = self.crds.iter().map(|crd| {
            let versions = items(crd, "/spec/versions").iter();
            let versions = versions.map(|version| json!({"name": version["name"]}));
            let mut kept = kept(crd, &CRD_FIELDS);
            put(&mut kept, &["spec", "versions"], versions.collect());
            kept
        });
        Self {
            package: self.package.clone(),
            csv: kept(&self.csv, &CSV_FIELDS),
            crds: crds.collect(),
            others: self.others.clone(),
        }
    }

    /// The name of the `ClusterServiceVersion`.
    pub fn name(&self) -> &str {
        text(&self.csv, "/metadata/name")
    }

    /// The version in the `ClusterServiceVersion`.
    pub fn version(&self) -> &str {
        text(&self.csv, "/spec/version")
    }

    /// The oldest Kubernetes version that the bundle declares as required. OLM v1 does not read it.
    pub fn least_kubernetes(&self) -> Option<KubernetesVersion> {
        KubernetesVersion::read(text(&self.csv, "/spec/minKubeVersion"))
    }

    /// The CRDs, in the order of their files.
    pub fn crds(&self) -> &[Value] {
        &self.crds
    }

    /// The names of the CRDs, in the order of their files.
    pub fn crd_names(&self) -> Vec<&str> {
        let names = self.crds.iter().map(|crd| text(crd, "/metadata/name"));
        names.collect()
    }

    /// The kinds of the CRDs and of the other objects that a validator allows.
    pub fn object_kinds(&self) -> BTreeSet<BundledKind> {
        let others = self.others.iter();
        let others = others.filter(|object| rendered::is_known(text(object, "/kind")));
        let all = self.crds.iter().chain(others);
        let kinds =
            all.map(|object| BundledKind::of(text(object, "/apiVersion"), text(object, "/kind")));
        kinds.collect()
    }

    /// The kinds that the CRDs of the bundle define.
    pub fn defined_kinds(&self) -> BTreeSet<BundledKind> {
        let kinds = self.crds.iter().flat_map(|crd| {
            let (group, kind) = (text(crd, "/spec/group"), text(crd, "/spec/names/kind"));
            let versions = items(crd, "/spec/versions").iter();
            versions.map(move |version| {
                BundledKind::of(&format!("{group}/{}", text(version, "/name")), kind)
            })
        });
        kinds.collect()
    }

    /// The kinds that the `ClusterServiceVersion` declares as required. OLM v1 does not read them.
    pub fn required_kinds(&self) -> BTreeSet<BundledKind> {
        let crds = items(&self.csv, "/spec/customresourcedefinitions/required").iter();
        let crds = crds.filter_map(|crd| {
            let (_, group) = text(crd, "/name").split_once('.')?;
            Some((group, crd))
        });
        let native = items(&self.csv, "/spec/nativeAPIs").iter();
        let native = native.map(|api| (text(api, "/group"), api));
        let kinds = crds.chain(native).map(|(group, api)| {
            let version = text(api, "/version");
            let separator = if group.is_empty() { "" } else { "/" };
            BundledKind::of(&format!("{group}{separator}{version}"), text(api, "/kind"))
        });
        kinds.collect()
    }

    /// The dependencies that the `ClusterServiceVersion` declares. A catalog stores them as properties of the bundle,
    /// and OLM v1 does not install a bundle with a dependency.
    pub fn dependencies(&self) -> BTreeSet<DependencyKind> {
        let required = [
            "/spec/customresourcedefinitions/required",
            "/spec/apiservicedefinitions/required",
        ];
        let requires_kinds = required
            .iter()
            .any(|path| !items(&self.csv, path).is_empty());
        let mut dependencies = metadata::annotated_dependencies(&self.csv);
        dependencies.extend(requires_kinds.then_some(DependencyKind::Gvk));
        dependencies
    }

    /// Whether the bundle has webhooks, for which OLM needs a certificate provider.
    pub fn has_webhooks(&self) -> bool {
        !self.webhooks().is_empty()
    }

    /// The facts that decide whether operator-controller installs the bundle at all. A catalog has them, too.
    pub fn install_facts(&self) -> InstallFacts {
        let mut modes = InstallModes::default();
        for mode in items(&self.csv, "/spec/installModes") {
            if mode.get("supported").and_then(Value::as_bool) == Some(true) {
                modes.add(text(mode, "/type"));
            }
        }
        InstallFacts {
            modes,
            crds: CrdNames::of(names(&self.csv, OWNED_CRDS)),
            owns_api_services: !items(&self.csv, "/spec/apiservicedefinitions/owned").is_empty(),
            has_webhooks: Some(self.has_webhooks()),
        }
    }

    /// Returns the errors of the validators of operator-controller 1.`minor` or, if there are none, of the renderer.
    pub fn faults(&self, minor: u8) -> Vec<BundleFault> {
        let mut faults = Faults(Vec::new());
        if minor >= SINCE_VALIDATORS {
            self.validate(minor, &mut faults);
        }
        // The renderer stops at its first error.
        if faults.0.is_empty() {
            self.preserved(&mut faults);
        }
        if faults.0.is_empty() {
            self.kinds(minor, &mut faults);
        }
        faults.0
    }

    fn validate(&self, minor: u8, faults: &mut Faults) {
        self.deployments(faults);
        self.crd_manifests(faults);
        if self.package.is_empty() {
            faults.add(
                PreflightCheck::PackageNameEmpty,
                "package name is empty".to_owned(),
            );
        }
        if minor >= SINCE_WEBHOOK_RULES {
            self.conversion_modes(faults);
        } else {
            self.webhook_modes(faults);
        }
        self.webhook_deployments(faults);
        self.webhook_names(faults);
        self.conversions(faults);
        if minor >= SINCE_WEBHOOK_RULES {
            self.webhook_rules(faults);
        }
        if minor >= SINCE_KINDS {
            self.kinds(minor, faults);
        }
    }

    /// The names of the CRDs whose objects a webhook of the bundle converts. OLM writes the webhook into these CRDs.
    pub fn converted(&self) -> BTreeSet<&str> {
        let webhooks = self.conversion_webhooks();
        let named = webhooks.flat_map(|webhook| items(webhook.0, "/conversionCRDs"));
        named.filter_map(Value::as_str).collect()
    }

    /// The API server does not call a conversion webhook for a CRD that preserves unknown fields. The renderer reports
    /// this, not a validator.
    fn preserved(&self, faults: &mut Faults) {
        let converted = self.converted();
        for crd in &self.crds {
            let name = text(crd, "/metadata/name");
            let preserves = crd.pointer("/spec/preserveUnknownFields");
            if preserves.and_then(Value::as_bool) == Some(true) && converted.contains(name) {
                return faults.add(
                    PreflightCheck::ConversionWebhook,
                    format!(
                        "custom resource definition '{name}' must have .spec.preserveUnknownFields set to false to let \
                         API Server call webhook to do the conversion"
                    ),
                );
            }
        }
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

    fn crd_manifests(&self, faults: &mut Faults) {
        let there = self.crd_names();
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
        let names = names(&self.csv, OWNED_CRDS);
        names.into_iter().collect()
    }

    fn webhooks(&self) -> Vec<CsvWebhook<'_>> {
        let webhooks = items(&self.csv, "/spec/webhookdefinitions").iter();
        webhooks.map(CsvWebhook).collect()
    }

    fn conversion_webhooks(&self) -> impl Iterator<Item = CsvWebhook<'_>> {
        self.webhooks()
            .into_iter()
            .filter(CsvWebhook::is_conversion)
    }

    fn kinds(&self, minor: u8, faults: &mut Faults) {
        for object in &self.others {
            let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
            if !rendered::is_allowed(kind, minor) {
                if minor < SINCE_KINDS {
                    return faults.add(
                        PreflightCheck::ManifestKindUnsupported,
                        format!("bundle contains unsupported resource: Name: {name}, Kind: {kind}"),
                    );
                }
                let (name, kind) = (go::quote(name), go::quote(kind));
                faults.add(
                    PreflightCheck::ManifestKindUnsupported,
                    format!("unsupported resource {name} with kind {kind}"),
                );
            }
        }
    }
}

/// The faults found so far.
struct Faults(Vec<BundleFault>);

impl Faults {
    fn add(&mut self, check: PreflightCheck, upstream: String) {
        self.0.push(BundleFault { check, upstream });
    }
}

/// Returns the values that occur more than once, sorted and without duplicates.
fn repeated<T: Copy + Ord>(all: impl Iterator<Item = T>) -> BTreeSet<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| !seen.insert(*one)).collect()
}

/// Returns the errors of a name that must be a DNS subdomain, in the words of apimachinery and sorted as in upstream.
fn invalid_subdomain(name: &str) -> Vec<&'static str> {
    let form = (!is_subdomain(name)).then_some(SUBDOMAIN);
    let long = (name.len() > 253).then_some("must be no more than 253 characters");
    form.into_iter().chain(long).collect()
}

const OWNED_CRDS: &str = "/spec/customresourcedefinitions/owned";

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    let found = field(object, path).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Returns the field at a path. Like [`Value::pointer`] for objects and keys without a slash, but without an
/// allocation per key, because one answer looks up thousands of fields.
pub(crate) fn field<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/')
        .skip(1)
        .try_fold(object, |at, key| at.get(key))
}

/// Returns the field at a path of keys, which can contain a slash.
pub(crate) fn field_at<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(object, |at, key| at.get(key))
}

fn items<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    let items = field(object, path).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// Reduces an object to its identity: API version, kind, name and namespace.
fn identity(object: &Value) -> Value {
    let (api_version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let of_metadata = |key| text(object, key);
    json!({"apiVersion": api_version, "kind": kind, "metadata": {
        "name": of_metadata("/metadata/name"), "namespace": of_metadata("/metadata/namespace"),
    }})
}

fn names<'a>(object: &'a Value, path: &str) -> Vec<&'a str> {
    items(object, path)
        .iter()
        .map(|item| text(item, "/name"))
        .collect()
}

/// Returns an object with only these fields.
pub(crate) fn kept(object: &Value, fields: &[&[&str]]) -> Value {
    let mut kept = json!({});
    for field in fields {
        if let Some(value) = field_at(object, field) {
            put(&mut kept, field, value.clone());
        }
    }
    kept
}

/// Sets a field, and creates the objects around it.
fn put(object: &mut Value, path: &[&str], value: Value) {
    let mut at = object;
    for key in path {
        at = &mut at[*key];
    }
    *at = value;
}

/// The fields of a CRD that checks read, apart from its schemas and the names of its versions.
const CRD_FIELDS: [&[&str]; 6] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["spec", "group"],
    &["spec", "names", "kind"],
    &["spec", "preserveUnknownFields"],
];

/// The fields of a `ClusterServiceVersion` that checks read.
const CSV_FIELDS: [&[&str]; 11] = [
    &["kind"],
    &["metadata", "name"],
    &["spec", "version"],
    &["spec", "minKubeVersion"],
    &["spec", "installModes"],
    &["spec", "apiservicedefinitions", "owned"],
    &["spec", "install"],
    &["spec", "customresourcedefinitions", "owned"],
    &["spec", "customresourcedefinitions", "required"],
    &["spec", "nativeAPIs"],
    &["spec", "webhookdefinitions"],
];

/// The first release 1.x that reports each object of an unsupported kind.
const SINCE_KINDS: u8 = 9;

/// The first release 1.x that has validators.
const SINCE_VALIDATORS: u8 = 3;

/// The first release 1.x that checks the rules of webhooks, and the install modes of bundles with conversion webhooks.
const SINCE_WEBHOOK_RULES: u8 = 6;

#[cfg(test)]
mod tests;
