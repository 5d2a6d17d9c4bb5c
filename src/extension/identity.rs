//! Which object it is: group, version, kind and name.

use serde_json::Value;

use crate::extension::Shape;

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
}

/// What an `apiVersion` and a `kind` stand for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Recognised {
    /// An extension in a shape that can be read.
    Extension(Shape),
    /// An extension in a version that this program does not know.
    UnknownVersion,
    /// Anything else; `operators.coreos.com/v1` `Operator`, which is OLM v0's, among it.
    Other,
}

/// What an object is, by its `apiVersion` and `kind`.
pub fn recognise(object: &Value) -> Recognised {
    let identity = Identity::read(object);
    match (
        identity.group.as_str(),
        identity.version.as_str(),
        identity.kind.as_str(),
    ) {
        (OLM, "v1", "ClusterExtension") => Recognised::Extension(Shape::V1),
        (OLM, "v1alpha1", "ClusterExtension") if object.pointer("/spec/source").is_some() => {
            Recognised::Extension(Shape::V1Alpha1Nested)
        }
        (OLM, "v1alpha1", "ClusterExtension") => Recognised::Extension(Shape::V1Alpha1Flat),
        (OLM | OPERATORS, "v1alpha1", "Operator") => Recognised::Extension(Shape::Operator),
        (OLM, _, "ClusterExtension" | "Operator") | (OPERATORS, _, "Operator") => {
            Recognised::UnknownVersion
        }
        _ => Recognised::Other,
    }
}

impl Identity {
    /// Reads the names; what is missing or no string is empty.
    pub fn read(object: &Value) -> Self {
        let text = |pointer| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let api_version = text("/apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let name = text("/metadata/name");
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text("/kind").to_owned(),
            name: (!name.is_empty()).then(|| name.to_owned()),
        }
    }
}

const OLM: &str = "olm.operatorframework.io";
const OPERATORS: &str = "operators.operatorframework.io";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_and_versions() {
        use Recognised::{Extension, Other, UnknownVersion};
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
