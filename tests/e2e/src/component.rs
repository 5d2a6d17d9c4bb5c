//! An overlay with a component, as rendered by `kubectl kustomize`.

use std::fs;

use anyhow::{Context, Result};
use serde_json::json;

use crate::cluster::Cluster;
use crate::kubectl::Kubectl;

/// Renders one of `deploy/overlays` with one of `deploy/components`. Kustomize requires relative paths for them.
pub(crate) async fn with_component(
    cluster: &Cluster,
    kubectl: &Kubectl,
    overlay: &str,
    component: &str,
) -> Result<String> {
    let folder = fs::canonicalize(cluster.dir())?.join(component);
    fs::create_dir(&folder)?;
    let to_root = "../".repeat(folder.components().count() - 1);
    let deploy = fs::canonicalize(DEPLOY).context(DEPLOY)?;
    let deploy = deploy.display().to_string();
    let deploy = format!("{to_root}{}", deploy.trim_start_matches('/'));
    let kustomization = json!({
        "resources": [format!("{deploy}/overlays/{overlay}")],
        "components": [format!("{deploy}/components/{component}")],
        "sortOptions": { "order": "legacy" },
    });
    fs::write(folder.join("kustomization.yaml"), kustomization.to_string())?;
    let kustomize = format!("kustomize {}", folder.display());
    kubectl.run(&kustomize, "").await
}

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");
