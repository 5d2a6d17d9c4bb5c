//! What takes long and waits for nothing: made in the background from the first step on, at low priority.
//!
//! It is this program again, as `cargo xtask ahead`, in a process group of its own. It makes the programs
//! that Go builds, then the static program. Its standard input is a pipe of the run: when that closes,
//! because the run has failed or was ended, the whole group is ended.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{self, Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use crate::assets;
use crate::build::Build;
use crate::e2e::E2eError;
use crate::report::say;

/// The background process, while it works.
pub(crate) struct Ahead {
    child: Child,
    input: Option<ChildStdin>,
    output: File,
    start: Instant,
}

impl Ahead {
    /// Starts it.
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

    /// Waits for its end and prints what it printed. Whether it made everything is found out by the
    /// steps that use it: they make what is missing, and report the fault.
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

/// Its number is that of the process, which `nice` becomes.
#[cfg(unix)]
fn in_own_group(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

#[cfg(not(unix))]
fn in_own_group(command: &mut Command) -> &mut Command {
    command
}

/// Ends this process, and what it has started, when the run that started it is gone.
fn end_with_input() {
    // An input that cannot be read has ended as well.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    let group = format!("-{}", process::id());
    let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
}
