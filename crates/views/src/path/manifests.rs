//! A path as manifests: one per step, to apply one after another.

use serde_json::{Map, Value, json};

use crate::path::PathReport;
use olmguard_engine::extension::{Filter, RecognisedObject, Shape, recognise};
use olmguard_engine::snapshot::METADATA_NAME_LABEL;

/// The manifest that each hop changes.
#[derive(Clone, Debug)]
pub struct Frame {
    object: Value,
}

impl Frame {
    /// A new object of this name, which asks for what a filter asks for.
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

    /// An object as it is; none that is no extension of the API that is served.
    pub fn of(object: Value) -> Option<Self> {
        let is_v1 = recognise(&object) == RecognisedObject::Extension(Shape::V1);
        is_v1.then_some(Self { object })
    }

    /// The same with these channels.
    #[must_use]
    pub fn with_channels(mut self, channels: &[String]) -> Self {
        set(&mut self.object, "channels", json!(channels));
        self
    }

    /// The same with a selector of the one catalog of this name.
    #[must_use]
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

/// The manifest of each hop, in order.
pub fn manifests(report: &PathReport, frame: &Frame) -> Vec<Value> {
    let hops = report.hops().iter();
    hops.map(|hop| frame.with_version(&hop.version)).collect()
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
