//! `olmguard serve` with five catalogs, from a catalogd into memory.
//!
//! The catalogd is scripted. It is a process (this program, run again), over TLS on loopback; they share the cores.
//! This part uses only the client for catalogd:
//!
//! - `fetch`: seconds until all five are fetched and indexed one after another, uncompressed and with gzip; and the
//!   memory that they then use, as counted by the kernel.
//!
//! The other parts measure `olmguard serve`, which follows a scripted API server in this process:
//!
//! - `ready`: seconds from the start of the process until it is ready, from catalogd and from its cache;
//! - `held`: the memory that it uses, and its peak while one catalog after another reloads;
//! - `reload`: the time of decisions during reloads and without them, in turns.

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
