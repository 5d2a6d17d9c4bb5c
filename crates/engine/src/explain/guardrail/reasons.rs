//! The reasons of many steps, each listed once.
//!
//! Hundreds of rules can forbid each of thousands of steps, and the text of a reason can have kilobytes. So steps refer
//! to their reasons by index in one table, and share equal lists of indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::explain::guardrail::{Author, GuardrailReport, author, kind};
use crate::explain::text::{and_more, cut_middle};
use crate::resolve::{PolicyFinding, ViolatedRule, Violation};
use olmguard_catalog::guardrail::Rule;
use olmguard_policy::{PolicyRule, Step};

/// The indexes of the reasons of one step in [`Reasons`].
pub type Places = Arc<[usize]>;

/// Reasons without duplicates, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    told: Vec<GuardrailReport>,
    /// The number of the name of each reason, because rules of several authors can have the same name.
    names: Vec<usize>,
}

impl Reasons {
    /// Every reason.
    pub fn all(&self) -> &[GuardrailReport] {
        &self.told
    }

    /// The reason at an index.
    pub fn at(&self, place: usize) -> Option<&GuardrailReport> {
        self.told.get(place)
    }

    /// The names of the rules at these indexes, without duplicates, long ones cut. If there are very many, only the
    /// first.
    pub fn names(&self, places: &[usize]) -> String {
        self.names_of(places.iter().copied())
    }

    /// The names of all rules, in the same form.
    pub fn all_names(&self) -> String {
        self.names_of(0..self.told.len())
    }

    fn names_of(&self, places: impl Iterator<Item = usize>) -> String {
        let mut seen = BTreeSet::new();
        let mut named = Vec::new();
        for place in places {
            let is_new = seen.insert(self.names.get(place));
            if is_new && named.len() < MOST_NAMES {
                let name = self.at(place).map(GuardrailReport::name);
                named.push(cut_middle(&name.unwrap_or_default(), LONGEST_NAME));
            }
        }
        and_more(named.join(", "), seen.len() - named.len())
    }
}

/// Collects reasons in a table. Reasons are compared by owner and rule, not by their text, which is made only once.
#[derive(Debug, Default)]
pub struct ReasonTable<'s> {
    reasons: Reasons,
    places: BTreeMap<ReasonKey<'s>, usize>,
    names: BTreeMap<String, usize>,
    lists: BTreeSet<Places>,
}

impl<'s> ReasonTable<'s> {
    /// The indexes of the reasons against a step: guardrails, then upgrade policies.
    pub fn places(
        &mut self,
        violations: &[Violation<'s>],
        denials: &[PolicyFinding<'s>],
    ) -> Places {
        let mut places = Vec::with_capacity(violations.len() + denials.len());
        for found in violations {
            places.push(self.place(ReasonKey::of(found), || GuardrailReport::of(found)));
        }
        for found in denials {
            places.push(self.place(ReasonKey::policy(found), || GuardrailReport::policy(found)));
        }
        if let Some(known) = self.lists.get(places.as_slice()) {
            return Arc::clone(known);
        }
        let places = Places::from(places);
        self.lists.insert(Arc::clone(&places));
        places
    }

    /// The table.
    pub fn finish(self) -> Reasons {
        self.reasons
    }

    fn place(
        &mut self,
        identity: ReasonKey<'s>,
        report: impl FnOnce() -> GuardrailReport,
    ) -> usize {
        if let Some(place) = self.places.get(&identity) {
            return *place;
        }
        let place = self.add(report());
        self.places.insert(identity, place);
        place
    }

    fn add(&mut self, reason: GuardrailReport) -> usize {
        let next = self.names.len();
        let name = *self.names.entry(reason.name()).or_insert(next);
        let Reasons { told, names } = &mut self.reasons;
        told.push(reason);
        names.push(name);
        told.len() - 1
    }
}

/// The identity of a reason.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
enum ReasonKey<'s> {
    /// A rule, by its address in memory, with its owner.
    Rule(*const Rule, Author, &'s str),
    /// Any other reason: its kind, its base graph, and its owner and place.
    Other(&'static str, &'static str, Author, &'s str),
    /// A rule of an upgrade policy: the name of the policy, the field, the bundle that it denies, and the size of the
    /// step if that matters.
    Policy(&'s str, String, &'s str, Option<Step>),
}

impl<'s> ReasonKey<'s> {
    fn policy(found: &PolicyFinding<'s>) -> Self {
        let rule = &found.violation.rule;
        let step = match rule {
            PolicyRule::Step { found, .. } => Some(*found),
            _ => None,
        };
        Self::Policy(
            found.policy.name(),
            rule.path(),
            &found.to.bundle().name,
            step,
        )
    }

    fn of(violation: &Violation<'s>) -> Self {
        let (by, place) = author(violation.by);
        let other = |graph| Self::Other(kind(violation), graph, by, place);
        match violation.of {
            ViolatedRule::Rule(rule) => Self::Rule(rule, by, place),
            ViolatedRule::Prerelease(graph) | ViolatedRule::Graph(graph, _) => {
                other(graph.as_str())
            }
            ViolatedRule::Unread(_) => other(""),
        }
    }
}

/// The most rules that are named in a summary.
const MOST_NAMES: usize = 4;
/// The most bytes of a name in a summary.
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rule: Option<&str>, kind: &'static str) -> GuardrailReport {
        GuardrailReport {
            rule: rule.map(str::to_owned),
            kind,
            by: Author::Author,
            place: "hub".to_owned(),
            reason: None,
            lifted: false,
            text: "why".to_owned(),
        }
    }

    fn table(reports: impl IntoIterator<Item = GuardrailReport>) -> Reasons {
        let mut gathered = ReasonTable::default();
        for report in reports {
            gathered.add(report);
        }
        gathered.finish()
    }

    #[test]
    fn rules_are_named_once_and_what_is_no_rule_by_what_it_is() {
        let reasons = table([
            report(Some("a\u{1b}"), "PassThrough"),
            report(Some("a\u{1b}"), "PassThrough"),
            report(None, "Graph"),
            report(None, "Prerelease"),
            report(None, "Unread"),
            report(Some("b"), "MaxMinorStep"),
        ]);
        let expected =
            "a\\x1b, the semver rules, no prereleases, guardrails that cannot be read and 1 more";
        assert_eq!(reasons.all_names(), expected);
        assert_eq!(reasons.names(&[1, 5, 0]), "a\\x1b, b");
    }

    #[test]
    fn a_name_too_long_for_a_few_words_is_cut_in_its_middle() {
        let id = ["start", &"-".repeat(1000), "end"].concat();
        let names = table([report(Some(&id), "PassThrough")]).all_names();
        assert_eq!(names.len(), 64);
        assert!(names.starts_with("start-") && names.ends_with("-end"));
        assert!(names.contains("-...-"), "{names}");
    }
}
