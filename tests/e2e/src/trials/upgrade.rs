//! Upgrades from one olmguard to another.

mod build;
mod delivery;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::work::{self, CATALOG, Site};
use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME};
use crate::say::say;
use crate::until::until;

pub(crate) use delivery::of_what_olm_has_installed;

/// Three replicas are upgraded to another build of the same version, and back, while users work. Each time, one of the
/// new pods finds the cache of the previous build and reads it.
pub(crate) async fn to_another_build_and_back(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::hardened(cluster).await?;
    let first = fs::canonicalize(&site.guard.setting.program)?;
    let other = fs::canonicalize(assets::other_guard()?)?;
    build::differ(&first, &other).await?;
    let mut work = work::begin(cluster).await?;
    for (program, left, finds) in [(other, 0, 3), (first, 3, 6)] {
        site.guard.setting.program.clone_from(&program);
        cached(cluster, left).await?;
        copy(&folder(cluster, left), &folder(cluster, finds))?;
        site.guard.restart().await?;
        all_run(&site.guard, &program)?;
        reads_the_cache(&site.guard, &program).await?;
        work.load.go_on(SOME).await?;
    }
    work.end(cluster, "another build and the way back").await?;
    site.guard.down().await
}

/// Enough calls to reach every pod many times.
const SOME: usize = 50;

/// Waits until a pod has written its cache, which happens after it has started to answer.
async fn cached(cluster: &Cluster, pod: usize) -> Result<()> {
    let folder = folder(cluster, pod);
    until("a catalog in the cache", async || {
        let mut files = fs::read_dir(&folder).ok()?.flatten();
        files
            .any(|file| file.path().extension().is_some_and(|end| end == "zst"))
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

/// Checks that the first of the new pods has read the catalog from its cache.
async fn reads_the_cache(guard: &Deployment, program: &Path) -> Result<()> {
    let pod = guard.pods.first().context("there is a pod")?;
    let bundles = pod.metric_sum("olmguard_catalog_bundles", CATALOG).await?;
    ensure!(bundles > 2.5, "{bundles} bundles");
    let log = pod.log();
    let loaded = log.lines().find(|line| line.contains("Loaded catalog"));
    let loaded = loaded.with_context(|| log.clone())?;
    ensure!(loaded.contains(r#""from":"cache""#), "{loaded}");
    say(format_args!(
        "{} has read the cache of the other build",
        build::describe(program).await?
    ));
    Ok(())
}

/// Returns the directory that the tests give a pod as its `emptyDir`.
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
