//! Runs a program, by default at the root of the repository, and reports how it ended.
//!
//! Standard input is always empty, because no task may wait for a person.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::{env, fmt};

use crate::report;

/// A command line that has not run yet.
pub(crate) struct Program {
    line: String,
    command: Command,
}

/// The reason why a command line failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("`{line}` does not start: {source}")]
    Start { line: String, source: io::Error },
    #[error("the output of `{line}` cannot be read: {source}")]
    Output { line: String, source: io::Error },
    #[error("`{line}` ended with {status}")]
    Failed { line: String, status: ExitStatus },
}

impl Program {
    /// Cargo, with arguments that are separated by spaces. No argument contains a space.
    pub(crate) fn cargo(arguments: &str) -> Self {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        Self::named("cargo", Command::new(cargo)).args(arguments.split(' '))
    }

    /// A program that is found on the `PATH`.
    pub(crate) fn new(name: &str) -> Self {
        Self::named(name, Command::new(name))
    }

    /// A program at a known path.
    pub(crate) fn at(file: &Path) -> Self {
        let name = file.file_name().unwrap_or(file.as_os_str());
        Self::named(&name.to_string_lossy(), Command::new(file))
    }

    fn named(name: &str, mut command: Command) -> Self {
        command.stdin(Stdio::null()).current_dir(root());
        Self {
            line: name.to_owned(),
            command,
        }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.line.push(' ');
        self.line.push_str(&argument.as_ref().to_string_lossy());
        self.command.arg(argument);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = S>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets the working directory, instead of the root.
    pub(crate) fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs the program, and passes its output through.
    pub(crate) fn run(mut self) -> Result<(), ProgramError> {
        report::say(&self);
        let status = self.command.status().map_err(self.does_not_start())?;
        self.judge(status)
    }

    /// Whether the program succeeds. Its output is dropped.
    pub(crate) fn works(mut self) -> bool {
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        self.command.status().is_ok_and(|status| status.success())
    }

    /// Runs the program, and returns its standard output.
    pub(crate) fn output(mut self) -> Result<String, ProgramError> {
        report::say(&self);
        self.command.stderr(Stdio::inherit());
        let output = self.command.output().map_err(self.does_not_start())?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the program. Prints each line of its standard output when it arrives, and passes it to
    /// `each`.
    pub(crate) fn run_with_lines(mut self, mut each: impl FnMut(&str)) -> Result<(), ProgramError> {
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

    fn judge(&self, status: ExitStatus) -> Result<(), ProgramError> {
        if status.success() {
            return Ok(());
        }
        let line = self.line.clone();
        Err(ProgramError::Failed { line, status })
    }

    fn does_not_start(&self) -> impl FnOnce(io::Error) -> ProgramError + use<> {
        let line = self.line.clone();
        move |source| ProgramError::Start { line, source }
    }

    fn cannot_be_read(&self) -> impl FnOnce(io::Error) -> ProgramError + use<> {
        let line = self.line.clone();
        move |source| ProgramError::Output { line, source }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$ {}", self.line)
    }
}

/// The root of the checkout.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}
