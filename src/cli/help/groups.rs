//! The commands by what they are for. clap lists them in one group.

use clap::Command;
use clap::builder::styling::Styles;

/// The groups, with their commands in the order in which they are shown.
pub(super) const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Upgrades",
        &[
            "check", "audit", "versions", "path", "explain", "range", "graph", "test",
        ],
    ),
    (
        "Catalogs",
        &["catalogs", "snapshot", "lint", "diff", "generate"],
    ),
    ("Webhook", &["serve", "doctor", "demo"]),
    ("Other", &["completions", "man", "version"]),
];

/// The template of the program's help, with a list of these commands.
pub(super) fn template(program: &Command) -> String {
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
Environment: set any flag as OLMGUARD_<COMMAND>_<FLAG> or OLMGUARD_<FLAG>
Run a command with --help to see its flags, examples and variables.";
