//! Each trial runs as a process in its own namespaces, so that two can run at the same time.
//!
//! Most trials spend most of their time waiting: for pods that restart, for a grace period, for a watch. The output of
//! a trial is printed in one piece, with its duration. A measurement can take hours, so its output is printed
//! immediately.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, iter};

use anyhow::{Context, Result};
use libtest_mimic::Failed;

use crate::namespace;
use crate::say::say;

/// The number of trials that run at the same time, unless the arguments set another one.
pub(crate) const AT_ONCE: usize = 2;

/// The variable with the name of the trial that this process runs.
const TRIAL: &str = "E2E_TRIAL";

/// The trials that have ended, with their durations.
static TOOK: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// Returns the name of the trial that this process runs, if it runs one.
pub(crate) fn is_trial() -> Option<String> {
    env::var(TRIAL).ok()
}

/// Runs a trial as a separate process.
pub(crate) fn run(name: &str, is_measurement: bool) -> Result<(), Failed> {
    let start = Instant::now();
    let ended = process(name, is_measurement);
    let output = ended.map_err(|error| Failed::from(format!("{error:#}")))?;
    let took = start.elapsed();
    let mut all = TOOK.lock().unwrap_or_else(PoisonError::into_inner);
    all.push((name.to_owned(), took));
    print(&output);
    // `cargo xtask test` collects these lines.
    say(format_args!("{name} took {:.1} s", took.as_secs_f64()));
    if output.status.success() {
        Ok(())
    } else {
        Err(Failed::from(format!("{name} ended with {}", output.status)))
    }
}

/// Returns how the process ended, with the output that has not been printed yet.
fn process(name: &str, is_measurement: bool) -> Result<Output> {
    let mut command: Command = namespace::command()?;
    command.env(TRIAL, name);
    if is_measurement {
        command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    }
    command.output().context("unshare does not start")
}

/// Prints the output. This fails only if the reader has gone.
fn print(output: &Output) {
    let _unread = io::stdout().write_all(&output.stdout);
    let _unread = io::stderr().write_all(&output.stderr);
}

/// Prints the total of all durations, and the slowest trials.
pub(crate) fn report() {
    let mut all = TOOK.lock().unwrap_or_else(PoisonError::into_inner);
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    let sum: Duration = all.iter().map(|(_, took)| *took).sum();
    let slowest = all.iter().take(SLOWEST);
    let slowest = slowest.map(|(name, took)| format!("{:6.1} s  {name}", took.as_secs_f64()));
    let head = format!(
        "{} trials took {:.0} s in all, the slowest:",
        all.len(),
        sum.as_secs_f64()
    );
    let lines: Vec<String> = iter::once(head).chain(slowest).collect();
    say(lines.join("\n"));
}

const SLOWEST: usize = 8;
