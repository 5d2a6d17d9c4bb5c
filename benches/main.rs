//! All benches, as one program. `cargo xtask bench` runs it, and writes its figures as tables.
//!
//! `cargo bench -- [NAME | NAME/PART]... [--smoke] [--figures FILE]` runs only these benches, or all without a name.
//! Each bench runs in a process of its own, so its memory is not counted for another bench. Figures are printed, and
//! added to FILE as JSON, one per line (`benches/figures`). With `--smoke`, everything runs once with a small catalog:
//! the answers are asserted, and the figures mean nothing.
//!
//! Whole catalogs are read from `OLMGUARD_SHARED` (default `../shared`). Linux only, because the kernel counts memory.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench that cannot continue fails there; a field of JSON that is missing is null"
)]

mod audit;
mod base;
mod catalogs;
mod footprint;
mod growth;
mod lint;
mod load;
mod many;
mod peers;
mod policies;
mod preflight;
mod process;
mod resolve;
mod resolver;
mod review;
mod run;
mod serve;
mod telemetry;
mod turns;
mod world;

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use olmguard_figures::Bench;

use self::run::{Asked, Run};

/// The allocator of the delivered program.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    olmguard_support::load::files::raise_limit();
    // The measured servers and loaders are this program, run again.
    if serve::is_server() {
        serve::run_server();
    } else if catalogs::is_catalogd() {
        catalogs::run_catalogd();
    } else if load::is_loader() {
        load::run_loader();
    } else if process::is_observer() {
        return process::run_observer();
    } else {
        return match Asked::read(std::env::args_os().skip(1)) {
            Ok(asked) => run(&asked),
            Err(error) => {
                eprintln!("benches: {error}");
                ExitCode::from(2)
            }
        };
    }
    ExitCode::SUCCESS
}

/// Runs the requested bench, or each of several benches as a process.
fn run(asked: &Asked) -> ExitCode {
    if let [(bench, parts)] = asked.benches.as_slice() {
        measure(*bench, &Run::new(*bench, parts.clone(), asked));
        return ExitCode::SUCCESS;
    }
    for (bench, parts) in &asked.benches {
        if !is_well(*bench, parts, &asked.flags) {
            eprintln!("benches: {bench} failed");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn is_well(bench: Bench, parts: &[String], flags: &[OsString]) -> bool {
    let this = std::env::current_exe().expect("this program");
    let words = parts.iter().map(|part| format!("{bench}/{part}"));
    let mut command = Command::new(this);
    command.args(words).args(flags);
    if parts.is_empty() {
        command.arg(bench.name());
    }
    command.status().is_ok_and(|status| status.success())
}

fn measure(bench: Bench, run: &Run) {
    match bench {
        Bench::Resolve => resolve::measure(run),
        Bench::Growth => growth::measure(run),
        Bench::Review => review::measure(run),
        Bench::Telemetry => telemetry::measure(run),
        Bench::Policies => policies::measure(run),
        Bench::Preflight => preflight::measure(run),
        Bench::Load => load::measure(run),
        Bench::Footprint => footprint::measure(run),
        Bench::Many => many::measure(run),
        Bench::Base => base::measure(run),
        Bench::Audit => audit::measure(run),
        Bench::Lint => lint::measure(run),
        Bench::Serve => serve::measure(run),
        Bench::Catalogs => catalogs::measure(run),
    }
}
