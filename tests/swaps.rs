//! Ten thousand snapshots that take each other's place under a server that is asked all the while.
//!
//! A target of its own, with one test: the figures are those of a process.
//!
//! Catalogs `a` and `b` hold different content, and catalog `asked` names the digest of the one, then
//! that of the other: content is shared, so that each event swaps what edits are judged by without a
//! fetch. In each round `a` is given content that never was, which is fetched.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there; a field of JSON that is missing is null"
)]

mod apiserver {
    #[expect(dead_code, reason = "no object is ever read")]
    pub(crate) mod objects;
}
mod catalogd {
    #[expect(dead_code, reason = "nothing goes wrong here")]
    pub(crate) mod answer;
    #[expect(dead_code, reason = "what it was asked is known")]
    pub(crate) mod scripted;
}
mod common {
    #[expect(dead_code, reason = "requests here are of another kind")]
    pub(crate) mod https;
}
mod load {
    #[expect(dead_code, reason = "how soon is of no interest here")]
    pub(crate) mod figures;
    #[expect(dead_code, reason = "the load is of one kind")]
    pub(crate) mod fleet;
    pub(crate) mod review;
    #[expect(dead_code, reason = "connections are opened by a fleet")]
    pub(crate) mod wire;
}
#[path = "../src/cluster/tests"]
mod scripted {
    #[expect(dead_code, reason = "it serves nothing here")]
    pub(crate) mod api;
}
mod swapping {
    pub(crate) mod guarded;
    pub(crate) mod world;
}

use load::figures::Figures;
use peak_alloc::PeakAlloc;
use swapping::world::World;
use tokio::sync::watch;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_swaps_under_load_lose_nothing_and_keep_nothing() {
    let mut world = World::begin().await;
    let (stop, stopped) = watch::channel(());
    let fleet = world.guarded.fleet(CONNECTIONS);
    let load = tokio::spawn(async move { fleet.run_until(stopped).await });

    world.swap_until(WARM).await;
    let warm = ALLOCATOR.current_usage();
    world.swap_until(SWAPS).await;
    let grown = ALLOCATOR.current_usage().saturating_sub(warm);

    drop(stop);
    let figures = load.await.unwrap();
    all_well(&figures);
    assert!(grown < MOST_GROWN, "{grown} bytes more");
    world.nothing_old_is_held().await;
    println!(
        "{} swaps, {} fetches, {} answers, {grown} bytes more",
        world.guarded.swaps(),
        world.fetches(),
        figures.answered
    );
}

#[track_caller]
fn all_well(figures: &Figures) {
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    assert_eq!((figures.reconnected, figures.sent_twice), (0, 0));
    let by_a = figures.marked;
    assert!(by_a > 0 && by_a < figures.answered, "both were judged by");
}

const CONNECTIONS: u32 = 4;
/// Every buffer has found its size by then.
const WARM: u64 = 2_000;
const SWAPS: u64 = 10_000;
/// What the load notes of its answers is in it, four bytes for each; a snapshot for each swap would be
/// ten times more.
const MOST_GROWN: usize = 1 << 20;
