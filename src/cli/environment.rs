//! Variables of the environment that look like the twin of a flag, and are none.

use std::collections::BTreeSet;
use std::env;

use clap::Command;

/// The names that begin like a twin and belong to no flag, in byte order.
pub(super) fn strangers(command: &Command) -> Vec<String> {
    let mut known = BTreeSet::new();
    collect(command, &mut known);
    let set = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown: BTreeSet<String> = set
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .collect();
    unknown.into_iter().collect()
}

fn collect(command: &Command, known: &mut BTreeSet<String>) {
    let twins = command
        .get_arguments()
        .filter_map(|argument| argument.get_env()?.to_str());
    known.extend(twins.map(str::to_owned));
    command
        .get_subcommands()
        .for_each(|subcommand| collect(subcommand, known));
}

const PREFIX: &str = "OLMGUARD_";

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn the_twins_of_all_commands_are_known() {
        let twin = |name: &'static str| Arg::new(name).long(name).env(name);
        let command = Command::new("a")
            .arg(twin("OLMGUARD_ONE"))
            .subcommand(Command::new("b").arg(twin("OLMGUARD_TWO")));
        let mut known = BTreeSet::new();
        collect(&command, &mut known);
        assert_eq!(
            known.into_iter().collect::<Vec<_>>(),
            ["OLMGUARD_ONE", "OLMGUARD_TWO"]
        );
    }
}
