//! Certificates that change, and what vouches for them that is lost, while people work.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::work;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME, NAMESPACE};
use crate::pki::Pki;
use crate::say::say;
use crate::until::until;

/// The trial plays OpenShift's service-ca: it issues into the Secret, and vouches in the configuration.
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
    issue(cluster, &issuer).await?;
    let mut guard = Deployment::up(cluster, "hardened-service-ca").await?;
    vouch(cluster, &fs::read_to_string(issuer.ca())?).await?;
    let load = work::begin(cluster).await?;
    for rotation in [1.0, 2.0, 3.0] {
        issue(cluster, &issuer).await?;
        taken_over(&guard, rotation).await?;
    }
    work::end("3 certificates from files", load).await?;
    guard.down().await
}

/// A new authority each time: the Secret is deleted, and every replica started anew.
pub(crate) async fn self_managed_authorities_follow_each_other(
    cluster: &mut Cluster,
) -> Result<()> {
    let mut guard = work::hardened(cluster).await?;
    let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let load = work::begin(cluster).await?;
    for _ in 0..3 {
        secrets.delete(SECRET, &DeleteParams::default()).await?;
        guard.restart().await?;
    }
    work::end("3 self-managed authorities", load).await?;
    guard.down().await
}

/// What someone else takes away is put back. A Secret is missed by nobody; without a bundle no API
/// server connects, so what is shown is how soon one does again.
pub(crate) async fn a_lost_secret_and_an_emptied_bundle_heal(cluster: &mut Cluster) -> Result<()> {
    let mut guard = work::hardened(cluster).await?;
    let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let mut load = work::begin(cluster).await?;
    let before = bundle(cluster).await?;
    secrets.delete(SECRET, &DeleteParams::default()).await?;
    until("the Secret to be put back", async || {
        secrets.get(SECRET).await.ok()
    })
    .await?;
    load.go_on(SOME).await?;
    work::end("a deleted Secret", load).await?;
    ensure!(
        bundle(cluster).await? == before,
        "the authority is another now"
    );

    vouch(cluster, "").await?;
    let start = Instant::now();
    until("the bundle to be put back", async || {
        (bundle(cluster).await.ok()? == before).then_some(())
    })
    .await?;
    say(format_args!(
        "an emptied caBundle is put back after {:.1?}",
        start.elapsed()
    ));
    ensure!(start.elapsed() < SOON, "only after {:?}", start.elapsed());
    until("a call to pass", async || work::once(cluster).await.ok()).await?;
    let mut load = work::begin_again(cluster);
    load.go_on(SOME).await?;
    work::end("a bundle put back", load).await?;
    guard.down().await
}

/// Calls enough to lead to every pod many times.
const SOME: usize = 200;

/// Well before the next look, which comes every 25 seconds.
const SOON: Duration = Duration::from_secs(10);

/// Three that start at the same moment, with no Secret there, have one authority.
pub(crate) async fn three_replicas_agree_on_one_authority(cluster: &mut Cluster) -> Result<()> {
    let mut guard = work::hardened(cluster).await?;
    let bundle = bundle(cluster).await?;
    let authorities = bundle.matches("BEGIN CERTIFICATE").count();
    ensure!(
        authorities == 1,
        "{authorities} authorities are vouched for:\n{bundle}"
    );
    let load = work::begin(cluster).await?;
    guard.restart().await?;
    work::end("three that started together", load).await?;
    guard.down().await
}

const SECRET: &str = "olmguard-tls";

async fn issue(cluster: &Cluster, issuer: &Pki) -> Result<()> {
    let pair = issuer.server("leaf", &["olmguard.olmguard-system.svc"])?;
    let create = format!(
        "create secret tls {SECRET} -n {NAMESPACE} --cert={} --key={} --dry-run=client -o yaml",
        pair.cert.display(),
        pair.key.display()
    );
    let kubectl = cluster.kubectl()?;
    let object = kubectl.run(&create, "").await?;
    kubectl.apply(&object).await?;
    Ok(())
}

/// The kubelet brings the files, and each pod reads them.
async fn taken_over(guard: &Deployment, rotation: f64) -> Result<()> {
    for pod in &guard.pods {
        pod.refresh().await?;
        until("a pod to show the new certificate", async || {
            let reloads = pod
                .metric(r#"olmguard_tls_reloads_total{result="ok"}"#)
                .await
                .ok()?;
            (reloads >= rotation).then_some(())
        })
        .await?;
    }
    Ok(())
}

/// Whom the API server believes, as PEM; empty for nobody.
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

async fn bundle(cluster: &Cluster) -> Result<String> {
    let configuration = configurations(cluster).get(NAME).await?;
    let webhook = configuration
        .webhooks
        .and_then(|webhooks| webhooks.into_iter().next())
        .context("it has a webhook")?;
    Ok(String::from_utf8(
        webhook
            .client_config
            .ca_bundle
            .map(|bytes| bytes.0)
            .unwrap_or_default(),
    )?)
}

fn configurations(cluster: &Cluster) -> Api<ValidatingWebhookConfiguration> {
    Api::all(cluster.client.clone())
}
