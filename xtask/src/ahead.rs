//! Slow tasks that depend on nothing, run in the background from the first step on, at low priority.
//!
//! The background process is this program again, as `cargo xtask ahead`, in a process group of its own. It builds the
//! Go programs, then the static program. Its standard input is a pipe from the run. When the pipe closes, because the
//! run failed or was stopped, the whole group ends.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{self, Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use crate::assets;
use crate::build::Build;
use crate::e2e::E2eError;
use crate::report::say;

/// The background process while it runs.
pub(crate) struct Ahead {
    child: Child,
    input: Option<ChildStdin>,
    output: File,
    start: Instant,
}

impl Ahead {
    /// Starts the background process.
    pub(crate) fn start() -> io::Result<Self> {
        let output = tempfile::tempfile()?;
        let mut command = Command::new("nice");
        let command = command
            .args(["-n", "10"])
            .arg(env::current_exe()?)
            .arg("ahead");
        let command = command
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?);
        let mut child = in_own_group(command.stdin(Stdio::piped())).spawn()?;
        Ok(Self {
            input: child.stdin.take(),
            child,
            output,
            start: Instant::now(),
        })
    }

    /// Waits for the end of the process, and prints its output. A failure is not reported here: the steps that use its
    /// results build what is missing, and report the error.
    pub(crate) fn wait(mut self) -> io::Result<Duration> {
        self.child.wait()?;
        let took = self.start.elapsed();
        drop(self.input.take());
        let mut printed = String::new();
        self.output.rewind()?;
        self.output.read_to_string(&mut printed)?;
        say(printed.trim_end());
        Ok(took)
    }
}

/// `cargo xtask ahead`.
pub(crate) fn run() -> Result<(), E2eError> {
    thread::spawn(end_with_input);
    assets::prepare()?;
    Build::here()?;
    Ok(())
}

/// Sets the group. Its id is the id of the process, because `nice` replaces itself with the program.
#[cfg(unix)]
fn in_own_group(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

#[cfg(not(unix))]
fn in_own_group(command: &mut Command) -> &mut Command {
    command
}

/// Ends this process and everything that it started, when the run that started it is gone.
fn end_with_input() {
    // An unreadable input has ended as well.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    let group = format!("-{}", process::id());
    let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
}
