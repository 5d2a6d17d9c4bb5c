//! A ClusterCatalog and its status.

use std::collections::BTreeMap;

use anyhow::Result;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// A catalog of a trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) name: String,
    /// The content as JSON lines.
    pub(crate) fbc: String,
    /// Labels in addition to its name, which catalogd's webhook would set.
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) priority: i32,
}

impl Catalog {
    /// Creates a catalog of priority 0, without labels.
    pub(crate) fn new(name: &str, fbc: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            fbc: fbc.into(),
            ..Self::default()
        }
    }

    /// Creates a catalog of these blobs.
    pub(crate) fn of(name: &str, blobs: &[Value]) -> Self {
        let lines: Vec<String> = blobs.iter().map(Value::to_string).collect();
        Self::new(name, lines.join("\n"))
    }

    /// Returns its object with this image.
    pub(crate) fn object(&self, reference: &str) -> Value {
        let mut labels = self.labels.clone();
        labels.insert(NAME_LABEL.to_owned(), self.name.clone());
        json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterCatalog",
            "metadata": { "name": self.name, "labels": labels },
            "spec": {
                "priority": self.priority,
                "source": { "type": "Image", "image": { "ref": reference } },
            },
        })
    }

    /// Applies it with a server-side apply.
    pub(super) async fn apply(&self, cluster: &Cluster, reference: &str) -> Result<()> {
        let as_told = PatchParams::apply("olmguard-e2e").force();
        let object = Patch::Apply(self.object(reference));
        api(cluster).patch(&self.name, &as_told, &object).await?;
        Ok(())
    }
}

/// Returns the API of `ClusterCatalog`s.
pub(crate) fn api(cluster: &Cluster) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("olm.operatorframework.io", "v1", "ClusterCatalog");
    Api::all_with(cluster.client.clone(), &ApiResource::from_gvk(&kind))
}

/// Whether the content of this image is served.
pub(crate) fn serves(object: &DynamicObject, reference: &str) -> bool {
    let status = object.data.get("status").unwrap_or(&Value::Null);
    is_serving(object) && status.pointer("/resolvedSource/image/ref") == Some(&reference.into())
}

/// Whether the condition Serving is True.
pub(crate) fn is_serving(object: &DynamicObject) -> bool {
    let conditions = object.data.pointer("/status/conditions");
    let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    conditions.any(|condition| {
        condition.get("type") == Some(&"Serving".into())
            && condition.get("status") == Some(&"True".into())
    })
}

/// Returns the digest of the content in its status.
pub(crate) fn digest(object: &DynamicObject) -> Option<String> {
    let reference = object.data.pointer("/status/resolvedSource/image/ref");
    let (_, digest) = reference?.as_str()?.split_once('@')?;
    Some(digest.to_owned())
}

/// The label with the name, which every ClusterCatalog has.
pub(crate) const NAME_LABEL: &str = "olm.operatorframework.io/metadata.name";
