//! The state of every replica, according to its own metrics and files.

use std::fs::{self, DirEntry};
use std::path::Path;

use anyhow::Result;

use crate::deployment::Deployment;
use crate::pod::Pod;
use crate::until::until;

/// Waits until all watches are in sync.
pub(super) async fn watch(guard: &Deployment) -> Result<()> {
    all(guard, "a pod's watches to be there", Pod::is_watching).await
}

/// Waits until they have noticed that the API server is away.
pub(super) async fn have_lost_it(guard: &Deployment) -> Result<()> {
    let faults = async |pod: &Pod| pod.metric_sum(FAULTS, CATALOGS).await;
    all(guard, "a pod to lose the API server", async |pod| {
        faults(pod).await.is_ok_and(|faults| faults >= 1.0)
    })
    .await
}

/// Waits until they read a body: their cache has an incomplete entry.
pub(super) async fn read(guard: &Deployment) -> Result<()> {
    let reads = async |pod: &Pod| has_partial(&pod.folder(CACHE));
    all(guard, "a pod to read the body", reads).await
}

/// Waits until they have noticed that the body ended early.
pub(super) async fn are_cut_off(guard: &Deployment) -> Result<()> {
    let ends = async |pod: &Pod| pod.metric_sum(FAILURES, r#"class="truncated""#).await;
    all(guard, "a pod to notice the end", async |pod| {
        ends(pod).await.is_ok_and(|ends| ends >= 1.0)
    })
    .await
}

/// Waits until so many attempts have failed that the next one is some time away.
pub(super) async fn have_tried(guard: &Deployment, times: f64) -> Result<()> {
    let failures = async |pod: &Pod| pod.metric_sum(FAILURES, r#"class="connect""#).await;
    all(guard, "a pod to try again", async |pod| {
        failures(pod).await.is_ok_and(|failures| failures >= times)
    })
    .await
}

/// Waits until they have loaded the content in the catalogs' status.
pub(super) async fn catch_up(guard: &Deployment) -> Result<()> {
    let behind = async |pod: &Pod| pod.metric_sum(BEHIND, "").await.ok();
    all(guard, "a pod to catch up", async |pod| {
        behind(pod).await == Some(0.0)
    })
    .await
}

const CACHE: &str = "/var/cache/olmguard";
const FAULTS: &str = "olmguard_watch_errors_total";
const CATALOGS: &str = r#"resource="clustercatalogs""#;
const FAILURES: &str = "olmguard_catalog_load_errors_total";
const BEHIND: &str = "olmguard_catalog_newer_known";

async fn all(guard: &Deployment, what: &str, is_so: impl AsyncFn(&Pod) -> bool) -> Result<()> {
    for pod in &guard.pods {
        until(what, async || is_so(pod).await.then_some(())).await?;
    }
    Ok(())
}

fn has_partial(folder: &Path) -> bool {
    let is_partial = |file: DirEntry| file.path().extension() == Some("partial".as_ref());
    fs::read_dir(folder).is_ok_and(|files| files.flatten().any(is_partial))
}
