//! `olmguard completions SHELL`: the completion scripts of shells.

use clap_complete::{Shell, generate};

use crate::cli::{CommandFailure, Exit, help, output};

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

/// Prints the script.
pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, CommandFailure> {
    let mut command = crate::cli::command();
    let name = command.get_name().to_owned();
    // Generate into memory first, because the generator panics if the reader closes the pipe.
    let mut script = Vec::new();
    generate(args.shell, &mut command, name, &mut script);
    output::plain(script)?;
    Ok(Exit::Good)
}
