//! Latency at a fixed rate, from the moment a request was due; the timer of the client, which knows
//! no less than a millisecond, is in it.

use std::time::Duration;

use crate::bench::catalogs::{allowed, questions};
use crate::bench::process::Process;
use crate::bench::server::Mode;
use olmguard_support::load::fleet::Rate;
use olmguard_support::load::questions::Question;

pub(crate) async fn print() {
    println!("latency at {RATE} requests/s over {CONNECTIONS} connections (aim: p99 below 5 ms)");
    let (judge, constant) = (Process::start(Mode::Judge), Process::start(Mode::Constant));
    for question in questions() {
        print_of(&judge, &question, question.name).await;
    }
    print_of(&constant, &allowed(), "constant").await;
}

async fn print_of(process: &Process, question: &Question, name: &str) {
    let fleet = process.fleet(question, CONNECTIONS, Rate::PerSecond(RATE));
    drop(fleet.run_for(WARM_UP).await);
    let mut figures = fleet.run_for(ROUND).await;
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    println!(
        "  {name}: p50 {:?}, p99 {:?}, p99.9 {:?}",
        figures.latency(500),
        figures.latency(990),
        figures.latency(999)
    );
}

const RATE: u32 = 2000;
const CONNECTIONS: u32 = 32;
const WARM_UP: Duration = Duration::from_secs(1);
const ROUND: Duration = Duration::from_secs(10);
