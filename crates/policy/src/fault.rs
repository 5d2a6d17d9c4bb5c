//! The reasons why a policy cannot be read.

use std::fmt;

use olmguard_catalog::go_duration::DurationError;
use olmguard_catalog::members::{FieldFaults, FieldProblem, nearest_hint};
use olmguard_catalog::selector::SelectorError;
use olmguard_catalog::version::ConstraintError;
use olmguard_catalog::version::go::quote;

use crate::limits;

/// A place in a policy that cannot be read, and the problem.
///
/// Printed as `spec.rules.step: unknown value ...`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{problem}", FaultPath(.path))]
pub struct PolicyFault {
    /// The field, such as `spec.rules.windows[0].timeZone`; empty for the object as a whole.
    pub path: String,
    /// The problem.
    pub problem: PolicyProblem,
}

impl PolicyFault {
    /// The byte offset of the problem within the text of the field, for a range or an expression.
    pub fn at(&self) -> Option<usize> {
        match &self.problem {
            PolicyProblem::Range(error) => Some(error.fault().at),
            PolicyProblem::Expression { at, .. } => *at,
            _ => None,
        }
    }
}

/// The problem with a field of a policy, or with the whole policy.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PolicyProblem {
    /// The value of a field is not valid.
    #[error(transparent)]
    Field(#[from] FieldProblem),
    /// The object is of another kind or version.
    #[error("found {}, expected {expected}", quote(.found))]
    OtherObject {
        /// The value found.
        found: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The text does not have the form of a name.
    #[error("{} is not {expected}", quote(.found))]
    Name {
        /// The text.
        found: String,
        /// The expected form.
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
        /// The reason.
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
        /// The reason.
        error: DurationError,
    },
    /// The duration is not in the range that a window allows.
    #[error(
        "{} is out of range: expected more than 0s and at most {}h",
        quote(.0),
        limits::WINDOW_HOURS
    )]
    DurationOutOfRange(String),
    /// The time zone is not in the IANA database.
    #[error("unknown time zone {}{}: expected a name of the IANA database, such as Europe/Berlin", quote(.found), nearest_hint(.nearest.as_deref()))]
    TimeZone {
        /// The name.
        found: String,
        /// The correctly written name, if only the case is wrong.
        nearest: Option<String>,
    },
    /// The text is not a valid CEL expression, or not one that olmguard accepts.
    #[error("not a valid CEL expression: {reason}")]
    Expression {
        /// The reason.
        reason: String,
        /// The byte offset in the text, if known.
        at: Option<usize>,
    },
    /// `bypass: ByPermission` in a cluster that does not check the permission.
    #[error(
        "ByPermission needs the ValidatingAdmissionPolicy of olmguard, which is not in use here: \
         install it, or write Deny"
    )]
    PermissionNotChecked,
    /// The conditions of all policies together are too costly, and those of this policy exceed the
    /// remaining budget.
    #[error(
        "the conditions of all UpgradePolicies are too costly together: expected fewer, simpler or over smaller lists"
    )]
    TooCostlyTogether,
    /// The file that contains the object cannot be read.
    #[error("{0}")]
    File(String),
}

impl PolicyProblem {
    pub(crate) fn name(found: &str, expected: &'static str) -> Self {
        let found = limits::beginning(found, limits::ECHOED_BYTES);
        Self::Name { found, expected }
    }
}

/// The faults of one policy, in the order of the fields. Only a bounded number is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultList {
    kept: Vec<PolicyFault>,
    count: usize,
}

impl FaultList {
    pub(crate) fn report(&mut self, path: String, problem: PolicyProblem) {
        self.count += 1;
        if self.kept.len() < limits::FAULTS {
            self.kept.push(PolicyFault { path, problem });
        }
    }

    /// The value that was read; reports the problem at this path otherwise.
    pub(crate) fn take<T>(
        &mut self,
        read: Result<T, PolicyProblem>,
        path: impl FnOnce() -> String,
    ) -> Option<T> {
        read.map_err(|problem| self.report(path(), problem)).ok()
    }

    /// The total number of faults, including those that are not kept.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn as_slice(&self) -> &[PolicyFault] {
        &self.kept
    }
}

impl FieldFaults for FaultList {
    const OBJECT: &'static str = "a mapping";
    const LIST_ENTRIES: usize = limits::LIST_ENTRIES;
    const UNKNOWN_KEYS: usize = limits::FAULTS;

    fn nearest(found: &str, known: &'static [&'static str]) -> Option<&'static str> {
        nearest(found, known)
    }

    fn report_field(&mut self, path: String, problem: FieldProblem) {
        self.report(path, problem.into());
    }
}

/// Returns the known word with the smallest edit distance, if that is at most a third of its
/// length, rounded up; the first of several.
fn nearest(found: &str, known: &'static [&'static str]) -> Option<&'static str> {
    if found.len() > limits::ECHOED_BYTES {
        return None;
    }
    let lower = found.to_lowercase();
    let edits = |word: &str| strsim::levenshtein(&lower, &word.to_lowercase());
    let measured = known.iter().map(|word| (edits(word), *word));
    let near = measured.filter(|(edits, word)| *edits <= word.len().div_ceil(3));
    near.min_by_key(|(edits, _)| *edits).map(|(_, word)| word)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near() {
        let known: &[&str] = &["Patch", "Minor", "Major"];
        for (found, expected) in [
            ("minor", Some("Minor")),
            ("Mnior", Some("Minor")),
            ("Mjor", Some("Major")),
            ("MAJOR", Some("Major")),
            ("Match", Some("Patch")),
            ("Mior", Some("Minor")),
            ("", None),
            ("Everything", None),
            ("é", None),
        ] {
            assert_eq!(nearest(found, known), expected, "{found}");
        }
        assert_eq!(nearest(&"Minor".repeat(20), known), None);
    }
}
