//! An object of any kind as the API server sent it, whatever is in it.
//!
//! kube's `DynamicObject` reads the metadata, and fails where a label is a number; one such object
//! would then fail the whole list. This one takes what it is given and is read later, by itself.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicObject, DynamicResourceScope};
use serde::Deserialize;
use serde_json::Value;

/// The object; of its metadata only what a watch goes by is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Value")]
pub(super) struct WatchedObject {
    pub(super) content: Value,
    metadata: ObjectMeta,
}

impl From<Value> for WatchedObject {
    fn from(content: Value) -> Self {
        let text = |pointer| {
            let found = content.pointer(pointer).and_then(Value::as_str);
            found.map(str::to_owned)
        };
        let metadata = ObjectMeta {
            name: text("/metadata/name"),
            resource_version: text("/metadata/resourceVersion"),
            ..ObjectMeta::default()
        };
        Self { content, metadata }
    }
}

impl Resource for WatchedObject {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::kind(resource)
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::group(resource)
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::version(resource)
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::plural(resource)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The name of an object; API servers have none without.
pub(super) fn name(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default()
}
