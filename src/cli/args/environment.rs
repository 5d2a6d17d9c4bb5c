//! The variables of the environment that flags are read from.
//!
//! A flag of one command has a variable of its own, `OLMGUARD_<COMMAND>_<FLAG>`: `--output` means
//! something else to each. A flag that means the same wherever it is has one variable for all,
//! `OLMGUARD_<FLAG>`, and so has every flag of `serve`, whose names are in the manifests of clusters.

mod unread;

use std::env;

use clap::{Arg, Command};

/// The flags that mean the same to every command that has them.
const SHARED: [&str; 11] = [
    "catalog",
    "catalogd-ca",
    "context",
    "from-cluster",
    "graph",
    "guardrails",
    "kubeconfig",
    "olm-feature-gates",
    "olm-namespace",
    "olm-release",
    "snapshot",
];

/// The command whose flags have the names of shared ones.
const SERVE: &str = "serve";

const PREFIX: &str = "OLMGUARD_";

/// This program, with a variable for each flag of its commands.
pub(crate) fn with_variables(program: Command) -> Command {
    program.mut_subcommands(|command| of_command(command, ""))
}

/// What to say of the variables of this process that are set in vain.
pub(crate) fn warnings_of_process(program: &Command) -> Vec<String> {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let set = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    unread::warnings(program, &words, &set.collect())
}

/// The words above a command end with a hyphen, as those before a flag do.
fn of_command(command: Command, above: &str) -> Command {
    let words = match command.get_name() {
        SERVE => String::new(),
        name => format!("{above}{name}-"),
    };
    let command = command.mut_args(|flag| of_flag(flag, &words));
    command.mut_subcommands(|below| of_command(below, &words))
}

fn of_flag(argument: Arg, words: &str) -> Arg {
    let Some(flag) = argument.get_long() else {
        return argument;
    };
    let words = if SHARED.contains(&flag) { "" } else { words };
    let name = variable(&format!("{words}{flag}"));
    argument.env(name)
}

/// The variable for these words, with hyphens between them.
fn variable(words: &str) -> String {
    format!("{PREFIX}{}", words.to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The flags of a command and of those below it, each with the words of its command.
    fn flags(command: &Command, words: &str) -> Vec<(String, Arg)> {
        let own = command.get_arguments().cloned();
        let own = own.map(|flag| (words.to_owned(), flag));
        let below = command.get_subcommands().flat_map(|command| {
            let words = format!("{words} {}", command.get_name());
            flags(command, words.trim_start())
        });
        own.chain(below).collect()
    }

    /// The command, the flag and its variable, of everything that can be set.
    fn variables() -> Vec<(String, String, String)> {
        let all = flags(&crate::cli::command(), "").into_iter();
        let named = all.filter_map(|(command, flag)| {
            let long = flag.get_long()?.to_owned();
            let variable = flag
                .get_env()
                .map(|name| name.to_string_lossy().into_owned());
            Some((command, long, variable.unwrap_or_default()))
        });
        named.collect()
    }

    #[test]
    fn every_variable_is_named_by_the_rule() {
        let all = variables();
        assert!(all.len() > 100, "{}", all.len());
        for (command, flag, variable) in all {
            let is_shared = command == "serve" || SHARED.contains(&&*flag);
            let words = if is_shared {
                flag
            } else {
                format!("{command}-{flag}")
            };
            let words = words.replace(['-', ' '], "_").to_uppercase();
            assert_eq!(variable, format!("OLMGUARD_{words}"), "{command}");
        }
    }

    #[test]
    fn variables_are_named_such_as_these() {
        let all = variables();
        for (command, flag, variable) in [
            ("check", "output", "OLMGUARD_CHECK_OUTPUT"),
            ("lint", "allow", "OLMGUARD_LINT_ALLOW"),
            ("diff", "allow", "OLMGUARD_DIFF_ALLOW"),
            ("snapshot show", "output", "OLMGUARD_SNAPSHOT_SHOW_OUTPUT"),
            (
                "generate z-stream",
                "new-version",
                "OLMGUARD_GENERATE_Z_STREAM_NEW_VERSION",
            ),
            ("path", "olm-release", "OLMGUARD_OLM_RELEASE"),
            ("serve", "olm-release", "OLMGUARD_OLM_RELEASE"),
            (
                "doctor",
                "webhook-configuration",
                "OLMGUARD_DOCTOR_WEBHOOK_CONFIGURATION",
            ),
            (
                "serve",
                "webhook-configuration",
                "OLMGUARD_WEBHOOK_CONFIGURATION",
            ),
        ] {
            let expected = (command.to_owned(), flag.to_owned(), variable.to_owned());
            assert!(all.contains(&expected), "{expected:?}");
        }
    }

    /// Flags that share a variable have one name and take the same values.
    #[test]
    fn flags_of_one_variable_mean_the_same() {
        let mut meanings = BTreeMap::new();
        for (command, flag) in flags(&crate::cli::command(), "") {
            let Some(variable) = flag.get_env().map(ToOwned::to_owned) else {
                continue;
            };
            let meaning = (
                flag.get_long().map(str::to_owned),
                flag.get_value_names().map(<[_]>::to_vec),
                flag.get_value_parser().type_id(),
                flag.get_value_delimiter(),
                format!("{:?}", flag.get_action()),
            );
            let known = meanings.entry(variable).or_insert_with(|| meaning.clone());
            assert_eq!(*known, meaning, "{command}");
        }
    }

    #[test]
    fn a_shared_name_is_that_of_more_than_one_command() {
        let all = variables();
        for name in SHARED {
            let commands = all.iter().filter(|(_, flag, _)| flag == name);
            assert!(commands.count() > 1, "{name}");
        }
    }
}
