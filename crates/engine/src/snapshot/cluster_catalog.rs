//! Reads a `ClusterCatalog` of any API shape into a [`CatalogState`].
//!
//! Upstream: operator-controller, [`api/v1/clustercatalog_types.go`]; older shapes: catalogd v0.1 to v0.36. catalogd's
//! mutating webhook sets the label [`METADATA_NAME_LABEL`] to the name of the catalog and replaces any other value.
//! This reader does the same, because it also reads objects that have not passed the webhook.
//!
//! [`api/v1/clustercatalog_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clustercatalog_types.go

use std::collections::BTreeMap;

use serde_json::Value;

use crate::snapshot::{Age, Availability, CatalogState, Content, Currency, Labels, ServingState};

/// The label that catalogd sets on every `ClusterCatalog`. Its value is the name of the catalog.
pub const METADATA_NAME_LABEL: &str = "olm.operatorframework.io/metadata.name";

/// Why an object that claims to be a `ClusterCatalog` cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ClusterCatalogError {
    /// The object has no name.
    #[error(
        "ClusterCatalog without metadata.name: expected the name that --catalog NAME=PATH uses"
    )]
    NoName,
    /// A field has a value that the API does not accept.
    #[error("ClusterCatalog {name:?}: {field} is {found}: expected {expected}")]
    Field {
        /// The catalog.
        name: String,
        /// The path of the field.
        field: &'static str,
        /// The value, as JSON.
        found: String,
        /// The values that the API accepts.
        expected: &'static str,
    },
}

/// A catalog that can be read only in part.
#[derive(Clone, Debug)]
pub struct BadClusterCatalog {
    /// Why it cannot be read.
    pub error: ClusterCatalogError,
    /// The readable part; absent if the name is not known. The catalog exists in the cluster, so a snapshot without it
    /// would be wrong. Its content counts as unreadable.
    pub state: Option<Box<CatalogState>>,
}

impl CatalogState {
    /// Whether an object with this `apiVersion` and `kind` is a catalog of any release of OLM v1.
    pub fn is_described_by(api_version: &str, kind: &str) -> bool {
        match api_version.split_once('/') {
            Some(("olm.operatorframework.io", _)) => kind == "ClusterCatalog",
            Some(("catalogd.operatorframework.io", _)) => {
                matches!(kind, "ClusterCatalog" | "Catalog")
            }
            _ => false,
        }
    }

    /// Reads a catalog object. The object does not contain the content, so the content is missing.
    pub fn read(object: &Value) -> Result<Self, BadClusterCatalog> {
        let name = match object.pointer("/metadata/name") {
            Some(Value::String(name)) if !name.is_empty() => name,
            _ => {
                return Err(BadClusterCatalog {
                    error: ClusterCatalogError::NoName,
                    state: None,
                });
            }
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
            // It is not known how OLM treats the catalog.
            Some(error) => {
                let content = Content::Unreadable(error.to_string());
                let state = Some(Box::new(Self { content, ..state }));
                Err(BadClusterCatalog { error, state })
            }
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

/// The availability. Releases v0.33 to v0.35 used `availability: Disabled` in v1alpha1 instead of the later
/// `availabilityMode: Unavailable`. The API server drops the old field from an object of v1.
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

/// The Serving condition. An object without a status comes from a manifest, so it shows nothing.
fn serving(object: &Value) -> ServingState {
    let status = match object.get("status") {
        None | Some(Value::Null) => return ServingState::Presumed,
        Some(status) => status,
    };
    let conditions = status.get("conditions").and_then(Value::as_array);
    let is_true = |condition: &Value| {
        let is = |field: &str, word| condition.get(field).and_then(Value::as_str) == Some(word);
        is("type", "Serving") && is("status", "True")
    };
    let is_serving = conditions.is_some_and(|conditions| conditions.iter().any(is_true));
    if is_serving || is_old(object, status) {
        ServingState::Presumed
    } else {
        ServingState::KnownNot
    }
}

/// Whether the object is older than the Serving condition (v0.26). Such a catalog shows by its URL that it is served.
fn is_old(object: &Value, status: &Value) -> bool {
    let api_version = text(object, "/apiVersion").unwrap_or_default();
    let content_url = text(status, "/contentURL").unwrap_or_default();
    api_version.starts_with("catalogd.operatorframework.io/") && !content_url.is_empty()
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
