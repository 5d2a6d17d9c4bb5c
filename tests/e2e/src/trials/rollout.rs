//! Rolling restarts of three replicas while people work: no call fails.

use anyhow::{Result, ensure};

use super::work;
use crate::cluster::Cluster;

pub(crate) async fn five_restarts_lose_no_call(cluster: &mut Cluster) -> Result<()> {
    let mut guard = work::hardened(cluster).await?;
    let load = work::begin(cluster).await?;
    for _ in 0..5 {
        guard.restart().await?;
    }
    work::end("5 restarts of 3 replicas", load).await?;
    guard.down().await
}

/// The delay is the one that the program has where nothing is said.
pub(crate) async fn a_restart_with_the_usual_delay_loses_no_call(
    cluster: &mut Cluster,
) -> Result<()> {
    let usual = [("OLMGUARD_SHUTDOWN_DELAY", "10s")];
    let mut guard = work::hardened_with(cluster, &usual).await?;
    let load = work::begin(cluster).await?;
    guard.restart().await?;
    work::end("a restart with the usual delay", load).await?;
    guard.down().await
}

/// What the others would look like if calls were lost: nobody takes the place of the last pod, and the
/// Service does not notice.
pub(crate) async fn a_call_that_is_lost_is_noticed(cluster: &mut Cluster) -> Result<()> {
    let mut guard = work::hardened(cluster).await?;
    let mut load = work::begin(cluster).await?;
    guard.service.look_away().await;
    for pod in guard.pods {
        pod.kill().await?;
    }
    load.fail().await?;
    let ended = load.stop().await;
    ensure!(ended.is_err(), "nothing failed: {ended:?}");
    Ok(())
}
