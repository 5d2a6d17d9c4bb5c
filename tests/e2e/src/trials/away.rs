//! Programs that go away while people work, and a pod that dies.
//!
//! While the API server or etcd is away nobody can edit, and a call that is lost there says nothing of
//! the guard. So people stop before it goes and begin again at the moment it says that it is ready; in
//! between the guard is asked by its Service's address, as an API server would ask. Of all these calls
//! none may fail.

mod ballast;
mod replicas;
mod scene;
mod vigil;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::time::sleep;

use super::work;
use crate::cluster::Cluster;
use crate::load::Load;
use crate::say::say;
use scene::Scene;
use vigil::Vigil;

/// It is killed and started again.
pub(crate) async fn the_api_server_is_restarted(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let reviews = scene.reviews(cluster).await?;
    some_calls("before", scene.work()).await?;
    cluster.api.restart().await?;
    cluster.ready().await?;
    replicas::have_lost_it(&scene.guard).await?;
    some_calls("once the API server is back", scene.work()).await?;
    work::end("reviews all the while", reviews).await?;
    follows_again(cluster, &mut scene).await?;
    vigil.end("the API server away").await?;
    scene.guard.down().await
}

/// It stops for 20 s, which are played in full: that an outage of this length is survived is what is to
/// be shown, and there is no condition that ends it.
pub(crate) async fn etcd_is_stopped(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let reviews = scene.reviews(cluster).await?;
    some_calls("before", scene.work()).await?;
    cluster.etcd.stop().await?;
    sleep(Duration::from_secs(20)).await;
    cluster.etcd.start_again()?;
    cluster.ready().await?;
    some_calls("once etcd is back", scene.work()).await?;
    work::end("reviews all the while", reviews).await?;
    follows_again(cluster, &mut scene).await?;
    vigil.end("etcd away").await?;
    scene.guard.down().await
}

/// It is killed; what is held is judged by. It comes back with other content, which is judged by then.
pub(crate) async fn catalogd_is_killed(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let mut load = scene.work();
    scene.olm.catalogd.kill().await?;
    load.go_on(250).await?;
    scene.followed("while catalogd is away", BOUND).await?;
    scene.olm.catalogd.start_again().await?;
    scene.change(cluster, "").await?;
    scene
        .followed("catalogd back, other content", BOUND)
        .await?;
    work::end("calls all the while", load).await?;
    vigil.end("catalogd away").await?;
    scene.guard.down().await
}

/// It is killed while every replica reads new content, in which the extension's package is the last:
/// by half of it the package would not be found. What was held before is judged by until all of the
/// new one was read, which begins when catalogd serves it again, however far off the next try was.
pub(crate) async fn catalogd_is_killed_in_mid_body(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let vigil = Vigil::begin(&scene.guard);
    let mut load = scene.work();
    let before = scene.digest.clone();
    scene.change(cluster, &ballast::of(BODY)).await?;
    replicas::read(&scene.guard).await?;
    scene.olm.catalogd.kill().await?;
    replicas::are_cut_off(&scene.guard).await?;
    load.go_on(100).await?;
    let after = std::mem::replace(&mut scene.digest, before);
    scene.followed("a body cut off", BOUND).await?;
    scene.digest = after;
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
    work::end("calls all the while", load).await?;
    vigil.end("catalogd away in mid-body").await?;
    scene.guard.down().await
}

/// One of three is killed without a word, as on a node that dies. Until that is noticed the Service
/// leads there still, and what it is asked is lost.
pub(crate) async fn a_pod_is_killed(cluster: &mut Cluster) -> Result<()> {
    let mut scene = Scene::set(cluster).await?;
    let mut load = scene.work();
    load.go_on(100).await?;
    let killed = Instant::now();
    scene.guard.kill_oldest().await?;
    load.go_on(150).await?;
    scene.guard.add().await?;
    scene.guard.ready().await?;
    load.go_on(50).await?;
    let counts = load.count().await?;
    let late = counts.wrong.iter().map(|wrong| wrong.asked - killed);
    let late = late.max().unwrap_or_default();
    let (asked, failed) = (counts.asked, counts.wrong.len());
    say(format_args!(
        "a pod killed: {failed} of {asked} calls failed, the last was made {late:?} after"
    ));
    ensure!(late < Duration::from_secs(1), "{:#?}", counts.wrong);
    scene.guard.down().await
}

/// What is promised is a second. People work meanwhile, content is read by a thread of the lowest
/// priority, and the machine may have more to do.
const BOUND: Duration = Duration::from_secs(10);

/// Less than what was left of the pause, which is 8 s or more after six failures.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Bytes of a catalog that takes long enough to be cut off.
const BODY: usize = 16 << 20;

async fn some_calls(what: &str, mut load: Load) -> Result<()> {
    load.go_on(150).await?;
    work::end(what, load).await
}

/// The watches of all replicas begin anew, and what changes is followed as before.
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
