//! `olmguard completions SHELL`: what a shell offers at the tab key.

use std::io;

use clap_complete::{Shell, generate};

use crate::cli::{Exit, help, output, say};

/// Print the completion script of a shell
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct CompletionsArgs {
    /// Shell that runs the script
    shell: Shell,
}

const EXAMPLES: &[&str] = &[
    "source <(olmguard completions bash)",
    "olmguard completions fish > ~/.config/fish/completions/olmguard.fish",
];

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
