//! Rolling restarts of three replicas while people work: no call fails.

use anyhow::Result;

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
