//! The names of an object: group, version, kind and name.

use std::borrow::Cow;

use crate::extension::{Json, Shape};

/// The names by which an object is known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Identity {
    /// The group of `apiVersion`; empty for the core group.
    pub group: String,
    /// The version of `apiVersion`.
    pub version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.name`, absent where only `generateName` is given or nothing.
    pub name: Option<String>,
    /// `metadata.generateName`: what a name that is still to be made begins with.
    pub generate_name: Option<String>,
}

/// The kind of object that an `apiVersion` and a `kind` stand for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RecognisedObject {
    /// An extension in a shape that can be read.
    Extension(Shape),
    /// An extension in a version that this program does not know.
    UnknownVersion,
    /// Anything else; `operators.coreos.com/v1` `Operator`, which is OLM v0's, among it.
    Other,
}

/// What an object is, by its `apiVersion` and `kind`.
pub fn recognise<'a>(object: impl Json<'a>) -> RecognisedObject {
    Identity::read(object).recognise(object)
}

impl Identity {
    /// What an object of these names is.
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

    /// Reads the names; a missing value, or one that is not a string, is empty.
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

    /// The name as people are shown it: where it is still to be made, its beginning and a `*`.
    pub fn shown(&self) -> Option<Cow<'_, str>> {
        let name = self.name.as_deref().map(Cow::Borrowed);
        let generated = self.generate_name.as_deref();
        name.or_else(|| generated.map(|begin| Cow::Owned(format!("{begin}*"))))
    }
}

/// The shape of an alpha, by its `spec.source`; absent and `null` are the same.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
