//! Requests per second, their share of the rate of a constant answer, and the CPU time of the
//! server per request.
//!
//! The client uses only one core, so the server has the other.

use std::time::Duration;

use olmguard_figures::{Aim, Figure, Peer, Unit};
use olmguard_support::load::fleet::Rate;
use olmguard_support::load::questions::Question;

use super::process::Process;
use super::server::Mode;
use crate::run::Run;
use crate::world::World;

/// Runs both servers in turns, so that other load on the machine slows down both.
pub(crate) async fn measure(run: &Run, world: &World) {
    let judge = Process::start(Mode::Judge, world);
    for question in world.questions() {
        let constant = Process::constant(&judge, &question, world).await;
        let mut turns = Vec::new();
        for _ in 0..run.count(ROUNDS, 1) {
            turns.push((
                Round::run(run, &judge, &question).await,
                Round::run(run, &constant, &question).await,
            ));
        }
        turns.sort_unstable_by(|one, other| share(one).total_cmp(&share(other)));
        let (judged, bare) = turns.get(turns.len() / 2).expect("a round");
        note(run, question.name, judged, bare);
    }
}

/// Notes the turn with the median ratio. The aim is about the rate, as a share of the rate of a
/// constant answer.
fn note(run: &Run, name: &str, judged: &Round, bare: &Round) {
    let figure = |row: String, unit: Unit, ours, theirs| Figure {
        peer: Some(Peer {
            name: "the same server answering a constant".to_owned(),
            value: theirs,
            ratio: unit.ratio(ours, theirs),
        }),
        ..run.figure(row, unit, ours)
    };
    run.note(&Figure {
        aim: Some(Aim::Ratio(0.85)),
        ..figure(
            format!("{name}: requests/s"),
            Unit::PerSecond,
            judged.rate,
            bare.rate,
        )
    });
    // The kernel counts CPU time in ticks, and a smoke run may see none.
    if !run.is_smoke {
        let row = format!("{name}: CPU time of the server for each");
        run.note(&figure(row, Unit::Microseconds, judged.cpu, bare.cpu));
    }
}

fn share((judged, bare): &(Round, Round)) -> f64 {
    judged.rate / bare.rate
}

/// The results of one turn.
struct Round {
    /// Requests per second.
    rate: f64,
    /// CPU time of the server per request, in microseconds.
    cpu: f64,
}

impl Round {
    async fn run(run: &Run, process: &Process, question: &Question) -> Self {
        let time = run.time(ROUND);
        let fleet = process.fleet(question, CONNECTIONS, Rate::Closed);
        let before = process.cpu();
        let figures = fleet.run_for(time).await;
        let cpu = process.cpu().saturating_sub(before);
        assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let answered = figures.answered as f64;
        Self {
            rate: answered / time.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / answered,
        }
    }
}

const CONNECTIONS: u32 = 16;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_secs(2);
