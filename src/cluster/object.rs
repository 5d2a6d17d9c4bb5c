//! Objects of any kind, as the API server sends them: listed page by page, in the version that the cluster serves.
//!
//! kube's `DynamicObject` parses the metadata, and fails if a label is a number. One such object would fail the whole
//! list. [`WatchedObject`] accepts any object, which is then read on its own.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::ListParams;
use kube::core::{ApiResource, DynamicObject, DynamicResourceScope, GroupVersionKind};
use kube::discovery::pinned_kind;
use kube::error::DiscoveryError;
use kube::{Api, Client, Resource};
use serde::Deserialize;
use serde_json::Value;

use crate::cluster::{FaultClass, WatchFault};

/// An object. Only the metadata that a watch needs is parsed.
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

/// Returns the name of an object. All objects from an API server have one.
pub(super) fn name(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default()
}

// === Lists, page by page ===

/// Passes every object of at most `most` pages to `take`, in the order of the API server.
///
/// # Errors
/// Fails if a page cannot be read, or if there are more pages. The objects of earlier pages were passed on.
pub(super) async fn pages(
    api: &Api<WatchedObject>,
    most: usize,
    take: impl FnMut(Value),
) -> Result<(), WatchFault> {
    pages_of(api, ListParams::default().limit(PAGE), most, take).await
}

/// Lists the objects that these parameters select, with their page size.
///
/// # Errors
/// Fails like [`pages`].
pub(super) async fn pages_of(
    api: &Api<WatchedObject>,
    mut params: ListParams,
    most: usize,
    mut take: impl FnMut(Value),
) -> Result<(), WatchFault> {
    for _ in 0..most {
        let page = api.list(&params).await;
        let page = page.map_err(|error| WatchFault::from(&error))?;
        for object in page.items {
            take(object.content);
        }
        params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if params.continue_token.is_none() {
            return Ok(());
        }
    }
    Err(WatchFault {
        class: FaultClass::Undecodable,
        words: format!("the list has more than {most} pages"),
    })
}

/// Adds the API version and the kind to an object of a list, because the API server omits them for some kinds.
pub(super) fn named(resource: &ApiResource, mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        let (version, kind) = (&resource.api_version, &resource.kind);
        for (key, text) in [("apiVersion", version), ("kind", kind)] {
            let member = members.entry(key);
            member.or_insert_with(|| text.clone().into());
        }
    }
    object
}

/// The number of objects in one page.
pub(super) const PAGE: u32 = 100;

/// The most pages of a list, in case an API server never ends it.
pub(super) const MOST_PAGES: usize = 1000;

// === The API version under which the cluster serves a kind ===

/// A kind under all names that it has had, preferred one first: group, version, kind.
pub(super) type Names = [(&'static str, &'static str, &'static str)];

/// Returns the first of these that the cluster serves.
pub(super) async fn served(
    client: &Client,
    names: &Names,
) -> Result<Option<ApiResource>, kube::Error> {
    for (group, version, kind) in names {
        match pinned_kind(client, &GroupVersionKind::gvk(group, version, kind)).await {
            Ok((resource, _)) => return Ok(Some(resource)),
            Err(kube::Error::Discovery(DiscoveryError::MissingKind(_))) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Describes these names for messages.
pub(super) fn looked_for(names: &Names) -> String {
    let name = |(group, version, kind): &(&str, &str, &str)| format!("{kind} of {group}/{version}");
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}
