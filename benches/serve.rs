//! The webhook over TLS on loopback, by real catalogs, as an API server presses it.
//!
//! The server is a process of its own (this program, run again), so that its memory and the client's
//! are apart; they share the cores. Figures are printed:
//!
//! - requests a second, and beside it those of the very same server that reads a body and answers a
//!   constant: what judging costs. The two alternate, so that a busy machine slows both.
//! - latency at a fixed rate, from the moment a request was due;
//! - memory for each idle connection after one request;
//! - what ten times too much does to latency and memory, with a judge that is slow.
//!
//! `cargo bench --bench serve -- [throughput] [latency] [memory] [overload | short-overload]`;
//! all without a word.
//! Reads the catalogs through `OLMGUARD_SHARED` (default `../shared`), else a small one.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Duration;

#[path = "serve"]
mod bench {
    pub(crate) mod catalogs;
    pub(crate) mod latency;
    pub(crate) mod memory;
    pub(crate) mod overload;
    pub(crate) mod process;
    pub(crate) mod server;
    pub(crate) mod throughput;
}

fn main() {
    olmguard_support::load::files::raise_limit();
    if let Some(mode) = bench::server::Mode::of_this_process() {
        return bench::server::run(mode);
    }
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|word| word == name);
    // On one thread, so that the server has a core of its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        if is_asked("throughput") {
            bench::throughput::print().await;
        }
        if is_asked("latency") {
            bench::latency::print().await;
        }
        if is_asked("memory") {
            bench::memory::print().await;
        }
        if is_asked("overload") {
            bench::overload::print(OVERLOAD).await;
        } else if is_asked("short-overload") {
            bench::overload::print(OVERLOAD / 10).await;
        }
    });
}

const OVERLOAD: Duration = Duration::from_secs(30);
