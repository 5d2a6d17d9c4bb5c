//! Somebody changes what an authority is kept in: it is noticed at once, where it may be watched.

use std::time::Duration;

use hyper::{Method, StatusCode};
use tokio::time::Instant;

use super::replicas::{A_LOOK, bundle, replica};
use super::scene::{CONFIGURATIONS, SECRETS, asked, cluster, configuration, content};
use crate::tls::self_managed::tests::world::World;
use olmguard_support::api::Trouble;

const AT_ONCE: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn what_is_taken_away_is_put_back_at_once() {
    let (api, world) = (cluster(), World::new());
    let _replica = replica(&api, &world).await.unwrap();
    tokio::time::sleep(A_LOOK).await;
    let (trusted, kept) = (bundle(&api), content(&api));
    api.put(CONFIGURATIONS, configuration());
    tokio::time::sleep(AT_ONCE).await;
    assert_eq!(bundle(&api), trusted);
    api.delete(SECRETS, "olmguard-tls");
    tokio::time::sleep(AT_ONCE).await;
    assert_eq!(content(&api), kept);
}

#[tokio::test(start_paused = true)]
async fn a_new_authority_is_shown_once_api_servers_have_had_time_to_know_it() {
    let (api, world) = (cluster(), World::new());
    let start = Instant::now();
    let _first = replica(&api, &world).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(2));
    tokio::time::sleep(A_LOOK).await;
    let start = Instant::now();
    let _second = replica(&api, &world).await.unwrap();
    assert!(
        start.elapsed() < AT_ONCE,
        "an authority that is known needs no time"
    );
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_watch_it_is_looked_for() {
    let (api, world) = (cluster(), World::new());
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.is_watch() || asked.param("fieldSelector").is_some()
    });
    let _replica = replica(&api, &world).await.unwrap();
    let trusted = bundle(&api);
    api.put(CONFIGURATIONS, configuration());
    tokio::time::sleep(A_LOOK).await;
    assert_eq!(bundle(&api), trusted);
}

#[tokio::test(start_paused = true)]
async fn whoever_changes_it_all_the_time_is_not_followed_faster() {
    let (api, world) = (cluster(), World::new());
    let _replica = replica(&api, &world).await.unwrap();
    tokio::time::sleep(A_LOOK).await;
    let before = asked(&api, &Method::PATCH, CONFIGURATIONS);
    for _ in 0..1000 {
        api.put(CONFIGURATIONS, configuration());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let patches = asked(&api, &Method::PATCH, CONFIGURATIONS) - before;
    assert!((2..=20).contains(&patches), "{patches} in ten seconds");
    tokio::time::sleep(AT_ONCE).await;
    // So a renewal asks; who watches asks for a list.
    let renewal = format!("{SECRETS}/olmguard-tls");
    let before = asked(&api, &Method::GET, &renewal);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let looks = asked(&api, &Method::GET, &renewal) - before;
    assert!(looks <= 1, "{looks} in ten seconds of quiet");
}
