//! One replica's clock is wrong, and no other is worse for it.

use std::time::Duration;

use super::world::World;
use crate::tls::Certificates;

const DAY: i64 = 24 * 60 * 60;
const OFTEN: Duration = Duration::from_secs(20);

/// Clients connect to these all the time, for so long.
async fn connect_for(minutes: u64, world: &World, replicas: &[Certificates], what: &str) {
    for at in 0..minutes * 3 {
        tokio::time::sleep(OFTEN).await;
        let minute = at / 3;
        let what = format!("{what}, minute {minute}");
        world.all_connect(replicas, &what).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_ahead_takes_nothing_away_that_others_serve() {
    let world = World::new();
    let (first, second) = (
        world.replica().await.unwrap(),
        world.replica().await.unwrap(),
    );
    let ahead = world.other_clock(0);
    let _third = world.replica_with(&ahead).await.unwrap();
    let mut right = vec![first.0, second.0];
    for clock in [&world.clock, &ahead] {
        clock.jump(244 * DAY);
    }
    // What they served has expired at once.
    tokio::time::sleep(Duration::from_mins(1)).await;
    connect_for(3, &world, &right, "both are there").await;
    assert_eq!(world.store.authorities(), 2);
    ahead.jump(8 * DAY);
    connect_for(20, &world, &right, "one is ahead").await;
    right.push(world.replica().await.unwrap().0);
    // It knows nothing better than the old one yet, and says so: that is heard for an hour.
    connect_for(80, &world, &right, "one has started").await;
    assert_eq!(world.store.authorities(), 1, "it was announced");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_behind_makes_no_other_sign_too_early() {
    let world = World::new();
    let mut right = vec![world.replica().await.unwrap().0];
    connect_for(10, &world, &right, "alone").await;
    let behind = world.other_clock(-8 * DAY);
    let _wrong = world.replica_with(&behind).await.unwrap();
    assert_eq!(world.store.authorities(), 2, "it has one of its own");
    right.push(world.replica().await.unwrap().0);
    connect_for(40, &world, &right, "one is behind").await;
    behind.jump(8 * DAY);
    connect_for(40, &world, &right, "none is behind").await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_leaves_the_others_what_they_sign_with() {
    const JUMPS: [i64; 7] = [8, 8, 400, 400, 800, -30, -400];
    for seed in 0..2 {
        let mut random = fastrand::Rng::with_seed(seed);
        let world = World::new();
        let mut right = vec![world.replica().await.unwrap().0];
        right.push(world.replica().await.unwrap().0);
        let jumping = world.other_clock(0);
        let (wrong, _) = world.replica_with(&jumping).await.unwrap();
        let (mut ahead, mut most) = (0, 0);
        for step in 0..40 {
            let jump = JUMPS[random.usize(..JUMPS.len())];
            jumping.jump(jump * DAY);
            ahead += jump;
            connect_for(6, &world, &right, &format!("seed {seed} step {step}")).await;
            most = most.max(world.store.authorities());
        }
        assert_eq!(most, 8, "there was no more room");
        jumping.jump(-ahead * DAY);
        connect_for(40, &world, &right, "mended").await;
        right.push(wrong);
        world.all_connect(&right, "mended").await;
    }
}
