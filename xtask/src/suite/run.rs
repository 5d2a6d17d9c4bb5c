//! One test executable, from its start to its end.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, PipeReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::clock::{Clock, Timed};
use super::executable::Executable;

/// An executable that has ended, or that was stopped.
pub(crate) struct Ran {
    pub(crate) name: String,
    /// The reason why it ran alone, if it did.
    pub(crate) alone: Option<&'static str>,
    pub(crate) took: Duration,
    /// All its output, on both streams.
    pub(crate) lines: Vec<String>,
    pub(crate) tests: Vec<Timed>,
    /// The failure, if any.
    pub(crate) fault: Option<String>,
}

impl Ran {
    /// The line with the counts, `test result: ...`.
    pub(crate) fn result(&self) -> Option<&str> {
        let lines = self.lines.iter().map(String::as_str);
        lines.rev().find(|line| is_result(line))
    }
}

/// Whether a line has the counts.
pub(crate) fn is_result(line: &str) -> bool {
    line.starts_with("test result: ")
}

/// Runs an executable, one test after another, with the output of every test.
pub(super) fn run(executable: Executable, environment: &[(&str, OsString)]) -> Ran {
    let start = Instant::now();
    let mut clock = Clock::new(start);
    let mut lines = Vec::new();
    let fault = watch(&executable, environment, start + LIMIT, |line, at| {
        clock.read(&line, at);
        lines.push(line);
    });
    let running = clock
        .running()
        .map(|test| format!(" in {test}"))
        .unwrap_or_default();
    let failed = failed(&lines);
    let has_counts = lines.iter().any(|line| is_result(line));
    let fault = match fault {
        Err(error) => Some(format!("cannot run: {error}")),
        Ok(Some(fault)) => Some(format!("{fault}{running}{failed}")),
        Ok(None) if !has_counts => Some("it printed no `test result:`".to_owned()),
        Ok(None) => None,
    };
    Ran {
        name: executable.name,
        alone: executable.alone,
        took: start.elapsed(),
        lines,
        tests: clock.tests,
        fault,
    }
}

/// The tests that failed, as the end of a sentence, so that the last lines of a run name them.
fn failed(lines: &[String]) -> String {
    let tests = lines.iter().filter_map(|line| {
        let test = line.strip_prefix("test ")?;
        test.strip_suffix(" ... FAILED")
    });
    tests.flat_map(|test| ["\n    ", test]).collect()
}

/// Passes each line to `each` until the executable ends. Returns the failure, if any.
fn watch(
    executable: &Executable,
    environment: &[(&str, OsString)],
    deadline: Instant,
    mut each: impl FnMut(String, Instant),
) -> io::Result<Option<String>> {
    let (mut child, lines) = start(executable, environment)?;
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((line, at)) => each(line, at),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                child.wait()?;
                let minutes = LIMIT.as_secs() / 60;
                return Ok(Some(format!("not ended after {minutes} minutes")));
            }
        }
    }
    let status = child.wait()?;
    Ok((!status.success()).then(|| format!("{status}")))
}

type Line = (String, Instant);

fn start(
    executable: &Executable,
    environment: &[(&str, OsString)],
) -> io::Result<(Child, Receiver<Line>)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new(&executable.file)
        .args(["--show-output", "--test-threads=1"])
        .current_dir(&executable.package)
        // The inherited value is the directory of xtask.
        .env("CARGO_MANIFEST_DIR", &executable.package)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || read(reader, &sender));
    Ok((child, lines))
}

/// Reads lines until the executable, and everything that it started, has closed its output.
fn read(reader: PipeReader, lines: &mpsc::Sender<Line>) {
    for line in BufReader::new(reader).split(b'\n') {
        // An unreadable pipe has ended. The status of the process shows how.
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line).into_owned();
        if lines.send((line, Instant::now())).is_err() {
            return;
        }
    }
}

/// The time limit, for executables that hang. Even the slowest needs far less on a busy machine.
const LIMIT: Duration = Duration::from_mins(20);

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn ran(script: &str) -> Ran {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let executable = Executable {
            name: "tests/it.rs".to_owned(),
            file,
            package: folder.path().to_owned(),
            alone: None,
        };
        run(executable, &[("GIVEN", OsString::from("value"))])
    }

    #[test]
    fn both_streams_the_environment_and_the_arguments_are_passed() {
        let ran = ran(
            "echo \"$GIVEN $*\"; echo 'test a ... ok'; echo err >&2; echo 'test result: ok. 1 passed'",
        );
        assert_eq!(ran.fault, None);
        assert_eq!(
            ran.lines,
            [
                "value --show-output --test-threads=1",
                "test a ... ok",
                "err",
                "test result: ok. 1 passed"
            ]
        );
        assert_eq!(ran.result(), Some("test result: ok. 1 passed"));
        assert_eq!(ran.tests.len(), 1);
    }

    #[test]
    fn tests_that_failed_are_named_after_how_it_ended() {
        let ran = ran(
            "echo 'test a ... ok'; echo 'test b::c ... FAILED'; echo 'test result: FAILED.'; exit 101",
        );
        assert_eq!(ran.fault.as_deref(), Some("exit status: 101\n    b::c"));
    }

    #[test]
    fn a_failure_and_the_test_it_happened_in_are_told() {
        let failed = ran("echo 'test result: FAILED. 0 passed; 1 failed'; exit 101");
        assert_eq!(failed.fault.as_deref(), Some("exit status: 101"));
        let killed = ran("echo 'test a ... '; kill -9 $$");
        assert_eq!(killed.fault.as_deref(), Some("signal: 9 (SIGKILL) in a"));
        let nothing = ran("exit 0");
        assert_eq!(
            nothing.fault.as_deref(),
            Some("it printed no `test result:`")
        );
    }
}
