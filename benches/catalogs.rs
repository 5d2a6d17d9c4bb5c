//! Five whole catalogs on their way from a catalogd into memory.
//!
//! The catalogd is a scripted one, a process of its own (this program, run again), over TLS on
//! loopback; they share the cores. Figures are printed:
//!
//! - `fetch`: seconds until all five are fetched and indexed, one after another, as they lie and with
//!   gzip; and what they take then, by the kernel's own count.
//! - `peer`: seconds and the most memory until all five are read from folders, beside the same by
//!   operator-registry, where there is Go and what it needs.
//!
//! The others are of `olmguard serve`, which follows a scripted API server in this process:
//!
//! - `ready`: seconds from the start of the process until it is ready, from catalogd and from its cache;
//! - `held`: what it takes of memory, and its peak while one catalog after another reloads;
//! - `reload`: how long decisions take meanwhile, and without, in turns.
//!
//! `cargo bench --bench catalogs -- [fetch] [peer] [ready] [held] [reload]`; all without a word. Linux
//! only.
//! Reads the catalogs through `OLMGUARD_SHARED` (default `../shared`); without them nothing is timed.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot go on fails there; a field of JSON that is missing is null"
)]

#[path = "catalogs"]
mod bench {
    pub(crate) mod cluster;
    pub(crate) mod fetch;
    pub(crate) mod files;
    pub(crate) mod guard;
    pub(crate) mod held;
    pub(crate) mod memory;
    pub(crate) mod peer;
    pub(crate) mod process;
    pub(crate) mod ready;
    pub(crate) mod reload;
}

fn main() {
    if bench::process::is_catalogd() {
        return bench::process::serve();
    }
    if bench::peer::is_loader() {
        return bench::peer::run();
    }
    if bench::files::folder().is_none() {
        println!("left out: no catalogs; name their folder with OLMGUARD_SHARED");
        return;
    }
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|word| word == name);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if is_asked("fetch") {
        runtime.block_on(bench::fetch::print());
    }
    if is_asked("peer") {
        bench::peer::print();
    }
    if is_asked("ready") {
        bench::ready::print(&runtime);
    }
    if is_asked("held") {
        bench::held::print(&runtime);
    }
    if is_asked("reload") {
        bench::reload::print(&runtime);
    }
}
