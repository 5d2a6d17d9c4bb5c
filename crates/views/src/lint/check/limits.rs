//! What is left out of packages that are larger than any real one: told, so that nobody takes silence for
//! good news.

use super::{PackageCheck, ways};
use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::words;

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let package = facts.package;
    if !facts.steps.has_ranges {
        let words = words::too_many_ranges(package.name);
        report.say(Rule::LintLimit, package.spot(), package.name, words);
    } else if !ways::may_follow(facts) {
        let words = words::too_many_ways(package.name);
        report.say(Rule::LintLimit, package.spot(), package.name, words);
    }
}
