//! OLM v1: catalogd and operator-controller next to the API server, and the registry that they pull from.
//!
//! Both are the programs that run in a cluster, with administrator rights. Each one is started separately, so that a
//! trial can leave it out, kill it or restart it.

pub(crate) mod catalog;
pub(crate) mod catalogd;
pub(crate) mod controller;
pub(crate) mod progress;
pub(crate) mod release;

use std::fs;
use std::path::{Path, PathBuf};

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
use crate::namespace;
use crate::registry::Registry;
use crate::until::PATIENCE;
use catalog::Catalog;
use catalogd::{Catalogd, External};
use controller::Controller;

/// The namespace of OLM.
pub(crate) const SYSTEM: &str = "olmv1-system";

/// The running parts of OLM.
pub(crate) struct Olm {
    pub(crate) registry: Registry,
    pub(crate) catalogd: Catalogd,
    /// `None` if only catalogs matter.
    pub(crate) controller: Option<Controller>,
}

impl Olm {
    /// Starts all parts.
    pub(crate) async fn start(cluster: &Cluster) -> Result<Self> {
        let mut olm = Self::without_controller(cluster).await?;
        olm.start_controller(cluster).await?;
        Ok(olm)
    }

    /// Starts the controller, if it was left out.
    pub(crate) async fn start_controller(&mut self, cluster: &Cluster) -> Result<()> {
        self.start_controller_with(cluster, "").await
    }

    /// Starts the controller with feature gates, in the form of `--feature-gates`.
    pub(crate) async fn start_controller_with(
        &mut self,
        cluster: &Cluster,
        gates: &str,
    ) -> Result<()> {
        self.controller = Some(Controller::start(cluster, &authorities(cluster)?, gates).await?);
        Ok(())
    }

    /// Starts OLM without the controller, for catalogs from which nothing is installed.
    pub(crate) async fn without_controller(cluster: &Cluster) -> Result<Self> {
        Self::without_controller_at(cluster, External::Loopback).await
    }

    /// Like [`Olm::without_controller`], with an external address of catalogd, which may not be reachable from here.
    pub(crate) async fn without_controller_at(
        cluster: &Cluster,
        external: External,
    ) -> Result<Self> {
        let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
        let system =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": SYSTEM } });
        let as_told = PatchParams::apply("olmguard-e2e");
        // The namespace may exist already, because parts of olmguard's rights belong to it.
        namespaces
            .patch(SYSTEM, &as_told, &Patch::Apply(system))
            .await?;
        be_a_pod(cluster).await?;
        Ok(Self {
            registry: Registry::start(&cluster.pki).await?,
            catalogd: Catalogd::start(cluster, &authorities(cluster)?, external).await?,
            controller: None,
        })
    }

    /// Pushes the image of a catalog, applies its ClusterCatalog, and waits until that content is served. Returns the
    /// digest in the status. Serving a catalog again with other content is an update.
    pub(crate) async fn serve(&self, cluster: &Cluster, catalog: &Catalog) -> Result<String> {
        let (image, reference) = self.push(catalog).await?;
        self.serve_from(cluster, catalog, &reference, &reference)
            .await?;
        Ok(image.manifest.digest)
    }

    /// Serves a catalog by a tag, whose digest appears only in the status.
    pub(crate) async fn serve_tag(
        &self,
        cluster: &Cluster,
        catalog: &Catalog,
        tag: &str,
    ) -> Result<String> {
        let (image, resolved) = self.push(catalog).await?;
        let tagged = self.registry.tag(&repository(catalog), tag, &image).await?;
        self.serve_from(cluster, catalog, &tagged, &resolved)
            .await?;
        Ok(image.manifest.digest)
    }

    async fn push(&self, catalog: &Catalog) -> Result<(Image, String)> {
        let image = Image::catalog(&catalog.fbc)?;
        let reference = self.registry.push(&repository(catalog), &image).await?;
        Ok((image, reference))
    }

    async fn serve_from(
        &self,
        cluster: &Cluster,
        catalog: &Catalog,
        asked: &str,
        resolved: &str,
    ) -> Result<()> {
        catalog.apply(cluster, asked).await?;
        await_catalog(cluster, &catalog.name, "it to be served", |object| {
            catalog::serves(object, resolved)
        })
        .await
    }
}

/// Watches a ClusterCatalog until it meets a condition.
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

/// Watches until a ClusterCatalog no longer exists.
pub(crate) async fn await_no_catalog(cluster: &Cluster, name: &str) -> Result<()> {
    let is_gone = |object: Option<&DynamicObject>| object.is_none();
    timeout(
        PATIENCE,
        await_condition(catalog::api(cluster), name, is_gone),
    )
    .await
    .with_context(|| format!("waited {PATIENCE:?} for the end of ClusterCatalog {name}"))??;
    Ok(())
}

/// Gives both programs the token of a service account, whose pull secrets they use. They read it from a fixed path, so
/// this trial gets a `/run` of its own.
async fn be_a_pod(cluster: &Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": "olm", "namespace": SYSTEM },
    });
    kubectl.apply(&account.to_string()).await?;
    let create = format!("create token olm --namespace {SYSTEM}");
    let token = kubectl.run(&create, "").await?;
    namespace::mount_temporary(&fs::canonicalize("/var/run")?)?;
    let secrets = Path::new("/var/run/secrets/kubernetes.io/serviceaccount");
    fs::create_dir_all(secrets)?;
    fs::write(secrets.join("token"), token.trim_end())?;
    Ok(())
}

/// Returns the repository of a catalog's images.
fn repository(catalog: &Catalog) -> String {
    format!("catalogs/{}", catalog.name)
}

/// Whether the program with this health port is ready.
async fn is_ready(health: u16) -> bool {
    let asked = ask::get(([127, 0, 0, 1], health).into(), "/readyz").await;
    asked.is_ok_and(|(status, _)| status == 200)
}

/// Creates a directory with only the CA certificate: a key next to it would be read as that of a client.
fn authorities(cluster: &Cluster) -> Result<PathBuf> {
    let dir = cluster.dir().join("authorities");
    fs::create_dir_all(&dir)?;
    fs::copy(cluster.pki.ca(), dir.join("ca.crt"))?;
    Ok(dir)
}
