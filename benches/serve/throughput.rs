//! Requests a second, what share of those of a constant answer that is, and what each takes of the
//! server's processors.
//!
//! The client keeps to one core, so that the server has the other.

use std::time::Duration;

use crate::bench::catalogs;
use crate::bench::process::Process;
use crate::bench::server::Mode;
use olmguard_support::load::fleet::Rate;
use olmguard_support::load::questions::Question;

/// The two take turns, so that what else the machine does slows both.
pub(crate) async fn print() {
    println!(
        "throughput, {CONNECTIONS} connections, {}",
        catalogs::title()
    );
    let (judge, constant) = (Process::start(Mode::Judge), Process::start(Mode::Constant));
    for question in catalogs::questions() {
        let mut turns = Vec::new();
        for _ in 0..ROUNDS {
            turns.push((
                Round::run(&judge, &question).await,
                Round::run(&constant, &question).await,
            ));
        }
        turns.sort_unstable_by(|one, other| share(one).total_cmp(&share(other)));
        let (judged, bare) = turns.get(ROUNDS / 2).expect("a round");
        println!(
            "  {}: {:.0} a second, constant {:.0}: {:.3} (aim: 0.85 or more); \
             server's CPU of each {:.1} us, constant {:.1} us; a review has {} bytes",
            question.name,
            judged.rate,
            bare.rate,
            judged.rate / bare.rate,
            judged.cpu,
            bare.cpu,
            question.edit.review().len(),
        );
    }
}

fn share((judged, bare): &(Round, Round)) -> f64 {
    judged.rate / bare.rate
}

/// What one turn came to.
struct Round {
    /// Requests a second.
    rate: f64,
    /// Microseconds of the server's processors, of each request.
    cpu: f64,
}

impl Round {
    async fn run(process: &Process, question: &Question) -> Self {
        let fleet = process.fleet(question, CONNECTIONS, Rate::Closed);
        let before = process.cpu();
        let figures = fleet.run_for(ROUND).await;
        let cpu = process.cpu().saturating_sub(before);
        assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let answered = figures.answered as f64;
        Self {
            rate: answered / ROUND.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / answered,
        }
    }
}

const CONNECTIONS: u32 = 16;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_secs(2);
