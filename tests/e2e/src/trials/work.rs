//! What most trials begin and end with: a guard of three replicas that must not be lost, and people at work.

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::load::{Edit, Load};
use crate::say::say;

/// The extension that is edited.
const NAME: &str = "demo";

/// Three replicas, `failurePolicy: Fail`, a certificate of their own.
pub(super) async fn hardened(cluster: &Cluster) -> Result<Deployment> {
    hardened_with(cluster, &[]).await
}

/// The same with an environment beside that of the manifests.
pub(super) async fn hardened_with(cluster: &Cluster, extra: &[(&str, &str)]) -> Result<Deployment> {
    cluster
        .kubectl()?
        .run("create namespace olmv1-system", "")
        .await?;
    let guard = Deployment::up_with(cluster, "hardened-self-managed", extra).await?;
    ensure!(guard.pods.len() == 3, "{} pods", guard.pods.len());
    Ok(guard)
}

/// People begin to work on a new extension.
pub(super) async fn begin(cluster: &Cluster) -> Result<Load> {
    Extensions::of(&cluster.client)
        .create(NAME, "lantern-operator", "1.0.0")
        .await?;
    Ok(begin_again(cluster))
}

/// They go on with the same.
pub(super) fn begin_again(cluster: &Cluster) -> Load {
    Load::start(Extensions::of(&cluster.client), NAME, edits())
}

/// They stop; nothing may have gone wrong.
pub(super) async fn end(what: &str, load: Load) -> Result<()> {
    let counts = load.stop().await?;
    say(format_args!(
        "{what}: {} calls, {:.0} a second, none failed",
        counts.asked,
        counts.pace()
    ));
    Ok(())
}

/// One that the guard lets through and one that it refuses, whatever the catalogs.
fn edits() -> Vec<Edit> {
    vec![
        Edit {
            version: "1.1.0".to_owned(),
            denied: None,
        },
        Edit {
            version: "|".to_owned(),
            denied: Some("[InvalidVersionRange]".to_owned()),
        },
    ]
}
