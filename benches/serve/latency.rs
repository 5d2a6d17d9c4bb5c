//! Latency at a fixed rate, from the moment a request was due. It includes the error of the
//! client's timer, whose resolution is a millisecond.

use std::time::Duration;

use olmguard_figures::{Aim, Figure, Unit};
use olmguard_support::load::fleet::Rate;
use olmguard_support::load::questions::Question;

use super::process::Process;
use super::server::Mode;
use crate::run::Run;
use crate::world::World;

pub(crate) async fn measure(run: &Run, world: &World) {
    let judge = Process::start(Mode::Judge, world);
    let [allowed, ..] = world.questions();
    let constant = Process::constant(&judge, &allowed, world).await;
    for question in world.questions() {
        measure_one(run, &judge, &question, question.name).await;
    }
    measure_one(run, &constant, &allowed, "constant").await;
}

async fn measure_one(run: &Run, process: &Process, question: &Question, name: &str) {
    let fleet = process.fleet(question, CONNECTIONS, Rate::PerSecond(RATE));
    drop(fleet.run_for(run.time(WARM_UP)).await);
    let mut figures = fleet.run_for(run.time(ROUND)).await;
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    assert!(figures.answered > 0, "it answers");
    for (percentile, per_mille) in [("p50", 500), ("p99", 990), ("p99.9", 999)] {
        let milliseconds = figures.latency(per_mille).as_secs_f64() * 1e3;
        let row = format!("{name}: {percentile} at 2,000 requests/s");
        run.note(&Figure {
            aim: (per_mille == 990).then_some(Aim::AtMost(5.0)),
            ..run.figure(row, Unit::Milliseconds, milliseconds)
        });
    }
}

const RATE: u32 = 2000;
const CONNECTIONS: u32 = 32;
const WARM_UP: Duration = Duration::from_secs(1);
const ROUND: Duration = Duration::from_secs(10);
