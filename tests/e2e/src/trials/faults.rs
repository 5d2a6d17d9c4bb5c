//! Faults while users work: how many of their edits fail, stay undecided or get a wrong answer, and how long it takes
//! until all answers are as before.
//!
//! `cargo xtask faults` runs these trials one by one, and makes a table of their rows. Two replicas serve,
//! `failurePolicy` is `Fail`, and every edit depends on the catalog. A row fails its trial if an answer is wrong, or if
//! an edit fails that no document lists as lost.

mod clock;
mod gate;
mod row;
pub(super) mod site;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::future::join_all;
use tokio::time::sleep;

use super::away::ballast;
use super::policies::policy;
use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::rendered;
use crate::namespace;
use crate::pod::Pod;
use crate::until::until;
use clock::PodClock;
use gate::GateMode;
use row::Lost;
use site::{PROFILE, Site};

/// Faults of the pods.
pub(crate) async fn of_pods(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::set(cluster).await?;
    let mut fault = site.fault(cluster, "one of two replicas is killed").await?;
    fault.begins();
    site.guard.kill_oldest().await?;
    fault.is_over();
    fault.ends(Lost::WhileItLeadsThere).await?;
    site.guard.add().await?;
    site.guard.ready().await?;

    let mut fault = site.fault(cluster, "five rolling restarts").await?;
    fault.begins();
    for _ in 0..5 {
        site.guard.restart().await?;
    }
    fault.is_over();
    fault.ends(Lost::Nothing).await?;
    site.guard.down().await
}

/// Faults of the volumes that the pods write to.
pub(crate) async fn of_disks(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::set(cluster).await?;
    for (name, options) in [
        ("the volume of the cache is full", "size=64k"),
        ("the volume of the cache is read-only", "ro"),
    ] {
        let mut fault = site.fault(cluster, name).await?;
        fault.begins();
        for pod in &site.guard.pods {
            namespace::mount_temporary_with(&pod.folder(CACHE), options)?;
        }
        site.change(cluster, &ballast::of(BODY)).await?;
        site.is_followed(cluster).await?;
        for pod in &site.guard.pods {
            namespace::unmount(&pod.folder(CACHE))?;
        }
        fault.is_over();
        fault.ends(Lost::Nothing).await?;
    }
    site.guard.down().await
}

/// Faults of the clients of the pods.
pub(crate) async fn of_clients(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::set(cluster).await?;
    let reviewer = site.reviewer(cluster).await?;
    let mut fault = site.fault(cluster, "1,000 slow clients").await?;
    fault.begins();
    let open = join_all((0..SLOW_CLIENTS).map(|_| reviewer.begin()));
    // The server may close some of them.
    let open: Vec<_> = open.await.into_iter().flatten().collect();
    fault.goes_on(200).await?;
    drop(open);
    fault.is_over();
    fault.ends(Lost::Nothing).await?;

    let mut fault = site.fault(cluster, "ten times as many edits").await?;
    fault.begins();
    let flood = site.flood(cluster, TIMES).await?;
    fault.goes_on(200).await?;
    flood.end().await?;
    fault.is_over();
    fault.ends(Lost::Nothing).await?;
    site.guard.down().await
}

/// Faults of catalogd, each while it has new content.
pub(crate) async fn of_catalogd(cluster: &mut Cluster) -> Result<()> {
    let (mut site, gate) = Site::behind_a_gate(cluster).await?;
    for (name, mode) in [
        ("catalogd is away", GateMode::Closed),
        ("catalogd is slow: 200 bytes a second", GateMode::Slow),
        (
            "catalogd ends each body in the middle",
            GateMode::Truncating,
        ),
        ("catalogd answers 404", GateMode::NotFound),
        ("catalogd serves an error as a catalog", GateMode::Lying),
    ] {
        let mut fault = site.fault(cluster, name).await?;
        fault.begins();
        gate.is(mode);
        site.change(cluster, "").await?;
        fault.goes_on(200).await?;
        gate.is(GateMode::Open);
        fault.is_over();
        site.is_followed(cluster).await?;
        fault.ends(Lost::Nothing).await?;
    }
    site.guard.down().await
}

/// Faults of the pods' other duties: they watch policies, and one of them audits.
pub(crate) async fn of_duties(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::audited(cluster, Duration::from_secs(30)).await?;
    let kubectl = cluster.kubectl()?;
    kubectl.apply(&policy("faults", "step: Minor")).await?;
    let mut fault = site
        .fault(cluster, "no policy can be listed, and a pod starts")
        .await?;
    fault.begins();
    kubectl
        .run(&format!("delete clusterrolebinding {POLICIES}"), "")
        .await?;
    site.guard.add().await?;
    fault.goes_on(400).await?;
    kubectl.apply(&rendered(PROFILE)?).await?;
    site.guard.ready().await?;
    fault.is_over();
    fault.ends(Lost::Nothing).await?;

    let holder = || kubectl.run(HOLDER, "");
    let mut fault = site.fault(cluster, "the pod that audits is killed").await?;
    let before = holder().await?;
    fault.begins();
    site.guard.kill_holder(&before).await?;
    until("another pod to audit", async || {
        let now = holder().await.ok()?;
        (!now.is_empty() && now != before).then_some(())
    })
    .await?;
    fault.is_over();
    fault.ends(Lost::WhileItLeadsThere).await?;
    site.guard.down().await
}

/// Faults of the control plane. No one can edit then, so the webhook is called through the address of its Service.
pub(crate) async fn of_the_control_plane(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::set(cluster).await?;
    let mut fault = site
        .fault_of_reviews(cluster, "the API server is restarted")
        .await?;
    fault.begins();
    cluster.api.restart().await?;
    cluster.ready().await?;
    fault.is_over();
    fault.ends(Lost::Nothing).await?;

    let mut fault = site
        .fault_of_reviews(cluster, "etcd is stopped for 30 s")
        .await?;
    fault.begins();
    cluster.etcd.stop().await?;
    // The outage must have this length, so no condition ends it earlier.
    sleep(Duration::from_secs(30)).await;
    cluster.etcd.start_again()?;
    cluster.ready().await?;
    fault.is_over();
    fault.ends(Lost::Nothing).await?;
    until("the watches to be there", async || {
        let watching = site.guard.pods.iter().map(Pod::is_watching);
        let watching = join_all(watching).await;
        watching.iter().all(|is| *is).then_some(())
    })
    .await?;
    site.guard.down().await
}

/// Faults of the network: between all programs except the API server and its etcd, and between the Service and the
/// pods.
pub(crate) async fn of_the_network(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::set(cluster).await?;
    let mut fault = site
        .fault(cluster, "three of a hundred packets are lost")
        .await?;
    fault.begins();
    namespace::lose_packets(3, cluster.etcd.port)?;
    fault.goes_on(600).await?;
    site.change(cluster, "").await?;
    site.is_followed(cluster).await?;
    let lost = namespace::lose_no_packets()?;
    fault.is_over();
    ensure!(lost > 0, "no packet was lost");
    fault.ends(Lost::Nothing).await?;

    let mut fault = site
        .fault(cluster, "a packet takes 200 ms to a pod, and 200 ms back")
        .await?;
    fault.begins();
    site.guard.service.is_delayed(DELAY);
    let asked = Instant::now();
    site.reviewer(cluster).await?.ask("1.1.0").await?;
    ensure!(asked.elapsed() >= 2 * DELAY, "nothing was delayed");
    fault.goes_on(600).await?;
    site.guard.service.is_delayed(Duration::ZERO);
    fault.is_over();
    fault.ends(Lost::Nothing).await?;
    site.guard.down().await
}

/// Faults of the time of day in the pods, as if a clock was set to local time. This works only for the program that is
/// linked with a C library.
pub(crate) async fn of_the_clock(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::set(cluster).await?;
    let clock = PodClock::new(cluster.dir(), "clock")?;
    site.guard.setting.program = assets::other_guard()?;
    clock.is_read_by(&mut site.guard.setting)?;
    site.guard.restart().await?;
    for (name, now) in [
        ("the clocks of the pods go 14 hours forward", "+14h"),
        ("the clocks of the pods go 28 hours back", "-14h"),
    ] {
        let mut fault = site.fault(cluster, name).await?;
        fault.begins();
        clock.is(now)?;
        fault.goes_on(200).await?;
        site.change(cluster, "").await?;
        site.is_followed(cluster).await?;
        fault.is_over();
        fault.ends(Lost::Nothing).await?;
    }

    let ahead = PodClock::new(cluster.dir(), "clock-ahead")?;
    ahead.is("+14h")?;
    ahead.is_read_by(&mut site.guard.setting)?;
    let mut fault = site
        .fault(cluster, "a pod starts whose clock is 28 hours ahead")
        .await?;
    fault.begins();
    site.guard.add().await?;
    site.guard.ready().await?;
    let mut made = Vec::new();
    for pod in &site.guard.pods {
        made.push(
            pod.metric_lowest("olmguard_tls_cert_not_before_seconds")
                .await?,
        );
    }
    let differs = made
        .last()
        .zip(made.first())
        .is_some_and(|(last, first)| last - first > APART);
    ensure!(differs, "the clocks of all pods are the same: {made:?}");
    fault.goes_on(200).await?;
    fault.is_over();
    fault.ends(Lost::Nothing).await?;
    site.guard.down().await
}

/// The minimum difference in seconds between the clocks of two pods.
const APART: f64 = 10.0 * 3600.0;

/// The delay of a packet in each direction.
const DELAY: Duration = Duration::from_millis(200);

/// The binding with the right to list policies, and the lease of the pod that audits.
const POLICIES: &str = "olmguard-policies";

const HOLDER: &str =
    "get lease olmguard-policies -n olmguard-system -o jsonpath={.spec.holderIdentity}";

const CACHE: &str = "/var/cache/olmguard";

/// The size in bytes of a catalog that does not fit on the volume.
const BODY: usize = 4 << 20;

const SLOW_CLIENTS: usize = 1000;

/// The factor by which the flood exceeds the edits of users.
const TIMES: usize = 10;
