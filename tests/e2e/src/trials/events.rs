//! Events of extensions in a real API server: what `kubectl describe` shows to users who see no warnings.

use anyhow::{Result, ensure};

use super::texts::LANTERN;
use super::work;
use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::until::until;

/// A denied edit leaves one Event, however often it is repeated. A dry run leaves none.
pub(crate) async fn are_on_the_extension(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let kubectl = cluster.kubectl()?;
    let manifest = with_component(cluster, &kubectl, "hardened-self-managed", "events").await?;
    kubectl.apply(&manifest).await?;
    let mut guard = Deployment::start(cluster, &[]).await?;
    let extensions = Extensions::of(&cluster.client);
    work::install(cluster).await?;
    until("a refusal of a dry run", async || {
        let verdict = extensions.verdict("demo", "1.3.0").await.ok()?;
        verdict.denies(&["NotASuccessor"]).then_some(())
    })
    .await?;
    for _ in 0..3 {
        let edit = kubectl.try_run(LEAP, "").await?;
        ensure!(edit.code == Some(1), "{edit:?}");
    }
    let described = until("an Event", async || {
        let described = kubectl
            .run("describe clusterextension demo", "")
            .await
            .ok()?;
        described.contains("NotASuccessor").then_some(described)
    });
    let described = described.await?;
    ensure!(described.contains("Warning  NotASuccessor"), "{described}");
    let listed = kubectl.run(LIST, "").await?;
    let reasons: Vec<_> = listed.split_whitespace().collect();
    // Each replica counts separately.
    let most = 2;
    ensure!(!reasons.is_empty() && reasons.len() <= most, "{listed}");
    ensure!(
        reasons.iter().all(|reason| *reason == "NotASuccessor"),
        "{listed}"
    );
    guard.down().await
}

const LEAP: &str = r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"version":"1.3.0"}}}}"#;
const LIST: &str = "get events.events.k8s.io --namespace default --field-selector reportingController=olmguard.dev/webhook -o jsonpath={.items[*].reason}";
