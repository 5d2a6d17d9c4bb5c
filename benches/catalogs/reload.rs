//! What reloading costs those who ask meanwhile.
//!
//! A decision is timed by the server itself, from the head of a request to its answer, and is written
//! to the log with each answer: the histogram of the metrics begins at half a millisecond, which says
//! too little. Both halves of a turn are of one process, with the same log.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::bench::cluster::Cluster;
use crate::bench::files::NAMES;
use crate::bench::guard::Guard;

pub(crate) fn print(runtime: &Runtime) {
    println!("decisions at {RATE} requests/s while catalogs reload (aim: p99 within 20 %)");
    let cluster = runtime.block_on(Cluster::start());
    cluster.publish_all();
    let guard = Guard::start(&cluster, None);
    guard.ready(NAMES.len());
    round(runtime, &guard);
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        let quiet = round(runtime, &guard);
        let (busy, reloads) = reloading(runtime, &guard, &cluster);
        println!("  {quiet}; with {reloads} reloads {busy}");
        ratios.push(busy.p99 / quiet.p99);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(TURNS / 2).unwrap();
    println!("  p99 with reloads, median of the turns: {median:.2} times that without");
}

/// What some seconds of load came to.
struct Round {
    p50: f64,
    p99: f64,
    client: Duration,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { p50, p99, client } = self;
        write!(
            f,
            "p50 {p50:.3} ms, p99 {p99:.3} ms (the client's p99 {client:?})"
        )
    }
}

fn round(runtime: &Runtime, guard: &Guard) -> Round {
    let fleet = guard.fleet(CONNECTIONS, RATE);
    let mut figures = runtime.block_on(fleet.run_for(ROUND));
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    let mut took = guard.decisions(figures.answered);
    took.sort_by(f64::total_cmp);
    let at = |percent: usize| *took.get(took.len() * percent / 100).unwrap();
    Round {
        p50: at(50),
        p99: at(99),
        client: figures.latency(990),
    }
}

/// The same while one catalog after another reloads, and how many did.
fn reloading(runtime: &Runtime, guard: &Guard, cluster: &Cluster) -> (Round, u32) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reloads = scope.spawn(|| reload_until(&over, guard, cluster));
        let round = round(runtime, guard);
        over.store(true, Ordering::Relaxed);
        (round, reloads.join().unwrap())
    })
}

/// How many catalogs were given other content, one after another, until it was over.
fn reload_until(over: &AtomicBool, guard: &Guard, cluster: &Cluster) -> u32 {
    let mut reloads = 0;
    while !over.load(Ordering::Relaxed) {
        cluster.reload_one(guard);
        reloads += 1;
    }
    reloads
}

const RATE: u32 = 2000;
const CONNECTIONS: u32 = 32;
const ROUND: Duration = Duration::from_secs(5);
const TURNS: usize = 5;
