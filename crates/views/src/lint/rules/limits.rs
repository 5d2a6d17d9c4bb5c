//! What lint does not check or report, because something is larger than in any real catalog: no one must take
//! silence for good news.

use crate::lint::Rule;
use crate::lint::check::Check;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::q;

/// Something that is left out.
#[derive(Clone, Copy, Debug)]
pub(in crate::lint) enum Omission {
    /// The steps of a package's ranges.
    Ranges,
    /// The paths to the heads of a package's channels.
    Paths,
    /// The cycles from all but this many edges of a package.
    Cycles(usize),
    /// The guardrails of a package, because of the package itself.
    GuardedSteps,
    /// The guardrails of a package, because of the packages before it.
    GuardedPackage,
    /// This many findings of a rule.
    Findings(Rule, usize),
}

pub(super) const LINT_LIMIT: RuleItem =
    rule!("lint-limit", Users, Warning).on(Check::Omission(sentence));

fn sentence(omission: Omission, package: &str) -> String {
    let package = q(package);
    match omission {
        Omission::Ranges => format!(
            "package {package} has too many skipRanges and versions to compare them all: lint does \
             not check what the ranges match, which versions are cut off or stranded, or which \
             deprecations have no replacement"
        ),
        Omission::Paths => format!(
            "package {package} has too many channels and edges to follow every upgrade path: lint \
             does not check which versions are cut off"
        ),
        Omission::Cycles(followed) => format!(
            "package {package} has more than {followed} edges that do not go to a higher version: \
             lint does not check whether the others form a cycle"
        ),
        Omission::GuardedSteps => format!(
            "package {package} has too many edges and guardrails to compare them all: lint does \
             not check what its guardrails forbid"
        ),
        Omission::GuardedPackage => format!(
            "the catalog has too many edges and guardrails to compare them all: lint does not \
             check what the guardrails of package {package} forbid"
        ),
        Omission::Findings(rule, left_out) => format!(
            "{left_out} more findings of {rule} are not shown from here on; fix the ones above \
             first"
        ),
    }
}
