//! A user who may edit every ClusterExtension and nothing else, and who names other users' objects in them.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME, NAMESPACE};
use crate::extension::extension;
use crate::kubeconfig::{self, Identity, Server};
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::trials::texts::LANTERN;
use crate::until::until;

/// The edits are checked, and olmguard sends no request to the API server that it had not sent before.
pub(crate) async fn nobody_reads_through_the_guard(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "single-node-self-managed").await?;
    let before = until("the guard to follow what is its own", async || {
        let asked = asked(cluster).ok()?;
        let follows = |kind: &str| {
            let mut lists = asked.iter().filter(|request| request.starts_with("list "));
            lists.any(|request| request.ends_with(kind))
        };
        OWN.iter().all(|kind| follows(kind)).then_some(asked)
    })
    .await?;
    let mallory = mallory(cluster).await?;
    let (mut edits, mut refused) = (0.0, 0);
    for forged in forgeries() {
        let printed = mallory.try_run("create -f -", &forged.to_string()).await?;
        ensure!(!printed.stderr.contains("cannot create"), "{printed:?}");
        refused += usize::from(printed.code != Some(0));
        edits += 1.0;
    }
    let judged = guard.reviews().await?;
    ensure!(
        (judged - edits).abs() < 0.5,
        "{judged} of {edits} edits were judged"
    );
    let new: Vec<_> = asked(cluster)?.difference(&before).cloned().collect();
    ensure!(new.is_empty(), "asked for because of them: {new:#?}");
    say(format_args!(
        "{judged} edits, {refused} refused, no request for their sake"
    ));
    guard.down().await
}

/// Returns the requests of olmguard to the API server so far. A watch starts with a list.
fn asked(cluster: &Cluster) -> Result<BTreeSet<String>> {
    let guard = format!("system:serviceaccount:{NAMESPACE}:{NAME}");
    let log = cluster.audited()?;
    let requests = log
        .into_iter()
        .filter(|request| request.user.username == guard);
    Ok(requests
        .map(|request| {
            let path = request.uri.split('?').next().unwrap_or_default();
            let verb = if request.verb == "watch" {
                "list"
            } else {
                &request.verb
            };
            format!("{verb} {path}")
        })
        .collect())
}

async fn mallory(cluster: &Cluster) -> Result<Kubectl> {
    let admin = cluster.kubectl()?;
    admin
        .run(
            "create clusterrole editor --verb=get,create,update,patch --resource=clusterextensions",
            "",
        )
        .await?;
    admin
        .run(
            "create clusterrolebinding editor --clusterrole=editor --user=mallory",
            "",
        )
        .await?;
    let identity = cluster.pki.client("mallory", "nobodies")?;
    let server = Server {
        url: cluster.api.url(),
        ca: &cluster.pki.ca(),
    };
    let identity = Identity::Certificate(&identity);
    let kubeconfig = kubeconfig::write(cluster.dir(), "mallory", server, identity, "default")?;
    let mallory = Kubectl::new(assets::program("kubectl")?, kubeconfig, cluster.dir());
    let listed = mallory.try_run("get clustercatalogs", "").await?;
    ensure!(listed.code == Some(1), "{listed:?}");
    Ok(mallory)
}

/// Returns extensions that refer to objects of other users, one for each field that could be a reference.
fn forgeries() -> Vec<Value> {
    let mut objects = vec![extension("plain", "lantern-operator", "1.0.0")];
    let mut with = |name: &str, at: &str, value: Value| {
        let mut object = extension(name, "lantern-operator", "1.0.0");
        if let Some(place) = object.pointer_mut(at) {
            *place = value;
        }
        objects.push(object);
    };
    with("namespace", "/spec/namespace", "kube-system".into());
    with("account", "/spec/serviceAccount/name", NAME.into());
    with(
        "package",
        "/spec/source/catalog/packageName",
        "olmguard-tls".into(),
    );
    with(
        "selector",
        "/spec/source/catalog",
        json!({
            "packageName": "lantern-operator",
            "selector": { "matchLabels": { "olm.operatorframework.io/metadata.name": "someone-elses" } },
        }),
    );
    with(
        "channels",
        "/spec/source/catalog",
        json!({
            "packageName": "lantern-operator",
            "channels": ["kube-system.olmguard-tls"],
        }),
    );
    with(
        "metadata",
        "/metadata",
        json!({
            "name": "metadata",
            "annotations": { "olm.operatorframework.io/catalog": "https://127.0.0.1:1/secrets" },
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Secret", "name": "olmguard-tls",
                "uid": "00000000-0000-0000-0000-000000000000",
            }],
        }),
    );
    objects
}

/// The objects that olmguard watches anyway.
const OWN: [&str; 3] = [
    "/clustercatalogs",
    "/secrets",
    "/validatingwebhookconfigurations",
];
