//! The audit of `olmguard serve` with the rights of the manifests: its reports are in the cluster, and are updated.

use anyhow::Result;

use super::texts::LANTERN;
use super::work::{self, EXTENSION, PACKAGE};
use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::until::until;

/// The report lists the installed bundle. It is written again after a change, and after it was deleted.
pub(crate) async fn keeps_its_report(cluster: &mut Cluster) -> Result<()> {
    cluster
        .define_resources(&["clusterreports"], "openreports.io")
        .await?;
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    work::install(cluster).await?;
    let kubectl = cluster.kubectl()?;
    let overlay = "default-self-managed";
    let manifest = with_component(cluster, &kubectl, overlay, "audit").await?;
    kubectl.apply(&manifest).await?;
    let often = [("OLMGUARD_AUDIT_INTERVAL", "10s")];
    let mut guard = Deployment::start(cluster, &often).await?;
    reports(&kubectl, "behind").await?;
    // The spec requests a lower version than the installed one, which the catalog deprecates.
    let bundle = format!("{PACKAGE}.v1.1.0");
    let extensions = Extensions::of(&cluster.client);
    extensions.installed(EXTENSION, &bundle, "1.1.0").await?;
    reports(&kubectl, "unresolvable bundle_deprecated behind").await?;
    kubectl
        .run("delete clusterreport olmguard-audit", "")
        .await?;
    reports(&kubectl, "unresolvable bundle_deprecated behind").await?;
    guard.down().await
}

/// Waits until the report has exactly these findings about the extension.
async fn reports(kubectl: &Kubectl, findings: &str) -> Result<()> {
    until(&format!("the findings {findings}"), async || {
        let found = kubectl.run(FINDINGS, "").await.ok()?;
        (found == findings).then_some(())
    })
    .await
}

const FINDINGS: &str = "get clusterreport olmguard-audit -o jsonpath={.results[*].policy}";
