//! A command line as it was understood: with what the environment and the defaults add to it.

use std::ffi::OsStr;

use clap::{Arg, ArgAction, ArgMatches, Command};

/// The command line with every flag that is in effect. No flag has a secret.
pub(crate) fn command_line(command: &Command, matches: &ArgMatches) -> String {
    let mut words = vec![command.get_name().to_owned()];
    let (mut command, mut matches) = (command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        words.push(name.to_owned());
        let Some(subcommand) = command.find_subcommand(name) else {
            break;
        };
        (command, matches) = (subcommand, inner);
    }
    for argument in command.get_arguments() {
        words.extend(said(argument, matches));
    }
    words.join(" ")
}

/// A flag with each of its values, if it has any.
fn said(argument: &Arg, matches: &ArgMatches) -> Vec<String> {
    let id = argument.get_id().as_str();
    let is_known = matches.ids().any(|known| known == id);
    let Some(name) = argument.get_long().filter(|_| is_known) else {
        return Vec::new();
    };
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        return Vec::from_iter(matches.get_flag(id).then(|| format!("--{name}")));
    }
    let values = matches.get_raw(id).into_iter().flatten();
    values
        .map(|value| format!("--{name}={}", quoted(value)))
        .collect()
}

/// A value as a shell would need it: in quotes where it is more than one plain word.
fn quoted(value: &OsStr) -> String {
    let text = value.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/=@+[]%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command::new("a").subcommand(
            Command::new("b")
                .arg(Arg::new("one").long("one").default_value("1"))
                .arg(Arg::new("two").long("two").action(ArgAction::Append))
                .arg(Arg::new("on").long("on").action(ArgAction::SetTrue))
                .arg(Arg::new("none").long("none")),
        )
    }

    #[track_caller]
    fn understood(arguments: &[&str], expected: &str) {
        let matches = command().get_matches_from(arguments);
        assert_eq!(command_line(&command(), &matches), expected);
    }

    #[test]
    fn a_quote_is_quoted() {
        understood(&["a", "b", "--none=it's"], r"a b --one=1 --none='it'\''s'");
    }

    #[test]
    fn defaults_are_said_and_what_is_off_is_not() {
        understood(&["a", "b"], "a b --one=1");
        understood(
            &["a", "b", "--two", "x y", "--two=[::]:1", "--on", "--one="],
            "a b --one='' --two='x y' --two=[::]:1 --on",
        );
    }
}
