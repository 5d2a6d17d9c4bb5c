//! The command line.
//!
//! `commands` has one file per command, `args` the flags that commands share, `output` the printing of results, and
//! `facts` the catalogs and the OLM release that a command works with.
//!
//! Results go to stdout, everything else to stderr. A reader that closes the pipe early is not an error.
//! Every flag can be set in the environment; `args::environment` names the variables.
//! This file also defines how a command ends: with an exit code, with a failure instead of a result, or by a signal.

mod args;
pub mod commands;
mod facts;
mod help;
mod output;
mod project;
mod shipped;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::{env, fmt};

use args::heading::GLOBAL;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use commands::CliCommand;
use help::Length;
use tokio::signal::unix::{self, SignalKind};
use tracing::info;

use crate::cli::args::Color;
use olmguard_catalog::word_set;
use olmguard_engine::explain::one_line;

pub use commands::version::Build;

/// Check `ClusterExtension` changes before OLM v1 acts on them.
#[derive(Debug, Parser)]
#[command(
    name = "olmguard",
    bin_name = help::program(),
    about = "Check ClusterExtension changes before OLM v1 acts on them",
    version,
    propagate_version = true,
    max_term_width = 100
)]
struct Cli {
    /// Color the text: auto, always or never
    #[arg(long, value_name = "WHEN", global = true, value_enum, hide_possible_values = true, default_value_t, help_heading = GLOBAL)]
    color: Color,

    #[command(subcommand)]
    command: CliCommand,
}

/// Parses the arguments of this process, runs the command, and returns its exit code.
pub fn main(build: Build) -> ExitCode {
    let matches = matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    cli.color.apply();
    let command_line = args::command_line(&command(), &matches);
    guarded(|| cli.command.run(&command_line, build))
}

/// The definition of the command line, with the flags and variables that manual pages and completions show.
fn command() -> clap::Command {
    args::environment::with_variables(help::with_flags(Cli::command()))
}

/// Parses the arguments. Warns about ignored environment variables first, because one of them may be the reason for
/// a missing argument.
fn matches() -> ArgMatches {
    let words: Vec<_> = env::args_os().skip(1).collect();
    Color::of_words(&words).apply();
    let program = args::environment::giving_way(command(), env::args_os());
    let parsed = help::shown(program, Length::of_words(&words)).try_get_matches();
    let is_command = parsed.as_ref().err().is_none_or(clap::Error::use_stderr);
    if is_command {
        args::environment::warnings_of_process(&command())
            .iter()
            .for_each(warn);
    }
    parsed.unwrap_or_else(|error| args::environment::with_variable(error, command(), &words).exit())
}

/// Runs a command. A panic is a bug in olmguard and has its own exit code; the panic hook has printed its location.
fn guarded(run: impl FnOnce() -> ExitCode) -> ExitCode {
    // Nothing reads the state that a panicking command leaves half done.
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        say(&"internal fault, please report it together with the lines above");
        Exit::Internal.into()
    })
}

/// Prints an error on stderr, on one line.
fn say(error: &impl fmt::Display) {
    line("error", error);
}

/// Prints a warning on stderr, on one line. The command continues.
fn warn(warning: &impl fmt::Display) {
    line("warning", warning);
}

/// Prints a note on stderr, on one line. It has no effect on the result.
fn note(note: &impl fmt::Display) {
    line("note", note);
}

fn line(what: &str, text: &impl fmt::Display) {
    let text = one_line(&text.to_string());
    // If stderr is gone as well, the message cannot be printed anywhere.
    let _gone = writeln!(anstream::stderr(), "{what}: {text}");
}

// === Exit codes ===

/// The exit codes of all commands. `check` uses every one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// Nothing is denied or undecided.
    Good,
    /// Something is denied.
    Denied,
    /// Wrong usage: nothing is checked.
    Usage,
    /// An input could not be read.
    BadInput,
    /// Undecided for a reason other than an unreadable input.
    Undecided,
    /// A bug in olmguard.
    Internal,
}

impl Exit {
    /// The exit status of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Denied => 1,
            Self::Usage => 2,
            Self::BadInput => 3,
            Self::Undecided => 4,
            Self::Internal => 5,
        }
    }

    /// The weight of the exit code. Of several exit codes, the greatest weight wins.
    pub(crate) fn weight(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Denied => 1,
            Self::Undecided => 2,
            Self::BadInput => 3,
            Self::Internal => 4,
            Self::Usage => 5,
        }
    }

    /// The exit code of a report that can have denied and undecided results.
    pub(crate) fn of_results(is_denied: bool, is_undecided: bool) -> Self {
        if is_undecided {
            Self::Undecided
        } else {
            Self::denied_if(is_denied)
        }
    }

    pub(crate) fn denied_if(is_denied: bool) -> Self {
        if is_denied { Self::Denied } else { Self::Good }
    }

    /// The exit code that wins, or `Good` if there are none.
    pub(crate) fn worst(exits: impl Iterator<Item = Self>) -> Self {
        exits.max_by_key(|exit| exit.weight()).unwrap_or(Self::Good)
    }
}

// === Commands that end without a result ===

/// The reason why a command has no result.
#[derive(Debug)]
pub(crate) struct CommandFailure {
    words: String,
    exit: Exit,
}

/// An error that leaves a command without a result.
pub(crate) trait HasExit: fmt::Display {
    /// The exit code of the command.
    fn exit(&self) -> Exit;
}

/// Implements [`HasExit`] for errors, with this exit code.
macro_rules! ends_with {
    ($exit:ident: $($error:ty),+) => {
        $(impl $crate::cli::HasExit for $error {
            fn exit(&self) -> $crate::cli::Exit {
                $crate::cli::Exit::$exit
            }
        })+
    };
}

pub(crate) use ends_with;

impl CommandFailure {
    pub(crate) fn new(words: impl fmt::Display, exit: Exit) -> Self {
        let words = words.to_string();
        Self { words, exit }
    }
}

impl<E: HasExit> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        Self::new(&error, error.exit())
    }
}

/// The result cannot be written. Errors of reading have their own types.
impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::new(
            format_args!("cannot write the result: {error}"),
            Exit::Internal,
        )
    }
}

/// Returns the exit code of a command, and prints its failure.
pub(crate) fn ended(done: Result<Exit, CommandFailure>) -> Exit {
    done.unwrap_or_else(|CommandFailure { words, exit }| {
        say(&words);
        exit
    })
}

/// Describes the exit codes of a command, one per line. The line about internal errors is the same for all commands.
fn exit_lines(rows: &[(Exit, &str)]) -> impl Iterator<Item = String> {
    let all = rows.iter().copied();
    let all = all.chain([(Exit::Internal, "internal error")]);
    all.map(|(exit, meaning)| format!("{}  {meaning}", exit.code()))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

// === Signals that end a server, and signals that do not ===

word_set! {
    /// A signal that ends a server.
    pub(crate) enum Signal {
        Interrupt => "SIGINT",
        Terminate => "SIGTERM",
        /// The default action would also write a core file, with the TLS key in it.
        Quit => "SIGQUIT",
    }
}

/// The signals of this process. Once registered, they no longer end the process on their own.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    quit: unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            quit: unix::signal(SignalKind::quit())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.quit.recv() => Signal::Quit,
        }
    }
}

/// Logs and ignores the signals on which other servers reload their files, as long as this runtime exists.
pub(crate) fn ignore_other_signals() -> io::Result<()> {
    let ignored = [
        (SignalKind::hangup(), "SIGHUP"),
        (SignalKind::user_defined1(), "SIGUSR1"),
        (SignalKind::user_defined2(), "SIGUSR2"),
        (SignalKind::alarm(), "SIGALRM"),
    ];
    for (kind, name) in ignored {
        let mut signal = unix::signal(kind)?;
        tokio::spawn(async move {
            while signal.recv().await.is_some() {
                info!(
                    signal = name,
                    "Ignored a signal, files are reloaded when they change"
                );
            }
        });
    }
    Ok(())
}

impl Signal {
    /// The exit code of a process that a signal ended: 128 plus the number of the signal.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Interrupt => 128 + 2,
            Self::Terminate => 128 + 15,
            Self::Quit => 128 + 3,
        })
    }
}
