//! What the webhook adds to a `kubectl apply`, in one run, with and without it in turn.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::Api;
use kube::api::{DeleteParams, PostParams};

use super::texts::LANTERN;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME};
use crate::extension::{Extensions, extension};
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::until::until;

/// Blocks with and without, and what is applied in each.
const BLOCKS: usize = 6;
const APPLIES: usize = 16;

/// More than this is no noise: the webhook is in the way.
const TOO_MUCH: Duration = Duration::from_millis(25);

pub(crate) async fn of_an_apply(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let extensions = Extensions::of(&cluster.client);
    extensions
        .create("demo", "lantern-operator", "1.0.0")
        .await?;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(cluster.client.clone());
    let kubectl = cluster.kubectl()?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..BLOCKS {
        let mut configuration = configurations.get(NAME).await?;
        with.extend(applies(&kubectl).await?);
        configurations
            .delete(NAME, &DeleteParams::default())
            .await?;
        until("nobody to ask", async || {
            extensions.try_version("demo", "9.9.9").await.ok()
        })
        .await?;
        without.extend(applies(&kubectl).await?);
        configuration.metadata.resource_version = None;
        configurations
            .create(&PostParams::default(), &configuration)
            .await?;
        until("the webhook to be asked", async || {
            extensions.try_version("demo", "9.9.9").await.err()
        })
        .await?;
    }
    let (with, without) = (median(with), median(without));
    say(format_args!(
        "kubectl apply, median: {with:.1?} with the webhook, {without:.1?} without"
    ));
    ensure!(
        with.saturating_sub(without) < TOO_MUCH,
        "{with:?} with, {without:?} without"
    );
    guard.down().await
}

/// Edits that are judged and pass, each the undoing of the one before.
async fn applies(kubectl: &Kubectl) -> Result<Vec<Duration>> {
    let mut took = Vec::new();
    for turn in 0..APPLIES {
        let version = if turn % 2 == 0 { "1.1.0" } else { "1.0.0" };
        let manifest = extension("demo", "lantern-operator", version).to_string();
        let start = Instant::now();
        kubectl
            .run("apply --server-side --force-conflicts -f -", &manifest)
            .await?;
        took.push(start.elapsed());
    }
    Ok(took)
}

fn median(mut of: Vec<Duration>) -> Duration {
    of.sort();
    of.get(of.len() / 2).copied().unwrap_or_default()
}
