//! Rules without ranges that forbid or allow nothing.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::RuleCheck;
use crate::lint::{Rule, words};
use olmguard_catalog::guardrail::{self, Action, BaseGraph, RuleKind};
use olmguard_catalog::version::Version;

impl RuleCheck<'_, '_, '_, '_, '_> {
    /// The longest step of each major passes by the most minor versions.
    pub(super) fn minor_step(&mut self, step: NonZeroU32) {
        let guarded = self.guarded;
        let lowest = each_major(guarded.installed(), Ordering::Less);
        let highest = each_major(guarded.bundles().map(|(_, it, _)| it), Ordering::Greater);
        let steps = lowest.iter();
        let mut steps = steps.filter_map(|(major, from)| Some((from, highest.get(major)?)));
        let forbids = steps.any(|(from, to)| guarded.alone.breaks(self.rule, from, to));
        if !forbids && self.has_all_bundles() {
            let words = words::guardrail_step_of_none(&self.rule.id, step, guarded.package());
            self.note(Rule::GuardrailNeverApplies, words);
        }
    }

    /// To allow prereleases says something only where they would be denied for want of such a rule.
    pub(super) fn allowing(&mut self) {
        let guardrails = self.guarded.guardrails;
        let is_denying = |rule: &&guardrail::Rule| rule.kind == RuleKind::Prerelease(Action::Deny);
        let words = match guardrails.rules.iter().find(is_denying) {
            Some(denying) => words::guardrail_allows_in_vain(&self.rule.id, &denying.id),
            None if guardrails.graph == BaseGraph::Catalog => {
                words::guardrail_allows_anyway(&self.rule.id)
            }
            None => return,
        };
        self.say(Rule::GuardrailNeverApplies, words);
    }
}

/// The lowest or the highest version of each major.
fn each_major<'v>(
    versions: impl Iterator<Item = &'v Version>,
    wanted: Ordering,
) -> BTreeMap<u64, &'v Version> {
    let mut found = BTreeMap::new();
    for version in versions {
        let known = found.entry(version.major()).or_insert(version);
        if version.cmp_precedence(known) == wanted {
            *known = version;
        }
    }
    found
}
