//! The command line.
//!
//! `commands` has a file for each command, `args` the flags that several share, `output` what is printed and how,
//! `facts` the catalogs and the OLM that a command is asked about.
//!
//! Results go to stdout, everything else to stderr. A reader that closes the pipe early is no
//! failure. Every flag can be set in the environment; `args::environment` names the variables.
//! How a command ends is below: its exit code, why it has no result, or the signal that ends it.

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

use crate::cli::args::Color;
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

/// Parses the arguments of this process, runs the command they name, and says how it ended.
pub fn main(build: Build) -> ExitCode {
    let matches = matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    cli.color.apply();
    let command_line = args::command_line(&command(), &matches);
    guarded(|| cli.command.run(&command_line, build))
}

/// The command line of this program, with all that manual pages and completions show.
fn command() -> clap::Command {
    args::environment::with_variables(help::with_flags(Cli::command()))
}

/// Parses the arguments. A variable that is set in vain is told first, since an argument may be missing
/// for that reason.
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
    parsed.unwrap_or_else(|error| error.exit())
}

/// A panic is a fault of ours and has an exit code of its own; the panic hook has said where it was.
fn guarded(run: impl FnOnce() -> ExitCode) -> ExitCode {
    // Nothing that the command may have left half done is looked at afterwards.
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        say(&"internal fault, please report it together with the lines above");
        Exit::Internal.into()
    })
}

/// Says on stderr what went wrong, on one line.
fn say(error: &impl fmt::Display) {
    line("error", error);
}

/// Says on stderr what goes on all the same, on one line.
fn warn(warning: &impl fmt::Display) {
    line("warning", warning);
}

/// Says on stderr what is worth knowing and counts as nothing, on one line.
fn note(note: &impl fmt::Display) {
    line("note", note);
}

fn line(what: &str, text: &impl fmt::Display) {
    let text = one_line(&text.to_string());
    // Nothing is left to say it to if stderr is gone as well.
    let _gone = writeln!(anstream::stderr(), "{what}: {text}");
}

// === How a command ends ===

/// The exit codes of every command, those of `check` in full.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// Nothing denied or undecided.
    Good,
    /// Something denied.
    Denied,
    /// Wrong usage: nothing was judged.
    Usage,
    /// An input could not be read.
    BadInput,
    /// Undecided for another reason than a bad input.
    Undecided,
    /// A fault of ours.
    Internal,
}

impl Exit {
    /// The number of it.
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

    /// Which of several wins: the greatest.
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

    /// The one that wins; without any, it is good.
    pub(crate) fn worst(exits: impl Iterator<Item = Self>) -> Self {
        exits.max_by_key(|exit| exit.weight()).unwrap_or(Self::Good)
    }
}

// === A command that ends before it has a result ===

/// Why a command has no result.
#[derive(Debug)]
pub(crate) struct CommandFailure {
    words: String,
    exit: Exit,
}

/// An error for which a command has no result.
pub(crate) trait HasExit: fmt::Display {
    /// The exit code of the command.
    fn exit(&self) -> Exit;
}

/// Gives errors an exit code of their own.
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
use olmguard_catalog::word_set;
use tokio::signal::unix;
use tokio::signal::unix::SignalKind;
use tracing::info;

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

/// The result cannot be written: what is read has errors of its own.
impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::new(
            format_args!("cannot write the result: {error}"),
            Exit::Internal,
        )
    }
}

/// The exit code of a command. Prints its failure.
pub(crate) fn ended(done: Result<Exit, CommandFailure>) -> Exit {
    done.unwrap_or_else(|CommandFailure { words, exit }| {
        say(&words);
        exit
    })
}

/// What the exit codes of a command mean, one per line; an internal error is the same in all.
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

// === The signals that end a server, and those that do not ===

word_set! {
    /// A signal that ends a server.
    pub(crate) enum Signal {
        Interrupt => "SIGINT",
        Terminate => "SIGTERM",
        /// By itself it would also write a core file, with the TLS key in it.
        Quit => "SIGQUIT",
    }
}

/// The signals of this process, from now on no longer deadly by themselves.
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

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.quit.recv() => Signal::Quit,
        }
    }
}

/// From now on, in this runtime, the signals that other servers reload their files by are logged, and end nothing.
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
    /// The code of a process that a signal ended: 128 and its number.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Interrupt => 128 + 2,
            Self::Terminate => 128 + 15,
            Self::Quit => 128 + 3,
        })
    }
}
