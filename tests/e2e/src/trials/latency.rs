//! What the webhook adds to a `kubectl apply`, in one run, with and without it in turn.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::Api;
use kube::api::{DeleteParams, PostParams};

use super::texts::LANTERN;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME};
use crate::extension::{Extensions, extension};
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::until::until;

/// Rounds, and what is done twice with and twice without in each.
const ROUNDS: usize = 4;
const EDITS: usize = 12;

/// More than this is no noise: the webhook is in the way.
const TOO_MUCH: Duration = Duration::from_millis(25);

pub(crate) async fn of_an_apply(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let bench = Bench::set(cluster).await?;
    let (mut with, mut without) = (Times::default(), Times::default());
    for _ in 0..ROUNDS {
        bench.take(&mut with).await?;
        let configuration = bench.away().await?;
        bench.take(&mut without).await?;
        bench.take(&mut without).await?;
        bench.back(configuration).await?;
        bench.take(&mut with).await?;
    }
    with.compare(without)?;
    guard.down().await
}

/// An extension that is edited, and the webhook that is taken away and brought back.
struct Bench {
    extensions: Extensions,
    configurations: Api<ValidatingWebhookConfiguration>,
    kubectl: Kubectl,
}

impl Bench {
    async fn set(cluster: &Cluster) -> Result<Self> {
        let extensions = Extensions::of(&cluster.client);
        extensions.create(DEMO, PACKAGE, "1.0.0").await?;
        extensions
            .installed(DEMO, "lantern-operator.v1.0.0", "1.0.0")
            .await?;
        let configurations = Api::all(cluster.client.clone());
        Ok(Self {
            extensions,
            configurations,
            kubectl: cluster.kubectl()?,
        })
    }

    /// Edits that are judged and pass, each the undoing of the one before: by kubectl, and by a client
    /// that keeps its connection.
    async fn take(&self, times: &mut Times) -> Result<()> {
        for version in ["1.1.0", "1.0.0"].into_iter().cycle().take(EDITS) {
            let manifest = extension(DEMO, PACKAGE, version).to_string();
            let start = Instant::now();
            self.kubectl
                .run("apply --server-side --force-conflicts -f -", &manifest)
                .await?;
            times.applies.push(start.elapsed());
            let start = Instant::now();
            self.extensions.try_version(DEMO, ">=1.0.0 <1.2.0").await?;
            times.calls.push(start.elapsed());
        }
        Ok(())
    }

    async fn away(&self) -> Result<ValidatingWebhookConfiguration> {
        let mut configuration = self.configurations.get(NAME).await?;
        configuration.metadata.resource_version = None;
        self.configurations
            .delete(NAME, &DeleteParams::default())
            .await?;
        until("nobody to ask", async || {
            self.extensions.try_version(DEMO, REFUSED).await.ok()
        })
        .await?;
        Ok(configuration)
    }

    async fn back(&self, configuration: ValidatingWebhookConfiguration) -> Result<()> {
        self.configurations
            .create(&PostParams::default(), &configuration)
            .await?;
        let refused = async || self.extensions.try_version(DEMO, REFUSED).await.err();
        until("the webhook to be asked", refused).await?;
        Ok(())
    }
}

/// What was measured of one kind.
#[derive(Default)]
struct Times {
    applies: Vec<Duration>,
    calls: Vec<Duration>,
}

impl Times {
    fn compare(self, without: Self) -> Result<()> {
        let kinds = [
            ("kubectl apply", self.applies, without.applies),
            ("a dry-run", self.calls, without.calls),
        ];
        for (what, with, without) in kinds {
            let (with, without) = (median(with), median(without));
            say(format_args!(
                "{what}, median: {with:.2?} with the webhook, {without:.2?} without"
            ));
            ensure!(
                with.saturating_sub(without) < TOO_MUCH,
                "{what}: {with:?} with, {without:?} without"
            );
        }
        Ok(())
    }
}

fn median(mut of: Vec<Duration>) -> Duration {
    of.sort();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

const DEMO: &str = "demo";
const PACKAGE: &str = "lantern-operator";
const REFUSED: &str = "9.9.9";
