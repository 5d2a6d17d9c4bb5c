//! The environment variables that flags are read from.
//!
//! A flag of one command has a variable of its own, `OLMGUARD_<COMMAND>_<FLAG>`, because flags such as `--output` mean
//! something different to each command. A flag that means the same everywhere has one variable for all commands,
//! `OLMGUARD_<FLAG>`. So has every flag of `serve`, because the manifests of clusters contain these names.
//!
//! A shared variable is set for all commands, so it does not contradict the command line but gives way to it.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::cli::args::heading;

/// The flags that mean the same in every command that has them.
const SHARED: [&str; 17] = [
    "as",
    "as-group",
    "at",
    "catalog",
    "catalogd-ca",
    "color",
    "context",
    "from-cluster",
    "graph",
    "guardrails",
    "kubeconfig",
    "no-project",
    "olm-feature-gates",
    "olm-namespace",
    "olm-release",
    "policy",
    "snapshot",
];

/// The command whose variables are named like shared ones.
const SERVE: &str = "serve";

const PREFIX: &str = "OLMGUARD_";

/// This program, with a variable for each flag of its commands.
pub(crate) fn with_variables(program: Command) -> Command {
    let program = program.mut_args(|flag| {
        if is_shared(&flag) {
            of_flag(flag, "")
        } else {
            flag
        }
    });
    program.mut_subcommands(|command| of_command(command, ""))
}

/// The program without the shared variables that give way to this command line. The first word is the program's name.
pub(crate) fn giving_way(program: Command, words: impl IntoIterator<Item = OsString>) -> Command {
    let parsed = program.clone().ignore_errors(true);
    match parsed.try_get_matches_from(words) {
        Ok(matches) => without_moot(program, &matches),
        // The user requests help, which shows every variable.
        Err(_) => program,
    }
}

fn without_moot(command: Command, matches: &ArgMatches) -> Command {
    let said = Said::of(&command, matches);
    let moot = |flag: &&Arg| is_shared(flag) && said.makes_moot(flag);
    let moot: Vec<_> = command
        .get_arguments()
        .filter(moot)
        .map(Arg::get_id)
        .cloned()
        .collect();
    let command = command.mut_args(|flag| {
        if moot.contains(flag.get_id()) {
            flag.env(None)
        } else {
            flag
        }
    });
    match matches.subcommand() {
        Some((name, inner)) => command.mut_subcommand(name, |below| without_moot(below, inner)),
        None => command,
    }
}

/// The arguments of one command that are explicit: typed, or set by a variable of the command itself.
struct Said<'a> {
    command: &'a Command,
    matches: &'a ArgMatches,
    arguments: Vec<&'a Arg>,
}

impl<'a> Said<'a> {
    fn of(command: &'a Command, matches: &'a ArgMatches) -> Self {
        let is_said = |flag: &&Arg| match matches.value_source(flag.get_id().as_str()) {
            Some(ValueSource::CommandLine) => true,
            Some(ValueSource::EnvVariable) => !is_shared(flag),
            _ => false,
        };
        Self {
            command,
            matches,
            arguments: command.get_arguments().filter(is_said).collect(),
        }
    }

    /// Whether the variable of this flag has no effect, because of the explicit arguments.
    fn makes_moot(&self, flag: &Arg) -> bool {
        let is_said = self.arguments.contains(&flag);
        let needs_cluster = flag.get_long().is_some_and(|name| REACH.contains(&name));
        !is_said && (self.outweighs(flag) || (needs_cluster && !self.has_cluster()))
    }

    fn outweighs(&self, flag: &Arg) -> bool {
        let is_of = |(name, ..): &&(&str, &str, &str)| flag.get_long() == Some(name);
        let mut rules = GIVES_WAY.iter().filter(is_of);
        let mut excluded = self.arguments.iter();
        rules.any(|(_, other, value)| self.has(other, value))
            || excluded.any(|one| self.command.get_arg_conflicts_with(one).contains(&flag))
    }

    /// Whether an argument is explicit and has this value; an empty value stands for any.
    fn has(&self, id: &str, value: &str) -> bool {
        let values = || self.matches.get_raw(id).into_iter().flatten();
        let is_given = self.arguments.iter().any(|one| one.get_id() == id);
        is_given && (value.is_empty() || values().any(|one| one == value))
    }

    /// Whether the command reads a cluster, also because of a variable. A command without the flag reads one unless it
    /// is given files.
    fn has_cluster(&self) -> bool {
        let mut flags = self.command.get_arguments();
        let Some(flag) = flags.find(|flag| flag.get_id() == FROM_CLUSTER) else {
            return !self.has("catalog", "");
        };
        let is_on = matches!(self.matches.try_get_one(FROM_CLUSTER), Ok(Some(true)));
        self.has("contexts", "") || (is_on && !self.outweighs(flag))
    }
}

const FROM_CLUSTER: &str = "from_cluster";

/// The flags for reaching a cluster, which have no effect if no cluster is read.
const REACH: [&str; 4] = ["catalogd-ca", "context", "kubeconfig", "olm-namespace"];

/// Shared flags, each with the id of an argument that its variable gives way to, and the value of that argument (empty
/// for any). A variable also gives way to each flag that conflicts with its own flag.
const GIVES_WAY: [(&str, &str, &str); 5] = [
    ("snapshot", FROM_CLUSTER, ""),
    ("from-cluster", "snapshot", ""),
    ("graph", "olm", "v0"),
    // `lint` does not judge by guardrails and policies but checks them, so the variables would add subjects to it.
    ("guardrails", "catalogs", ""),
    ("policy", "catalogs", ""),
];

/// Describes in one sentence how to set the flags of a command; `None` if it has only global flags.
///
/// The flags that all commands share are in groups of their own.
pub(crate) fn in_help(command: &Command) -> Option<String> {
    let flags = command
        .get_arguments()
        .filter(|flag| flag.get_env().is_some());
    let (shared, own): (Vec<&Arg>, Vec<&Arg>) = flags.partition(|flag| is_shared(flag));
    let prefix = own.iter().find_map(|flag| prefix(flag));
    let all = "Environment: set any flag as";
    match prefix {
        None if shared.is_empty() => None,
        None => Some(format!("{all} {PREFIX}<FLAG>")),
        Some(PREFIX) => Some(format!("{all} {PREFIX}<FLAG>, such as {PREFIX}TLS_CERT")),
        Some(prefix) => Some(format!(
            "{all} {prefix}<FLAG>; flags under {} as {PREFIX}<FLAG>",
            groups(&shared).join(", ")
        )),
    }
}

/// The part of a flag's variable before the name of the flag.
fn prefix(flag: &Arg) -> Option<&str> {
    let name = variable(flag.get_long()?);
    let name = name.strip_prefix(PREFIX)?;
    flag.get_env()?.to_str()?.strip_suffix(name)
}

/// The groups of the shared flags, and the group of the global flags.
fn groups<'a>(shared: &[&'a Arg]) -> Vec<&'a str> {
    let mut groups: Vec<&str> = Vec::new();
    let headings = shared.iter().filter_map(|flag| flag.get_help_heading());
    for group in headings.chain([heading::GLOBAL]) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn is_shared(flag: &Arg) -> bool {
    flag.get_long().is_some_and(|name| SHARED.contains(&name))
}

/// The warnings about variables of this process that no flag reads.
pub(crate) fn warnings_of_process(program: &Command) -> Vec<String> {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let set = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    warnings(program, &words, &set.collect())
}

/// Gives each flag of a command its variable. `above` has the names of the commands above, each with a hyphen after it.
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
    let words = if is_shared(&argument) { "" } else { words };
    let name = variable(&format!("{words}{flag}"));
    argument.env(name)
}

/// The variable for these words, which are separated by hyphens.
fn variable(words: &str) -> String {
    format!("{PREFIX}{}", words.to_uppercase().replace('-', "_"))
}

/// A flag and its variables, to find variables that look like a flag's but that no flag reads.
#[derive(Debug)]
struct Flag {
    variable: String,
    /// The variable of the flag from the time when no variable contained the name of its command.
    former: String,
}

/// The warnings about variables without effect, in byte order: variables of no flag, and variables that the command of
/// this command line no longer reads.
fn warnings(program: &Command, words: &[OsString], set: &BTreeSet<String>) -> Vec<String> {
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

/// An error about the value of a flag, with the variable that the value is from.
pub(crate) fn with_variable(
    mut error: clap::Error,
    mut program: Command,
    words: &[OsString],
) -> clap::Error {
    // The error shows the flag as a built command does.
    program.build();
    let shown = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let mut flags = running(&program, words).get_arguments();
    let flag = flags.find(|flag| Some(flag.to_string()) == shown && !is_typed(flag, words));
    let variable = flag.and_then(Arg::get_env);
    if let Some(variable) = variable.filter(|variable| env::var_os(variable).is_some()) {
        let tip = format!("the value is from {}", variable.to_string_lossy());
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Whether the words of a command line have this flag.
fn is_typed(flag: &Arg, words: &[OsString]) -> bool {
    let long = flag.get_long().map(|long| format!("--{long}"));
    let short = flag.get_short().map(|short| format!("-{short}"));
    words.iter().any(|word| {
        let word = word.to_string_lossy();
        let name = word.split_once('=').map_or(&*word, |(name, _)| name);
        long.as_deref() == Some(name) || short.as_ref().is_some_and(|flag| word.starts_with(flag))
    })
}

/// The command of a command line. Global flags and their values can be before its name; no value is the name of a
/// command.
fn running<'c>(program: &'c Command, words: &[OsString]) -> &'c Command {
    words.iter().fold(program, |command, word| {
        command.find_subcommand(word).unwrap_or(command)
    })
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

/// The warning for a variable that `serve` reads and that this command used to read as well. Users who have set the new
/// variable too need no warning.
fn of_another_command(name: &str, own: &[Flag], set: &BTreeSet<String>) -> Option<String> {
    let mut moved = own.iter();
    let moved = moved.find(|flag| flag.former == name && flag.variable != name)?;
    let now = &moved.variable;
    (!set.contains(now)).then(|| {
        format!("only olmguard serve reads {name}; set the variable of this command instead: {now}")
    })
}

/// The warning for a variable of no flag. If flags used to read it, the warning names their variables, nearest first.
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
    use std::collections::BTreeMap;

    use clap::Arg;

    use super::{with_variables, *};

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

    /// Whether a flag is about the program itself, and has no variable.
    fn has_none(flag: &str) -> bool {
        ["help", "version"].contains(&flag)
    }

    /// The command, the flag and its variable, of everything that can be set.
    fn variables() -> Vec<(String, String, String)> {
        let all = flags(&crate::cli::command(), "").into_iter();
        let named = all.filter_map(|(command, flag)| {
            let long = flag.get_long().filter(|long| !has_none(long))?.to_owned();
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
            ("", "color", "OLMGUARD_COLOR"),
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

    /// Flags that share a variable have the same name and accept the same values.
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
        for name in SHARED.iter().filter(|name| **name != "color") {
            let commands = all.iter().filter(|(_, flag, _)| flag == name);
            assert!(commands.count() > 1, "{name}");
        }
    }

    /// Help texts name the groups of shared flags, so these groups must have no other flags.
    #[test]
    fn shared_flags_have_groups_of_their_own() {
        fn check(command: &Command) {
            let flags = || command.get_arguments().filter(|flag| !flag.is_positional());
            let shared: Vec<_> = flags().filter(|flag| is_shared(flag)).collect();
            let groups = groups(&shared);
            for flag in flags() {
                let group = flag.get_help_heading().unwrap_or_default();
                let is_in_one = groups.contains(&group);
                let (command, flag) = (command.get_name(), (flag.get_id(), is_shared(flag)));
                assert_eq!(is_in_one, flag.1, "{command} {}", flag.0);
            }
            command.get_subcommands().for_each(check);
        }
        let program = crate::cli::command();
        let commands = program.get_subcommands();
        commands
            .filter(|command| command.get_name() != SERVE)
            .for_each(check);
    }

    #[test]
    fn help_names_the_variables_in_a_sentence() {
        let program = crate::cli::command();
        let sentence = |name: &str| program.find_subcommand(name).and_then(in_help);
        let all = "Environment: set any flag as";
        for (command, expected) in [
            ("completions", None),
            ("serve", Some("OLMGUARD_<FLAG>, such as OLMGUARD_TLS_CERT")),
            (
                "check",
                Some(
                    "OLMGUARD_CHECK_<FLAG>; flags under Catalogs, OLM, Cluster, Global as OLMGUARD_<FLAG>",
                ),
            ),
            (
                "lint",
                Some("OLMGUARD_LINT_<FLAG>; flags under Catalogs, Global as OLMGUARD_<FLAG>"),
            ),
        ] {
            let expected = expected.map(|rest| format!("{all} {rest}"));
            assert_eq!(sentence(command), expected, "{command}");
        }
    }

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
        let flag_first = ["--color", "never", "check", "a.yaml"];
        warned(&flag_first, &["OLMGUARD_MODE"], &[expected]);
        warned(&["check"], &["OLMGUARD_MODE", "OLMGUARD_CHECK_MODE"], &[]);
        warned(&["a"], &["OLMGUARD_MODE"], &[]);
    }
}
