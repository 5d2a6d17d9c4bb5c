//! Rolling restarts of three replicas while users work: no call fails.

use anyhow::{Context, Result, ensure};
use kube::api::DeleteParams;

use super::work::{self, CATALOG, Site};
use crate::cluster::Cluster;
use crate::olm::{await_no_catalog, catalog};

/// Connections that are idle for the whole delay are closed. A longer delay leaves fewer connections, so fewer calls
/// can be lost.
pub(crate) async fn five_restarts_lose_no_call(cluster: &mut Cluster) -> Result<()> {
    let delay = [("OLMGUARD_SHUTDOWN_DELAY", "3s")];
    let mut site = Site::hardened_with(cluster, &delay).await?;
    let mut work = work::begin(cluster).await?;
    for _ in 0..5 {
        site.guard.restart().await?;
        work.load.go_on(SOME).await?;
    }
    let ended = work.end(cluster, "5 restarts of 3 replicas").await;
    ended.with_context(|| site.guard.service.turned_away())?;
    site.guard.down().await
}

/// This uses the default delay of the program.
pub(crate) async fn a_restart_with_the_usual_delay_loses_no_call(
    cluster: &mut Cluster,
) -> Result<()> {
    let usual = [("OLMGUARD_SHUTDOWN_DELAY", "10s")];
    let mut site = Site::hardened_with(cluster, &usual).await?;
    let mut work = work::begin(cluster).await?;
    site.guard.restart().await?;
    work.load.go_on(SOME).await?;
    let ended = work.end(cluster, "a restart with the usual delay").await;
    ended.with_context(|| site.guard.service.turned_away())?;
    site.guard.down().await
}

/// This shows how the other trials would fail if replicas answered without the catalog, or if calls were lost: the
/// catalog is removed, and then the pods end and the Service does not notice.
pub(crate) async fn a_call_that_is_lost_is_noticed(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::hardened(cluster).await?;
    let mut load = work::begin(cluster).await?.load;
    load.go_on(SOME).await?;
    catalog::api(cluster)
        .delete(CATALOG, &DeleteParams::default())
        .await?;
    await_no_catalog(cluster, CATALOG).await?;
    load.fail().await?;
    let counts = load.count().await?;
    let mut wrong = counts.wrong.iter();
    let undecided = wrong.all(|wrong| wrong.what.contains(" undecided: "));
    ensure!(undecided, "{:#?}", counts.wrong);

    let hub = work::hub("", &work::FIRST);
    site.olm.serve(cluster, &hub).await?;
    site.guard.restart().await?;
    let mut load = work::begin_again(cluster).await?.load;
    site.guard.service.look_away().await;
    for pod in site.guard.pods {
        pod.kill().await?;
    }
    load.fail().await?;
    let ended = load.stop().await;
    ensure!(ended.is_err(), "nothing failed: {ended:?}");
    Ok(())
}

/// Enough calls to reach every pod many times.
const SOME: usize = 50;
