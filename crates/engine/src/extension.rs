//! An extension in every API shape: its request, and the installed bundle.
//!
//! ```text
//! object --identify--> Shape --read--> Extension { Filter, Installed, ... }
//! ```
//!
//! Upstream: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors from tag
//! v0.0.1 on. One type holds all shapes: `Enforce` is `CatalogProvided`, `Ignore` is
//! `SelfCertified`, `channel: x` is `channels: [x]`. Messages name the fields of the object's own
//! shape ([`Fields`]).
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

mod fields;
mod filter;
mod hints;
mod identity;
mod install;
mod read;
pub mod schema;
mod status;

use std::collections::BTreeMap;

use olmguard_policy::limits;

pub use crate::extension::fields::{BypassWords, ChannelField, Fields, SelectorField};
pub use crate::extension::filter::{Filter, Policy};
pub use crate::extension::hints::{Hint, Instead, catalog_hints, hints};
pub use crate::extension::identity::{Identity, RecognisedObject, recognise};
pub use crate::extension::install::{CrdEnforcement, InstallRequest, SpecConfig};
pub use crate::extension::read::{FilterError, FilterProblem, SourceType};
pub use crate::extension::status::{Installed, InstalledBundle, Rollout, UnknownCause};
pub use olmguard_catalog::json::Json;

/// One extension as an object describes it.
#[derive(Clone, Debug)]
pub struct Extension {
    /// The names of the object.
    pub identity: Identity,
    /// The shape it is written in.
    pub shape: Shape,
    /// The field paths of this shape.
    pub fields: Fields,
    /// Whether it is being deleted: `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// `spec.source.sourceType`.
    pub source_type: SourceType,
    /// Its request, or why that cannot be read.
    pub filter: Result<Filter, FilterError>,
    /// The installed bundle according to its status.
    pub installed: Installed,
    /// Whether an upgrade is still rolling out.
    pub rollout: Rollout,
    /// The labels and the namespace, which upgrade policies match.
    pub subject: PolicySubject,
    /// How it is to be installed; absent in older shapes.
    pub install: Option<InstallRequest>,
    /// Fields and words that its API does not have.
    pub hints: Vec<Hint>,
}

impl Extension {
    /// The extension in an object; `None` for another kind or an unknown version.
    pub fn recognised<'a>(object: impl Json<'a>) -> Option<Self> {
        let identity = Identity::read(object);
        match identity.recognise(object) {
            RecognisedObject::Extension(shape) => Some(Self::of(identity, shape, object)),
            RecognisedObject::UnknownVersion | RecognisedObject::Other => None,
        }
    }

    /// Reads an object of a kind and version that [`recognise`] knows.
    ///
    /// An object of any content can be read; what cannot be understood is kept as an error.
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

    /// Reads an object without its status, as if nothing was installed.
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

// === The API shapes: which kind in which version, and with it which field paths ===

/// An API shape in which an extension can be written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Shape {
    /// `olm.operatorframework.io/v1` `ClusterExtension` (v1.0 and later).
    V1,
    /// `olm.operatorframework.io/v1alpha1` `ClusterExtension` with `spec.source.catalog` (v0.14 to
    /// v0.18): with `channel` or `channels`, in both vocabularies of the policy.
    V1Alpha1Nested,
    /// `olm.operatorframework.io/v1alpha1` `ClusterExtension` with `spec.packageName` (v0.9 to
    /// v0.13).
    V1Alpha1Flat,
    /// `operators.operatorframework.io/v1alpha1` `Operator` (up to v0.8).
    Operator,
}

// === What upgrade policies match an extension by, apart from its package ===

/// The labels of an extension, and the namespace that it installs into.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PolicySubject {
    /// The namespace that it installs into; empty if it names none.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
}

impl PolicySubject {
    /// Reads an object of any shape. A missing value, or one that is not a string, is omitted: the API server refuses
    /// it.
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

/// A loop, because collecting so few entries takes longer. One too many for policies is kept, and no more.
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

/// The paths of the namespace in the shapes: v0.18 and later, v0.15 to v0.17, v0.10 to v0.14.
const NAMESPACES: [&[&str]; 3] = [
    &["spec", "namespace"],
    &["spec", "install", "namespace"],
    &["spec", "installNamespace"],
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
