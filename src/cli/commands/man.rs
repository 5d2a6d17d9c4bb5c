//! `olmguard man`: the manual page of a command, or the pages of all commands as files.
//!
//! The pages are generated from the same definitions as `--help`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Command;
use clap_mangen::Man;

use crate::cli::args::heading;
use crate::cli::{CommandFailure, Exit, HasExit, help, output};
use olmguard_engine::nearest::nearest;

/// Print the manual page of a command, or write all pages
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this directory
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "command",
        help_heading = heading::OUTPUT
    )]
    folder: Option<PathBuf>,

    /// Command, such as check or snapshot save [default: olmguard itself]
    command: Vec<String>,
}

const EXAMPLES: &[&str] = &[
    "olmguard man check | man -l -",
    "olmguard man snapshot save | man -l -",
    "olmguard man --folder ~/.local/share/man/man1",
];

/// The reason why there is no page.
#[derive(Debug, thiserror::Error)]
enum ManError {
    #[error("olmguard has no command {named:?}: expected {expected}")]
    NoCommand { named: String, expected: String },
    #[error("{}: the pages cannot be written: {source}; expected a directory", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
}

/// Runs `olmguard man`.
pub(super) fn run(args: &ManArgs) -> Result<Exit, CommandFailure> {
    match &args.folder {
        Some(folder) => write(folder)?,
        None => print(&args.command)?,
    }
    Ok(Exit::Good)
}

/// Writes `olmguard.1`, `olmguard-check.1`, `olmguard-snapshot-save.1` and so on.
fn write(folder: &Path) -> Result<(), ManError> {
    let written = fs::create_dir_all(folder).and_then(|()| write_all(&root(), folder));
    written.map_err(|source| ManError::Folder {
        folder: folder.to_owned(),
        source,
    })
}

/// Writes the pages of a command and its subcommands.
fn write_all(command: &Command, folder: &Path) -> io::Result<()> {
    page(command).generate_to(folder)?;
    let mut below = command.get_subcommands();
    below.try_for_each(|command| write_all(command, folder))
}

fn print(names: &[String]) -> Result<(), CommandFailure> {
    let mut text = Vec::new();
    page(&find(root(), names)?).render(&mut text)?;
    Ok(output::plain(text)?)
}

/// The program, built so that each command knows its full name.
fn root() -> Command {
    let mut command = crate::cli::command().disable_help_subcommand(true);
    command.build();
    command
}

fn page(command: &Command) -> Man {
    let version = concat!("olmguard ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(version)
}

/// The subcommand with these names.
fn find(root: Command, names: &[String]) -> Result<Command, ManError> {
    names.iter().try_fold(root, |command, name| {
        let found = command.find_subcommand(name).cloned();
        found.ok_or_else(|| no_command(&command, names, name))
    })
}

fn no_command(above: &Command, names: &[String], name: &str) -> ManError {
    let known: Vec<_> = above.get_subcommands().map(Command::get_name).collect();
    let near = nearest(name, known.iter().copied(), 2);
    let expected = match (near.is_empty(), known.is_empty()) {
        (false, _) => near.join(" or "),
        (true, false) => "a command of olmguard --help".to_owned(),
        (true, true) => format!("nothing after {}", above.get_name()),
    };
    ManError::NoCommand {
        named: names.join(" "),
        expected,
    }
}

impl HasExit for ManError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoCommand { .. } => Exit::Usage,
            Self::Folder { .. } => Exit::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_below_another() {
        let found = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            let found = find(root(), &names);
            found.map(|command| command.get_display_name().unwrap_or("olmguard").to_owned())
        };
        assert_eq!(found(&[]).unwrap(), "olmguard");
        assert_eq!(
            found(&["snapshot", "save"]).unwrap(),
            "olmguard-snapshot-save"
        );
        assert_eq!(
            found(&["snapshot", "sav"]).unwrap_err().to_string(),
            "olmguard has no command \"snapshot sav\": expected save"
        );
        assert_eq!(
            found(&["range", "x"]).unwrap_err().to_string(),
            "olmguard has no command \"range x\": expected nothing after range"
        );
    }
}
