//! A `ClusterCatalog` as it is written, in each of its API shapes, read into a [`CatalogState`].
//!
//! Upstream: operator-controller, [`api/v1/clustercatalog_types.go`]; older shapes: catalogd v0.1 to
//! v0.36. catalogd's mutating webhook sets the label of [`METADATA_NAME_LABEL`] to the catalog's
//! name, replacing any other value; so does this reader, which sees objects that never met it.
//!
//! [`api/v1/clustercatalog_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clustercatalog_types.go

use std::collections::BTreeMap;

use serde_json::Value;

use crate::snapshot::{Age, Availability, CatalogState, Content, Currency, Labels, ServingState};

/// The label that catalogd sets on every `ClusterCatalog`, its value the catalog's name.
pub const METADATA_NAME_LABEL: &str = "olm.operatorframework.io/metadata.name";

/// Why an object that says it is a `ClusterCatalog` cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ClusterCatalogError {
    /// It has no name.
    #[error(
        "ClusterCatalog without metadata.name: expected the name that --catalog NAME=PATH uses"
    )]
    NoName,
    /// A field has a value that its API does not take.
    #[error("ClusterCatalog {name:?}: {field} is {found}: expected {expected}")]
    Field {
        /// The catalog.
        name: String,
        /// The path of the field.
        field: &'static str,
        /// The value, as JSON.
        found: String,
        /// What the API takes.
        expected: &'static str,
    },
}

/// A catalog that cannot be read, as far as it can.
#[derive(Clone, Debug)]
pub struct BadClusterCatalog {
    /// Why it cannot be read.
    pub error: ClusterCatalogError,
    /// The readable part; absent if not even the name is known. The catalog exists in the cluster, so omitting it would
    /// be a wrong snapshot; its content counts as unreadable.
    pub state: Option<Box<CatalogState>>,
}

impl CatalogState {
    /// Whether an object of this `apiVersion` and `kind` is a catalog of OLM v1, of any age.
    pub fn is_described_by(api_version: &str, kind: &str) -> bool {
        match api_version.split_once('/') {
            Some(("olm.operatorframework.io", _)) => kind == "ClusterCatalog",
            Some(("catalogd.operatorframework.io", _)) => {
                matches!(kind, "ClusterCatalog" | "Catalog")
            }
            _ => false,
        }
    }

    /// Reads an object of such a kind; its content is not in it, so it is missing.
    pub fn read(object: &Value) -> Result<Self, BadClusterCatalog> {
        let name = match object.pointer("/metadata/name") {
            Some(Value::String(name)) if !name.is_empty() => name,
            _ => return Err(BadClusterCatalog::nameless()),
        };
        let (labels, priority) = (labels(name, object), priority(name, object));
        let state = Self {
            name: name.clone(),
            labels: labels.clone().unwrap_or(Labels::Unknown),
            priority: priority.clone().unwrap_or_default(),
            availability: availability(object),
            serving: serving(object),
            image_ref: text(object, "/status/resolvedSource/image/ref"),
            last_unpacked: text(object, "/status/lastUnpacked"),
            currency: Currency::default(),
            age: Age::default(),
            content: Content::Missing,
        };
        match labels.err().or(priority.err()) {
            None => Ok(state),
            Some(error) => Err(BadClusterCatalog::known_in_part(error, state)),
        }
    }
}

impl BadClusterCatalog {
    fn nameless() -> Self {
        Self {
            error: ClusterCatalogError::NoName,
            state: None,
        }
    }

    /// A field that cannot be read leaves open what OLM makes of the catalog.
    fn known_in_part(error: ClusterCatalogError, state: CatalogState) -> Self {
        let content = Content::Unreadable(error.to_string());
        Self {
            error,
            state: Some(Box::new(CatalogState { content, ..state })),
        }
    }
}

fn labels(name: &str, object: &Value) -> Result<Labels, ClusterCatalogError> {
    let wrong = |found: &Value| ClusterCatalogError::Field {
        name: name.to_owned(),
        field: "metadata.labels",
        found: found.to_string(),
        expected: "a map of strings",
    };
    let labels = match object.pointer("/metadata/labels") {
        None | Some(Value::Null) => return Ok(Labels::with_name(name, BTreeMap::new())),
        Some(Value::Object(labels)) => labels,
        Some(other) => return Err(wrong(other)),
    };
    let label = |(key, value): (&String, &Value)| match value {
        Value::String(value) => Ok((key.clone(), value.clone())),
        Value::Null => Ok((key.clone(), String::new())),
        other => Err(wrong(other)),
    };
    let labels: Result<_, _> = labels.iter().map(label).collect();
    Ok(Labels::with_name(name, labels?))
}

fn priority(name: &str, object: &Value) -> Result<i32, ClusterCatalogError> {
    match object.pointer("/spec/priority") {
        None | Some(Value::Null) => Ok(0),
        Some(found) => found
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .ok_or_else(|| ClusterCatalogError::Field {
                name: name.to_owned(),
                field: "spec.priority",
                found: found.to_string(),
                expected: "a whole number of 32 bits",
            }),
    }
}

/// v0.33 to v0.35 said `availability: Disabled` in v1alpha1 for what is `availabilityMode: Unavailable` since. The API server
/// drops that field from an object of v1.
fn availability(object: &Value) -> Availability {
    let is = |field, word| object.pointer(field).and_then(Value::as_str) == Some(word);
    let is_old = !is("/apiVersion", "olm.operatorframework.io/v1");
    if is("/spec/availabilityMode", "Unavailable") || is_old && is("/spec/availability", "Disabled")
    {
        Availability::Unavailable
    } else {
        Availability::Available
    }
}

/// An object without a status comes from a manifest, where none is ever written: it says nothing.
fn serving(object: &Value) -> ServingState {
    let status = match object.get("status") {
        None | Some(Value::Null) => return ServingState::Presumed,
        Some(status) => status,
    };
    let conditions = status.get("conditions").and_then(Value::as_array);
    let is_true = |condition: &Value| {
        condition
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|t| t == "Serving")
            && condition
                .get("status")
                .and_then(Value::as_str)
                .is_some_and(|s| s == "True")
    };
    let is_serving = conditions.is_some_and(|conditions| conditions.iter().any(is_true));
    if is_serving || is_old(object, status) {
        ServingState::Presumed
    } else {
        ServingState::KnownNot
    }
}

/// Before the Serving condition (v0.26) a catalog whose content is served said so by its URL.
fn is_old(object: &Value, status: &Value) -> bool {
    let group = object
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let content_url = status
        .get("contentURL")
        .and_then(Value::as_str)
        .unwrap_or_default();
    group.starts_with("catalogd.operatorframework.io/") && !content_url.is_empty()
}

fn text(object: &Value, pointer: &str) -> Option<String> {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(mut object: Value) -> CatalogState {
        if object.get("apiVersion").is_none() {
            object["apiVersion"] = json!("olm.operatorframework.io/v1");
        }
        object["metadata"]["name"] = json!("operatorhubio");
        CatalogState::read(&object).unwrap()
    }

    #[test]
    fn the_automatic_label_replaces_any_other_value() {
        let state =
            read(json!({"metadata": {"labels": {METADATA_NAME_LABEL: "other", "team": "a"}}}));
        let labels = [(METADATA_NAME_LABEL, "operatorhubio"), ("team", "a")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(state.labels, Labels::Known(BTreeMap::from(labels)));
    }

    #[test]
    fn only_the_very_word_makes_a_catalog_unavailable() {
        for (mode, expected) in [
            ("Unavailable", Availability::Unavailable),
            ("Available", Availability::Available),
            ("unavailable", Availability::Available),
        ] {
            assert_eq!(
                read(json!({"spec": {"availabilityMode": mode}})).availability,
                expected,
                "{mode}"
            );
        }
        for (version, expected) in [
            (
                "olm.operatorframework.io/v1alpha1",
                Availability::Unavailable,
            ),
            (
                "catalogd.operatorframework.io/v1alpha1",
                Availability::Unavailable,
            ),
            ("olm.operatorframework.io/v1", Availability::Available),
        ] {
            let old = json!({"apiVersion": version, "spec": {"availability": "Disabled"}});
            assert_eq!(read(old).availability, expected, "{version}");
        }
    }

    #[test]
    fn serving_is_known_only_from_a_status() {
        let condition = |status: &str| json!({"status": {"conditions": [{"type": "Serving", "status": status}]}});
        for (object, expected) in [
            (json!({}), ServingState::Presumed),
            (json!({"status": {}}), ServingState::KnownNot),
            (condition("True"), ServingState::Presumed),
            (condition("False"), ServingState::KnownNot),
            (condition("Unknown"), ServingState::KnownNot),
        ] {
            assert_eq!(read(object.clone()).serving, expected, "{object}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_resolved_image() {
        let object = json!({"status": {"resolvedSource": {"image": {"ref": "example.com/cat@sha256:1a2b"}}}});
        assert_eq!(read(object).digest(), Some("sha256:1a2b"));
        assert_eq!(read(json!({})).digest(), None);
    }

    #[test]
    fn kinds_of_every_age_are_catalogs() {
        for (api_version, kind, expected) in [
            ("olm.operatorframework.io/v1", "ClusterCatalog", true),
            ("olm.operatorframework.io/v1alpha1", "ClusterCatalog", true),
            (
                "catalogd.operatorframework.io/v1alpha1",
                "ClusterCatalog",
                true,
            ),
            ("catalogd.operatorframework.io/v1alpha1", "Catalog", true),
            ("olm.operatorframework.io/v1", "ClusterExtension", false),
            ("v1", "ClusterCatalog", false),
        ] {
            assert_eq!(
                CatalogState::is_described_by(api_version, kind),
                expected,
                "{api_version} {kind}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_names_the_field() {
        let refused = |object| CatalogState::read(&object).unwrap_err().error.to_string();
        assert_eq!(
            refused(json!({})),
            "ClusterCatalog without metadata.name: expected the name that --catalog NAME=PATH uses"
        );
        assert_eq!(
            refused(json!({"metadata": {"name": "a"}, "spec": {"priority": "high"}})),
            "ClusterCatalog \"a\": spec.priority is \"high\": expected a whole number of 32 bits"
        );
        assert_eq!(
            refused(json!({"metadata": {"name": "a", "labels": {"x": 1}}})),
            "ClusterCatalog \"a\": metadata.labels is 1: expected a map of strings"
        );
    }

    #[test]
    fn what_cannot_be_read_in_part_is_there_all_the_same() {
        let kept = |object| CatalogState::read(&object).unwrap_err().state;
        assert!(kept(json!({})).is_none());
        let state = kept(json!({
            "metadata": {"name": "a", "labels": {"x": 1}},
            "spec": {"priority": 7, "availabilityMode": "Unavailable"},
        }));
        let state = state.unwrap();
        assert_eq!((&*state.name, state.priority), ("a", 7));
        assert_eq!(state.availability, Availability::Unavailable);
        assert!(matches!(&state.content, Content::Unreadable(why) if why.contains("labels is 1")));
        assert_eq!(state.labels, Labels::Unknown);

        let state = kept(json!({
            "metadata": {"name": "a", "labels": {"x": "y"}},
            "spec": {"priority": "high"},
        }));
        let state = state.unwrap();
        assert!(matches!(&state.labels, Labels::Known(labels) if labels["x"] == "y"));
        assert!(matches!(state.content, Content::Unreadable(_)));
    }
}
