//! OLM alone: what the verdicts are compared with does happen here.

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::extension::Extensions;
use crate::image::Image;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::olm::controller::{extension, home};
use crate::olm::progress::{Progress, settled};

/// An extension is installed from an image, is not upgraded to a version without an edge, and is
/// upgraded to one with an edge.
pub(crate) async fn installs_and_upgrades(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::start(cluster).await?;
    let catalog = Catalog::of("hub", &lantern(&olm).await?);
    olm.serve(cluster, &catalog).await?;
    home(cluster, "lantern").await?;
    let extensions = Extensions::of(&cluster.client);
    let asked = extension(
        "lantern",
        &json!({ "packageName": "lantern", "version": "1.0.0" }),
    );
    let asked = serde_json::from_value(asked)?;
    extensions
        .api
        .create(&PostParams::default(), &asked)
        .await?;
    installs(&extensions, "1.0.0").await?;

    ask(&extensions, "1.2.0").await?;
    let progress = settled(&extensions, "lantern").await?;
    let expected = Progress::Retrying(NO_EDGE.to_owned());
    ensure!(progress == expected, "{progress:?}");

    ask(&extensions, "1.1.0").await?;
    installs(&extensions, "1.1.0").await?;
    let deployments: Api<Deployment> = Api::namespaced(cluster.client.clone(), "lantern");
    let deployment = serde_json::to_value(deployments.get("lantern").await?)?;
    let image = deployment.pointer("/spec/template/spec/containers/0/image");
    ensure!(image == Some(&"none/lantern:1.1.0".into()), "{deployment}");
    Ok(())
}

async fn ask(extensions: &Extensions, version: &str) -> Result<()> {
    let patch = json!({ "spec": { "source": { "catalog": { "version": version } } } });
    let patch = Patch::Merge(patch);
    let api = &extensions.api;
    api.patch("lantern", &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

async fn installs(extensions: &Extensions, version: &str) -> Result<()> {
    let progress = settled(extensions, "lantern").await?;
    let Progress::Done(bundle) = progress else {
        anyhow::bail!("{version} is not installed: {progress:?}");
    };
    ensure!(bundle.version == version, "{bundle:?} is installed");
    Ok(())
}

/// Returns 1.0.0 <- 1.1.0 <- 1.2.0, with images.
async fn lantern(olm: &Olm) -> Result<Vec<Value>> {
    let mut blobs = vec![
        json!({ "schema": "olm.package", "name": "lantern", "defaultChannel": "stable" }),
        json!({ "schema": "olm.channel", "package": "lantern", "name": "stable", "entries": [
            { "name": "lantern.v1.0.0" },
            { "name": "lantern.v1.1.0", "replaces": "lantern.v1.0.0" },
            { "name": "lantern.v1.2.0", "replaces": "lantern.v1.1.0" },
        ] }),
    ];
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        let name = format!("lantern.v{version}");
        let image = Image::bundle("lantern", &name, version)?;
        let reference = olm.registry.push("bundles/lantern", &image).await?;
        blobs.push(json!({
            "schema": "olm.bundle", "package": "lantern", "name": name, "image": reference,
            "properties": [{ "type": "olm.package", "value": { "packageName": "lantern", "version": version } }],
        }));
    }
    Ok(blobs)
}

const NO_EDGE: &str = "error upgrading from currently installed version \"1.0.0\": \
    no bundles found for package \"lantern\" matching version \"1.2.0\"";
