//! A forged status in the object itself, where an API server ignores it: the verdict uses the status that
//! operator-controller has written.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::{Extensions, extension};
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::trials::texts::LANTERN;

pub(crate) async fn a_forged_status_changes_nothing(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let kubectl = cluster.kubectl()?;
    // A new extension has nothing installed, so 1.3.0 is available, which it would not be from 1.0.0.
    kubectl
        .run("create -f -", &claiming("1.3.0", "1.0.0"))
        .await?;
    kubectl.run("delete clusterextension demo", "").await?;

    kubectl
        .apply(&extension("demo", PACKAGE, "1.0.0").to_string())
        .await?;
    let installed = format!("{PACKAGE}.v1.0.0");
    let extensions = Extensions::of(&cluster.client);
    extensions.installed("demo", &installed, "1.0.0").await?;
    for way in [
        "apply -f -",
        "apply -f - --server-side --force-conflicts",
        "replace -f -",
        "patch clusterextension demo --type=merge --patch-file=/dev/stdin",
    ] {
        is_refused(&kubectl, way).await?;
    }
    // The step that the real status allows, whatever the edit claims.
    kubectl
        .run(
            "apply -f - --server-side --force-conflicts",
            &claiming("1.1.0", "1.3.0"),
        )
        .await?;
    guard.down().await
}

/// Checks that 1.3.0 is denied: it follows the claimed 1.2.0, but not the installed 1.0.0.
async fn is_refused(kubectl: &Kubectl, way: &str) -> Result<()> {
    let printed = kubectl.try_run(way, &claiming("1.3.0", "1.2.0")).await?;
    ensure!(
        printed.code == Some(1)
            && printed
                .stderr
                .contains("lantern-operator: 1.0.0 -> 1.3.0 refused"),
        "{way}: {printed:?}"
    );
    Ok(())
}

/// Returns `demo` with this version and a forged status with the installed version.
fn claiming(version: &str, installed: &str) -> String {
    let name = format!("{PACKAGE}.v{installed}");
    let status = json!({ "install": { "bundle": { "name": name, "version": installed } } });
    let mut object = extension("demo", PACKAGE, version);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("status".to_owned(), status);
    }
    object.to_string()
}

const PACKAGE: &str = "lantern-operator";
