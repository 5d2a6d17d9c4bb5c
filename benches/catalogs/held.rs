//! The memory of a server with all five catalogs, also while they reload.

use std::time::Duration;

use olmguard_figures::{Aim, Figure, Unit};
use olmguard_support::load::review::UID_TOLD;
use tokio::runtime::Runtime;

use super::cluster::Cluster;
use super::guard::Guard;
use crate::process::mib;
use crate::run::Run;
use crate::world::World;

pub(crate) fn measure(run: &Run, world: &World, runtime: &Runtime) {
    let tiny = runtime.block_on(Cluster::start(world));
    tiny.publish("tiny", "plain");
    let bare = Guard::start(&tiny, None);
    bare.ready(1);
    // This server does not have the catalog of the question.
    warm_up(run, runtime, &bare, &[UID_TOLD]);
    let bare = mib(bare.kib("VmRSS"));
    let cluster = runtime.block_on(Cluster::start(world));
    cluster.publish_all();
    let names = world.names();
    let guard = Guard::start(&cluster, None);
    guard.ready(names.len());
    warm_up(run, runtime, &guard, &cluster.allowed.answer);
    let steady = mib(guard.kib("VmRSS"));
    run.note(&run.figure("memory with one tiny catalog", Unit::MiB, bare));
    run.note(&Figure {
        aim: Some(Aim::AtMost(20.0)),
        ..run.figure("memory with five, minus this", Unit::MiB, steady - bare)
    });
    let mut most = 0;
    for _ in 0..run.count(ROUNDS * names.len(), 2) {
        guard.forget_peak();
        cluster.change_one();
        guard.loaded_one();
        most = most.max(guard.kib("VmHWM"));
    }
    run.note(&Figure {
        aim: Some(Aim::AtMost(1.5)),
        ..run.figure(
            "peak while one after another reloads, as against before",
            Unit::Times,
            mib(most) / steady,
        )
    });
}

/// Sends requests until the threads of the server have allocated what they need.
fn warm_up(run: &Run, runtime: &Runtime, guard: &Guard, expected: &[&'static str]) {
    let mut fleet = guard.fleet(CONNECTIONS, RATE);
    fleet.expected = expected.into();
    let figures = runtime.block_on(fleet.run_for(run.time(WARM_UP)));
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
}

const CONNECTIONS: u32 = 8;
const RATE: u32 = 500;
const WARM_UP: Duration = Duration::from_secs(2);
const ROUNDS: usize = 4;
