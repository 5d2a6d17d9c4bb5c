//! `olmguard explain`: what a token means, and what to do about it.

mod token;

use super::Exit;

/// Explains a token of an answer, or the text that kubectl or OLM has shown
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A token such as NotASuccessor, or all or a part of what was shown
    token: String,
}

/// Prints the page; a fault goes to stderr.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    token::run(&args.token)
}
