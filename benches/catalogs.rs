//! `olmguard serve` with five catalogs, from a catalogd into memory.
//!
//! The catalogd is a scripted one, a process (this program, run again), over TLS on loopback; they share the cores.
//! It measures:
//!
//! - `fetch`: seconds until all five are fetched and indexed, one after another, as they are and with gzip; and the
//!   memory they then take, by the kernel's own count.
//!
//! The others are of `olmguard serve`, which follows a scripted API server in this process:
//!
//! - `ready`: seconds from the start of the process until it is ready, from catalogd and from its cache;
//! - `held`: the memory it takes, and its peak while one catalog after another reloads;
//! - `reload`: how long decisions take meanwhile, and without, in turns.

mod catalogd;
mod cluster;
mod fetch;
mod guard;
mod held;
mod ready;
mod reload;

use crate::run::Run;
use crate::world::World;

pub(crate) use self::catalogd::{is_catalogd, run_catalogd};

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if run.wants("fetch") {
        runtime.block_on(fetch::measure(run, &world));
    }
    if run.wants("ready") {
        ready::measure(run, &world, &runtime);
    }
    if run.wants("held") {
        held::measure(run, &world, &runtime);
    }
    if run.wants("reload") {
        reload::measure(run, &world, &runtime);
    }
}
