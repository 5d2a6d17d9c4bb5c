//! How soon verdicts follow what becomes of a ClusterCatalog.
//!
//! It is measured from when a watch tells of it (catalogd writes the status once it serves the content)
//! until a burst of edits, which reach all replicas, is answered by it.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

use super::burst::followed;
use super::graph::chain;
use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::extension::{Extensions, extension};
use crate::olm::catalog::{self, Catalog};
use crate::olm::{Olm, await_catalog, await_no_catalog};
use crate::say::say;
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

/// Twice the promise, which is a second.
const BOUND: Duration = Duration::from_secs(2);

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

    /// Their edits are answered so, by every replica.
    async fn follow(&self, what: &str, is_right: impl Fn(&Verdict) -> bool) -> Result<()> {
        let edit = async || self.extensions.verdict(EXTENSION, ASKED).await;
        let took = followed(self.guard, BOUND, edit, is_right).await;
        let late = took.with_context(|| what.to_owned())?.as_millis();
        say(format_args!(
            "{what}: every edit made more than {late} ms after is answered by it"
        ));
        Ok(())
    }
}
