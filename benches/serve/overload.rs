//! Ten times as many edits as slow workers can check: the delay of the answers, and the memory.

use std::time::Duration;

use olmguard_figures::{Aim, Figure, Unit};
use olmguard_support::load::fleet::Rate;

use super::process::Process;
use super::server::{CAPACITY, Mode};
use crate::process::mib;
use crate::run::Run;
use crate::world::World;

pub(crate) async fn measure(run: &Run, world: &World) {
    let [allowed, ..] = world.questions();
    let process = Process::start(Mode::Slow, world);
    let connections = if run.is_smoke {
        CONNECTIONS / 10
    } else {
        CONNECTIONS
    };
    let mut fleet = process.fleet(&allowed, connections, Rate::PerSecond(10 * CAPACITY));
    fleet.marked = Some(r#""token":"Overloaded""#);
    drop(fleet.run_for(run.time(WARM_UP)).await);
    let before = process.kib("VmRSS");
    let mut figures = fleet.run_for(run.time(ROUND)).await;
    let after = process.kib("VmRSS");
    assert_eq!(
        figures.failed(),
        0,
        "every answer is valid: {:?}",
        figures.failures
    );
    assert!(figures.marked > 0, "some are refused");
    assert!(figures.marked < figures.answered, "some are checked");
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let [answered, overloaded] = [figures.answered, figures.marked].map(|count| count as f64);
    let count = |row: &str, count| run.note(&run.figure(row, Unit::Count, count));
    count(
        "1,000 requests/s, two workers that take 20 ms: answered, all valid",
        answered,
    );
    count("of these immediately undecided, Overloaded", overloaded);
    run.note(&Figure {
        aim: Some(Aim::AtMost(4.5)),
        ..run.figure(
            "p99 of all these answers",
            Unit::Seconds,
            figures.latency(990).as_secs_f64(),
        )
    });
    let memory = |row: &str, kib| run.note(&run.figure(row, Unit::MiB, mib(kib)));
    memory("memory before", before);
    memory("memory after", after);
}

/// Enough connections that each is answered before its next turn.
const CONNECTIONS: u32 = 1000;
const WARM_UP: Duration = Duration::from_secs(3);
const ROUND: Duration = Duration::from_secs(30);
