//! Uninstallation as described in `docs/install.md`, while users work: no edit is lost, and nothing is left behind.
//!
//! This uses the hardened profile, which refuses every edit while its configuration exists without pods.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME, NAMESPACE};
use crate::extension::Extensions;
use crate::guide::Page;
use crate::kubectl::Kubectl;
use crate::load::{Edit, Load, Right};
use crate::say::say;
use crate::trials::stand_in;

/// With the single file and with kustomize, which render the same objects.
pub(crate) async fn leaves_nothing_by_kubectl(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    let file = root("deploy/rendered/hardened-self-managed.yaml");
    let overlay = root("deploy/overlays/hardened-self-managed");
    for (install, uninstall) in [
        (
            format!("apply -f {file}"),
            format!("delete -f {file} --ignore-not-found"),
        ),
        (
            format!("apply -k {overlay}"),
            format!("delete -k {overlay} --ignore-not-found"),
        ),
    ] {
        kubectl.apply(stand_in::NAMESPACES).await?;
        let before = cluster.inventory().await?;
        kubectl.run(&install, "").await?;
        let guard = Deployment::start(cluster, &[]).await?;
        let load = begin(cluster, &before).await?;
        switch_off_first(cluster).await?;
        let rest = async {
            let printed = kubectl.run(&uninstall, "").await?;
            ensure!(!printed.contains("validatingwebhook"), "{printed}");
            Ok(())
        };
        tokio::try_join!(rest, the_pods_go(cluster, guard))?;
        end(cluster, load).await?;
        is_as(cluster, &before).await.context(uninstall)?;
    }
    Ok(())
}

/// With Helm, after an upgrade with the same values and a rollback, neither of which changes anything.
pub(crate) async fn leaves_nothing_by_helm(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    let helm = kubectl.by(assets::program("helm")?);
    kubectl.apply(stand_in::NAMESPACES).await?;
    let before = cluster.inventory().await?;
    let chart = root("deploy/chart");
    let release = format!("{NAME} --namespace {NAMESPACE}");
    let values = "--set profile=hardened,certificates.mode=self-managed";
    let install = format!("install {release} {chart} --create-namespace --wait=false {values}");
    helm.run(&install, "").await?;
    restrict(&kubectl).await?;
    let mut guard = Deployment::start(cluster, &[]).await?;
    let load = begin(cluster, &before).await?;
    let installed = versions(&kubectl, &helm).await?;
    for change in [
        format!("upgrade {release} {chart} --reuse-values"),
        format!("rollback {release} 1"),
    ] {
        helm.run(&change, "").await?;
        let now = versions(&kubectl, &helm).await?;
        ensure!(now == installed, "{change}: {installed} has become {now}");
    }
    stays_off(
        cluster,
        &helm,
        &format!("upgrade {release} {chart} --reuse-values"),
    )
    .await?;
    switch_off_first(cluster).await?;
    helm.run(&format!("uninstall {release}"), "").await?;
    guard.down().await?;
    // Helm keeps the definitions, and with them every policy, until they are deleted.
    kubectl
        .run(
            "delete crd upgradepolicies.olmguard.dev upgradeguardrails.olmguard.dev",
            "",
        )
        .await?;
    let rest = format!("delete namespace {NAMESPACE}");
    let rest = kubectl.run(&rest, "");
    tokio::try_join!(rest, cluster.empty_namespace(NAMESPACE))?;
    end(cluster, load).await?;
    is_as(cluster, &before).await
}

/// Runs the first step, which none of the tools does by itself.
async fn switch_off_first(cluster: &Cluster) -> Result<()> {
    Page::read("install")?.run(cluster, "Uninstall").await?;
    Ok(())
}

/// Turns the webhook off, and checks that an upgrade with the same values does not turn it on again.
async fn stays_off(cluster: &Cluster, helm: &Kubectl, upgrade: &str) -> Result<()> {
    let page = Page::read("emergency")?;
    page.run(cluster, "Off").await?;
    let before = page.run(cluster, "Is it off?").await?;
    helm.run(upgrade, "").await?;
    let after = page.run(cluster, "Is it off?").await?;
    ensure!(after == before && after.contains("switched-off"), "{after}");
    page.run(cluster, "On").await?;
    Ok(())
}

/// Sets the label that a namespace created by Helm does not have.
async fn restrict(kubectl: &Kubectl) -> Result<()> {
    let label = "pod-security.kubernetes.io/enforce=restricted";
    kubectl
        .run(&format!("label namespace {NAMESPACE} {label}"), "")
        .await?;
    Ok(())
}

/// Returns each object of the release with its version.
async fn versions(kubectl: &Kubectl, helm: &Kubectl) -> Result<String> {
    let manifest = format!("get manifest {NAME} --namespace {NAMESPACE}");
    let manifest = helm.run(&manifest, "").await?;
    let columns = "custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion";
    kubectl
        .run(&format!("get -f - -o {columns}"), &manifest)
        .await
}

/// The part of the controllers: ends the pods before the objects of their namespace are removed.
async fn the_pods_go(cluster: &Cluster, mut guard: Deployment) -> Result<()> {
    cluster.is_leaving(NAMESPACE).await?;
    guard.down().await?;
    cluster.empty_namespace(NAMESPACE).await
}

/// Starts the edits of users, which are allowed. Other edits are denied by the webhook.
async fn begin(cluster: &Cluster, before: &BTreeSet<String>) -> Result<Load> {
    let installed = cluster.inventory().await?.difference(before).count();
    ensure!(installed > 15, "only {installed} objects are found");
    let extensions = Extensions::of(&cluster.client);
    extensions
        .create("demo", "lantern-operator", "1.0.0")
        .await?;
    let refused = extensions.try_version("demo", "|").await;
    ensure!(refused.is_err(), "the guard is not asked");
    let passes = Edit {
        version: "1.1.0",
        right: Right::Passes,
    };
    Ok(Load::start(extensions, "demo", vec![passes]))
}

async fn end(cluster: &Cluster, load: Load) -> Result<()> {
    let counts = load.stop().await?;
    say(format_args!(
        "{} calls, {:.0} a second, none failed",
        counts.asked,
        counts.pace()
    ));
    cluster
        .kubectl()?
        .run("delete clusterextension demo", "")
        .await?;
    Ok(())
}

async fn is_as(cluster: &Cluster, before: &BTreeSet<String>) -> Result<()> {
    let left: Vec<_> = cluster
        .inventory()
        .await?
        .difference(before)
        .cloned()
        .collect();
    ensure!(left.is_empty(), "{left:#?}");
    Ok(())
}

/// Returns a path below the root of the repository.
fn root(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}
