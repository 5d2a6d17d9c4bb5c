//! One run of the program, whose time and peak are printed.

use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

/// `olmguard audit` that prints JSON.
pub(crate) fn olmguard_audit() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command.args(["audit", "--no-project", "-o", "json"]);
    command
}

/// What it prints.
pub(crate) fn run(what: &str, command: &mut Command) -> Vec<u8> {
    let started = Instant::now();
    let output = command.stderr(Stdio::inherit()).output().expect("it runs");
    let took = started.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts");
    println!(
        "{what}: {:.2} s, peak of this and earlier runs {:.1} MiB, exit {:?}",
        took.as_secs_f64(),
        mib(usage.max_rss()),
        output.status.code(),
    );
    output.stdout
}

#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
fn mib(kib: i64) -> f64 {
    kib as f64 / 1024.0
}
