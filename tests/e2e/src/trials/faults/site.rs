//! Two replicas, a catalog and users, for one fault after another.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::gate::Gate;
use super::row::Fault;
use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::{Deployment, NAME, NAMESPACE, rendered};
use crate::load::Load;
use crate::olm::Olm;
use crate::olm::catalogd::External;
use crate::review::Reviewer;
use crate::trials::work::{self, EXTENSION};
use crate::until::within;

/// The parts of the scene.
pub(in crate::trials) struct Site {
    olm: Olm,
    pub(in crate::trials) guard: Deployment,
    /// The digest of the served content.
    digest: String,
    /// The number of contents so far, so that each one differs.
    changes: usize,
}

/// More edits than users make.
pub(super) struct Flood(Vec<Load>);

impl Site {
    pub(super) async fn set(cluster: &Cluster) -> Result<Self> {
        let olm = Olm::without_controller(cluster).await?;
        Self::with(cluster, olm, &rendered(PROFILE)?, &[]).await
    }

    /// Sets up a site with audits at this interval.
    pub(in crate::trials) async fn audited(cluster: &Cluster, often: Duration) -> Result<Self> {
        cluster
            .define_resources(&["clusterreports"], "openreports.io")
            .await?;
        let olm = Olm::without_controller(cluster).await?;
        let manifest = with_component(cluster, &cluster.kubectl()?, PROFILE, "audit").await?;
        let often = format!("{}s", often.as_secs());
        let often = [("OLMGUARD_AUDIT_INTERVAL", &*often)];
        Self::with(cluster, olm, &manifest, &often).await
    }

    /// Sets up a site with a gate between catalogd and the webhook.
    pub(super) async fn behind_a_gate(cluster: &Cluster) -> Result<(Self, Gate)> {
        let (gate, content) = Gate::open(&cluster.pki).await?;
        let external = External::Gate(gate.port);
        let olm = Olm::without_controller_at(cluster, external).await?;
        content.send_replace(Some(olm.catalogd.content));
        let site = Self::with(cluster, olm, &rendered(PROFILE)?, &[]).await?;
        Ok((site, gate))
    }

    async fn with(
        cluster: &Cluster,
        olm: Olm,
        manifest: &str,
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        let digest = olm.serve(cluster, &work::hub("", &work::FIRST)).await?;
        let kubectl = cluster.kubectl()?;
        kubectl.apply(manifest).await?;
        let scale = format!("scale deployment {NAME} -n {NAMESPACE} --replicas=2");
        kubectl.run(&scale, "").await?;
        let guard = Deployment::start(cluster, extra).await?;
        ensure!(guard.pods.len() == 2, "{} pods", guard.pods.len());
        work::install(cluster).await?;
        Ok(Self {
            olm,
            guard,
            digest,
            changes: 0,
        })
    }

    /// Starts a fault that is observed by users.
    pub(super) async fn fault(&self, cluster: &Cluster, name: &'static str) -> Result<Fault> {
        Fault::of(name, work::begin_again(cluster).await?.load).await
    }

    /// Starts a fault that takes the API server away, observed by direct reviews.
    pub(super) async fn fault_of_reviews(
        &self,
        cluster: &Cluster,
        name: &'static str,
    ) -> Result<Fault> {
        let reviewer = self.reviewer(cluster).await?;
        Fault::of(name, Load::straight(reviewer, work::edits(""))).await
    }

    pub(in crate::trials) async fn reviewer(&self, cluster: &Cluster) -> Result<Reviewer> {
        Reviewer::of(cluster, &self.guard, EXTENSION).await
    }

    /// Sends the edits of users this many times to the Service.
    pub(super) async fn flood(&self, cluster: &Cluster, times: usize) -> Result<Flood> {
        let reviewer = self.reviewer(cluster).await?;
        let load = |_| Load::straight(reviewer.clone(), work::edits(""));
        Ok(Flood((0..times).map(load).collect()))
    }

    /// Replaces the content of the catalog, with this text before the package of the extension.
    pub(in crate::trials) async fn change(
        &mut self,
        cluster: &Cluster,
        ballast: &str,
    ) -> Result<()> {
        self.changes += 1;
        let more = format!("1.1.{}", self.changes);
        let versions = ["1.0.0", "1.1.0", &more, "1.2.0"];
        let changed = work::hub(ballast, &versions);
        self.digest = self.olm.serve(cluster, &changed).await?;
        Ok(())
    }

    /// Waits until every replica answers by the current content of the catalog.
    ///
    /// Each replica is called directly: an API server with an idle connection to one replica calls
    /// no other.
    pub(in crate::trials) async fn is_followed(&self, cluster: &Cluster) -> Result<()> {
        let line = work::cited(&self.digest);
        let reviewer = self.reviewer(cluster).await?;
        for pod in &self.guard.pods {
            let reviewer = reviewer.of_pod(pod.address);
            within(BOUND, "a pod to follow the catalog", async || {
                let answer = reviewer.ask("1.2.0").await.ok()?;
                let is_right = answer.verdict.denies(&["[NotASuccessor]", &line]);
                is_right.then_some(())
            })
            .await?;
        }
        Ok(())
    }
}

impl Flood {
    /// Ends the flood. Every answer must have been right.
    pub(super) async fn end(self) -> Result<()> {
        for load in self.0 {
            load.stop().await?;
        }
        Ok(())
    }
}

pub(super) const PROFILE: &str = "hardened-self-managed";

/// The limit for content that arrives after a fault.
const BOUND: Duration = Duration::from_secs(10);
