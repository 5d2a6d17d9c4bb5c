//! The command line.
//!
//! `commands` has a file for each command, `args` the flags that several share, `output` what is printed and how,
//! `facts` the catalogs and the OLM that a command is asked about.
//!
//! Results go to stdout, everything else to stderr. A reader that closes the pipe early is no
//! failure. Every flag can be set in the environment; `args::environment` names the variables.

mod args;
pub mod commands;
mod exit;
mod facts;
mod help;
mod output;
mod project;
mod shipped;
mod signals;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::{env, fmt};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

use olmguard_engine::explain::one_line;

pub use commands::version::Build;
pub use exit::Exit;
pub(crate) use exit::{CommandFailure, HasExit, ends_with};

use args::color::Color;
use args::heading::GLOBAL;
use commands::CliCommand;
use help::Length;

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
    let command_line = args::command_line::command_line(&command(), &matches);
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
