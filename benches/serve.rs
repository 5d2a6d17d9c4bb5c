//! The webhook over TLS on loopback, with real catalogs, under the load of an API server.
//!
//! The server is a process (this program, run again), so its memory is separate from the client's; they share the
//! cores. The parts are:
//!
//! - `throughput`: requests per second, in turns with the same server that reads a body and answers the same bytes
//!   without a check, so a busy machine slows down both; and the CPU time of the server per request;
//! - `latency` at a fixed rate, from the moment a request was due;
//! - `memory` for each idle connection after one request;
//! - `overload`: the effect of ten times too many edits on latency and memory, with slow workers.

mod latency;
mod memory;
mod overload;
mod process;
mod server;
mod throughput;

use crate::run::Run;
use crate::world::World;

pub(crate) use self::server::{is_server, run_server};

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    // One thread, so that the server has a core of its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        if run.wants("throughput") {
            throughput::measure(run, &world).await;
        }
        if run.wants("latency") {
            latency::measure(run, &world).await;
        }
        if run.wants("memory") {
            memory::measure(run, &world).await;
        }
        if run.wants("overload") {
            overload::measure(run, &world).await;
        }
    });
}
