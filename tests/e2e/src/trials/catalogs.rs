//! The time until verdicts follow a change of a ClusterCatalog.
//!
//! It is measured from the event of a watch (catalogd writes the status once it serves the content) until the answers
//! to a burst of edits, which reach all replicas, follow it.

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

/// A catalog is added, and its content changes: through another digest in its spec, and through a tag.
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

/// A catalog loses the label that an extension selects and gets it back, becomes Unavailable and Available again, and
/// is deleted.
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

/// The installed version and the requested version.
const INSTALLED: &str = "1.0.0";
const ASKED: &str = "1.2.0";

/// Twice the promised time, which is a second.
const BOUND: Duration = Duration::from_secs(2);

fn hub(versions: &[&str]) -> Catalog {
    Catalog::new(NAME, chain(PACKAGE, versions))
}

fn labelled(catalog: Catalog, tier: &str) -> Catalog {
    let labels = BTreeMap::from([("tier".to_owned(), tier.to_owned())]);
    Catalog { labels, ..catalog }
}

/// Installs an extension that selects catalogs by these labels, or any catalog without labels.
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

/// Users who edit an extension, and the replicas that check it.
struct People<'a> {
    cluster: &'a Cluster,
    guard: &'a Deployment,
    extensions: Extensions,
}

impl People<'_> {
    /// Waits until the edits are denied with this word and with the digest in the catalog's status.
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

    /// Waits until every replica gives this answer to the edits.
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
