//! Rotation of certificates, and the loss of a Secret or a `caBundle`, while users work.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::work::{self, Site};
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME, NAMESPACE, bundle};
use crate::extension::extension;
use crate::pki::Pki;
use crate::pod::Pod;
use crate::say::say;
use crate::until::until;

/// The trial acts as OpenShift's service-ca: it issues into the Secret and writes the `caBundle`.
pub(crate) async fn files_rotate(cluster: &mut Cluster) -> Result<()> {
    let issuer = Pki::new(cluster.dir(), "issuer")?;
    for namespace in [
        NAMESPACE,
        "openshift-operator-controller",
        "openshift-catalogd",
    ] {
        cluster
            .kubectl()?
            .run(&format!("create namespace {namespace}"), "")
            .await?;
    }
    let _olm = work::serve(cluster).await?;
    issue(cluster, &issuer).await?;
    let mut guard = Deployment::up(cluster, "hardened-service-ca").await?;
    vouch(cluster, &fs::read_to_string(issuer.ca())?).await?;
    believed(cluster).await?;
    let mut work = work::begin(cluster).await?;
    for _ in 0..3 {
        let leaf = issue(cluster, &issuer).await?;
        taken_over(&guard, &leaf).await?;
        work.load.go_on(SOME).await?;
    }
    work.end(cluster, "3 certificates from files").await?;
    guard.down().await
}

/// Each pod that starts signs a leaf for itself, so a restart is a rotation for every replica. The rotation of a CA
/// takes days, and olmguard's own tests cover it in virtual time.
pub(crate) async fn self_managed_leaves_follow_each_other(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::hardened(cluster).await?;
    let mut leaves = shown_by_all(&site.guard).await?;
    let mut work = work::begin(cluster).await?;
    for _ in 0..3 {
        site.guard.restart().await?;
        leaves.extend(shown_by_all(&site.guard).await?);
        work.load.go_on(SOME).await?;
    }
    work.end(cluster, "3 self-managed certificates of 3 replicas")
        .await?;
    ensure!(leaves.len() == 12, "{} leaves of 12 pods", leaves.len());
    site.guard.down().await
}

/// A deleted object is restored. Nothing fails without the Secret. Without a `caBundle` no API server can connect, so
/// the trial measures how soon one does again.
pub(crate) async fn a_lost_secret_and_an_emptied_bundle_heal(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::hardened(cluster).await?;
    let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let mut work = work::begin(cluster).await?;
    let before = bundle(&cluster.client).await?;
    secrets.delete(SECRET, &DeleteParams::default()).await?;
    until("the Secret to be put back", async || {
        secrets.get(SECRET).await.ok()
    })
    .await?;
    work.load.go_on(SOME).await?;
    work.end(cluster, "a deleted Secret").await?;
    ensure!(
        bundle(&cluster.client).await? == before,
        "the authority is another now"
    );

    let mut load = work::begin_again(cluster).await?.load;
    load.go_on(SOME).await?;
    vouch(cluster, "").await?;
    let emptied = Instant::now();
    load.go_on(SOME).await?;
    let counts = load.count().await?;
    let lost = counts.wrong.iter().map(|wrong| wrong.asked - emptied);
    let (calls, lost) = (counts.wrong.len(), lost.max().unwrap_or_default());
    say(format_args!(
        "an emptied caBundle: {calls} calls were refused, the last was made {lost:.1?} after"
    ));
    ensure!(lost < SOON, "{:#?}", counts.wrong);
    ensure!(bundle(&cluster.client).await? == before, "another bundle");
    site.guard.down().await
}

/// Enough calls to reach every pod many times.
const SOME: usize = 200;

/// Twice the documented time, which is a second.
const SOON: Duration = Duration::from_secs(2);

/// Three replicas that start at the same time, without a Secret, agree on one CA.
pub(crate) async fn three_replicas_agree_on_one_authority(cluster: &mut Cluster) -> Result<()> {
    let _olm = work::serve(cluster).await?;
    let mut guard = Deployment::up_at_once(cluster, "hardened-self-managed").await?;
    let bundle = bundle(&cluster.client).await?;
    let authorities = bundle.matches("BEGIN CERTIFICATE").count();
    ensure!(
        authorities == 1,
        "{authorities} authorities are vouched for:\n{bundle}"
    );
    let mut work = work::begin(cluster).await?;
    work.load.go_on(SOME).await?;
    work.end(cluster, "three that started together").await?;
    guard.down().await
}

const SECRET: &str = "olmguard-tls";

/// Puts another leaf into the Secret, and returns it.
async fn issue(cluster: &Cluster, issuer: &Pki) -> Result<String> {
    let pair = issuer.server("leaf", &["olmguard.olmguard-system.svc"])?;
    let create = format!(
        "create secret tls {SECRET} -n {NAMESPACE} --cert={} --key={} --dry-run=client -o yaml",
        pair.cert.display(),
        pair.key.display()
    );
    let kubectl = cluster.kubectl()?;
    let object = kubectl.run(&create, "").await?;
    kubectl.apply(&object).await?;
    Ok(fs::read_to_string(pair.cert)?)
}

/// Updates the mounted files, and waits until each pod serves this leaf.
async fn taken_over(guard: &Deployment, leaf: &str) -> Result<()> {
    for pod in &guard.pods {
        pod.refresh().await?;
        until("a pod to show the new certificate", async || {
            let shown = shown(pod).await.ok()?;
            (shown.trim() == leaf.trim()).then_some(())
        })
        .await?;
    }
    Ok(())
}

/// Returns the leaves that the pods currently serve.
async fn shown_by_all(guard: &Deployment) -> Result<BTreeSet<String>> {
    let mut leaves = BTreeSet::new();
    for pod in &guard.pods {
        leaves.insert(shown(pod).await?);
    }
    Ok(leaves)
}

/// Returns the leaf that a pod serves, without its chain.
async fn shown(pod: &Pod) -> Result<String> {
    let (status, chain) = pod.ops("/certificate").await?;
    ensure!(status == 200, "{status}: {chain}");
    let end = chain.find(LAST_LINE).context("a certificate has an end")?;
    Ok(chain[..end + LAST_LINE.len()].replace("\r\n", "\n"))
}

const LAST_LINE: &str = "-----END CERTIFICATE-----";

/// Sets the `caBundle` of the webhook, as PEM, or to an empty text.
async fn vouch(cluster: &Cluster, bundle: &str) -> Result<()> {
    let bundle = ByteString(bundle.as_bytes().to_vec());
    let patch =
        json!([{ "op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle }]);
    let patch: json_patch::Patch = serde_json::from_value(patch)?;
    configurations(cluster)
        .patch(NAME, &PatchParams::default(), &Patch::<()>::Json(patch))
        .await?;
    Ok(())
}

/// Waits until the API server calls the webhook with the written `caBundle`: it reads configurations from a watch,
/// which can be behind.
async fn believed(cluster: &Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    let asked = extension("believed", "lantern-operator", "1.0.0").to_string();
    until("the API server to believe the service", async || {
        let printed = kubectl
            .try_run("create --dry-run=server -f -", &asked)
            .await;
        let printed = printed.ok()?;
        (!printed.stderr.contains("x509: ")).then_some(())
    })
    .await
}

fn configurations(cluster: &Cluster) -> Api<ValidatingWebhookConfiguration> {
    Api::all(cluster.client.clone())
}
