//! ClusterExtensions as the trials write them.

use anyhow::Result;
use kube::api::{
    Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};
use serde_json::{Value, json};

/// The ClusterExtensions of a cluster.
#[derive(Clone)]
pub(crate) struct Extensions {
    pub(crate) api: Api<DynamicObject>,
}

impl Extensions {
    pub(crate) fn of(client: &kube::Client) -> Self {
        let kind = GroupVersionKind::gvk("olm.operatorframework.io", "v1", "ClusterExtension");
        Self {
            api: Api::all_with(client.clone(), &ApiResource::from_gvk(&kind)),
        }
    }

    /// Creates one.
    pub(crate) async fn create(&self, name: &str, package: &str, version: &str) -> Result<()> {
        let object = serde_json::from_value(extension(name, package, version))?;
        self.api.create(&PostParams::default(), &object).await?;
        Ok(())
    }

    /// Says in its status what is installed, in place of operator-controller.
    pub(crate) async fn installed(&self, name: &str, bundle: &str, version: &str) -> Result<()> {
        let status = json!({ "status": {
            "install": { "bundle": { "name": bundle, "version": version } },
            "conditions": [{
                "type": "Installed", "status": "True", "reason": "Succeeded", "message": "installed",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        }});
        self.api
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await?;
        Ok(())
    }

    /// A server-side dry-run of another version.
    pub(crate) async fn try_version(&self, name: &str, version: &str) -> kube::Result<()> {
        let parameters = PatchParams {
            dry_run: true,
            ..PatchParams::default()
        };
        let patch = json!({ "spec": { "source": { "catalog": { "version": version } } } });
        self.api
            .patch(name, &parameters, &Patch::Merge(patch))
            .await?;
        Ok(())
    }
}

/// A manifest, in JSON, which is YAML as well.
pub(crate) fn extension(name: &str, package: &str, version: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": { "name": name },
        "spec": {
            "namespace": "default",
            "serviceAccount": { "name": "installer" },
            "source": {
                "sourceType": "Catalog",
                "catalog": { "packageName": package, "version": version },
            },
        },
    })
}
