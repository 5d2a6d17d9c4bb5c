//! A bundle of the format registry+v1, as its manifests have it, and the validators that operator-controller puts it to.
//!
//! All validators run, and their errors come in their order. Upstream: operator-controller,
//! [`rukpak/bundle/source/source.go`] and [`rukpak/render/registryv1/validators/validator.go`].
//!
//! [`rukpak/bundle/source/source.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/bundle/source/source.go
//! [`rukpak/render/registryv1/validators/validator.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/render/registryv1/validators/validator.go

mod decoded;
mod kinds;
mod metadata;
mod phases;
mod rendered;
mod webhooks;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::bundle::webhooks::CsvWebhook;
use crate::support::Supported;
use crate::{KubernetesVersion, PreflightCheck};
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::memory::{self, Heap};
use olmguard_catalog::version::go;
use olmguard_catalog::{DependencyKind, InstallModes};

pub use crate::bundle::decoded::WrongField;
pub use crate::bundle::metadata::{dependencies_of, is_properties_file, package_of};
pub use crate::bundle::phases::MOST_OF_PHASE;
pub use crate::bundle::rendered::{RenderTarget, RenderedName, RenderedObject};

/// The manifests of a bundle.
#[derive(Clone, Debug)]
pub struct RegistryBundle {
    /// The package that its `annotations.yaml` names; empty if it names none.
    pub package: String,
    /// Its `ClusterServiceVersion`: of several the last one.
    csv: Value,
    /// Its CRDs.
    crds: Vec<Value>,
    /// All other objects, of which nothing is kept but what they are.
    others: Vec<Value>,
}

/// Why manifests are no bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NoBundle {
    /// None of them is a `ClusterServiceVersion`.
    #[error(
        "no ClusterServiceVersion found in \"manifests\": expected one with the kind ClusterServiceVersion"
    )]
    NoCsv,
    /// Go cannot read its properties.
    #[error(
        "the annotation olm.properties of the ClusterServiceVersion is not a list of properties: expected JSON such as \
         [{{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.20\"}}]"
    )]
    Properties,
}

/// A kind of objects, in one version of its API.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct BundledKind {
    /// Such as `apps/v1`.
    pub api_version: String,
    /// Such as `Deployment`.
    pub kind: String,
}

impl BundledKind {
    /// This kind in this version.
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
    /// If none of them is a `ClusterServiceVersion`, or the properties of the last one cannot be read.
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

    /// The same bundle without the schemas of its CRDs, and without fields that no check reads.
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

    /// The name of its `ClusterServiceVersion`.
    pub fn name(&self) -> &str {
        text(&self.csv, "/metadata/name")
    }

    /// The version that its `ClusterServiceVersion` states.
    pub fn version(&self) -> &str {
        text(&self.csv, "/spec/version")
    }

    /// The oldest Kubernetes that it states to need. OLM v1 does not read it.
    pub fn least_kubernetes(&self) -> Option<KubernetesVersion> {
        KubernetesVersion::least_of(&self.csv)
    }

    /// Its CRDs, in the order of their files.
    pub fn crds(&self) -> &[Value] {
        &self.crds
    }

    /// The names of its CRDs, in the order of their files.
    pub fn crd_names(&self) -> Vec<&str> {
        let names = self.crds.iter().map(|crd| text(crd, "/metadata/name"));
        names.collect()
    }

    /// The kinds of its objects that a validator allows, and of its CRDs, each once.
    pub fn object_kinds(&self) -> BTreeSet<BundledKind> {
        let others = self.others.iter();
        let others = others.filter(|object| kinds::is_known(text(object, "/kind")));
        let all = self.crds.iter().chain(others);
        let kinds =
            all.map(|object| BundledKind::of(text(object, "/apiVersion"), text(object, "/kind")));
        kinds.collect()
    }

    /// The kinds that its own CRDs define.
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

    /// The kinds that its `ClusterServiceVersion` states to need. OLM v1 does not read them.
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

    /// The dependencies that its `ClusterServiceVersion` declares. A catalog has them as properties of the bundle, and OLM v1
    /// installs no bundle with one.
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

    /// Whether it has webhooks, for which OLM needs a provider of certificates.
    pub fn has_webhooks(&self) -> bool {
        !self.webhooks().is_empty()
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
            has_webhooks: Some(self.has_webhooks()),
        }
    }

    /// What the validators of operator-controller 1.`minor` say, or else what renders the bundle.
    pub fn faults(&self, minor: u8) -> Vec<BundleFault> {
        let mut faults = Faults(Vec::new());
        if minor >= SINCE_VALIDATORS {
            self.validate(minor, &mut faults);
        }
        // What renders the bundle stops at its first error.
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

    /// The names of the CRDs whose objects a webhook of the bundle converts: OLM writes that into the CRD.
    pub fn converted(&self) -> BTreeSet<&str> {
        let webhooks = self
            .webhooks()
            .into_iter()
            .filter(CsvWebhook::is_conversion);
        let named = webhooks.flat_map(|webhook| items(webhook.0, "/conversionCRDs"));
        named.filter_map(Value::as_str).collect()
    }

    /// The API server asks no webhook about a CRD that keeps unknown fields. Not a validator, but what renders the CRD
    /// says so.
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
        names(&self.csv, "/spec/customresourcedefinitions/owned")
            .into_iter()
            .collect()
    }

    fn webhooks(&self) -> Vec<CsvWebhook<'_>> {
        let webhooks = items(&self.csv, "/spec/webhookdefinitions").iter();
        webhooks.map(CsvWebhook).collect()
    }

    fn kinds(&self, minor: u8, faults: &mut Faults) {
        for object in &self.others {
            let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
            if !kinds::is_allowed(kind, minor) {
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

/// The faults so far.
struct Faults(Vec<BundleFault>);

impl Faults {
    fn add(&mut self, check: PreflightCheck, upstream: String) {
        self.0.push(BundleFault { check, upstream });
    }
}

/// Those that are there more than once, each once, in their order.
fn repeated<T: Copy + Ord>(all: impl Iterator<Item = T>) -> BTreeSet<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| !seen.insert(*one)).collect()
}

/// What is wrong with a name that must be a DNS subdomain, as apimachinery says it.
fn invalid_subdomain(name: &str) -> Vec<&'static str> {
    let form = (!is_subdomain(name)).then_some(SUBDOMAIN);
    let long = (name.len() > 253).then_some("must be no more than 253 characters");
    form.into_iter().chain(long).collect()
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    let found = field(object, path).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// The same as [`Value::pointer`] in objects, for keys without a slash, and without the texts that it makes of each key: an
/// answer looks for thousands of fields.
pub(crate) fn field<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/')
        .skip(1)
        .try_fold(object, |at, key| at.get(key))
}

/// The field at a path of keys, which can have a slash.
pub(crate) fn field_at<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(object, |at, key| at.get(key))
}

fn items<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    let items = field(object, path).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// What an object is: its kind and its name.
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

/// An object with these of its fields, and no others.
pub(crate) fn kept(object: &Value, fields: &[&[&str]]) -> Value {
    let mut kept = json!({});
    for field in fields {
        if let Some(value) = field_at(object, field) {
            put(&mut kept, field, value.clone());
        }
    }
    kept
}

/// Puts a value into a field, and makes the objects that it is in.
fn put(object: &mut Value, path: &[&str], value: Value) {
    let mut at = object;
    for key in path {
        at = &mut at[*key];
    }
    *at = value;
}

/// What is read of a CRD besides its schemas and the names of its versions.
const CRD_FIELDS: [&[&str]; 6] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["spec", "group"],
    &["spec", "names", "kind"],
    &["spec", "preserveUnknownFields"],
];

/// What is read of a `ClusterServiceVersion`.
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

/// The release 1.x that names each object of an unsupported kind.
const SINCE_KINDS: u8 = 9;

/// The release 1.x that has validators.
const SINCE_VALIDATORS: u8 = 3;

/// The release 1.x that looks at what webhooks are for, and at the install modes of bundles that convert.
const SINCE_WEBHOOK_RULES: u8 = 6;

#[cfg(test)]
mod tests;
