//! Edits that are never checked are allowed, although olmguard denies everything that it checks.

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration as Configuration;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::guarded::{self, DIRECT, Guard};
use crate::cluster::Cluster;
use crate::cluster::audit::Audited;
use crate::extension::Extensions;
use crate::until::until;

/// No catalog is selected, and undecided edits are denied, so every edit that is checked is denied. The other edits are
/// allowed without a call, and also if no match condition excludes them: then each of them has an answer in the audit
/// log. The number of calls is not compared, because an API server with an outdated cache calls again for the same
/// edit.
pub(crate) async fn passes_what_is_never_judged(cluster: &mut Cluster) -> Result<()> {
    let shipped = guarded::shipped(cluster).await?;
    let mut bare = shipped.clone();
    bare.metadata.name = Some("without-conditions".to_owned());
    for webhook in bare.webhooks.iter_mut().flatten() {
        webhook.match_conditions = None;
    }
    let guard = denying(cluster, shipped).await?;
    begin(cluster, "kept-away").await?;
    guard.is_not_asked(edit(cluster, "kept-away")).await?;

    let guard = denying(cluster, bare).await?;
    begin(cluster, "asked-about").await?;
    let before = cluster.audited()?.len();
    edit(cluster, "asked-about").await?;
    until("every edit to be written down", async || {
        let edits = updates(cluster, before).ok()?;
        (edits.len() == EDITS).then_some(())
    })
    .await?;
    let edits = updates(cluster, before)?;
    let answered = |edit: &&Audited| edit.token() == Some("NotJudged");
    ensure!(edits.iter().filter(answered).count() == EDITS, "{edits:#?}");
    ensure!(guard.calls().await? >= EDITS, "the guard was not asked");
    Ok(())
}

/// Returns the updates of extensions themselves that the API server has logged since then.
fn updates(cluster: &Cluster, since: usize) -> Result<Vec<Audited>> {
    let is_update = |it: &Audited| {
        let object = it.object_ref.as_ref();
        it.verb == "patch" && object.is_some_and(super::is_extension)
    };
    let requests = cluster.audited()?.into_iter().skip(since);
    Ok(requests.filter(is_update).collect())
}

async fn denying(cluster: &Cluster, configuration: Configuration) -> Result<Guard> {
    let guard = Guard::start(cluster, &["--on-undecided", "deny"]).await?;
    guard.configure(cluster, configuration).await?;
    Ok(guard)
}

/// Creates an extension without the webhook. With it, the version could not be changed.
async fn begin(cluster: &Cluster, name: &str) -> Result<()> {
    let direct = Extensions::of(&cluster.administrator(DIRECT).await?);
    direct.create(name, "lantern-operator", "1.0.0").await?;
    let tried = Extensions::of(&cluster.client)
        .try_version(name, "2.0.0")
        .await;
    match tried {
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(()),
        tried => bail!("a change of the version is not denied: {tried:?}"),
    }
}

/// Makes every kind of edit that requests nothing from the catalogs.
async fn edit(cluster: &Cluster, name: &str) -> Result<()> {
    let extensions = Extensions::of(&cluster.client);
    for change in [
        json!({ "metadata": { "labels": { "team": "a" } } }),
        json!({ "metadata": { "annotations": { "note": "b" } } }),
        json!({ "spec": { "install": { "preflight": { "crdUpgradeSafety": { "enforcement": "None" } } } } }),
        json!({ "metadata": { "finalizers": ["e2e/held"] } }),
    ] {
        merge(&extensions, name, change).await?;
    }
    extensions
        .installed(name, "lantern-operator.v1.0.0", "1.0.0")
        .await?;
    extensions
        .api
        .delete(name, &DeleteParams::default())
        .await?;
    merge(
        &extensions,
        name,
        json!({ "metadata": { "finalizers": null } }),
    )
    .await
}

async fn merge(extensions: &Extensions, name: &str, change: Value) -> Result<()> {
    let parameters = PatchParams::default();
    extensions
        .api
        .patch(name, &parameters, &Patch::Merge(change))
        .await?;
    Ok(())
}

/// The number of updates of the object itself, without its status and its deletion.
const EDITS: usize = 5;
