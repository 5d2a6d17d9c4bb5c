//! Ten thousand replacements of the snapshot in a server under load.
//!
//! The figures are those of a process, so this is a separate target with a single test.
//!
//! Catalogs `a` and `b` have different contents, and catalog `asked` has the digest of one of them, then that of the
//! other. Contents are shared, so each event replaces the snapshot without a fetch. In each round, `a` gets a new
//! content, which is fetched.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there; a field of JSON that is missing is null"
)]

mod swapping {
    pub(crate) mod guarded;
    pub(crate) mod world;
}

use olmguard_support::load::figures::Figures;
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
/// By then, every buffer has reached its size.
const WARM: u64 = 2_000;
const SWAPS: u64 = 10_000;
/// This includes the records of the load, four bytes per answer. A leaked snapshot per replacement would be ten times
/// more.
const MOST_GROWN: usize = 1 << 20;
