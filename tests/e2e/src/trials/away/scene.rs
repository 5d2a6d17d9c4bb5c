//! The scene before an outage: a catalog, three replicas that check edits against it, and users.

use std::time::Duration;

use anyhow::{Context, Result};
use kube::api::DynamicObject;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::Extensions;
use crate::load::Load;
use crate::olm::catalog;
use crate::olm::{Olm, await_catalog};
use crate::review::Reviewer;
use crate::say::say;
use crate::trials::burst::followed;
use crate::trials::work::{self, CATALOG, EXTENSION, Site, Work};
use crate::verdict::Verdict;

/// The parts of the scene.
pub(super) struct Scene {
    pub(super) olm: Olm,
    pub(super) guard: Deployment,
    extensions: Extensions,
    /// The digest of the served content.
    pub(super) digest: String,
}

impl Scene {
    /// Sets the scene: an extension has 1.0.0, and the catalog has upgrades to 1.1.0 and then to 1.2.0.
    pub(super) async fn set(cluster: &Cluster) -> Result<Self> {
        let Site { olm, guard, digest } = Site::hardened(cluster).await?;
        work::install(cluster).await?;
        Ok(Self {
            olm,
            guard,
            extensions: Extensions::of(&cluster.client),
            digest,
        })
    }

    /// Starts the edits of users.
    pub(super) async fn work(&self, cluster: &Cluster) -> Result<Work> {
        work::begin_again(cluster).await
    }

    /// Starts the same edits directly at the webhook. The answers must cite the current content of the catalog.
    pub(super) async fn reviews(&self, cluster: &Cluster) -> Result<Load> {
        let reviewer = Reviewer::of(cluster, &self.guard, EXTENSION).await?;
        let edits = work::edits(&work::cited(&self.digest));
        Ok(Load::straight(reviewer, edits))
    }

    /// Replaces the content of the catalog, with this text before the extension's package.
    pub(super) async fn change(&mut self, cluster: &Cluster, ballast: &str) -> Result<()> {
        let changed = work::hub(ballast, &["1.0.0", "1.1.0", "1.1.1", "1.2.0"]);
        self.digest = self.olm.serve(cluster, &changed).await?;
        Ok(())
    }

    /// Returns the time at which catalogd last unpacked the catalog, according to its status.
    pub(super) async fn unpacked(&self, cluster: &Cluster) -> Result<Option<Value>> {
        Ok(unpacked(&catalog::api(cluster).get(CATALOG).await?))
    }

    /// Waits until catalogd has unpacked it again.
    pub(super) async fn is_unpacked_after(
        &self,
        cluster: &Cluster,
        before: Option<Value>,
    ) -> Result<()> {
        await_catalog(cluster, CATALOG, "it to be unpacked again", |object| {
            unpacked(object) != before
        })
        .await
    }

    /// Waits until edits are denied by the current content in every replica.
    pub(super) async fn followed(&self, what: &str, bound: Duration) -> Result<()> {
        let line = work::cited(&self.digest);
        self.answered(what, bound, |verdict| {
            verdict.denies(&["[NotASuccessor]", &line])
        })
        .await
    }

    /// Waits until edits that the loaded content would deny are undecided in every replica, because newer content is
    /// known but not loaded.
    pub(super) async fn is_outdated(&self, what: &str, bound: Duration) -> Result<()> {
        self.answered(what, bound, |verdict| verdict.warns(&["[CatalogOutdated]"]))
            .await
    }

    async fn answered(
        &self,
        what: &str,
        bound: Duration,
        is_right: impl Fn(&Verdict) -> bool,
    ) -> Result<()> {
        let edit = async || self.extensions.verdict(EXTENSION, "1.2.0").await;
        let late = followed(&self.guard, bound, edit, is_right).await;
        let late = late.with_context(|| what.to_owned())?.as_millis();
        say(format_args!(
            "{what}: every edit made more than {late} ms after is answered by it"
        ));
        Ok(())
    }
}

fn unpacked(object: &DynamicObject) -> Option<Value> {
    object.data.pointer("/status/lastUnpacked").cloned()
}
