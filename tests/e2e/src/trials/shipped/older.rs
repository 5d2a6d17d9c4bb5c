//! The component for an OLM older than 1.0, in a cluster that has the old kinds and not the new
//! ones.
//!
//! The kinds are defined here without their schemas, so fewer fields are guaranteed than at that
//! time.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::matching::has_not_erred;
use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::Deployment;
use crate::kubectl::Kubectl;

/// Edits of every shape are sent, checked by the fields of that shape, and not sent if they request
/// nothing else.
pub(crate) async fn older_shapes_are_judged(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace olmv1-system", "").await?;
    define(&kubectl).await?;
    let manifest = with_component(cluster, &kubectl, "default-self-managed", "v1alpha1").await?;
    let manifest = manifest.replace("failurePolicy: Ignore", "failurePolicy: Fail");
    kubectl.apply(&manifest).await?;
    let mut guard = Deployment::start(cluster, &[]).await?;
    for shape in [operator, flat, nested] {
        let what = shape("lantern-operator", "1.0.0");
        edits(&kubectl, &guard, shape)
            .await
            .with_context(|| what.to_string())?;
    }
    has_not_erred(cluster).await?;
    guard.down().await
}

/// Tries edits of one shape.
async fn edits(
    kubectl: &Kubectl,
    guard: &Deployment,
    shape: fn(&str, &str) -> Value,
) -> Result<()> {
    let asked = |version| shape("lantern-operator", version);
    let labelled = with_metadata(
        asked("1.1.0"),
        json!({ "name": "demo", "labels": { "team": "lights" } }),
    );
    let own = with_metadata(shape("olmguard", "|"), json!({ "name": "own" }));
    sends(kubectl, guard, &asked("1.0.0"), true, None).await?;
    sends(kubectl, guard, &asked("1.1.0"), true, None).await?;
    sends(kubectl, guard, &labelled, false, None).await?;
    sends(
        kubectl,
        guard,
        &asked("|"),
        true,
        Some("[InvalidVersionRange]"),
    )
    .await?;
    sends(kubectl, guard, &own, false, None).await?;
    kubectl.run("delete -f -", &labelled.to_string()).await?;
    kubectl.run("delete -f -", &own.to_string()).await?;
    Ok(())
}

fn with_metadata(mut object: Value, metadata: Value) -> Value {
    if let Some(place) = object.get_mut("metadata") {
        *place = metadata;
    }
    object
}

/// Applies an object: checks whether it is sent, and whether it is refused for this reason.
async fn sends(
    kubectl: &Kubectl,
    guard: &Deployment,
    object: &Value,
    is_sent: bool,
    refused: Option<&str>,
) -> Result<()> {
    let before = guard.reviews().await?;
    let printed = kubectl.try_run("apply -f -", &object.to_string()).await?;
    let sent = guard.reviews().await? - before;
    // An API server with an outdated cache calls again for the same edit.
    ensure!((sent > 0.5) == is_sent, "{sent} reviews: {object}");
    match refused {
        None => ensure!(printed.code == Some(0), "{printed:?}"),
        Some(why) => ensure!(printed.stderr.contains(why), "{printed:?}"),
    }
    Ok(())
}

/// Returns an object of OLM up to 0.8.
fn operator(package: &str, version: &str) -> Value {
    json!({
        "apiVersion": "operators.operatorframework.io/v1alpha1",
        "kind": "Operator",
        "metadata": { "name": "demo" },
        "spec": { "packageName": package, "version": version },
    })
}

/// Returns an object of OLM 0.9 to 0.13.
fn flat(package: &str, version: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1alpha1",
        "kind": "ClusterExtension",
        "metadata": { "name": "demo" },
        "spec": { "packageName": package, "version": version, "installNamespace": "default" },
    })
}

/// Returns an object of OLM 0.14 to 0.18.
fn nested(package: &str, version: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1alpha1",
        "kind": "ClusterExtension",
        "metadata": { "name": "demo" },
        "spec": {
            "install": { "namespace": "default", "serviceAccount": { "name": "installer" } },
            "source": {
                "sourceType": "Catalog",
                "catalog": { "packageName": package, "version": version },
            },
        },
    })
}

/// Replaces the definitions with which every cluster starts here.
async fn define(kubectl: &Kubectl) -> Result<()> {
    kubectl
        .run("delete crd clusterextensions.olm.operatorframework.io clustercatalogs.olm.operatorframework.io", "")
        .await?;
    for (group, kind, plural) in [
        ("operators.operatorframework.io", "Operator", "operators"),
        (
            "olm.operatorframework.io",
            "ClusterExtension",
            "clusterextensions",
        ),
        (
            "catalogd.operatorframework.io",
            "ClusterCatalog",
            "clustercatalogs",
        ),
    ] {
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let version = json!({
            "name": "v1alpha1", "served": true, "storage": true,
            "schema": { "openAPIV3Schema": schema },
        });
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.{group}") },
            "spec": {
                "group": group,
                "scope": "Cluster",
                "names": { "kind": kind, "plural": plural },
                "versions": [version],
            },
        });
        kubectl.apply(&definition.to_string()).await?;
        kubectl
            .run(
                &format!("wait --for=condition=Established crd/{plural}.{group}"),
                "",
            )
            .await?;
    }
    Ok(())
}
