//! The texts that `-h` and `--help` show.
//!
//! | text | contains |
//! | --- | --- |
//! | `-h` | the flags that are used most, and examples |
//! | `--help` | all flags, examples, exit codes, and how flags are set in the environment |
//! | `olmguard help COMMAND`, `olmguard man` | the same, and what each value of a flag means |
//!
//! All texts are generated from the definitions of commands and flags. Only `olmguard help` uses clap's long form, with
//! an empty line after each flag: the 45 flags of `serve` take 250 lines there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::builder::StyledStr;
use clap::builder::styling::Styles;
use clap::{Arg, ArgAction, Command};

use crate::cli::args::{environment, heading};
use crate::cli::{self, Exit};

/// The amount of detail in a help text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Length {
    /// `-h`
    Brief,
    /// `--help`
    Full,
}

impl Length {
    /// The length that the words of a command line request.
    pub(super) fn of_words(words: &[OsString]) -> Self {
        let mut flags = words.iter().take_while(|word| *word != "--");
        if flags.any(|word| word == "-h") {
            Self::Brief
        } else {
            Self::Full
        }
    }
}

/// The name of this program in usage lines and examples. It depends on the file name, because kubectl runs a plugin by
/// its file name.
pub(super) fn program() -> &'static str {
    let file = env::args_os().next().unwrap_or_default();
    named_by(&file)
}

fn named_by(file: &OsStr) -> &'static str {
    match Path::new(file).file_stem() {
        Some(stem) if stem == "kubectl-olmguard" => "kubectl olmguard",
        _ => "olmguard",
    }
}

/// Examples, as the text after the flags of a command.
pub(super) fn examples(lines: &[&str]) -> String {
    section("Examples", lines.iter().map(|line| as_called(line)))
}

/// Examples and exit codes, as the text after all flags of a command.
pub(super) fn examples_and_exits(lines: &[&str], exits: &[(Exit, &str)]) -> String {
    let exits = section("Exit codes", cli::exit_lines(exits));
    format!("{}\n\n{exits}", examples(lines))
}

/// The usage lines of a command that has several forms.
pub(super) fn usage(forms: &[&str]) -> String {
    let forms: Vec<_> = forms.iter().map(|form| as_called(form)).collect();
    forms.join("\n       ")
}

/// A command line, with the name by which this program was called.
fn as_called(line: &str) -> String {
    line.replace("olmguard ", &format!("{} ", program()))
}

fn section(title: &str, lines: impl Iterator<Item = String>) -> String {
    let styles = Styles::default();
    let style = styles.get_header();
    let lines = lines.flat_map(|line| ["\n  ".to_owned(), line]);
    let lines: String = lines.collect();
    format!("{style}{title}:{style:#}{lines}")
}

/// The program with `-h`, `--help` and `--version`, in a group like all other flags.
///
/// Both help flags print clap's short form; [`shown`] decides what it contains.
pub(super) fn with_flags(program: Command) -> Command {
    let flag = |name: &'static str, short, action| {
        let flag = Arg::new(name).short(short).long(name).action(action);
        flag.help_heading(heading::GLOBAL)
    };
    let help = flag("help", 'h', ArgAction::HelpShort).global(true);
    let version = flag("version", 'V', ArgAction::Version).global(true);
    program
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(help.help("Print help (-h: only the most used flags)"))
        .arg(version.help("Print the version"))
}

/// The program with help texts of this length.
pub(super) fn shown(program: Command, length: Length) -> Command {
    let template = template(&program);
    let program = program.help_template(template);
    let program = program.mut_args(|flag| flag.hide_env(true));
    program.mut_subcommands(|command| of_command(command, length))
}

fn of_command(command: Command, length: Length) -> Command {
    let end = match length {
        Length::Brief => brief_end(&command),
        Length::Full => full_end(&command),
    };
    let command = command.mut_args(|flag| {
        let is_hidden = length == Length::Brief && is_advanced(&flag);
        flag.hide_env(true).hide(is_hidden)
    });
    command
        .after_help(end.clone())
        .after_long_help(end)
        .mut_subcommands(|below| of_command(below, length))
}

fn is_advanced(flag: &Arg) -> bool {
    let group = flag.get_help_heading();
    group.is_some_and(|group| heading::ADVANCED.contains(&group))
}

/// The examples alone, and a hint how to see the other flags.
fn brief_end(command: &Command) -> String {
    let examples = styled(command.get_after_help());
    if command.get_arguments().any(is_advanced) {
        format!("{examples}\n\nRun it with --help for all flags.")
    } else {
        examples
    }
}

fn full_end(command: &Command) -> String {
    let end = command.get_after_long_help();
    let end = styled(end.or(command.get_after_help()));
    match environment::in_help(command) {
        Some(variables) => format!("{end}\n\n{variables}"),
        None => end,
    }
}

/// The text after the flags, with its styles.
fn styled(end: Option<&StyledStr>) -> String {
    end.map(|end| end.ansi().to_string()).unwrap_or_default()
}

/// The groups of commands, in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Upgrades",
        &[
            "check", "audit", "versions", "path", "explain", "range", "graph", "test", "migrate",
        ],
    ),
    (
        "Catalogs",
        &["catalogs", "snapshot", "lint", "bundle", "diff", "generate"],
    ),
    ("Webhook", &["serve", "doctor", "demo"]),
    ("Other", &["completions", "man", "version"]),
];

/// The template of the program's help, which lists the commands in groups.
fn template(program: &Command) -> String {
    let styles = Styles::default();
    let header = styles.get_header();
    let groups: Vec<_> = GROUPS
        .iter()
        .map(|(title, names)| format!("{header}{title}:{header:#}\n{}", list(program, names)))
        .collect();
    let groups = groups.join("\n");
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n\
         {header}Global:{header:#}\n{{options}}\n\n{END}"
    )
}

/// A line for each command, with its summary.
fn list(program: &Command, names: &[&str]) -> String {
    let styles = Styles::default();
    let literal = styles.get_literal();
    let commands = names
        .iter()
        .filter_map(|name| program.find_subcommand(name));
    let line = |command: &Command| {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default();
        let padding = LONGEST.saturating_sub(name.len());
        format!("  {literal}{name}{literal:#}{:padding$}  {about}\n", "")
    };
    commands.map(line).collect()
}

/// The length of the longest name, `completions`.
const LONGEST: usize = 11;

const END: &str = "\
Environment: set any flag as OLMGUARD_<COMMAND>_<FLAG>, some as OLMGUARD_<FLAG>
Run a command with --help to see its flags, examples and variables.";

#[cfg(test)]
mod tests;
