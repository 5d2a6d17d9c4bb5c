//! Why a policy cannot be read.

use std::fmt;

use olmguard_catalog::go_duration::DurationError;
use olmguard_catalog::json_type::JsonType;
use olmguard_catalog::selector::SelectorError;
use olmguard_catalog::version::ConstraintError;
use olmguard_catalog::version::go::quote;

use crate::limits;

/// Where a policy cannot be read, and why. Printed as `spec.rules.step: unknown value ...`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{problem}", FaultPath(.path))]
pub struct PolicyFault {
    /// The field, such as `spec.rules.windows[0].timeZone`; empty for the object as a whole.
    pub path: String,
    /// What is wrong.
    pub problem: PolicyProblem,
    at: Option<usize>,
}

impl PolicyFault {
    pub(crate) fn new(path: String, problem: PolicyProblem) -> Self {
        let at = match &problem {
            PolicyProblem::Range(error) => Some(error.fault().at),
            PolicyProblem::Expression { at, .. } => *at,
            _ => None,
        };
        Self { path, problem, at }
    }

    /// The byte offset of the problem within the text of the field, for a range or an expression.
    pub fn at(&self) -> Option<usize> {
        self.at
    }
}

/// What is wrong with a field of a policy, or with all of it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyProblem {
    /// It has another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: JsonType,
    },
    /// It is required.
    #[error("missing: expected {expected}")]
    Missing {
        /// What it must be.
        expected: &'static str,
    },
    /// It is empty.
    #[error("empty: expected {expected}")]
    Empty {
        /// What it must be.
        expected: &'static str,
    },
    /// The key means nothing at this place.
    #[error("unknown key{}: expected one of {}", NearestHint(*.nearest), .known.join(", "))]
    UnknownKey {
        /// The known key that is nearest, if one is near.
        nearest: Option<&'static str>,
        /// All known keys.
        known: &'static [&'static str],
    },
    /// The value is none of the words that mean something.
    #[error("unknown value {}{}: expected one of {}", quote(.found), NearestHint(*.nearest), .known.join(", "))]
    UnknownWord {
        /// The value.
        found: String,
        /// The known word that is nearest, if one is near.
        nearest: Option<&'static str>,
        /// All known words.
        known: &'static [&'static str],
    },
    /// The object is of another kind or version.
    #[error("found {}, expected {expected}", quote(.found))]
    OtherObject {
        /// What it is.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The text is too long.
    #[error("too long: expected at most {most} bytes, found {found}")]
    TooLong {
        /// How many bytes it has.
        found: usize,
        /// How many it can have.
        most: usize,
    },
    /// The list or mapping is too long.
    #[error("too many: expected at most {most} entries, found {found}")]
    TooMany {
        /// How many entries it has.
        found: usize,
        /// How many it can have.
        most: usize,
    },
    /// The text does not have the form of a name.
    #[error("{} is not {expected}", quote(.found))]
    Name {
        /// The text.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The text is not a version range.
    #[error("not a valid version range: {0}")]
    Range(ConstraintError),
    /// The label selector does not compile.
    #[error("not a valid label selector: {0}")]
    Selector(Box<SelectorError>),
    /// The text is not a cron schedule.
    #[error(
        "{} is not a cron schedule: {reason}; expected the five fields minute, hour, day of month, \
         month, day of week, such as \"0 22 * * 1-5\"",
        quote(.found)
    )]
    Schedule {
        /// The text.
        found: String,
        /// Why.
        reason: String,
    },
    /// The schedule names a date that does not exist.
    #[error("{} never opens: expected a date that exists", quote(.0))]
    NeverOpens(String),
    /// The text is not a duration.
    #[error("{} is not a duration: {error}", quote(.found))]
    Duration {
        /// The text.
        found: String,
        /// Why.
        error: DurationError,
    },
    /// The duration is not one for a window.
    #[error(
        "{} is out of range: expected more than 0s and at most {}h",
        quote(.0),
        limits::WINDOW_HOURS
    )]
    DurationOutOfRange(String),
    /// The time zone is not in the database of IANA.
    #[error("unknown time zone {}{}: expected a name of the IANA database, such as Europe/Berlin", quote(.found), NearestHint(.nearest.as_deref()))]
    TimeZone {
        /// The name.
        found: String,
        /// The same name in the case of the database, if only the case is wrong.
        nearest: Option<String>,
    },
    /// The text is not a CEL expression, or not one that olmguard accepts.
    #[error("not a valid CEL expression: {reason}")]
    Expression {
        /// Why.
        reason: String,
        /// The byte offset in the text, if there is one.
        at: Option<usize>,
    },
    /// `bypass: ByPermission` in a cluster that does not check the permission.
    #[error(
        "ByPermission needs the ValidatingAdmissionPolicy of olmguard, which is not in use here: \
         install it, or write Deny"
    )]
    PermissionNotChecked,
    /// The conditions of all policies take too long together, and those of this one exceed what is left.
    #[error(
        "the conditions of all UpgradePolicies are too costly together: expected fewer, simpler or over smaller lists"
    )]
    TooCostlyTogether,
    /// The file of the object cannot be read.
    #[error("{0}")]
    File(String),
}

impl PolicyProblem {
    pub(crate) fn too_long(found: &str, most: usize) -> Self {
        let found = found.len();
        Self::TooLong { found, most }
    }

    pub(crate) fn name(found: &str, expected: &'static str) -> Self {
        let found = limits::beginning(found, limits::ECHOED_BYTES);
        Self::Name { found, expected }
    }
}

/// The faults of one policy, in the order of the fields; a bounded number is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    kept: Vec<PolicyFault>,
    count: usize,
}

impl Faults {
    pub(crate) fn report(&mut self, path: String, problem: PolicyProblem) {
        self.count += 1;
        if self.kept.len() < limits::FAULTS {
            self.kept.push(PolicyFault::new(path, problem));
        }
    }

    /// How many there are, with those that are not kept.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn as_slice(&self) -> &[PolicyFault] {
        &self.kept
    }
}

struct FaultPath<'a>(&'a str);

impl fmt::Display for FaultPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            path => write!(f, "{path}: "),
        }
    }
}

struct NearestHint<'a>(Option<&'a str>);

impl fmt::Display for NearestHint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => write!(f, " (did you mean {nearest}?)"),
            None => Ok(()),
        }
    }
}
