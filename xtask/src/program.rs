//! Runs cargo at the root of the repository and says what became of it.
//!
//! Standard input is always empty: nothing here may wait for a person.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::{env, fmt};

use crate::report;

/// A cargo command line that has not run yet.
pub(crate) struct Cargo {
    arguments: &'static str,
    command: Command,
}

/// Why a command line did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CargoError {
    #[error("`cargo {arguments}` does not start: {source}")]
    Start {
        arguments: &'static str,
        source: io::Error,
    },
    #[error("the output of `cargo {arguments}` cannot be read: {source}")]
    Output {
        arguments: &'static str,
        source: io::Error,
    },
    #[error("`cargo {arguments}` ended with {status}")]
    Failed {
        arguments: &'static str,
        status: ExitStatus,
    },
}

impl Cargo {
    /// Arguments are separated by spaces; none holds one.
    pub(crate) fn new(arguments: &'static str) -> Self {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(cargo);
        command.args(arguments.split(' ')).stdin(Stdio::null());
        if let Some(root) = Path::new(env!("CARGO_MANIFEST_DIR")).parent() {
            command.current_dir(root);
        }
        Self { arguments, command }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it with its output where ours is.
    pub(crate) fn run(mut self) -> Result<(), CargoError> {
        report::say(&self);
        let status = self.command.status().map_err(self.does_not_start())?;
        self.judge(status)
    }

    /// Whether it ends well; its output is dropped.
    pub(crate) fn works(mut self) -> bool {
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        self.command.status().is_ok_and(|status| status.success())
    }

    /// What it prints on standard output.
    pub(crate) fn output(mut self) -> Result<String, CargoError> {
        report::say(&self);
        self.command.stderr(Stdio::inherit());
        let output = self.command.output().map_err(self.does_not_start())?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it, shows each line of its standard output as it comes, and hands it on.
    pub(crate) fn run_with_lines(mut self, mut each: impl FnMut(&str)) -> Result<(), CargoError> {
        report::say(&self);
        self.command.stdout(Stdio::piped());
        let mut child = self.command.spawn().map_err(self.does_not_start())?;
        let printed = child.stdout.take().into_iter().map(BufReader::new);
        for line in printed.flat_map(|printed| printed.split(b'\n')) {
            let line = line.map_err(self.cannot_be_read())?;
            let line = String::from_utf8_lossy(&line);
            report::say(&line);
            each(&line);
        }
        let status = child.wait().map_err(self.cannot_be_read())?;
        self.judge(status)
    }

    fn judge(&self, status: ExitStatus) -> Result<(), CargoError> {
        let arguments = self.arguments;
        if status.success() {
            Ok(())
        } else {
            Err(CargoError::Failed { arguments, status })
        }
    }

    fn does_not_start(&self) -> impl FnOnce(io::Error) -> CargoError + use<> {
        let arguments = self.arguments;
        move |source| CargoError::Start { arguments, source }
    }

    fn cannot_be_read(&self) -> impl FnOnce(io::Error) -> CargoError + use<> {
        let arguments = self.arguments;
        move |source| CargoError::Output { arguments, source }
    }
}

impl fmt::Display for Cargo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$ cargo {}", self.arguments)
    }
}
