//! What is there before something goes away: a catalog, three replicas that check edits against it, and people.

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
        let Site { olm, guard, digest } = Site::hardened(cluster).await?;
        work::install(cluster).await?;
        Ok(Self {
            olm,
            guard,
            extensions: Extensions::of(&cluster.client),
            digest,
        })
    }

    /// People work.
    pub(super) async fn work(&self, cluster: &Cluster) -> Result<Work> {
        work::begin_again(cluster).await
    }

    /// The webhook is asked the same without the API server; the answers name what the catalog has now.
    pub(super) async fn reviews(&self, cluster: &Cluster) -> Result<Load> {
        let reviewer = Reviewer::of(cluster, &self.guard, EXTENSION).await?;
        let edits = work::edits(&work::cited(&self.digest));
        Ok(Load::straight(reviewer, edits))
    }

    /// The catalog gets other content, with this before the extension's package.
    pub(super) async fn change(&mut self, cluster: &Cluster, ballast: &str) -> Result<()> {
        let changed = work::hub(ballast, &["1.0.0", "1.1.0", "1.1.1", "1.2.0"]);
        self.digest = self.olm.serve(cluster, &changed).await?;
        Ok(())
    }

    /// When catalogd last unpacked the catalog, as its status says.
    pub(super) async fn unpacked(&self, cluster: &Cluster) -> Result<Option<Value>> {
        Ok(unpacked(&catalog::api(cluster).get(CATALOG).await?))
    }

    /// Waits until it has done so again.
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

    /// Edits are denied by what the catalog has now, in every replica.
    pub(super) async fn followed(&self, what: &str, bound: Duration) -> Result<()> {
        let line = work::cited(&self.digest);
        self.answered(what, bound, |verdict| {
            verdict.denies(&["[NotASuccessor]", &line])
        })
        .await
    }

    /// Edits that the loaded content would deny are undecided in every replica, because newer content is
    /// known and not loaded.
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
