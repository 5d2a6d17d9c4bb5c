//! The flags that several commands share, and what they mean.

pub(super) mod catalogs;
pub(super) mod cluster;
pub(super) mod color;
pub(super) mod command_line;
pub(super) mod environment;
pub(super) mod installed;
pub(super) mod log;
pub(super) mod memory;
pub(super) mod olm;
pub(super) mod policies;
pub(super) mod typed;

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use olmguard_admission::OnUndecided;

/// A value of a flag: its name, itself and its help, which may be empty.
pub(super) type NamedValue<T> = (&'static str, T, &'static str);

/// A parser of a flag with these values. The type of the values needs no knowledge of flags.
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

/// A parser of a flag that is a number. The reasons of the standard library name its types.
pub(super) fn number<T>(
    expected: &'static str,
) -> impl Fn(&str) -> Result<T, &'static str> + Clone + Send + Sync + 'static
where
    T: FromStr + Send + Sync + 'static,
{
    move |text| text.parse().map_err(|_| expected)
}

/// What [`number`] expects.
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

    /// The groups that `-h` leaves to `--help`.
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
