//! The shipped manifests, as an API server sees them: it accepts every object, and applying them again, by any method,
//! changes nothing.
//!
//! cert-manager is not installed here. Only its kinds exist.

mod bundle;
mod edits;
mod matching;
mod older;
mod written;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;

use super::stand_in;
use crate::cluster::Cluster;
use crate::deployment::{NAME, NAMESPACE, rendered};
use crate::kubectl::Kubectl;
use crate::until::until_ok;

pub(crate) use bundle::leaves_the_bundle_alone;
pub(crate) use matching::matches_what_it_says;
pub(crate) use older::older_shapes_are_judged;

/// Every profile in every certificate mode, one after another in the same cluster.
pub(crate) async fn every_manifest_is_taken_and_stays(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.apply(stand_in::CERT_MANAGER).await?;
    kubectl.apply(stand_in::NAMESPACES).await?;
    for profile in ["default", "hardened", "enforcing", "single-node"] {
        for mode in ["self-managed", "cert-manager", "service-ca"] {
            let name = format!("{profile}-{mode}");
            of(cluster, &kubectl, &rendered(&name)?)
                .await
                .context(name)?;
        }
    }
    Ok(())
}

async fn of(cluster: &Cluster, kubectl: &Kubectl, manifest: &str) -> Result<()> {
    tried_first(kubectl, manifest).await?;
    stays(kubectl, manifest).await?;
    stays_by(kubectl, "--server-side", manifest).await?;
    written::is_stored_as_written(kubectl, manifest).await?;
    has_restricted_pods(cluster).await?;
    is_deleted(cluster, kubectl, manifest).await
}

/// Deletes every object, and polls until none is left. `kubectl delete` would wait with a watch, also for the
/// namespace, which no controller empties meanwhile.
async fn is_deleted(cluster: &Cluster, kubectl: &Kubectl, manifest: &str) -> Result<()> {
    let delete = "delete -f - --ignore-not-found --wait=false";
    kubectl.run(delete, manifest).await?;
    // Discovery fails while a group is being removed.
    until_ok("the namespace to be emptied", async || {
        cluster.empty_namespace(NAMESPACE).await
    })
    .await?;
    until_ok("every object to be gone", async || {
        let get = kubectl.run("get -f - --ignore-not-found -o name", manifest);
        let left = get.await?;
        ensure!(left.is_empty(), "{left}");
        Ok(())
    })
    .await
}

/// A dry run keeps nothing, so the namespace must exist before its objects.
async fn tried_first(kubectl: &Kubectl, manifest: &str) -> Result<()> {
    let namespace = format!("create namespace {NAMESPACE}");
    kubectl.run(&namespace, "").await?;
    let tried = kubectl
        .run("apply --dry-run=server --validate=strict -f -", manifest)
        .await?;
    let objects = manifest.split("\n---\n").count();
    let taken = tried
        .lines()
        .filter(|line| line.ends_with("(server dry run)"));
    ensure!(taken.count() == objects, "of {objects} objects:\n{tried}");
    Ok(())
}

async fn stays(kubectl: &Kubectl, manifest: &str) -> Result<()> {
    let again = stays_by(kubectl, "", manifest).await?;
    // The selector of a PodDisruptionBudget is replaced as a whole (`patchStrategy: replace`), so kubectl always sends
    // it. Its unchanged version has shown that this has no effect.
    let lines = again
        .lines()
        .filter(|line| *line != "poddisruptionbudget.policy/olmguard configured");
    for line in lines {
        ensure!(line.ends_with(" unchanged"), "{line}");
    }
    Ok(())
}

/// Applies twice, and checks that the second time changes nothing. Returns the output of the second time.
async fn stays_by(kubectl: &Kubectl, way: &str, manifest: &str) -> Result<String> {
    let apply = format!("apply {way} --validate=strict -f -");
    kubectl.run(&apply, manifest).await?;
    are_established(kubectl, manifest).await?;
    let before = versions(kubectl, manifest).await?;
    let again = kubectl.run(&apply, manifest).await?;
    let after = versions(kubectl, manifest).await?;
    ensure!(before == after, "first\n{before}then\n{after}");
    has_no_difference(kubectl, &format!("diff {way} -f -"), manifest).await?;
    Ok(again)
}

/// Waits for the conditions of new CRDs. The API server writes them a moment after it has accepted a CRD, which changes
/// its version.
async fn are_established(kubectl: &Kubectl, manifest: &str) -> Result<()> {
    let columns = r#"custom-columns=K:.kind,E:.status.conditions[?(@.type=="Established")].status"#;
    let get = format!("get -f - -o {columns}");
    until_ok("every CRD to be established", async || {
        let printed = kubectl.run(&get, manifest).await?;
        let mut crds = printed
            .lines()
            .filter(|line| line.starts_with("CustomResourceDefinition "));
        let are_open = crds.any(|line| !line.ends_with(" True"));
        ensure!(!are_open, "{printed}");
        Ok(())
    })
    .await
}

async fn versions(kubectl: &Kubectl, manifest: &str) -> Result<String> {
    let columns = "custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion";
    kubectl
        .run(&format!("get -f - -o {columns}"), manifest)
        .await
}

async fn has_no_difference(kubectl: &Kubectl, diff: &str, manifest: &str) -> Result<()> {
    let printed = kubectl.try_run(diff, manifest).await?;
    ensure!(
        printed.code == Some(0) && printed.stdout.is_empty(),
        "kubectl {diff}: {printed:?}"
    );
    Ok(())
}

/// Checks that the namespace accepts the pod, and refuses it without its security context: a label requires that.
async fn has_restricted_pods(cluster: &Cluster) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let template = deployments
        .get(NAME)
        .await?
        .spec
        .context("a spec")?
        .template;
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let try_out = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let mut pod = Pod {
        metadata: template.metadata.unwrap_or_default(),
        spec: template.spec,
        ..Pod::default()
    };
    pod.metadata.name = Some(NAME.to_owned());
    pods.create(&try_out, &pod).await?;
    pod.spec.get_or_insert_default().security_context = None;
    match pods.create(&try_out, &pod).await {
        Err(kube::Error::Api(status)) if status.message.contains("violates PodSecurity") => Ok(()),
        answer => bail!("without a security context: {answer:?}"),
    }
}
