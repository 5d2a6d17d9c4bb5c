//! Latency at a fixed rate, from the moment a request was due; the timer of the client, which knows
//! no less than a millisecond, is in it.

use std::time::Duration;

use crate::bench::process::Process;
use crate::bench::server::Mode;
use olmguard_support::load::fleet::Rate;

pub(crate) async fn print() {
    println!("latency at {RATE} requests/s over {CONNECTIONS} connections (aim: p99 below 5 ms)");
    for mode in [Mode::Judge, Mode::Constant] {
        let process = Process::start(mode);
        let fleet = process.fleet(CONNECTIONS, Rate::PerSecond(RATE));
        drop(fleet.run_for(WARM_UP).await);
        let mut figures = fleet.run_for(ROUND).await;
        assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
        println!(
            "  {}: p50 {:?}, p99 {:?}, p99.9 {:?}",
            mode.as_str(),
            figures.latency(500),
            figures.latency(990),
            figures.latency(999)
        );
    }
}

const RATE: u32 = 2000;
const CONNECTIONS: u32 = 32;
const WARM_UP: Duration = Duration::from_secs(1);
const ROUND: Duration = Duration::from_secs(10);
