//! Variables that look like those of flags, and are read by none.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::Command;

use super::{PREFIX, variable};

/// A flag by the variable that it is read from.
#[derive(Debug)]
struct Flag {
    variable: String,
    /// What it was read from when the variables of all commands had the names of flags alone.
    former: String,
}

/// What to say of variables that are set in vain, in byte order: those of no flag, and those from which
/// the command that these words name was read before.
pub(super) fn warnings(
    program: &Command,
    words: &[OsString],
    set: &BTreeSet<String>,
) -> Vec<String> {
    let mut own = Vec::new();
    collect_own(running(program, words), &mut own);
    let mut all = Vec::new();
    collect(program, &mut all);
    let names = set.iter().filter(|name| name.starts_with(PREFIX));
    names
        .filter_map(|name| {
            if all.iter().any(|flag| flag.variable == *name) {
                of_another_command(name, &own, set)
            } else {
                Some(of_no_flag(name, own.iter().chain(&all)))
            }
        })
        .collect()
}

/// The command that the words of a command line begin with.
fn running<'c>(program: &'c Command, words: &[OsString]) -> &'c Command {
    let mut command = program;
    for word in words {
        let Some(below) = command.find_subcommand(word) else {
            break;
        };
        command = below;
    }
    command
}

fn collect(command: &Command, flags: &mut Vec<Flag>) {
    collect_own(command, flags);
    command
        .get_subcommands()
        .for_each(|below| collect(below, flags));
}

fn collect_own(command: &Command, flags: &mut Vec<Flag>) {
    flags.extend(command.get_arguments().filter_map(|argument| {
        Some(Flag {
            variable: argument.get_env()?.to_str()?.to_owned(),
            former: variable(argument.get_long()?),
        })
    }));
}

/// Of a variable that `serve` reads, and that this command has read too; whoever has set both knows.
fn of_another_command(name: &str, own: &[Flag], set: &BTreeSet<String>) -> Option<String> {
    let mut moved = own.iter();
    let moved = moved.find(|flag| flag.former == name && flag.variable != name)?;
    let now = &moved.variable;
    (!set.contains(now)).then(|| {
        format!("only olmguard serve reads {name}; set the variable of this command instead: {now}")
    })
}

/// Of a variable of no flag, or no longer of one: those that took its place, the nearest first.
fn of_no_flag<'f>(name: &str, flags: impl Iterator<Item = &'f Flag>) -> String {
    let mut now: Vec<&str> = Vec::new();
    for flag in flags.filter(|flag| flag.former == name) {
        if !now.contains(&&*flag.variable) {
            now.push(&flag.variable);
        }
    }
    if now.is_empty() {
        return format!("ignoring {name}: no flag has this environment variable");
    }
    let rest = if now.len() > MOST_NAMED { ", ..." } else { "" };
    now.truncate(MOST_NAMED);
    let now = now.join(", ");
    format!("{name} is no longer read; set the variable of the command instead: {now}{rest}")
}

const MOST_NAMED: usize = 5;

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::super::with_variables;
    use super::*;

    fn program() -> Command {
        let command = |name: &'static str, flags: &[&'static str]| {
            let flags = flags.iter().map(|flag| Arg::new(*flag).long(*flag));
            Command::new(name).args(flags)
        };
        with_variables(
            Command::new("olmguard")
                .subcommand(command("serve", &["mode", "catalog"]))
                .subcommand(command("check", &["mode", "output", "catalog"]))
                .subcommand(Command::new("generate").subcommand(command("promote", &["output"])))
                .subcommands(["a", "b", "c", "d"].map(|name| command(name, &["output"]))),
        )
    }

    #[track_caller]
    fn warned(words: &[&str], set: &[&str], expected: &[&str]) {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        let set = set.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(warnings(&program(), &words, &set), expected);
    }

    #[test]
    fn what_is_read_is_not_warned_of() {
        let set = [
            "OLMGUARD_CATALOG",
            "OLMGUARD_MODE",
            "OLMGUARD_CHECK_OUTPUT",
            "PATH",
        ];
        warned(&["serve"], &set, &[]);
        warned(&["a"], &set, &[]);
    }

    #[test]
    fn a_variable_of_no_flag_is_told() {
        let expected = "ignoring OLMGUARD_X: no flag has this environment variable";
        warned(&["a"], &["OLMGUARD_X", "OLMGUARD_CATALOG"], &[expected]);
    }

    #[test]
    fn a_former_name_is_told_with_the_new_ones_that_of_the_command_first() {
        warned(
            &["generate", "promote", "--output=json"],
            &["OLMGUARD_OUTPUT"],
            &[
                "OLMGUARD_OUTPUT is no longer read; set the variable of the command instead: \
               OLMGUARD_GENERATE_PROMOTE_OUTPUT, OLMGUARD_CHECK_OUTPUT, OLMGUARD_A_OUTPUT, \
               OLMGUARD_B_OUTPUT, OLMGUARD_C_OUTPUT, ...",
            ],
        );
    }

    #[test]
    fn a_former_name_that_serve_reads_is_told_to_the_commands_that_read_it() {
        let expected = "only olmguard serve reads OLMGUARD_MODE; set the variable of this command \
                        instead: OLMGUARD_CHECK_MODE";
        warned(&["check"], &["OLMGUARD_MODE"], &[expected]);
        warned(&["check"], &["OLMGUARD_MODE", "OLMGUARD_CHECK_MODE"], &[]);
        warned(&["a"], &["OLMGUARD_MODE"], &[]);
    }
}
