//! The command line: one file a door.
//!
//! Results go to stdout, everything else to stderr. A reader that closes the pipe early is no
//! failure. Every flag has a twin in the environment: that of `--a-b` is `OLMGUARD_A_B`.

pub mod check;
mod common;
mod exit;
mod output;

use std::fmt;
use std::process::ExitCode;

use clap::Parser;

pub use exit::Exit;

/// Says at once whether OLM v1 will carry out an edit of a `ClusterExtension`.
#[derive(Debug, Parser)]
#[command(
    name = "olmguard",
    version,
    propagate_version = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(check::CheckArgs),
}

/// Parses the arguments of this process, runs the command they name, and says how it ended.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let ended = match &cli.command {
        Command::Check(args) => check::run(args),
    };
    ended.unwrap_or_else(|error| failed(&error)).into()
}

/// Says what is wrong with the command line.
fn usage(error: &impl fmt::Display) -> Exit {
    anstream::eprintln!("error: {error}");
    Exit::Usage
}

fn failed(error: &output::Failed) -> Exit {
    anstream::eprintln!("error: {error}");
    Exit::Internal
}
