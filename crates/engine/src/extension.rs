//! An extension in every API shape: its request, and the installed bundle.
//!
//! ```text
//! object --identify--> Shape --read--> Extension { Filter, Installed, ... }
//! ```
//!
//! Upstream: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors since tag v0.0.1. One type
//! represents all shapes: `Enforce` is `CatalogProvided`, `Ignore` is `SelfCertified`, `channel: x` is `channels: [x]`.
//! Messages use the field names of the object's own shape ([`Fields`]).
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

mod filter;
mod hints;
mod read;
pub mod schema;

use std::borrow::Cow;
use std::collections::BTreeMap;

use olmguard_policy::limits;

pub use crate::extension::filter::{CrdEnforcement, Filter, InstallRequest, Policy, SpecConfig};
pub use crate::extension::hints::{Hint, Instead, catalog_hints, hints};
pub use crate::extension::read::{
    BypassWords, ChannelField, Fields, FilterError, FilterProblem, SelectorField, SourceType,
};
pub use olmguard_catalog::json::Json;

/// One extension as an object describes it.
#[derive(Clone, Debug)]
pub struct Extension {
    /// The names of the object.
    pub identity: Identity,
    /// The shape of the object.
    pub shape: Shape,
    /// The field paths of this shape.
    pub fields: Fields,
    /// Whether the extension is being deleted: `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// `spec.source.sourceType`.
    pub source_type: SourceType,
    /// The request, or why it cannot be read.
    pub filter: Result<Filter, FilterError>,
    /// The installed bundle according to the status.
    pub installed: Installed,
    /// Whether an upgrade is still rolling out.
    pub rollout: Rollout,
    /// The labels and the namespace, by which upgrade policies match the extension.
    pub subject: PolicySubject,
    /// The installation settings; absent in older shapes.
    pub install: Option<InstallRequest>,
    /// Fields and words that do not exist in this API.
    pub hints: Vec<Hint>,
}

impl Extension {
    /// Reads the extension in an object; `None` for another kind or an unknown version.
    pub fn recognised<'a>(object: impl Json<'a>) -> Option<Self> {
        let identity = Identity::read(object);
        match identity.recognise(object) {
            RecognisedObject::Extension(shape) => Some(Self::of(identity, shape, object)),
            RecognisedObject::UnknownVersion | RecognisedObject::Other => None,
        }
    }

    /// Reads an object of a kind and version that [`recognise`] knows.
    ///
    /// Any content can be read. Parts that cannot be understood are kept as errors.
    pub fn read<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        Self::of(Identity::read(object), shape, object)
    }

    /// Reads an object whose names and shape are already known.
    pub fn of<'a>(identity: Identity, shape: Shape, object: impl Json<'a>) -> Self {
        Self {
            installed: Installed::read(shape, object),
            rollout: Rollout::read(object),
            ..Self::requested(identity, shape, object)
        }
    }

    /// Reads an object without its status, as if no bundle were installed.
    pub fn requested<'a>(identity: Identity, shape: Shape, object: impl Json<'a>) -> Self {
        let fields = Fields::of(shape, object);
        Self {
            shape,
            deleting: object
                .at(&["metadata", "deletionTimestamp"])
                .is_some_and(|at| !at.is_null()),
            source_type: SourceType::read(shape, object),
            filter: Filter::read(&fields, object),
            installed: Installed::Nothing,
            rollout: Rollout::Settled,
            subject: PolicySubject::read(object),
            install: InstallRequest::read(&identity, shape, object),
            hints: hints(shape, None, object),
            fields,
            identity,
        }
    }
}

// === The API shapes: kinds and versions, and their field paths ===

/// An API shape in which an extension can be written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Shape {
    /// `olm.operatorframework.io/v1` `ClusterExtension` (v1.0 and later).
    V1,
    /// `olm.operatorframework.io/v1alpha1` `ClusterExtension` with `spec.source.catalog` (v0.14 to v0.18), with
    /// `channel` or `channels` and with either vocabulary of the policy.
    V1Alpha1Nested,
    /// `olm.operatorframework.io/v1alpha1` `ClusterExtension` with `spec.packageName` (v0.9 to
    /// v0.13).
    V1Alpha1Flat,
    /// `operators.operatorframework.io/v1alpha1` `Operator` (up to v0.8).
    Operator,
}

// === The properties by which upgrade policies match an extension, apart from its package ===

/// The labels of an extension, and the namespace for its installation.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PolicySubject {
    /// The namespace for the installation; empty if none is set.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
}

impl PolicySubject {
    /// Reads an object of any shape. Values that are missing or not strings are omitted, because the API server refuses
    /// them.
    fn read<'a>(object: impl Json<'a>) -> Self {
        let mut namespaces = NAMESPACES.iter().filter_map(|path| object.at(path));
        let namespace = namespaces.find_map(Json::as_str);
        let labels = object.at(&["metadata", "labels"]);
        Self {
            namespace: namespace.unwrap_or_default().to_owned(),
            labels: labels.map(read_labels).unwrap_or_default(),
        }
    }
}

/// Reads labels, up to one more than policies accept. A loop, because collecting so few entries takes longer.
fn read_labels<'a>(labels: impl Json<'a>) -> BTreeMap<String, String> {
    let mut read = BTreeMap::new();
    for (key, label) in labels.entries().into_iter().flatten() {
        if read.len() > limits::SUBJECT_ENTRIES {
            break;
        }
        if let Some(label) = label.as_str() {
            read.insert(key.to_owned(), label.to_owned());
        }
    }
    read
}

/// The paths of the namespace: in v0.18 and later, in v0.15 to v0.17, and in v0.10 to v0.14.
const NAMESPACES: [&[&str]; 3] = [
    &["spec", "namespace"],
    &["spec", "install", "namespace"],
    &["spec", "installNamespace"],
];

// === The names of an object: group, version, kind and name ===

/// The names that identify an object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Identity {
    /// The group of `apiVersion`; empty for the core group.
    pub group: String,
    /// The version of `apiVersion`.
    pub version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.name`; absent if the object has only `generateName`, or neither.
    pub name: Option<String>,
    /// `metadata.generateName`: the prefix of a name that the API server has yet to generate.
    pub generate_name: Option<String>,
}

/// The kind of object that an `apiVersion` and a `kind` identify.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RecognisedObject {
    /// An extension in a shape that can be read.
    Extension(Shape),
    /// An extension in a version that this program does not know.
    UnknownVersion,
    /// Any other object, including `operators.coreos.com/v1` `Operator` of OLM v0.
    Other,
}

/// Recognises an object by its `apiVersion` and `kind`.
pub fn recognise<'a>(object: impl Json<'a>) -> RecognisedObject {
    Identity::read(object).recognise(object)
}

impl Identity {
    /// Recognises an object with these names.
    pub fn recognise<'a>(&self, object: impl Json<'a>) -> RecognisedObject {
        match (&*self.group, &*self.version, &*self.kind) {
            (OLM, "v1", "ClusterExtension") => RecognisedObject::Extension(Shape::V1),
            (OLM, "v1alpha1", "ClusterExtension") => RecognisedObject::Extension(alpha(object)),
            (OLM | OPERATORS, "v1alpha1", "Operator") => {
                RecognisedObject::Extension(Shape::Operator)
            }
            (OLM, _, "ClusterExtension" | "Operator") | (OPERATORS, _, "Operator") => {
                RecognisedObject::UnknownVersion
            }
            _ => RecognisedObject::Other,
        }
    }

    /// `apiVersion`: the group and the version.
    pub fn api_version(&self) -> String {
        let gap = if self.group.is_empty() { "" } else { "/" };
        format!("{}{gap}{}", self.group, self.version)
    }

    /// Reads the names. A value that is missing or not a string is empty.
    pub fn read<'a, J: Json<'a>>(object: J) -> Self {
        let metadata = object.get("metadata");
        let text = |value: Option<J>| value.and_then(Json::as_str).unwrap_or_default();
        let stated = |key| Some(text(metadata?.get(key))).filter(|text| !text.is_empty());
        let api_version = text(object.get("apiVersion"));
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text(object.get("kind")).to_owned(),
            name: stated("name").map(str::to_owned),
            generate_name: stated("generateName").map(str::to_owned),
        }
    }

    /// The name to show to users. For a name that has yet to be generated, its prefix and a `*`.
    pub fn shown(&self) -> Option<Cow<'_, str>> {
        let name = self.name.as_deref().map(Cow::Borrowed);
        let generated = self.generate_name.as_deref();
        name.or_else(|| generated.map(|begin| Cow::Owned(format!("{begin}*"))))
    }
}

/// The shape of a v1alpha1 object, by its `spec.source`. Absent and `null` are equal.
fn alpha<'a>(object: impl Json<'a>) -> Shape {
    match object
        .at(&["spec", "source"])
        .filter(|source| !source.is_null())
    {
        Some(_) => Shape::V1Alpha1Nested,
        None => Shape::V1Alpha1Flat,
    }
}

const OLM: &str = "olm.operatorframework.io";
const OPERATORS: &str = "operators.operatorframework.io";

// === The installed bundle according to an extension's status ===
//
// Upstream: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors: `status.install.bundle`
// since v0.15, `status.installedBundle` since v0.10, and before that an image reference without name or version.
//
// [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

/// The installed bundle, as far as it is known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Installed {
    /// Nothing is installed.
    #[default]
    Nothing,
    /// The installed bundle is unknown, with the reason.
    Unknown(UnknownCause),
    /// This bundle is installed.
    Bundle(InstalledBundle),
    /// A bundle of this version is installed. The name was inferred: it is the only name in the edges of the catalogs
    /// that fits the version.
    Inferred(InstalledBundle),
}

/// Why the installed bundle is unknown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnknownCause {
    /// The Installed condition is Unknown.
    Condition,
    /// The status contains only an image.
    ImageOnly,
    /// A field of the status is missing or has another type than its schema.
    WrongType {
        /// The path of the field.
        field: &'static str,
    },
    /// A request to update the object does not contain the old object.
    NoOldObject,
    /// The cluster could not be queried.
    NotToBeHad {
        /// The reason.
        why: String,
    },
    /// The base does not contain the information.
    NotInBase {
        /// The reason.
        why: String,
    },
    /// The result of the earlier request is undecided.
    BaseUndecided {
        /// The token of the row that is undecided.
        reason: &'static str,
    },
    /// A version was given without a name, and catalogs have several bundles with that version.
    Several {
        /// The names of the bundles, in byte order.
        bundles: Vec<String>,
    },
    /// A version was given without a name, no catalog has a bundle with that version, and the answer depends on the
    /// name.
    Nameless {
        /// The names in the edges that fit the version, in byte order; none or several.
        names: Vec<String>,
    },
}

/// An installed bundle as it is recorded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InstalledBundle {
    /// The name; absent if only the version is known.
    pub name: Option<String>,
    /// The version as recorded, possibly with a release as build metadata.
    pub version: String,
    /// The explicit release. Absent and empty differ.
    pub release: Option<String>,
}

impl InstalledBundle {
    /// `NAME VERSION[+RELEASE]`, the form of audit annotations. The name is omitted if only the version is known.
    pub fn line(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let release = self.release.as_deref().unwrap_or_default();
        let gap = if name.is_empty() { "" } else { " " };
        let plus = if release.is_empty() { "" } else { "+" };
        format!("{name}{gap}{}{plus}{release}", self.version)
    }
}

/// Whether an upgrade is still rolling out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Rollout {
    /// No upgrade is rolling out, as far as the status shows.
    #[default]
    Settled,
    /// Progressing has the reason `RollingOut`. OLM applies edits of the spec only after the rollout.
    RollingOut,
}

impl Installed {
    /// Reads the status of an object.
    pub fn read<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        let sources: &[StatusField] = match shape {
            Shape::V1 => &[INSTALL],
            Shape::V1Alpha1Nested => &[INSTALL, INSTALLED_BUNDLE],
            Shape::V1Alpha1Flat => &[INSTALLED_BUNDLE, INSTALL],
            Shape::Operator => &[],
        };
        let found = sources.iter().find_map(|source| source.read(object));
        found.unwrap_or_else(|| without_bundle(shape, object))
    }

    /// The bundle, if one is known.
    pub fn bundle(&self) -> Option<&InstalledBundle> {
        match self {
            Self::Bundle(bundle) | Self::Inferred(bundle) => Some(bundle),
            Self::Nothing | Self::Unknown(_) => None,
        }
    }
}

impl Rollout {
    fn read<'a>(object: impl Json<'a>) -> Self {
        let reason = condition(object, "Progressing").and_then(|c| c.get("reason"));
        match reason.and_then(Json::as_str) {
            Some("RollingOut") => Self::RollingOut,
            _ => Self::Settled,
        }
    }
}

/// A field of the status that contains an installed bundle.
struct StatusField {
    at: &'static [&'static str],
    path: &'static str,
}

const INSTALL: StatusField = StatusField {
    at: &["status", "install", "bundle"],
    path: "status.install.bundle",
};

const INSTALLED_BUNDLE: StatusField = StatusField {
    at: &["status", "installedBundle"],
    path: "status.installedBundle",
};

impl StatusField {
    fn read<'a>(&self, object: impl Json<'a>) -> Option<Installed> {
        let bundle = object.at(self.at).filter(|bundle| !bundle.is_null())?;
        let text = |field| match bundle.get(field).filter(|field| !field.is_null()) {
            None => Ok(None),
            Some(field) => field.as_str().map(str::to_owned).map(Some).ok_or(()),
        };
        let (Ok(name), Ok(Some(version)), Ok(release), true) = (
            text("name"),
            text("version"),
            text("release"),
            bundle.is_object(),
        ) else {
            return Some(Installed::Unknown(UnknownCause::WrongType {
                field: self.path,
            }));
        };
        Some(Installed::Bundle(InstalledBundle {
            name: name.filter(|name| !name.is_empty()),
            version,
            release,
        }))
    }
}

fn without_bundle<'a>(shape: Shape, object: impl Json<'a>) -> Installed {
    let image = object
        .at(&["status", "installedBundleResource"])
        .and_then(Json::as_str);
    let names_images = matches!(shape, Shape::Operator | Shape::V1Alpha1Flat);
    if names_images && image.is_some_and(|image| !image.is_empty()) {
        return Installed::Unknown(UnknownCause::ImageOnly);
    }
    let status = condition(object, "Installed").and_then(|condition| condition.get("status"));
    match status.and_then(Json::as_str) {
        Some("Unknown") => Installed::Unknown(UnknownCause::Condition),
        _ => Installed::Nothing,
    }
}

fn condition<'a, J: Json<'a>>(object: J, kind: &str) -> Option<J> {
    let mut conditions = object.at(&["status", "conditions"])?.items()?;
    conditions.find(|c| c.get("type").and_then(Json::as_str) == Some(kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use serde_json::Value;

    #[test]
    fn every_shape_names_its_namespace_and_its_labels() {
        for spec in [
            json!({"namespace": "ns"}),
            json!({"install": {"namespace": "ns"}}),
            json!({"installNamespace": "ns"}),
        ] {
            let object = json!({"metadata": {"labels": {"tier": "a", "odd": 1}}, "spec": spec});
            let subject = PolicySubject::read(&object);
            assert_eq!(subject.namespace, "ns");
            assert_eq!(
                subject.labels,
                BTreeMap::from([("tier".to_owned(), "a".to_owned())])
            );
        }
        for object in [json!({}), json!(null), json!({"metadata": {"labels": []}})] {
            assert_eq!(PolicySubject::read(&object), PolicySubject::default());
        }
    }

    #[test]
    fn a_name_is_shown_even_before_it_is_made() {
        for (metadata, expected) in [
            (json!({"name": "x"}), Some("x")),
            (json!({"name": "x-1", "generateName": "x-"}), Some("x-1")),
            (json!({"name": "", "generateName": "x-"}), Some("x-*")),
            (json!({"name": 1, "generateName": ""}), None),
            (json!(null), None),
        ] {
            let identity = Identity::read(&json!({"metadata": metadata}));
            assert_eq!(identity.shown().as_deref(), expected, "{metadata}");
        }
    }

    #[test]
    fn kinds_and_versions() {
        use RecognisedObject::{Extension, Other, UnknownVersion};
        for (api_version, kind, spec, expected) in [
            (
                "olm.operatorframework.io/v1",
                "ClusterExtension",
                json!({}),
                Extension(Shape::V1),
            ),
            (
                "olm.operatorframework.io/v1alpha1",
                "ClusterExtension",
                json!({"source": {}}),
                Extension(Shape::V1Alpha1Nested),
            ),
            (
                "olm.operatorframework.io/v1alpha1",
                "ClusterExtension",
                json!({"packageName": "p"}),
                Extension(Shape::V1Alpha1Flat),
            ),
            (
                "olm.operatorframework.io/v1alpha1",
                "ClusterExtension",
                json!({"packageName": "p", "source": null}),
                Extension(Shape::V1Alpha1Flat),
            ),
            (
                "operators.operatorframework.io/v1alpha1",
                "Operator",
                json!({}),
                Extension(Shape::Operator),
            ),
            (
                "olm.operatorframework.io/v1alpha1",
                "Operator",
                json!({}),
                Extension(Shape::Operator),
            ),
            (
                "olm.operatorframework.io/v2",
                "ClusterExtension",
                json!({}),
                UnknownVersion,
            ),
            (
                "operators.operatorframework.io/v1",
                "Operator",
                json!({}),
                UnknownVersion,
            ),
            ("operators.coreos.com/v1", "Operator", json!({}), Other),
            (
                "olm.operatorframework.io/v1",
                "ClusterCatalog",
                json!({}),
                Other,
            ),
            ("v1", "ConfigMap", json!({}), Other),
        ] {
            let object = json!({"apiVersion": api_version, "kind": kind, "spec": spec});
            assert_eq!(recognise(&object), expected, "{api_version} {kind}");
        }
    }

    fn bundle(release: Option<&str>) -> Installed {
        let release = release.map(str::to_owned);
        Installed::Bundle(InstalledBundle {
            name: Some("p.v1.0.0".to_owned()),
            version: "1.0.0".to_owned(),
            release,
        })
    }

    #[test]
    fn each_shape_has_its_place() {
        let written = json!({"name": "p.v1.0.0", "version": "1.0.0"});
        let install = json!({"status": {"install": {"bundle": written}}});
        let installed_bundle = json!({"status": {"installedBundle": written}});
        let image = json!({"status": {"installedBundleResource": "example.com/p@sha256:1"}});
        let image_only = Installed::Unknown(UnknownCause::ImageOnly);
        for (shape, object, expected) in [
            (Shape::V1, &install, bundle(None)),
            (Shape::V1, &installed_bundle, Installed::Nothing),
            (Shape::V1Alpha1Nested, &install, bundle(None)),
            (Shape::V1Alpha1Nested, &installed_bundle, bundle(None)),
            (Shape::V1Alpha1Flat, &installed_bundle, bundle(None)),
            (Shape::V1Alpha1Flat, &image, image_only.clone()),
            (Shape::Operator, &image, image_only),
            (Shape::Operator, &json!({}), Installed::Nothing),
        ] {
            assert_eq!(
                Installed::read(shape, object),
                expected,
                "{shape:?} {object}"
            );
        }
    }

    #[test]
    fn an_absent_release_and_an_empty_one_differ() {
        let read = |release: Value| {
            let bundle = json!({"name": "p.v1.0.0", "version": "1.0.0", "release": release});
            Installed::read(
                Shape::V1,
                &json!({"status": {"install": {"bundle": bundle}}}),
            )
        };
        assert_eq!(read(json!(null)), bundle(None));
        assert_eq!(read(json!("")), bundle(Some("")));
        assert_eq!(read(json!("2")), bundle(Some("2")));
        let wrong = UnknownCause::WrongType {
            field: "status.install.bundle",
        };
        assert_eq!(read(json!(2)), Installed::Unknown(wrong.clone()));
        let versionless = json!({"status": {"install": {"bundle": {"name": "p.v1.0.0"}}}});
        assert_eq!(
            Installed::read(Shape::V1, &versionless),
            Installed::Unknown(wrong)
        );
    }

    #[test]
    fn unknown_is_what_the_condition_says_and_no_conditions_mean_nothing() {
        let read = |status: Value| Installed::read(Shape::V1, &json!({"status": status}));
        let unknown = json!([{"type": "Installed", "status": "Unknown"}]);
        let condition = Installed::Unknown(UnknownCause::Condition);
        assert_eq!(read(json!({"conditions": unknown})), condition);
        assert_eq!(
            read(json!({"conditions": unknown, "install": null})),
            condition
        );
        assert_eq!(read(json!({"conditions": []})), Installed::Nothing);
        assert_eq!(read(json!({})), Installed::Nothing);
    }
}
