//! Comparison of the webhook with `--pull` and `olmguard check --pull` for each upgrade.

use anyhow::{Context, Result, ensure};
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::RELEASE;
use super::cases::{self, Case};
use super::table::Verdict;
use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::pod::Pod;
use crate::until::until_ok;

/// The webhook, which reads images in advance.
pub(super) struct PullingWebhook<'c> {
    cluster: &'c Cluster,
    deployment: Deployment,
    extensions: Extensions,
}

impl<'c> PullingWebhook<'c> {
    /// Deploys it, and waits until it has read all images that it can read.
    pub(super) async fn start(cluster: &'c Cluster, gates: &str) -> Result<Self> {
        let kubectl = cluster.kubectl()?;
        let manifest = with_component(cluster, &kubectl, "default-self-managed", "pull").await?;
        kubectl.apply(&manifest).await?;
        let authority = cluster.pki.ca().display().to_string();
        let settings = [
            ("SSL_CERT_FILE", authority.as_str()),
            ("OLMGUARD_OLM_RELEASE", RELEASE),
            ("OLMGUARD_OLM_FEATURE_GATES", gates),
            ("OLMGUARD_PREFLIGHT", "deny"),
        ];
        let deployment = Deployment::start(cluster, &settings).await?;
        for pod in &deployment.pods {
            until_ok("the images to be read", async || has_read(pod).await).await?;
        }
        let extensions = Extensions::of(&cluster.client);
        Ok(Self {
            cluster,
            deployment,
            extensions,
        })
    }

    /// Compares its answer to an upgrade with the verdict of the command.
    pub(super) async fn agrees(&self, case: &Case, verdict: &Verdict) -> Result<()> {
        let edit = Patch::Merge(json!({ "spec": case.spec(cases::TO) }));
        let tried = PatchParams {
            dry_run: true,
            ..PatchParams::default()
        };
        let answer = self.extensions.api.patch(case.name, &tried, &edit);
        let denial = match answer.await {
            Ok(_) => None,
            Err(kube::Error::Api(status)) if status.code == 403 => Some(status.message),
            Err(error) => return Err(error).with_context(|| case.name),
        };
        let is_same = match &denial {
            None => !verdict.denies(),
            Some(message) => verdict.denies() && message.contains("Preflight"),
        };
        ensure!(
            is_same,
            "{}: {verdict:?}, and the webhook: {denial:?}",
            case.name
        );
        Ok(())
    }

    /// Removes the webhook, so that the controller alone handles the following edits.
    pub(super) async fn down(mut self) -> Result<()> {
        let kubectl = self.cluster.kubectl()?;
        kubectl
            .run("delete validatingwebhookconfiguration olmguard", "")
            .await?;
        self.deployment.down().await
    }
}

/// Checks that an image has been read, and that none is still waiting.
async fn has_read(pod: &Pod) -> Result<()> {
    let images = "olmguard_bundle_images";
    let read = pod.metric_sum(images, "\"read\"").await?;
    let unread = pod.metric_sum(images, "\"unread\"").await?;
    ensure!(read > 0.0 && unread == 0.0, "{read} read, {unread} unread");
    Ok(())
}
