//! The flags that commands share, and the command line as typed and as understood.

pub(super) mod catalogs;
pub(super) mod cluster;
pub(super) mod environment;
pub(super) mod installed;
pub(super) mod memory;
pub(super) mod olm;
pub(super) mod policies;

use std::borrow::Cow;
use std::env;
use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use crate::cli::args::heading::OBSERVABILITY;
use crate::cli::ends_with;
use olmguard_admission::OnUndecided;
use olmguard_server::telemetry::log::{DecisionLog, Log, LogFormat, LogLevel, LogUser};

/// A value of a flag: its name, the value, and its help, which may be empty.
pub(super) type NamedValue<T> = (&'static str, T, &'static str);

/// A parser for a flag with these values. The type of the values needs no knowledge of clap.
pub(super) fn one_of<T>(values: &'static [NamedValue<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let possible = values.iter().map(|(name, _, help)| {
        let value = PossibleValue::new(*name);
        if help.is_empty() {
            return value;
        }
        value.help(*help)
    });
    PossibleValuesParser::new(possible).map(|name| {
        let mut all = values.iter();
        let (_, value, _) = all
            .find(|(one, ..)| *one == name)
            .expect("no other name is possible");
        *value
    })
}

/// A parser for a numeric flag. It replaces the errors of the standard library, which are about Rust types.
pub(super) fn number<T>(
    expected: &'static str,
) -> impl Fn(&str) -> Result<T, &'static str> + Clone + Send + Sync + 'static
where
    T: FromStr + Send + Sync + 'static,
{
    move |text| text.parse().map_err(|_| expected)
}

/// The error texts for [`number`].
pub(super) const FROM_ZERO: &str = "expected a whole number, 0 or more";
pub(super) const FROM_ONE: &str = "expected a whole number, 1 or more";

/// The values of `--on-undecided`, and of `onUndecided` in a project file.
pub(super) const UNDECIDED: [NamedValue<OnUndecided>; 2] = [
    (
        "warn",
        OnUndecided::Warn,
        "Allow the change, with a warning",
    ),
    ("deny", OnUndecided::Deny, "Deny the change"),
];

/// The groups of flags in help texts and manual pages.
///
/// Every flag names its group itself: the group of a flattened struct would also be the group of the flags
/// after it.
pub(super) mod heading {
    pub(crate) const INPUT: &str = "Input";
    pub(crate) const MANIFEST: &str = "Manifest";
    pub(crate) const RULES: &str = "Rules";
    pub(crate) const LISTEN: &str = "Listen";
    pub(crate) const DECISIONS: &str = "Decisions";
    pub(crate) const AUDIT: &str = "Audit";
    pub(crate) const TLS: &str = "TLS";
    pub(crate) const CATALOGS: &str = "Catalogs";
    pub(crate) const CLUSTER: &str = "Cluster";
    pub(crate) const OLM: &str = "OLM";
    pub(crate) const WEBHOOK: &str = "Webhook";
    pub(crate) const LIMITS: &str = "Limits";
    pub(crate) const OBSERVABILITY: &str = "Observability";
    pub(crate) const SHUTDOWN: &str = "Shutdown";
    pub(crate) const RESULT: &str = "Result";
    pub(crate) const OUTPUT: &str = "Output";
    /// The flags that every command has.
    pub(crate) const GLOBAL: &str = "Global";

    /// The groups that only `--help` shows, not `-h`.
    pub(crate) const ADVANCED: [&str; 7] = [
        AUDIT,
        CLUSTER,
        OLM,
        LIMITS,
        OBSERVABILITY,
        SHUTDOWN,
        MANIFEST,
    ];
}

// === The flags of the log ===

/// The flags of the log.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = OBSERVABILITY)]
pub(crate) struct LogArgs {
    /// Format of the log [default: text on a terminal, otherwise json]
    #[arg(long = "log-format", value_name = "FORMAT")]
    format: Option<LogFormat>,

    /// Least severe level to log
    #[arg(long = "log-level", value_name = "LEVEL", value_enum, default_value_t)]
    level: LogLevel,

    /// How to log the user of a request
    #[arg(long = "log-user", value_name = "HOW", value_enum, default_value_t)]
    user: LogUser,
}

impl LogArgs {
    /// Sets up the log for the rest of this process.
    pub(crate) fn install(self) -> Log {
        let format = self.format.unwrap_or_else(LogFormat::of_stderr);
        Log::install(format, self.level)
    }

    /// The decision log with these settings.
    pub(crate) fn decisions(self) -> DecisionLog {
        DecisionLog { user: self.user }
    }
}

// === `--color WHEN`: whether text has colors ===

/// When text has colors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal; `NO_COLOR` and `CLICOLOR_FORCE` override this
    #[default]
    Auto,
    /// Always, also in files and pipes
    Always,
    /// Never
    Never,
}

impl Color {
    /// The setting for help texts and usage errors, which clap prints before it has parsed all flags.
    pub(crate) fn of_words(words: &[OsString]) -> Self {
        let variable = env::var("OLMGUARD_COLOR").ok();
        let named = named(words).or(variable);
        let color = named.and_then(|name| Self::from_str(&name, false).ok());
        color.unwrap_or_default()
    }

    /// Applies the setting to everything that this process prints from now on.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The value of the first `--color` on a command line.
fn named(words: &[OsString]) -> Option<String> {
    let flags = words.iter().take_while(|word| *word != "--");
    let mut flags = flags.map(|word| word.to_string_lossy());
    while let Some(word) = flags.next() {
        if word == "--color" {
            return flags.next().map(Cow::into_owned);
        }
        if let Some(value) = word.strip_prefix("--color=") {
            return Some(value.to_owned());
        }
    }
    None
}

// === The command line as understood, with the environment and the defaults ===

/// The command line with every flag in effect. No flag contains a secret.
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

/// A value as a shell expects it: in quotes unless it is a plain word.
fn quoted(value: &OsStr) -> String {
    let text = value.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/=@+[]%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

// === The options typed on the command line ===
//
// A form of a command that supports only some of the options refuses the others.

/// The long names of the options of a command that were typed. Defaults and environment variables are not included,
/// because they are not specific to this call.
///
/// As a flattened field, this must come before every other field, because each field removes its values from the
/// matches.
#[derive(Clone, Debug)]
pub(crate) struct TypedOptions<Of> {
    long: Vec<String>,
    of: PhantomData<fn() -> Of>,
}

/// Options that a form of a command does not have.
#[derive(Debug, thiserror::Error)]
#[error("{}: only with {expected}, not with {form}", options.join(", "))]
pub(crate) struct NotOfForm {
    options: Vec<String>,
    /// The form of the command that was used.
    form: &'static str,
    /// The arguments of the form that has the options.
    expected: &'static str,
}

ends_with!(Usage: NotOfForm);

impl<Of> TypedOptions<Of> {
    /// Whether one of these options was typed.
    pub(crate) fn has_any(&self, options: &[&str]) -> bool {
        self.long.iter().any(|long| options.contains(&&**long))
    }

    /// Refuses all options except the options of this form.
    pub(crate) fn refuse_but(
        &self,
        own: &[&str],
        form: &'static str,
        expected: &'static str,
    ) -> Result<(), NotOfForm> {
        self.refuse_if(|long| !own.contains(&long), form, expected)
    }

    /// Refuses these options.
    pub(crate) fn refuse(
        &self,
        others: &[&str],
        form: &'static str,
        expected: &'static str,
    ) -> Result<(), NotOfForm> {
        self.refuse_if(|long| others.contains(&long), form, expected)
    }

    fn refuse_if(
        &self,
        is_other: impl Fn(&str) -> bool,
        form: &'static str,
        expected: &'static str,
    ) -> Result<(), NotOfForm> {
        let others = self.long.iter().filter(|long| is_other(long));
        let options: Vec<_> = others.cloned().collect();
        if options.is_empty() {
            return Ok(());
        }
        Err(NotOfForm {
            options,
            form,
            expected,
        })
    }
}

impl<Of: Args> Args for TypedOptions<Of> {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl<Of: Args> FromArgMatches for TypedOptions<Of> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let own = Of::augment_args(Command::new(""));
        let is_typed = |arg: &&Arg| {
            let source = matches.value_source(arg.get_id().as_str());
            !arg.is_positional() && source == Some(ValueSource::CommandLine)
        };
        let typed = own.get_arguments().filter(is_typed);
        let long = typed.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        Ok(Self {
            long: long.collect(),
            of: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(words: &[&str], expected: Option<&str>) {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        assert_eq!(named(&words).as_deref(), expected, "{words:?}");
    }

    #[test]
    fn the_flag_is_found_in_both_forms() {
        found(&["check", "--color", "never", "--help"], Some("never"));
        found(&["--color=always"], Some("always"));
        found(&["check", "--color"], None);
        found(&["explain", "--", "--color=always"], None);
    }

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
