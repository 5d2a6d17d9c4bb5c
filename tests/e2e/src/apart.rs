//! Each trial as a process in namespaces of its own, so that two can run at the same time.
//!
//! Most trials wait most of the time: for pods that restart, for a grace period, for a watch. What a
//! trial prints comes in one piece, with the time that it took. A measurement can take hours, so what it
//! prints comes as it is printed.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, iter};

use anyhow::{Context, Result};
use libtest_mimic::Failed;

use crate::namespace;
use crate::say::say;

/// So many at the same time, unless the arguments say otherwise.
pub(crate) const AT_ONCE: usize = 2;

/// Which trial this process is.
const TRIAL: &str = "E2E_TRIAL";

/// Trials that have ended, and the time each of them took.
static TOOK: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// The name of the trial that this process is, if it is one.
pub(crate) fn is_trial() -> Option<String> {
    env::var(TRIAL).ok()
}

/// Runs a trial as a process of its own.
pub(crate) fn run(name: &str, is_measurement: bool) -> Result<(), Failed> {
    let start = Instant::now();
    let ended = process(name, is_measurement);
    let output = ended.map_err(|error| Failed::from(format!("{error:#}")))?;
    let took = start.elapsed();
    let mut all = TOOK.lock().unwrap_or_else(PoisonError::into_inner);
    all.push((name.to_owned(), took));
    print(&output);
    // `cargo xtask test` gathers these lines.
    say(format_args!("{name} took {:.1} s", took.as_secs_f64()));
    if output.status.success() {
        Ok(())
    } else {
        Err(Failed::from(format!("{name} ended with {}", output.status)))
    }
}

/// How it ended, and what it printed and was not seen yet.
fn process(name: &str, is_measurement: bool) -> Result<Output> {
    let mut command: Command = namespace::command()?;
    command.env(TRIAL, name);
    if is_measurement {
        command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    }
    command.output().context("unshare does not start")
}

/// Only a reader that went away makes this fail.
fn print(output: &Output) {
    let _unread = io::stdout().write_all(&output.stdout);
    let _unread = io::stderr().write_all(&output.stderr);
}

/// Prints the sum of all times and the slowest trials.
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
