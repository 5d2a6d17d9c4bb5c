//! No client ever gets a certificate that it does not trust.

use std::time::Duration;

use super::World;
use crate::tls::Clock;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Long enough for every replica to check the clock.
const A_LOOK: Duration = Duration::from_mins(1);

#[tokio::test(start_paused = true)]
async fn replicas_that_start_together_agree_on_one_authority() {
    for _ in 0..10 {
        let world = World::new();
        let replicas = world.three().await;
        assert_eq!(world.store.authorities(), 1);
        world.all_connect(&replicas, "started").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_far_ahead_renews_within_two_minutes() {
    let world = World::new();
    let replicas = world.three().await;
    let before = replicas
        .each_ref()
        .map(|replica| replica.leaf().serial.clone());
    world.clock.jump(400 * DAY);
    tokio::time::sleep(Duration::from_mins(2)).await;
    let after = replicas
        .each_ref()
        .map(|replica| replica.leaf().serial.clone());
    assert!(before.iter().all(|serial| !after.contains(serial)));
    for replica in &replicas {
        assert_eq!(replica.fitness(world.clock.now()), Ok(()));
    }
    tokio::time::sleep(A_LOOK * 5).await;
    world.all_connect(&replicas, "after the jump").await;
}

#[tokio::test(start_paused = true)]
async fn an_authority_is_replaced_without_a_failed_handshake() {
    let world = World::new();
    let replicas = world.three().await;
    let first = world.store.bundle();
    for day in 1..243 {
        world.clock.jump(DAY);
        world.all_connect(&replicas, "before the look").await;
        tokio::time::sleep(A_LOOK).await;
        assert_eq!(world.store.bundle(), first, "day {day}");
    }
    world.clock.jump(DAY);
    let mut most = 0;
    for minute in 0..30 {
        tokio::time::sleep(Duration::from_secs(30)).await;
        world
            .all_connect(&replicas, &format!("half minute {minute}"))
            .await;
        most = most.max(world.store.authorities());
    }
    assert_eq!(most, 2, "old and new together");
    assert!(world.store.bundle().starts_with(&first));
    for hour in 0..9 * 24 {
        world.clock.jump(HOUR);
        world.all_connect(&replicas, &format!("hour {hour}")).await;
        tokio::time::sleep(A_LOOK).await;
    }
    assert_eq!(world.store.authorities(), 1, "the old one is gone");
    assert_ne!(world.store.bundle(), first);
}

#[tokio::test(start_paused = true)]
async fn a_bundle_that_comes_late_does_not_undo_a_later_one() {
    let world = World::new();
    let replicas = world.three().await;
    // A little less than the time limit of a renewal, and more than the time between two.
    let almost = Duration::from_secs(28);
    let stall = almost + Duration::from_secs(1);
    world.store.with(|shelf| shelf.stall = Some(stall));
    while world.store.with(|shelf| shelf.stall.is_some()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    world.clock.jump(244 * DAY);
    tokio::time::sleep(almost).await;
    assert_eq!(world.store.authorities(), 2, "another replica was faster");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.store.authorities(), 2, "and that was not undone");
    world.all_connect(&replicas, "after the late bundle").await;
}

#[tokio::test(start_paused = true)]
async fn whatever_the_clock_does_what_is_served_is_trusted() {
    const JUMPS: [i64; 9] = [
        0,
        MINUTE,
        HOUR,
        DAY,
        3 * DAY,
        30 * DAY,
        400 * DAY,
        -HOUR,
        -30 * DAY,
    ];
    for seed in 0..4 {
        let mut random = fastrand::Rng::with_seed(seed);
        let world = World::new();
        let replicas = world.three().await;
        for step in 0..60 {
            let jump = JUMPS[random.usize(..JUMPS.len())];
            world.clock.jump(jump);
            // Some checks come before a bundle has reached every client, so wait for that as well.
            tokio::time::sleep(A_LOOK * 6).await;
            world
                .all_connect(&replicas, &format!("seed {seed} step {step} jump {jump}"))
                .await;
            assert!(world.store.authorities() <= 8);
        }
    }
}
