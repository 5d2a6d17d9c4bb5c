//! A started program, with its log in a file. It ends when this value is dropped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// A running program, which is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Program {
    /// Starts `command` with only `PATH` from this environment and with `dir` as its home. Its outputs are appended to
    /// `NAME.log` in `dir`.
    pub(crate) fn start(dir: &Path, name: &str, command: std::process::Command) -> Result<Self> {
        let log = dir.join(format!("{name}.log"));
        let file = File::options().create(true).append(true).open(&log)?;
        let mut command = Command::from(scrubbed(command, dir));
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true);
        let child = command
            .spawn()
            .with_context(|| format!("{name} does not start"))?;
        Ok(Self {
            name: name.to_owned(),
            child,
            log,
        })
    }

    /// Returns its output so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read(&self.log)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let id = self
            .child
            .id()
            .with_context(|| format!("{} has ended already", self.name))?;
        let pid = i32::try_from(id)
            .ok()
            .and_then(Pid::from_raw)
            .context("a process has a number")?;
        Ok(kill_process(pid, signal)?)
    }

    /// Returns the id of the process while it runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until it ends.
    pub(crate) async fn end(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait().await?)
    }

    /// Kills it and waits for its end.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// Removes the environment of this program from a command, because it belongs to the user who runs the tests.
fn scrubbed(mut command: std::process::Command, dir: &Path) -> std::process::Command {
    let own: Vec<_> = command
        .get_envs()
        .map(|(key, value)| (key.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    command.env_clear();
    command.env("HOME", dir).env("TMPDIR", dir);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.envs(
        own.into_iter()
            .filter_map(|(key, value)| Some((key, value?))),
    );
    command.current_dir(dir);
    command
}
