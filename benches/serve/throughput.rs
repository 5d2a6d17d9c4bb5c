//! Requests a second, and what share of those of a constant answer that is.

use std::time::Duration;

use crate::bench::catalogs;
use crate::bench::process::Process;
use crate::bench::server::Mode;
use olmguard_support::load::fleet::Rate;

/// The two take turns, so that what else the machine does slows both.
pub(crate) async fn print() {
    let bytes = catalogs::edit().review().len();
    println!(
        "throughput, {CONNECTIONS} connections, reviews of {bytes} bytes, {}",
        catalogs::title()
    );
    let (judge, constant) = (Process::start(Mode::Judge), Process::start(Mode::Constant));
    let mut shares = Vec::new();
    for _ in 0..ROUNDS {
        let (judged, bare) = (round(&judge).await, round(&constant).await);
        println!(
            "  judge {judged:.0}, constant {bare:.0} requests/s: {:.3}",
            judged / bare
        );
        shares.push(judged / bare);
    }
    shares.sort_unstable_by(f64::total_cmp);
    let median = shares.get(ROUNDS / 2).expect("a round");
    println!("  median: {median:.3} (aim: 0.85 or more)");
}

async fn round(process: &Process) -> f64 {
    let figures = process
        .fleet(CONNECTIONS, Rate::Closed)
        .run_for(ROUND)
        .await;
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let answered = figures.answered as f64;
    answered / ROUND.as_secs_f64()
}

const CONNECTIONS: u32 = 16;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_secs(2);
