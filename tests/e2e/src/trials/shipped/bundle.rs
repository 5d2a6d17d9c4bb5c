//! A `caBundle` that was injected must survive another apply of the manifests.

use std::fs;

use anyhow::{Result, ensure};
use k8s_openapi::ByteString;
use serde_json::json;

use crate::cluster::Cluster;
use crate::deployment::{NAME, rendered};

/// Applies them with both methods.
pub(crate) async fn leaves_the_bundle_alone(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace olmv1-system", "").await?;
    let manifest = rendered("hardened-self-managed")?;
    kubectl.apply(&manifest).await?;
    let bundle = ByteString(fs::read_to_string(cluster.pki.ca())?.into_bytes());
    let put =
        json!([{ "op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle }]);
    let configuration = format!("validatingwebhookconfiguration {NAME}");
    let patch = format!("patch {configuration} --type=json --patch-file=/dev/stdin");
    kubectl.run(&patch, &put.to_string()).await?;
    for apply in ["apply -f -", "apply --server-side --force-conflicts -f -"] {
        kubectl.run(apply, &manifest).await?;
        let read =
            format!("get {configuration} -o jsonpath={{.webhooks[0].clientConfig.caBundle}}");
        let found = kubectl.run(&read, "").await?;
        ensure!(json!(found) == json!(bundle), "{apply}: {found:?}");
    }
    Ok(())
}
