//! Ten times as many edits as a slow judge can judge: how late the answers are, and what memory does.

use std::time::Duration;

use crate::bench::catalogs::allowed;
use crate::bench::process::Process;
use crate::bench::server::{CAPACITY, Mode, SLOW, WORKERS};
use olmguard_support::load::fleet::Rate;

pub(crate) async fn print(time: Duration) {
    let rate = 10 * CAPACITY;
    println!("overload, {rate} requests/s for {time:?}, {WORKERS} workers that take {SLOW:?} each");
    let process = Process::start(Mode::Slow);
    let mut fleet = process.fleet(&allowed(), CONNECTIONS, Rate::PerSecond(rate));
    fleet.marked = Some(r#""token":"Overloaded""#);
    drop(fleet.run_for(WARM_UP).await);
    let before = process.kib("VmRSS");
    let mut figures = fleet.run_for(time).await;
    let after = process.kib("VmRSS");
    assert_eq!(
        figures.failed(),
        0,
        "every answer is valid: {:?}",
        figures.failures
    );
    assert!(figures.marked > 0, "some are refused");
    assert!(figures.marked < figures.answered, "some are judged");
    let (p50, p99) = (figures.latency(500), figures.latency(990));
    println!(
        "  {} answered, {} of them Overloaded; p50 {p50:?}, p99 {p99:?} (aim: below 4.5 s)",
        figures.answered, figures.marked
    );
    println!("  memory: {before} -> {after} KiB");
}

/// Enough for each to be answered before its next turn.
const CONNECTIONS: u32 = 1000;
const WARM_UP: Duration = Duration::from_secs(3);
