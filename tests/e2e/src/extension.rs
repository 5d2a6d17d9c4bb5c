//! `ClusterExtension`s as the trials write them.

use anyhow::{Result, ensure};
use http::{Request, header};
use http_body_util::BodyExt;
use kube::api::{
    Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};
use kube::client::Body;
use kube::core::Status;
use serde_json::{Value, json};

use crate::verdict::Verdict;

/// The `ClusterExtension`s of a cluster.
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

    /// Creates an extension.
    pub(crate) async fn create(&self, name: &str, package: &str, version: &str) -> Result<()> {
        let object = serde_json::from_value(extension(name, package, version))?;
        self.api.create(&PostParams::default(), &object).await?;
        Ok(())
    }

    /// Writes the installed bundle to its status, in place of operator-controller.
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

    /// Makes a server-side dry run with another version.
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

    /// Returns the verdict and the messages of such a dry run.
    pub(crate) async fn verdict(&self, name: &str, version: &str) -> Result<Verdict> {
        let patch = json!({ "spec": { "source": { "catalog": { "version": version } } } });
        let request = Request::patch(format!("{}/{name}?dryRun=All", self.api.resource_url()))
            .header(header::CONTENT_TYPE, "application/merge-patch+json")
            .body(Body::from(serde_json::to_vec(&patch)?))?;
        let answer = self.api.clone().into_client().send(request).await?;
        let (head, body) = answer.into_parts();
        if head.status.is_success() {
            let warnings = head.headers.get_all(header::WARNING).iter();
            let warnings = warnings.map(|warning| Ok(warning.to_str()?.to_owned()));
            return Ok(Verdict::Passed(warnings.collect::<Result<_>>()?));
        }
        let status: Status = serde_json::from_slice(&body.collect().await?.to_bytes())?;
        ensure!(status.code == 403, "{status:?}");
        Ok(Verdict::Denied(status.message))
    }
}

/// Returns a manifest in JSON, which is also valid YAML.
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
