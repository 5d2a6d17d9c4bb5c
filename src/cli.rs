//! The command line: one file a door.
//!
//! Results go to stdout, everything else to stderr. A reader that closes the pipe early is no
//! failure. Every flag has a twin in the environment: that of `--a-b` is `OLMGUARD_A_B`.

mod common;
mod exit;

use clap::Parser;

pub use exit::Exit;

/// Says at once whether OLM v1 will carry out an edit of a ClusterExtension.
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
enum Command {}

/// Parses the arguments of this process, runs the command they name, and says how it ended.
pub fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    match cli.command {}
}
