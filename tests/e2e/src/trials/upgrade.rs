//! One olmguard takes the place of another.

mod build;
mod delivery;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::work;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME};
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::until::until;

pub(crate) use delivery::of_what_olm_has_installed;

/// Three replicas go over to another build, and back, while people work; each time one of them finds
/// the cache that the build before has left.
pub(crate) async fn to_another_build_and_back(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let older = fs::canonicalize(&guard.setting.program)?;
    let newer = build::newer(&older, &fs::canonicalize(cluster.dir())?).await?;
    let load = work::begin(cluster).await?;
    for (program, left, finds) in [(newer, 0, 3), (older, 3, 6)] {
        let version = build::version(&program).await?;
        guard.setting.program.clone_from(&program);
        cached(cluster, left).await?;
        copy(&folder(cluster, left), &folder(cluster, finds))?;
        guard.restart().await?;
        all_run(&guard, &program)?;
        takes_over_the_cache(&guard, &version).await?;
    }
    work::end("an upgrade and the way back", load).await?;
    guard.down().await
}

/// Waits until a pod has written its cache, which it does after it has begun to answer.
async fn cached(cluster: &Cluster, pod: usize) -> Result<()> {
    let folder = folder(cluster, pod);
    until("a catalog in the cache", async || {
        let mut files = fs::read_dir(&folder).ok()?.flatten();
        files
            .any(|file| file.path().extension().is_some_and(|end| end == "catalog"))
            .then_some(())
    })
    .await
}

fn all_run(guard: &Deployment, program: &Path) -> Result<()> {
    for pod in &guard.pods {
        let runs = pod.runs()?;
        ensure!(runs == program, "a pod runs {}", runs.display());
    }
    Ok(())
}

/// The first of the new pods: it holds the catalog, whether or not it could read what was there.
async fn takes_over_the_cache(guard: &Deployment, version: &str) -> Result<()> {
    let Some(pod) = guard.pods.first() else {
        anyhow::bail!("there is no pod");
    };
    let bundles = pod.metric_sum("olmguard_catalog_bundles", "hub").await?;
    ensure!(bundles > 3.5, "it holds {bundles} bundles");
    let dropped = pod.log().contains("Dropped a file of the cache");
    let what = if dropped { "dropped" } else { "read" };
    say(format_args!(
        "{version} has {what} the cache of the other build"
    ));
    Ok(())
}

/// What the harness gives a pod as its `emptyDir`.
fn folder(cluster: &Cluster, pod: usize) -> PathBuf {
    cluster.dir().join(format!("{NAME}-{pod}/cache"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}

/// A package of four versions.
const LANTERN: &str = include_str!("texts/lantern.jsonl");
