//! Rules one by one, over the versions that the package has: what is wanted and not there, what forbids
//! nothing, and ranges that take in prereleases of what comes after them.

mod idle;

use super::GuardedPackage;
use crate::lint::finding::Findings;
use crate::lint::words::{self, Words};
use crate::lint::{Rule, Severity};
use olmguard_catalog::guardrail::{self, Action, Passage, Range, RuleKind};

pub(super) fn check(guarded: &GuardedPackage<'_, '_, '_>, report: &mut Findings<'_>) {
    for rule in &guarded.guardrails.rules {
        let mut looking = RuleCheck {
            guarded,
            rule,
            report,
        };
        for passage in rule.kind.passages() {
            looking.passage(passage);
        }
        match &rule.kind {
            RuleKind::LatestPatchFirst { from: Some(from) } => looking.latest_patch(from),
            RuleKind::MaxMinorStep(step) => looking.minor_step(*step),
            RuleKind::Prerelease(Action::Allow) => looking.allowing(),
            _ => {}
        }
    }
}

/// Looks at one rule.
struct RuleCheck<'a, 'f, 'v, 'w, 'r> {
    guarded: &'a GuardedPackage<'f, 'v, 'w>,
    rule: &'w guardrail::Rule,
    report: &'a mut Findings<'r>,
}

impl RuleCheck<'_, '_, '_, '_, '_> {
    fn passage(&mut self, passage: &Passage) {
        let (id, via) = (&*self.rule.id, passage.via.as_str());
        if !passage.can_be_passed_by() {
            let words = if passage.to.is_none() && passage.via.is_open_above() {
                words::guardrail_open_above(self.rule, via)
            } else if passage.from.is_none() && passage.via.is_open_below() {
                words::guardrail_open_below(self.rule, via)
            } else {
                words::guardrail_never_applies(id, via)
            };
            self.say(Rule::GuardrailNeverApplies, words);
        } else if self.has_all_bundles() {
            let to = self.guarded.bundles().map(|(_, version, _)| version);
            if passage.can_be_passed_by_among(self.guarded.installed(), to) {
                self.available(&passage.via);
            } else {
                self.applies_to_none(via);
            }
        }
        self.prereleases(&passage.via);
    }

    fn latest_patch(&mut self, from: &Range) {
        if from.is_empty() {
            let words = words::guardrail_never_applies(&self.rule.id, from.as_str());
            self.say(Rule::GuardrailNeverApplies, words);
        } else if self.has_all_bundles()
            && !self.guarded.installed().any(|version| from.holds(version))
        {
            self.applies_to_none(from.as_str());
        }
    }

    /// Whether what is wanted on the way is there.
    fn available(&mut self, via: &Range) {
        let bundles = self.guarded.bundles();
        let inside = bundles.filter(|(_, version, _)| via.holds(version));
        let inside: Vec<_> = inside.collect();
        let (id, rule) = (&*self.rule.id, Rule::GuardrailStepNotAvailable);
        if inside.is_empty() {
            let package = self.guarded.package();
            self.say(
                rule,
                words::guardrail_step_not_available(id, via.as_str(), package),
            );
        } else if inside.iter().all(|(_, _, is_deprecated)| *is_deprecated) {
            let names: Vec<_> = inside.iter().map(|(name, ..)| *name).collect();
            self.note(
                rule,
                words::guardrail_step_deprecated(id, via.as_str(), &names),
            );
        }
    }

    fn prereleases(&mut self, via: &Range) {
        let versions = self.guarded.bundles().map(|(_, version, _)| version);
        let inside = versions.filter(|version| via.ends_among_prereleases_like(version));
        if let Some(lowest) = inside.min_by(|a, b| a.cmp_precedence(b)) {
            let words = words::guardrail_takes_prerelease(&self.rule.id, via.as_str(), lowest);
            self.say(Rule::GuardrailTakesPrerelease, words);
        }
    }

    fn applies_to_none(&mut self, range: &str) {
        let words = words::guardrail_applies_to_none(&self.rule.id, range, self.guarded.package());
        self.note(Rule::GuardrailNeverApplies, words);
    }

    /// A bundle that cannot be read may be what a rule is about.
    fn has_all_bundles(&self) -> bool {
        self.guarded.facts.package.unread.bundles.is_empty()
    }

    fn say(&mut self, rule: Rule, words: Words) {
        self.say_as(rule, rule.severity(), words);
    }

    fn note(&mut self, rule: Rule, words: Words) {
        self.say_as(rule, Severity::Note, words);
    }

    fn say_as(&mut self, rule: Rule, severity: Severity, words: Words) {
        let (spot, package) = (self.guarded.spot(&self.rule.id), self.guarded.package());
        self.report.say_as(rule, severity, spot, package, words);
    }
}
