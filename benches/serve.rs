//! The webhook over TLS on loopback, by real catalogs, as an API server presses it.
//!
//! The server is a process (this program, run again), so its memory and the client's are apart; they share the
//! cores. It measures:
//!
//! - `throughput`: requests a second, in turns with the same server that reads a body and answers the same bytes
//!   without a check, so a busy machine slows both; and what each request takes of the server's processors;
//! - `latency` at a fixed rate, from the moment a request was due;
//! - `memory` for each idle connection after one request;
//! - `overload`: what ten times too much does to latency and memory, with slow workers.

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
    // On one thread, so that the server has a core of its own.
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
