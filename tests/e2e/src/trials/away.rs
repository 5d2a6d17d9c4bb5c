//! Outages of programs while users work, and the death of a pod.
//!
//! While the API server or etcd is away, no one can edit, and a lost call says nothing about the webhook. So users stop
//! before the outage and start again when the API server reports that it is ready. In between, the webhook is called
//! through the address of its Service, as an API server calls it. None of these calls may fail.

pub(super) mod ballast;
mod replicas;
mod scene;
mod series;
mod vigil;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::time::sleep;

use super::work;
use crate::cluster::Cluster;
use crate::say::say;
use scene::Scene;
use series::Since;
use vigil::Vigil;

/// The API server is killed and started again.
pub(crate) async fn the_api_server_is_restarted(cluster: &mut Cluster) -> Result<()> {
    let since = Since::now()?;
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let reviews = scene.reviews(cluster).await?;
    some_calls(cluster, "before").await?;
    cluster.api.restart().await?;
    cluster.ready().await?;
    replicas::have_lost_it(&scene.guard).await?;
    some_calls(cluster, "once the API server is back").await?;
    work::end("reviews all the while", reviews).await?;
    follows_again(cluster, &mut scene).await?;
    vigil.end("the API server away").await?;
    since.have_moved(&scene.guard).await?;
    scene.guard.down().await
}

/// etcd stops for 20 s in real time. The trial shows that an outage of this length is survived, so no condition can end
/// it earlier.
pub(crate) async fn etcd_is_stopped(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let reviews = scene.reviews(cluster).await?;
    some_calls(cluster, "before").await?;
    cluster.etcd.stop().await?;
    sleep(Duration::from_secs(20)).await;
    cluster.etcd.start_again()?;
    cluster.ready().await?;
    some_calls(cluster, "once etcd is back").await?;
    work::end("reviews all the while", reviews).await?;
    follows_again(cluster, &mut scene).await?;
    vigil.end("etcd away").await?;
    scene.guard.down().await
}

/// catalogd is killed, and edits are checked against the loaded content. It comes back with other content, and edits
/// are then checked against that.
pub(crate) async fn catalogd_is_killed(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let mut work = scene.work(cluster).await?;
    scene.olm.catalogd.kill().await?;
    work.load.go_on(250).await?;
    scene.followed("while catalogd is away", BOUND).await?;
    work.end(cluster, "while catalogd is away").await?;
    let mut work = work::begin_while_it_changes(cluster).await?;
    scene.olm.catalogd.start_again().await?;
    scene.change(cluster, "").await?;
    scene
        .followed("catalogd back, other content", BOUND)
        .await?;
    work.load.go_on(100).await?;
    work.end(cluster, "while it comes back").await?;
    vigil.end("catalogd away").await?;
    scene.guard.down().await
}

/// catalogd is killed while every replica reads new content. The package of the extension is the last in it, so half of
/// the content would not have it. Until all of the new content is loaded, edits are allowed by the old content, and not
/// denied. Loading starts when catalogd serves it again, even if the next attempt was due much later.
pub(crate) async fn catalogd_is_killed_in_mid_body(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let mut work = work::begin_while_it_changes(cluster).await?;
    scene.change(cluster, &ballast::of(BODY)).await?;
    replicas::read(&scene.guard).await?;
    scene.olm.catalogd.kill().await?;
    replicas::are_cut_off(&scene.guard).await?;
    work.load.go_on(100).await?;
    scene.is_outdated("a body cut off", BOUND).await?;
    replicas::have_tried(&scene.guard, 5.0).await?;
    let unpacked = scene.unpacked(cluster).await?;
    scene.olm.catalogd.start_again().await?;
    scene.is_unpacked_after(cluster, unpacked).await?;
    let begun = Instant::now();
    replicas::read(&scene.guard).await?;
    let reading = begun.elapsed();
    replicas::catch_up(&scene.guard).await?;
    say(format_args!(
        "catalogd serves again: read after {} ms, held after {} ms",
        reading.as_millis(),
        begun.elapsed().as_millis()
    ));
    ensure!(reading < AT_ONCE, "nobody read it for {reading:?}");
    scene.followed("the whole body", BOUND).await?;
    work.end(cluster, "calls all the while").await?;
    vigil.end("catalogd away in mid-body").await?;
    scene.guard.down().await
}

/// One of three pods is killed, as when a node dies. Until the Service notices, it still uses that pod, and a call may
/// be lost. No later call may be lost.
pub(crate) async fn a_pod_is_killed(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let mut load = scene.work(cluster).await?.load;
    load.go_on(100).await?;
    let killed = Instant::now();
    scene.guard.kill_oldest().await?;
    let noticed = Instant::now();
    load.go_on(150).await?;
    scene.guard.add().await?;
    scene.guard.ready().await?;
    load.go_on(50).await?;
    let counts = load.count().await?;
    let (asked, failed) = (counts.asked, counts.wrong.len());
    say(format_args!(
        "a pod killed: {failed} of {asked} calls failed, all of them made in the {:.1?} until it was noticed",
        noticed - killed
    ));
    let late = counts.wrong.iter().filter(|wrong| wrong.asked > noticed);
    ensure!(late.count() == 0, "{:#?}", counts.wrong);
    scene.guard.down().await
}

/// Twice the promised time, which is a second.
const BOUND: Duration = Duration::from_secs(2);

/// Less than the rest of the pause, which is 8 s or more after six failures.
const AT_ONCE: Duration = Duration::from_secs(5);

/// The size in bytes of a catalog that takes long enough to be cut off.
const BODY: usize = 16 << 20;

async fn some_calls(cluster: &Cluster, what: &str) -> Result<()> {
    let mut work = work::begin_again(cluster).await?;
    work.load.go_on(150).await?;
    work.end(cluster, what).await
}

/// The watches of all replicas are restarted, and changes are followed as before.
async fn follows_again(cluster: &Cluster, scene: &mut Scene) -> Result<()> {
    let begun = Instant::now();
    replicas::watch(&scene.guard).await?;
    say(format_args!(
        "watches are there {} ms later",
        begun.elapsed().as_millis()
    ));
    scene.change(cluster, "").await?;
    scene.followed("other content then", BOUND).await
}
