//! What guardrails forbid, as every report has it.

mod reasons;

use serde::Serialize;

use crate::explain::label;
use crate::explain::refusal::guardrail::told;
use crate::explain::refusal::policy::against;
use crate::explain::text::one_line;
use crate::extension::Policy;
use crate::judge::ForbiddenStep;
use crate::resolve::{Choice, GuardedBy, PolicyFinding, ViolatedRule, Violation};
use olmguard_catalog::version::{Version, go};

pub use reasons::{Places, ReasonTable, Reasons};

/// A step that guardrails forbid.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ForbiddenReport {
    /// Version that the step starts from.
    pub from: String,
    /// Version that the step ends at.
    pub to: String,
    /// Reasons why the step is forbidden, at least one. Reasons that the override cannot lift come
    /// first. If there are very many, only the first ones.
    pub guardrails: Vec<GuardrailReport>,
    /// Number of reasons that are not listed. Only if some are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<usize>,
}

/// One reason why guardrails forbid a step.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GuardrailReport {
    /// Id of the rule. Null if no rule applies.
    pub rule: Option<String>,
    /// Kind of the rule. Graph: the `graph` of the guardrails has no such edge. Prerelease without
    /// a rule: that graph allows no prereleases. Unread: the guardrails are invalid. Policy: an
    /// upgrade policy denies the step, and `rule` is its name.
    #[schemars(extend("enum" = KINDS))]
    pub kind: &'static str,
    /// Owner of the guardrail.
    pub by: Author,
    /// Place of the guardrail: the catalog of the author, or the file and line of the
    /// administrator.
    pub place: String,
    /// Reason that the rule gives. Null if it gives none.
    pub reason: Option<String>,
    /// Whether the override (`SelfCertified`) is set and lifts the guardrail.
    pub lifted: bool,
    /// The whole reason in one sentence.
    pub text: String,
}

/// Owner of a guardrail.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// The author of the package, in the catalog.
    Author,
    /// An administrator, in a file of `--guardrails` or an object of the cluster.
    Administrator,
}

impl GuardrailReport {
    /// A violation as it is told where no bypass is set.
    pub fn of(violation: &Violation<'_>) -> Self {
        Self::under(Policy::CatalogProvided, violation)
    }

    /// A denial by an upgrade policy, which the override never lifts.
    fn policy(found: &PolicyFinding<'_>) -> Self {
        Self {
            rule: Some(found.policy.name().to_owned()),
            kind: "Policy",
            by: Author::Administrator,
            place: format!("UpgradePolicy {}", found.policy.name()),
            reason: None,
            lifted: false,
            text: one_line(&against(found, "").to_string()),
        }
    }

    fn under(policy: Policy, violation: &Violation<'_>) -> Self {
        let (by, place) = author(violation.by);
        let reason = match violation.of {
            ViolatedRule::Rule(rule) => Some(&*rule.reason).filter(|reason| !reason.is_empty()),
            ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) | ViolatedRule::Unread(_) => None,
        };
        Self {
            rule: violation.rule().map(str::to_owned),
            kind: kind(violation),
            by,
            place: place.to_owned(),
            reason: reason.map(str::to_owned),
            lifted: is_lifted(policy, violation),
            text: told(violation),
        }
    }

    /// The sentence, and whether the bypass lifts the rule.
    pub fn line(&self) -> String {
        let lifted = if self.lifted { LIFTED } else { "" };
        format!("{}{lifted}", self.text)
    }

    /// The rule by its id, fit for a terminal; what is no rule by its kind.
    pub(crate) fn name(&self) -> String {
        match (&self.rule, self.kind) {
            (Some(rule), _) => go::escape(rule),
            (None, "Unread") => UNREAD.to_owned(),
            (None, "Prerelease") => PRERELEASE.to_owned(),
            (None, _) => GRAPH.to_owned(),
        }
    }
}

fn is_lifted(policy: Policy, violation: &Violation<'_>) -> bool {
    policy == Policy::SelfCertified && !violation.holds_with_bypass()
}

/// Who says something, and where.
fn author(by: GuardedBy<'_>) -> (Author, &str) {
    match by {
        GuardedBy::Author(catalog) => (Author::Author, &catalog.name),
        GuardedBy::Administrator(place) => (Author::Administrator, place),
    }
}

fn kind(violation: &Violation<'_>) -> &'static str {
    match violation.of {
        ViolatedRule::Rule(rule) => rule.kind.as_str(),
        ViolatedRule::Prerelease(_) => "Prerelease",
        ViolatedRule::Graph(..) => "Graph",
        ViolatedRule::Unread(_) => "Unread",
    }
}

impl ForbiddenReport {
    /// A step that OLM would take under an extension's policy.
    pub fn of(forbidden: &ForbiddenStep<'_>, policy: Policy) -> Self {
        Self::step(
            &forbidden.from,
            &forbidden.to,
            &forbidden.violations,
            policy,
        )
    }

    /// A step that was looked for under a policy, if it is forbidden.
    pub fn found(
        from: &Version,
        to: &Choice<'_>,
        violations: &[Violation<'_>],
        policy: Policy,
    ) -> Option<Self> {
        (!violations.is_empty()).then(|| Self::step(from, to, violations, policy))
    }

    fn step(from: &Version, to: &Choice<'_>, violations: &[Violation<'_>], policy: Policy) -> Self {
        let mut reasons: Vec<_> = violations.iter().collect();
        reasons.sort_by_key(|reason| is_lifted(policy, reason));
        let more = reasons.len().checked_sub(MOST_REASONS);
        let told = reasons.into_iter().take(MOST_REASONS);
        Self {
            from: from.without_build().to_string(),
            to: label(to.bundle()),
            guardrails: told
                .map(|reason| GuardrailReport::under(policy, reason))
                .collect(),
            more: more.filter(|more| *more > 0),
        }
    }

    /// `FROM -> TO` with each reason in a sentence, and how many more there are.
    pub fn told(&self) -> impl Iterator<Item = (String, String)> {
        let step = format!("{} -> {}", self.from, self.to);
        let reasons = self.guardrails.iter().map(GuardrailReport::line);
        let more = self.more.map(|more| format!("and {more} more reasons"));
        let lines = reasons.chain(more);
        lines.map(move |line| (step.clone(), line))
    }
}

/// The words of [`GuardrailReport::kind`].
const KINDS: [&str; 8] = [
    "PassThrough",
    "Waypoints",
    "LatestPatchFirst",
    "MaxMinorStep",
    "Prerelease",
    "Graph",
    "Unread",
    "Policy",
];

const LIFTED: &str = "; the override lifts it";
const UNREAD: &str = "guardrails that cannot be read";
const PRERELEASE: &str = "no prereleases";
const GRAPH: &str = "the semver rules";

/// How many reasons of one step are told: there may be hundreds of rules, each with a reason of its own.
const MOST_REASONS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lifted: bool) -> GuardrailReport {
        GuardrailReport {
            rule: Some("a".to_owned()),
            kind: "Waypoints",
            by: Author::Author,
            place: "hub".to_owned(),
            reason: None,
            lifted,
            text: "why".to_owned(),
        }
    }

    #[test]
    fn what_the_bypass_lifts_says_so() {
        assert_eq!(report(true).line(), "why; the override lifts it");
    }

    #[test]
    fn of_very_many_reasons_the_first_are_told_and_the_others_counted() {
        let step = ForbiddenReport {
            from: "1.0.0".to_owned(),
            to: "1.1.0".to_owned(),
            guardrails: vec![report(false)],
            more: Some(224),
        };
        let told: Vec<_> = step
            .told()
            .map(|(step, why)| format!("{step}: {why}"))
            .collect();
        let expected = [
            "1.0.0 -> 1.1.0: why",
            "1.0.0 -> 1.1.0: and 224 more reasons",
        ];
        assert_eq!(told, expected);
    }
}
