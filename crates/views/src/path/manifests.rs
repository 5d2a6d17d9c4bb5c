//! A path as manifests: one per step, to apply one after another.

use serde_json::{Map, Value, json};

use crate::path::{PathReport, text};
use olmguard_engine::extension::{Filter, RecognisedObject, Shape, recognise};
use olmguard_engine::snapshot::METADATA_NAME_LABEL;

/// The manifest in which each step sets the version.
#[derive(Clone, Debug)]
pub struct Frame {
    object: Value,
}

impl Frame {
    /// Creates a new object of this name with the package and the channels of a filter.
    pub fn new(name: &str, namespace: &str, service_account: &str, filter: &Filter) -> Self {
        let mut catalog = json!({"packageName": filter.package});
        if let (Some(catalog), false) = (catalog.as_object_mut(), filter.channels.is_empty()) {
            catalog.insert("channels".to_owned(), json!(filter.channels));
        }
        Self {
            object: json!({
                "apiVersion": "olm.operatorframework.io/v1",
                "kind": "ClusterExtension",
                "metadata": {"name": name},
                "spec": {
                    "namespace": namespace,
                    "serviceAccount": {"name": service_account},
                    "source": {"sourceType": "Catalog", "catalog": catalog},
                },
            }),
        }
    }

    /// Wraps an existing object. Returns `None` unless it is a ClusterExtension of the served API.
    pub fn of(object: Value) -> Option<Self> {
        let is_v1 = recognise(&object) == RecognisedObject::Extension(Shape::V1);
        is_v1.then_some(Self { object })
    }

    /// Sets the channels.
    pub fn with_channels(mut self, channels: &[String]) -> Self {
        set(&mut self.object, "channels", json!(channels));
        self
    }

    /// Sets a selector that matches only the catalog of this name.
    pub fn with_catalog(mut self, name: &str) -> Self {
        let selector = json!({"matchLabels": {METADATA_NAME_LABEL: name}});
        set(&mut self.object, "selector", selector);
        self
    }

    fn with_version(&self, version: &str) -> Value {
        let mut object = self.object.clone();
        set(&mut object, "version", json!(version));
        object
    }
}

/// A manifest and its purpose.
#[derive(Clone, Debug)]
pub struct ManifestOfPath {
    /// Comment above the object.
    pub comment: String,
    /// The object itself.
    pub object: Value,
}

/// Returns the manifest of the one edit that is enough, if any, then one per step, in order.
pub fn manifests(report: &PathReport, frame: &Frame) -> Vec<ManifestOfPath> {
    let manifest = |comment, version| ManifestOfPath {
        comment,
        object: frame.with_version(version),
    };
    let one_edit = report.one_edit();
    let one_edit = one_edit.map(|edit| manifest(text::one_edit(edit), &edit.value));
    let count = report.hops().len();
    let steps = (1..).zip(report.hops());
    let steps = steps.map(|(at, step)| manifest(text::step(at, count), &step.version));
    one_edit.into_iter().chain(steps).collect()
}

/// Sets a field of `spec.source.catalog`.
fn set(object: &mut Value, field: &str, value: Value) {
    let mut at = object;
    for key in ["spec", "source", "catalog", field] {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[key];
    }
    *at = value;
}
