//! Edits of catalogs in a real API server: the warnings that kubectl prints, and the edits for which olmguard is
//! called.

use anyhow::{Result, ensure};

use super::texts::LANTERN;
use super::work;
use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::Deployment;
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::until::until;

/// An edit that ties two catalogs is stored with warnings. An edit that does not affect resolution has none.
pub(crate) async fn of_a_catalog_are_printed(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    for (name, priority) in [("hub", 1), ("mirror", 0)] {
        let catalog = Catalog {
            priority,
            ..Catalog::new(name, LANTERN)
        };
        olm.serve(cluster, &catalog).await?;
    }
    let kubectl = cluster.kubectl()?;
    let overlay = "default-self-managed";
    let manifest = with_component(cluster, &kubectl, overlay, "catalog-preview").await?;
    kubectl.apply(&manifest).await?;
    let mut guard = Deployment::start(cluster, &[]).await?;
    work::install(cluster).await?;
    let tie =
        "patch clustercatalog hub --dry-run=server --type=merge -p {\"spec\":{\"priority\":0}}";
    let expected =
        "Warning: demo (lantern-operator): ambiguous: 2 catalogs of the same priority (0) offer it";
    until("a warning about a tie", async || {
        let warnings = warnings(&kubectl, tie).await.ok()?;
        warnings.contains(expected).then_some(())
    })
    .await?;
    let image = r#"{"spec":{"source":{"image":{"ref":"registry.example/hub:v9"}}}}"#;
    let image = format!("patch clustercatalog hub --dry-run=server --type=merge -p {image}");
    let found = warnings(&kubectl, &image).await?;
    let unknown = "not checked: the content that catalog hub will have is not loaded here";
    ensure!(found.contains(unknown), "{found}");
    let away = "delete clustercatalog hub mirror --dry-run=server";
    let found = warnings(&kubectl, away).await?;
    ensure!(!found.contains("not checked"), "{found}");
    for idle in [
        "annotate clustercatalog hub a=b",
        r#"patch clustercatalog hub --type=merge -p {"metadata":{"finalizers":["example.com/held"]}}"#,
        r#"patch clustercatalog hub --type=merge -p {"metadata":{"finalizers":null}}"#,
    ] {
        let found = warnings(&kubectl, idle).await?;
        ensure!(found.is_empty(), "{idle}: {found}");
    }
    let stored = tie.replace(" --dry-run=server", "");
    let found = warnings(&kubectl, &stored).await?;
    ensure!(found.contains(expected), "{found}");
    guard.down().await
}

/// Returns the warnings of a command that must succeed.
async fn warnings(kubectl: &Kubectl, command: &str) -> Result<String> {
    let printed = kubectl.try_run(command, "").await?;
    ensure!(printed.code == Some(0), "{command}: {printed:?}");
    Ok(printed.stderr)
}
