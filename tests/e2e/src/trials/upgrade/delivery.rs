//! olmguard as OLM installs it: through a ClusterExtension, the kind that olmguard checks.
//!
//! A bundle cannot contain a webhook configuration with match conditions, so that one is applied separately. The worst
//! case is tested: the configuration has `failurePolicy: Fail`, and the installed release does not run. An edit of that
//! same extension repairs it, and no other edit is allowed.
//!
//! Not tested: minimal rights, because every service account has all rights here.

use anyhow::{Context, Result, bail, ensure};
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME, NAMESPACE, rendered};
use crate::extension::Extensions;
use crate::image::Image;
use crate::image::bundle::BundleSource;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::olm::controller::{extension, home};
use crate::olm::progress::{Progress, settled};

pub(crate) async fn of_what_olm_has_installed(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::start(cluster).await?;
    let catalog = catalog(cluster, &olm).await?;
    olm.serve(cluster, &Catalog::new("hub", catalog)).await?;
    home(cluster, NAMESPACE).await?;
    let extensions = Extensions::of(&cluster.client);
    create(&extensions, NAME, NAME, "1.0.0").await?;
    is_installed(&extensions, "1.0.0").await?;
    cluster
        .kubectl()?
        .apply(&part("ValidatingWebhookConfiguration")?)
        .await?;
    let mut guard = Deployment::start(cluster, &[]).await?;
    is_refused(&extensions, "[InvalidVersionRange]").await?;

    guard.down().await?;
    guard.service.close().await;
    is_refused(&extensions, "failed calling webhook").await?;
    ask(&extensions, NAME, "1.1.0").await?;
    is_installed(&extensions, "1.1.0").await?;
    drop(guard);
    let mut guard = Deployment::start(cluster, &[]).await?;
    let release = guard.setting.template.metadata.as_ref();
    let release = release.and_then(|metadata| metadata.annotations.as_ref()?.get(RELEASE));
    ensure!(
        release.is_some_and(|release| release == "1.1.0"),
        "{release:?}"
    );
    is_refused(&extensions, "[InvalidVersionRange]").await?;
    guard.down().await
}

/// Checks that another extension with an impossible version is refused for this reason, also if it has a name like that
/// of olmguard.
async fn is_refused(extensions: &Extensions, why: &str) -> Result<()> {
    for name in ["lantern", "olmguard-lantern"] {
        match create(extensions, name, "lantern", "|").await {
            Err(error) if format!("{error:#}").contains(why) => {}
            answer => bail!("{why} was expected: {answer:?}"),
        }
    }
    Ok(())
}

async fn create(extensions: &Extensions, name: &str, package: &str, version: &str) -> Result<()> {
    let asked = json!({ "packageName": package, "version": version });
    let mut object = extension(name, &asked);
    if let Some(namespace) = object.pointer_mut("/spec/namespace") {
        *namespace = NAMESPACE.into();
    }
    let object = serde_json::from_value(object)?;
    extensions
        .api
        .create(&PostParams::default(), &object)
        .await?;
    Ok(())
}

async fn ask(extensions: &Extensions, name: &str, version: &str) -> Result<()> {
    let patch = json!({ "spec": { "source": { "catalog": { "version": version } } } });
    let patch = Patch::Merge(patch);
    let as_told = PatchParams::default();
    extensions.api.patch(name, &as_told, &patch).await?;
    Ok(())
}

async fn is_installed(extensions: &Extensions, version: &str) -> Result<()> {
    let progress = settled(extensions, NAME).await?;
    let installed = matches!(&progress, Progress::Done(bundle) if bundle.version == version);
    ensure!(installed, "{version} is not installed: {progress:?}");
    Ok(())
}

/// Serves 1.0.0 <- 1.1.0 of a package `olmguard`, built from the shipped manifests.
async fn catalog(cluster: &Cluster, olm: &Olm) -> Result<String> {
    let mut blobs = vec![
        json!({ "schema": "olm.package", "name": NAME, "defaultChannel": "stable" }),
        json!({ "schema": "olm.channel", "package": NAME, "name": "stable", "entries": [
            { "name": "olmguard.v1.0.0" },
            { "name": "olmguard.v1.1.0", "replaces": "olmguard.v1.0.0" },
        ] }),
    ];
    for version in ["1.0.0", "1.1.0"] {
        let name = format!("{NAME}.v{version}");
        let image = bundle(cluster, &name, version).await?;
        let reference = olm.registry.push("bundles/olmguard", &image).await?;
        blobs.push(json!({
            "schema": "olm.bundle", "package": NAME, "name": name, "image": reference,
            "properties": [{ "type": "olm.package", "value": { "packageName": NAME, "version": version } }],
        }));
    }
    let line = |blob: &Value| format!("{blob}\n");
    Ok(blobs.iter().map(line).collect())
}

/// Returns a bundle with the Deployment, its account and the Service of the webhook. The version is in an annotation of
/// the pods.
async fn bundle(cluster: &Cluster, name: &str, version: &str) -> Result<Image> {
    let mut deployment = object(cluster, "Deployment").await?;
    let metadata = deployment.pointer_mut("/spec/template/metadata");
    let metadata = metadata
        .and_then(Value::as_object_mut)
        .context("metadata")?;
    metadata.insert("annotations".to_owned(), json!({ RELEASE: version }));
    let deployment = json!({ "name": NAME, "spec": deployment.get("spec") });
    BundleSource::of(NAME, name, deployment)
        .beside(beside(cluster, "ServiceAccount").await?)
        .beside(beside(cluster, "Service").await?)
        .image()
}

/// Returns the first object of a kind in the form for a bundle, without a namespace.
async fn beside(cluster: &Cluster, kind: &str) -> Result<Value> {
    let mut object = object(cluster, kind).await?;
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    metadata.context("metadata")?.remove("namespace");
    Ok(object)
}

/// Returns the first object of a kind, as JSON.
async fn object(cluster: &Cluster, kind: &str) -> Result<Value> {
    let convert = "create --dry-run=client --validate=false -o json -f -";
    let text = cluster.kubectl()?.run(convert, &part(kind)?).await?;
    Ok(serde_json::from_str(&text)?)
}

/// Returns the first object of a kind, as text of the manifest.
fn part(kind: &str) -> Result<String> {
    let manifest = rendered("hardened-self-managed")?
        .replace("priorityClassName: olmguard", "priorityClassName: ''");
    let kind = format!("\nkind: {kind}\n");
    let part = manifest
        .split("\n---\n")
        .find(|part| format!("\n{part}").contains(&kind));
    part.map(|part| format!("{part}\n")).context(kind)
}

/// The annotation of pods with the release that they belong to.
const RELEASE: &str = "e2e.test/release";
