//! What is there before something goes away: a catalog, three replicas that judge by it, and people.

use std::time::Duration;

use anyhow::{Context, Result};
use kube::api::DynamicObject;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::load::{Edit, Load};
use crate::olm::catalog::{self, Catalog};
use crate::olm::{Olm, await_catalog};
use crate::review::Reviewer;
use crate::say::say;
use crate::trials::burst::followed;
use crate::trials::graph::chain;
use crate::verdict::Verdict;

const EXTENSION: &str = "demo";
const PACKAGE: &str = "lantern-operator";

/// The catalog that all is judged by.
pub(super) const NAME: &str = "hub";

/// All that is played with.
pub(super) struct Scene {
    pub(super) olm: Olm,
    pub(super) guard: Deployment,
    extensions: Extensions,
    /// Of what the catalog serves.
    pub(super) digest: String,
}

impl Scene {
    /// An extension has 1.0.0; the catalog leads from there to 1.1.0, and on to 1.2.0.
    pub(super) async fn set(cluster: &Cluster) -> Result<Self> {
        let olm = Olm::without_controller(cluster).await?;
        let digest = olm
            .serve(cluster, &hub("", &["1.0.0", "1.1.0", "1.2.0"]))
            .await?;
        let guard = Deployment::up(cluster, "hardened-self-managed").await?;
        let extensions = Extensions::of(&cluster.client);
        extensions.create(EXTENSION, PACKAGE, "1.0.0").await?;
        let bundle = format!("{PACKAGE}.v1.0.0");
        extensions.installed(EXTENSION, &bundle, "1.0.0").await?;
        Ok(Self {
            olm,
            guard,
            extensions,
            digest,
        })
    }

    /// People work: an edit that passes and one that is denied, whatever the catalog has after
    /// [`Scene::change`].
    pub(super) fn work(&self) -> Load {
        Load::start(self.extensions.clone(), EXTENSION, edits("[NotASuccessor]"))
    }

    /// The guard is asked the same beside the API server; by what the catalog has now.
    pub(super) async fn reviews(&self, cluster: &Cluster) -> Result<Load> {
        let reviewer = Reviewer::of(cluster, &self.guard, EXTENSION).await?;
        Ok(Load::straight(reviewer, edits(&line(&self.digest))))
    }

    /// The catalog gets other content, with this before the extension's package.
    pub(super) async fn change(&mut self, cluster: &Cluster, ballast: &str) -> Result<()> {
        let changed = hub(ballast, &["1.0.0", "1.1.0", "1.1.1", "1.2.0"]);
        self.digest = self.olm.serve(cluster, &changed).await?;
        Ok(())
    }

    /// When catalogd last unpacked the catalog, as its status says.
    pub(super) async fn unpacked(&self, cluster: &Cluster) -> Result<Option<Value>> {
        Ok(unpacked(&catalog::api(cluster).get(NAME).await?))
    }

    /// Waits until it has done so again.
    pub(super) async fn is_unpacked_after(
        &self,
        cluster: &Cluster,
        before: Option<Value>,
    ) -> Result<()> {
        await_catalog(cluster, NAME, "it to be unpacked again", |object| {
            unpacked(object) != before
        })
        .await
    }

    /// Edits are denied by what the catalog has now, in every replica.
    pub(super) async fn followed(&self, what: &str, bound: Duration) -> Result<()> {
        let line = line(&self.digest);
        let edit = async || self.extensions.verdict(EXTENSION, "1.2.0").await;
        let is_right = |verdict: &Verdict| verdict.denies(&["[NotASuccessor]", &line]);
        let took = followed(&self.guard, bound, edit, is_right).await;
        let took = took.with_context(|| what.to_owned())?.as_millis();
        say(format_args!(
            "{what}: every replica follows within {took} ms"
        ));
        Ok(())
    }
}

fn unpacked(object: &DynamicObject) -> Option<Value> {
    object.data.pointer("/status/lastUnpacked").cloned()
}

/// How a denial names the content that it is by.
fn line(digest: &str) -> String {
    format!("\nCatalog: {NAME}@{digest}, content of ")
}

/// The extension's package, with these versions, is the last of the catalog.
fn hub(ballast: &str, versions: &[&str]) -> Catalog {
    Catalog::new(NAME, format!("{ballast}{}", chain(PACKAGE, versions)))
}

/// One that passes and one that is denied, in these words.
fn edits(denied: &str) -> Vec<Edit> {
    [("1.1.0", None), ("1.2.0", Some(denied))]
        .map(|(version, denied)| Edit {
            version: version.to_owned(),
            denied: denied.map(str::to_owned),
        })
        .into()
}
