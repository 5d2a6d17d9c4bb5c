//! What a server takes of memory that holds all five, and while they reload.

use std::time::Duration;

use tokio::runtime::Runtime;

use crate::bench::cluster::Cluster;
use crate::bench::files::NAMES;
use crate::bench::guard::Guard;
use crate::bench::memory::mib;

pub(crate) fn print(runtime: &Runtime) {
    println!("memory of a server, by the kernel's own count");
    let bare = runtime.block_on(Cluster::start());
    bare.publish("tiny", "plain");
    let bare = asked(runtime, &bare, 1).kib("VmRSS");
    let cluster = runtime.block_on(Cluster::start());
    cluster.publish_all();
    let guard = asked(runtime, &cluster, NAMES.len());
    let steady = guard.kib("VmRSS");
    println!(
        "  held: {:.1} MiB over the {:.1} MiB with one tiny catalog (aim: below 20 MiB)",
        mib(steady.saturating_sub(bare)),
        mib(bare)
    );
    for _ in 0..ROUNDS {
        let peak = NAMES.map(|_| reloaded(&guard, &cluster));
        let peak = peak.into_iter().max().expect("five of them");
        println!(
            "  peak while one after another reloads: {:.1} MiB, {:.2} times the {:.1} MiB before (aim: \
             1.5); then {:.1} MiB",
            mib(peak),
            mib(peak) / mib(steady),
            mib(steady),
            mib(guard.kib("VmRSS"))
        );
    }
}

/// A server that is ready, and was asked until its threads have what they need.
fn asked(runtime: &Runtime, cluster: &Cluster, catalogs: usize) -> Guard {
    let guard = Guard::start(cluster, None);
    guard.ready(catalogs);
    let fleet = guard.fleet(CONNECTIONS, RATE);
    let figures = runtime.block_on(fleet.run_for(WARM_UP));
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    guard
}

/// The peak while a catalog is given other content.
fn reloaded(guard: &Guard, cluster: &Cluster) -> u64 {
    guard.forget_peak();
    cluster.reload_one(guard);
    guard.kib("VmHWM")
}

const CONNECTIONS: u32 = 8;
const RATE: u32 = 500;
const WARM_UP: Duration = Duration::from_secs(2);
const ROUNDS: usize = 4;
