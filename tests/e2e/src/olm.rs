//! OLM v1: catalogd and operator-controller beside the API server, and the registry they pull from.
//!
//! Both are the programs that a cluster runs, with the administrator's rights. Each is started by
//! itself, so that a trial can do without one, kill it and start it again.

pub(crate) mod catalog;
pub(crate) mod catalogd;
pub(crate) mod controller;
pub(crate) mod progress;
pub(crate) mod release;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::runtime::wait::await_condition;
use serde_json::json;
use tokio::time::timeout;

use crate::ask;
use crate::cluster::Cluster;
use crate::image::Image;
use crate::registry::Registry;
use crate::until::PATIENCE;
use catalog::Catalog;
use catalogd::Catalogd;
use controller::Controller;

/// Where OLM keeps what is its own.
pub(crate) const SYSTEM: &str = "olmv1-system";

/// What runs of OLM.
pub(crate) struct Olm {
    pub(crate) registry: Registry,
    pub(crate) catalogd: Catalogd,
    /// None where only catalogs matter.
    pub(crate) controller: Option<Controller>,
}

impl Olm {
    /// All of it.
    pub(crate) async fn start(cluster: &Cluster) -> Result<Self> {
        let mut olm = Self::without_controller(cluster).await?;
        olm.controller = Some(Controller::start(cluster, &authorities(cluster)?).await?);
        Ok(olm)
    }

    /// Catalogs that nobody installs from.
    pub(crate) async fn without_controller(cluster: &Cluster) -> Result<Self> {
        let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
        let system =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": SYSTEM } });
        let as_told = PatchParams::apply("olmguard-e2e");
        // It may be there already: parts of the guard's rights are for it.
        namespaces
            .patch(SYSTEM, &as_told, &Patch::Apply(system))
            .await?;
        Ok(Self {
            registry: Registry::start(&cluster.pki).await?,
            catalogd: Catalogd::start(cluster, &authorities(cluster)?).await?,
            controller: None,
        })
    }

    /// Pushes a catalog's image, applies its ClusterCatalog, and waits until that content is served;
    /// the digest that the status names. Serving it again with other content is an update.
    pub(crate) async fn serve(&self, cluster: &Cluster, catalog: &Catalog) -> Result<String> {
        let image = Image::catalog(&catalog.fbc)?;
        let name = format!("catalogs/{}", catalog.name);
        let reference = self.registry.push(&name, &image).await?;
        catalog.apply(cluster, &reference).await?;
        await_catalog(cluster, &catalog.name, "it to be served", |object| {
            catalog::serves(object, &reference)
        })
        .await?;
        Ok(image.manifest.digest)
    }
}

/// Watches a ClusterCatalog until it is as wanted.
pub(crate) async fn await_catalog(
    cluster: &Cluster,
    name: &str,
    what: &str,
    wanted: impl Fn(&DynamicObject) -> bool,
) -> Result<()> {
    let condition = |object: Option<&DynamicObject>| object.is_some_and(&wanted);
    timeout(
        PATIENCE,
        await_condition(catalog::api(cluster), name, condition),
    )
    .await
    .with_context(|| format!("waited {PATIENCE:?} for {what}: ClusterCatalog {name}"))??;
    Ok(())
}

/// Whether the program whose health is told on this port is ready.
async fn is_ready(health: u16) -> bool {
    let asked = ask::get(([127, 0, 0, 1], health).into(), "/readyz").await;
    asked.is_ok_and(|(status, _)| status == 200)
}

/// A folder with the authority's certificate and nothing else: a key beside it would be taken for a client's.
fn authorities(cluster: &Cluster) -> Result<PathBuf> {
    let dir = cluster.dir().join("authorities");
    fs::create_dir_all(&dir)?;
    fs::copy(cluster.pki.ca(), dir.join("ca.crt"))?;
    Ok(dir)
}
