//! `olmguard completions SHELL`: what a shell offers at the tab key.

use std::io;

use clap_complete::{Shell, generate};

use crate::cli::output;
use crate::cli::{Exit, say};

/// Prints what a shell needs to complete commands, flags and their values
///
/// Such as `source <(olmguard completions bash)`; docs/shell.md says where each shell looks for it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script; a fault goes to stderr.
pub(super) fn run(args: &CompletionsArgs) -> Exit {
    print(args.shell).map_or_else(
        |error| {
            say(&format_args!("cannot write the script: {error}"));
            Exit::Internal
        },
        |()| Exit::Good,
    )
}

fn print(shell: Shell) -> io::Result<()> {
    let mut command = crate::cli::command();
    let name = command.get_name().to_owned();
    // First to memory: it panics where the reader goes away.
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    output::text(|stdout| stdout.write_all(&script))
}
