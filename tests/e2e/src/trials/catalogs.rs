//! How soon verdicts follow what becomes of a ClusterCatalog.
//!
//! It is measured from when a watch tells of it (catalogd writes the status once it serves the content)
//! until a burst of edits, which reach all replicas, is answered by it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::join_all;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

use super::graph::chain;
use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::{Extensions, extension};
use crate::olm::catalog::{self, Catalog};
use crate::olm::{Olm, await_catalog, await_no_catalog};
use crate::until::within;
use crate::verdict::Verdict;

/// A catalog comes, and its content changes: by another digest in its spec, and by a tag.
pub(crate) async fn verdicts_follow_the_content(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let extensions = install(cluster, &[]).await?;
    let people = People {
        cluster,
        guard: &guard,
        extensions,
    };
    let none = |verdict: &Verdict| verdict.warns(&["[NoCatalogs]"]);
    people.follow("no catalog", none).await?;

    let served = olm.serve(cluster, &hub(&["1.0.0", "1.1.0", ASKED])).await?;
    people
        .are_told("a new catalog", "[NotASuccessor]", &served)
        .await?;
    let served = olm
        .serve(cluster, &hub(&["1.0.0", "1.1.0", "1.3.0"]))
        .await?;
    people
        .are_told("another image", "[VersionNotFound]", &served)
        .await?;
    let old = hub(&["1.0.0", "1.1.0", "1.1.1", ASKED]);
    let served = olm.serve_tag(cluster, &old, "newest").await?;
    people
        .are_told("another tag", "[NotASuccessor]", &served)
        .await?;
    guard.down().await
}

/// A catalog loses the label that an extension selects and gets it back, becomes Unavailable and
/// returns, and goes.
pub(crate) async fn verdicts_follow_the_object(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let extensions = install(cluster, &[("tier", "stable")]).await?;
    let people = People {
        cluster,
        guard: &guard,
        extensions,
    };
    let hub = |tier| labelled(hub(&["1.0.0", "1.1.0", ASKED]), tier);
    let none = |why: &'static str| move |verdict: &Verdict| verdict.warns(&["[NoCatalogs]", why]);

    let served = olm.serve(cluster, &hub("stable")).await?;
    people
        .are_told("a label that is selected", "[NotASuccessor]", &served)
        .await?;
    olm.serve(cluster, &hub("testing")).await?;
    people.follow("another label", none("matches no")).await?;
    olm.serve(cluster, &hub("stable")).await?;
    people
        .are_told("the label again", "[NotASuccessor]", &served)
        .await?;

    make(cluster, "Unavailable").await?;
    let is_away = |object: &_| !catalog::is_serving(object);
    await_catalog(cluster, NAME, "it not to be served", is_away).await?;
    people.follow("Unavailable", none("Unavailable")).await?;
    make(cluster, "Available").await?;
    await_catalog(cluster, NAME, "it to be served", catalog::is_serving).await?;
    people
        .are_told("Available again", "[NotASuccessor]", &served)
        .await?;

    catalog::api(cluster)
        .delete(NAME, &DeleteParams::default())
        .await?;
    await_no_catalog(cluster, NAME).await?;
    people.follow("deleted", none("no ClusterCatalog")).await?;
    guard.down().await
}

const NAME: &str = "hub";
const PACKAGE: &str = "lantern-operator";

/// What is installed, and what is asked for.
const INSTALLED: &str = "1.0.0";
const ASKED: &str = "1.2.0";

/// What is promised is a second; the machine may have more to do.
const BOUND: Duration = Duration::from_secs(5);

/// So many at once need more connections than there are replicas, which take turns at them.
const EDITS: usize = 12;

fn hub(versions: &[&str]) -> Catalog {
    Catalog::new(NAME, chain(PACKAGE, versions))
}

fn labelled(catalog: Catalog, tier: &str) -> Catalog {
    let labels = BTreeMap::from([("tier".to_owned(), tier.to_owned())]);
    Catalog { labels, ..catalog }
}

/// An extension that selects catalogs by these labels, or takes any.
async fn install(cluster: &Cluster, labels: &[(&str, &str)]) -> Result<Extensions> {
    let labels: BTreeMap<_, _> = labels.iter().copied().collect();
    let mut manifest = extension(EXTENSION, PACKAGE, INSTALLED);
    let asked = manifest.pointer_mut("/spec/source/catalog");
    asked.context("it asks a catalog")?["selector"] = json!({ "matchLabels": labels });
    let extensions = Extensions::of(&cluster.client);
    let object = serde_json::from_value(manifest)?;
    extensions
        .api
        .create(&PostParams::default(), &object)
        .await?;
    let bundle = format!("{PACKAGE}.v{INSTALLED}");
    extensions.installed(EXTENSION, &bundle, INSTALLED).await?;
    Ok(extensions)
}

const EXTENSION: &str = "demo";

async fn make(cluster: &Cluster, availability: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "spec": { "availabilityMode": availability } }));
    let api = catalog::api(cluster);
    api.patch(NAME, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// People who edit an extension, and the replicas that are asked about it.
struct People<'a> {
    cluster: &'a Cluster,
    guard: &'a Deployment,
    extensions: Extensions,
}

impl People<'_> {
    /// Their edits are denied with this word, and with the digest that the catalog's status names.
    async fn are_told(&self, what: &str, word: &str, served: &str) -> Result<()> {
        let line = format!("\nCatalog: {NAME}@{served}, content of ");
        self.follow(what, |verdict| verdict.denies(&[word, &line]))
            .await?;
        let status = catalog::digest(&catalog::api(self.cluster).get(NAME).await?);
        ensure!(
            status.as_deref() == Some(served),
            "the status says {status:?}"
        );
        Ok(())
    }

    /// They ask until a burst of edits that reached every replica is answered so.
    async fn follow(&self, what: &str, is_right: impl Fn(&Verdict) -> bool) -> Result<()> {
        let begun = Instant::now();
        let mut last = None;
        let right = within(BOUND, "every verdict to follow", async || {
            let burst = self.burst().await;
            last = Some(format!("{burst:?}"));
            let burst = burst.ok()?;
            let is_right = burst.reached_all && burst.verdicts.iter().all(&is_right);
            is_right.then_some(())
        });
        right.await.with_context(|| format!("{what}: {last:?}"))?;
        println!(
            "{what}: every replica follows within {} ms",
            begun.elapsed().as_millis()
        );
        Ok(())
    }

    async fn burst(&self) -> Result<Burst> {
        let before = self.answered().await?;
        let edits = (0..EDITS).map(|_| self.extensions.verdict(EXTENSION, ASKED));
        let verdicts = join_all(edits).await.into_iter().collect::<Result<_>>()?;
        let after = self.answered().await?;
        let reached_all = before
            .iter()
            .zip(&after)
            .all(|(before, after)| before < after);
        Ok(Burst {
            verdicts,
            reached_all,
        })
    }

    /// How many edits each replica has answered.
    async fn answered(&self) -> Result<Vec<f64>> {
        let pods = self.guard.pods.iter();
        let counts = pods.map(|pod| pod.metric_sum("olmguard_requests_total", ""));
        join_all(counts).await.into_iter().collect()
    }
}

/// Many edits at once.
#[derive(Debug)]
struct Burst {
    verdicts: Vec<Verdict>,
    reached_all: bool,
}
