//! How soon a server is ready that follows all five.

use std::path::Path;
use std::time::Instant;

use tokio::runtime::Runtime;

use crate::bench::cluster::Cluster;
use crate::bench::files::NAMES;
use crate::bench::guard::Guard;

pub(crate) fn print(runtime: &Runtime) {
    println!("from the start of the process until /readyz says 200, five catalogs");
    let cluster = runtime.block_on(Cluster::start());
    cluster.publish_all();
    let cache = tempfile::tempdir().unwrap();
    say("from catalogd (aim: below 3 s)", || ready(&cluster, None));
    let kept = ready(&cluster, Some(cache.path()));
    println!("  from catalogd into an empty cache, once: {kept:.2} s");
    let again = || ready(&cluster, Some(cache.path()));
    say("from the cache (aim: below 1 s)", again);
}

fn say(what: &str, ready: impl Fn() -> f64) {
    let mut took: Vec<_> = (0..ROUNDS).map(|_| ready()).collect();
    took.sort_by(f64::total_cmp);
    let (median, most) = (took.get(ROUNDS / 2).unwrap(), took.last().unwrap());
    println!("  {what}: {median:.2} s, at worst {most:.2} s");
}

fn ready(cluster: &Cluster, cache: Option<&Path>) -> f64 {
    let begun = Instant::now();
    let guard = Guard::start(cluster, cache);
    guard.ready(NAMES.len());
    begun.elapsed().as_secs_f64()
}

const ROUNDS: usize = 7;
