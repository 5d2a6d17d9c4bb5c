//! The time until a server that follows all five catalogs is ready.

use std::path::Path;
use std::time::Instant;

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
    let cache = tempfile::tempdir().expect("a directory");
    let ready = |cache| ready(&cluster, world.names().len(), cache);
    let often = |cache| median((0..run.count(ROUNDS, 1)).map(|_| ready(cache)).collect());
    let note = |row: &str, seconds, most: Option<f64>| {
        run.note(&Figure {
            aim: most.map(Aim::AtMost),
            ..run.figure(row, Unit::Seconds, seconds)
        });
    };
    note(
        "from the start until ready, from catalogd",
        often(None),
        Some(3.0),
    );
    note(
        "the same into an empty cache, once",
        ready(Some(cache.path())),
        None,
    );
    note(
        "the same from the cache",
        often(Some(cache.path())),
        Some(1.0),
    );
}

fn ready(cluster: &Cluster, catalogs: usize, cache: Option<&Path>) -> f64 {
    let begun = Instant::now();
    let guard = Guard::start(cluster, cache);
    guard.ready(catalogs);
    begun.elapsed().as_secs_f64()
}

const ROUNDS: usize = 7;
