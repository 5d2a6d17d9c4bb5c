//! The cost of reloads for requests at the same time.
//!
//! The server itself times each decision, from the head of a request to its answer, and logs the time with the answer.
//! The histogram of the metrics starts at half a millisecond, which is too coarse. Both halves of a turn use the same
//! process and the same log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use olmguard_figures::{Aim, Figure, Unit};
use tokio::runtime::Runtime;

use super::cluster::Cluster;
use super::guard::Guard;
use crate::run::Run;
use crate::turns::median;
use crate::world::World;

pub(crate) fn measure(run: &Run, world: &World, runtime: &Runtime) {
    let cluster = runtime.block_on(Cluster::start(world));
    cluster.publish_all();
    let guard = Guard::start(&cluster, None);
    guard.ready(world.names().len());
    round(run, runtime, &guard);
    let (mut quiet, mut busy, mut reloads) = (Vec::new(), Vec::new(), 0);
    for _ in 0..run.count(TURNS, 1) {
        quiet.push(round(run, runtime, &guard));
        let (round, count) = reloading(run, runtime, &guard, &cluster);
        busy.push(round);
        reloads += count;
    }
    assert!(reloads > 0, "catalogs reload");
    let of =
        |rounds: &[Round], value: fn(&Round) -> f64| median(rounds.iter().map(value).collect());
    let note = |row: &str, unit, value, most: Option<f64>| {
        run.note(&Figure {
            aim: most.map(Aim::AtMost),
            ..run.figure(row, unit, value)
        });
    };
    let milliseconds = Unit::Milliseconds;
    for (rounds, when, most) in [
        (&quiet, "without reloads", 0.5),
        (&busy, "with reloads", 1.0),
    ] {
        let row = |percentile| format!("{percentile} of a decision at 2,000 requests/s {when}");
        note(
            &row("p50"),
            milliseconds,
            of(rounds, |round| round.p50),
            None,
        );
        note(
            &row("p99"),
            milliseconds,
            of(rounds, |round| round.p99),
            Some(most),
        );
    }
    let ratios = quiet
        .iter()
        .zip(&busy)
        .map(|(quiet, busy)| busy.p99 / quiet.p99);
    note(
        "the ratio of the two p99",
        Unit::Times,
        median(ratios.collect()),
        Some(1.2),
    );
    note("reloads meanwhile", Unit::Count, f64::from(reloads), None);
}

/// The percentiles of some seconds of load, in milliseconds.
struct Round {
    p50: f64,
    p99: f64,
}

fn round(run: &Run, runtime: &Runtime, guard: &Guard) -> Round {
    let fleet = guard.fleet(CONNECTIONS, RATE);
    let figures = runtime.block_on(fleet.run_for(run.time(ROUND)));
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    let mut took = guard.decisions(figures.answered);
    took.sort_by(f64::total_cmp);
    let at = |percent: usize| *took.get(took.len() * percent / 100).expect("a decision");
    Round {
        p50: at(50),
        p99: at(99),
    }
}

/// Runs a round while one catalog after another reloads. Also returns the number of reloads.
fn reloading(run: &Run, runtime: &Runtime, guard: &Guard, cluster: &Cluster) -> (Round, u32) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reloads = scope.spawn(|| reload_until(&over, guard, cluster));
        let round = round(run, runtime, guard);
        over.store(true, Ordering::Relaxed);
        (round, reloads.join().unwrap())
    })
}

/// Changes one catalog after another until `over` is set, and returns their number.
fn reload_until(over: &AtomicBool, guard: &Guard, cluster: &Cluster) -> u32 {
    let mut reloads = 0;
    while !over.load(Ordering::Relaxed) {
        cluster.change_one();
        guard.loaded_one();
        reloads += 1;
    }
    reloads
}

const RATE: u32 = 2000;
const CONNECTIONS: u32 = 32;
const ROUND: Duration = Duration::from_secs(5);
const TURNS: usize = 5;
