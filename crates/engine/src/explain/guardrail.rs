//! The text about guardrails: the reports that every command prints, and the sentences of a refusal.

mod reasons;

use serde::Serialize;

use crate::explain::facts::{MessageFacts, allowed_by};
use crate::explain::policy;
use crate::explain::text::{CutLine, Detail, and_more, label, one_line, versioned};
use crate::extension::Policy;
use crate::judge::ForbiddenStep;
use crate::resolve::semver::Hindrance;
use crate::resolve::{Choice, GuardedBy, PolicyFinding, ViolatedRule, Violation};
use olmguard_catalog::guardrail::{Action, Passage, Range, Rule, RuleKind};
use olmguard_catalog::version::{Version, go};

pub use reasons::{Places, ReasonTable, Reasons};

/// A step that guardrails forbid.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
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
    /// The report of a violation if the bypass is not set.
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
            text: one_line(&policy::against(found, "").to_string()),
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

    /// The sentence, with a note if the bypass lifts the rule.
    pub fn line(&self) -> String {
        let lifted = if self.lifted { LIFTED } else { "" };
        format!("{}{lifted}", self.text)
    }

    /// The id of the rule, safe for a terminal; for other reasons, their kind.
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

/// The owner of a guardrail, and its place.
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
    /// A step that OLM would take under the policy of an extension.
    pub fn of(forbidden: &ForbiddenStep<'_>, policy: Policy) -> Self {
        let mut reasons: Vec<_> = forbidden.violations.iter().collect();
        reasons.sort_by_key(|reason| is_lifted(policy, reason));
        let more = reasons.len().checked_sub(MOST_LISTED);
        let told = reasons.into_iter().take(MOST_LISTED);
        Self {
            from: forbidden.from.without_build().to_string(),
            to: label(forbidden.to.bundle()),
            guardrails: told
                .map(|reason| GuardrailReport::under(policy, reason))
                .collect(),
            more: more.filter(|more| *more > 0),
        }
    }

    /// `FROM -> TO` with one sentence per reason, and the number of further reasons.
    pub fn told(&self) -> impl Iterator<Item = (String, String)> {
        let step = format!("{} -> {}", self.from, self.to);
        let reasons = self.guardrails.iter().map(GuardrailReport::line);
        let more = self.more.map(|more| format!("and {more} more reasons"));
        let lines = reasons.chain(more);
        lines.map(move |line| (step.clone(), line))
    }
}

/// The first reason, for line 1: the rule and the step that it forbids.
pub(super) fn reason(forbidden: &ForbiddenStep<'_>) -> CutLine {
    let first = forbidden.violations.first();
    let line = first.map_or_else(CutLine::default, |violation| {
        against(violation, &forbidden.from, forbidden.to)
    });
    if forbidden.is_first_step() {
        line
    } else {
        line.say(", a step that OLM then takes automatically")
    }
}

/// The rule that a step violates, and the step.
pub(super) fn against(violation: &Violation<'_>, from: &Version, to: Choice<'_>) -> CutLine {
    let step = |line: CutLine| match to.version() {
        Some(to) => line.version(from).say(" -> ").version(to),
        None => line.say("the step from ").version(from),
    };
    let whose = whose(&violation.by);
    match violation.of {
        ViolatedRule::Rule(rule) => step(whose.say(" guardrail ").name(&rule.id).say(" forbids ")),
        ViolatedRule::Prerelease(_) => step(whose.say(" guardrails allow no prerelease: ")),
        ViolatedRule::Graph(_, left) => {
            let line = step(whose.say(" guardrails have no edge "));
            line.say(": ").say(hindrance(left))
        }
        ViolatedRule::Unread(_) => {
            whose.say(" guardrails cannot be read, so they forbid every upgrade")
        }
    }
}

/// The text about why versions alone do not allow a step.
pub fn hindrance(hindrance: Hindrance) -> &'static str {
    match hindrance {
        Hindrance::Same => "the version is the same",
        Hindrance::Lower => "the version is lower",
        Hindrance::Major => "another major version",
        Hindrance::ZeroMinor => "below 1.0.0 another minor version is as another major one",
        Hindrance::ZeroPatch => "below 0.1.0 no version is compatible with another",
        Hindrance::Prerelease => "from a release to a prerelease",
    }
}

/// Every reason, with the meaning and the reason of its rule.
pub(super) fn details(forbidden: &ForbiddenStep<'_>) -> Vec<Detail> {
    let items = forbidden.violations.iter().map(told).collect();
    vec![Detail::sentences("Guardrail", items)]
}

/// Each reason by itself, for a list of findings. If there are too many, only the first.
pub(super) fn each(forbidden: &ForbiddenStep<'_>) -> impl Iterator<Item = CutLine> {
    let violations = forbidden.violations.iter().take(MOST_LISTED);
    violations.map(move |violation| against(violation, &forbidden.from, forbidden.to))
}

/// The text about what is missing if no edit of the extension helps.
pub(super) fn needed(facts: &MessageFacts<'_>, forbidden: &ForbiddenStep<'_>) -> CutLine {
    let unread = |violation: &Violation<'_>| matches!(violation.of, ViolatedRule::Unread(_));
    if forbidden.violations.iter().any(unread) {
        return CutLine::default().say("Fix the guardrails: they cannot be read.");
    }
    let line = facts.no_path_to(versioned(forbidden.to));
    let by_policies = facts.dead_end.is_some_and(|end| !end.policies.is_empty());
    line.say(allowed_by(true, by_policies).unwrap_or_default())
        .then(facts.highest())
}

/// The guardrails that block a path which edges alone allow.
pub(super) fn blocked_by(blocked: &ForbiddenStep<'_>) -> Detail {
    let named = |violation: &Violation<'_>| match violation.of {
        ViolatedRule::Rule(_) => format!("guardrail {}", told(violation)),
        ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) => {
            format!("guardrails: {}", told(violation))
        }
        ViolatedRule::Unread(_) => format!("guardrails that cannot be read, {}", told(violation)),
    };
    let all = blocked.violations.iter().map(named).collect();
    Detail::sentences("Blocked by", all)
}

/// A reason in full: the rule, its owner, and the reason of the rule.
pub(super) fn told(violation: &Violation<'_>) -> String {
    let by = match violation.by {
        GuardedBy::Author(catalog) => {
            format!("by the author, in catalog {}", go::escape(&catalog.name))
        }
        GuardedBy::Administrator(place) => format!("by an administrator, in {}", go::escape(place)),
    };
    match violation.of {
        ViolatedRule::Rule(rule) => rule_told(rule, &by),
        ViolatedRule::Prerelease(graph) => {
            let graph = graph.as_str();
            format!("graph {graph} without a rule about prereleases, {by}")
        }
        ViolatedRule::Graph(graph, _) => format!("graph {}, {by}", graph.as_str()),
        ViolatedRule::Unread(unread) => format!("{by}: {}", one_line(&unread.to_string())),
    }
}

fn rule_told(rule: &Rule, by: &str) -> String {
    let (id, what) = (go::escape(&rule.id), meaning(&rule.kind));
    let reason = match &*rule.reason {
        "" => String::new(),
        reason => format!(": {}", go::escape(reason)),
    };
    format!("{id} ({what}) {by}{reason}")
}

/// The requirement of a kind of rule, in a few words.
pub(super) fn meaning(kind: &RuleKind) -> String {
    let of = |from: &Option<Range>| match from {
        Some(from) => format!(" of {}", go::escape(from.as_str())),
        None => String::new(),
    };
    match kind {
        RuleKind::PassThrough(passage) => format!("through {}", stretch(passage)),
        RuleKind::Waypoints(passages) => format!("through {}", stretches(passages)),
        RuleKind::LatestPatchFirst { from } => format!("last patch first{}", of(from)),
        RuleKind::MaxMinorStep(step) if step.get() == 1 => "no minor passed by".to_owned(),
        RuleKind::MaxMinorStep(step) => format!("fewer than {step} minors passed by"),
        RuleKind::Prerelease(Action::Deny) => "no prereleases".to_owned(),
        RuleKind::Prerelease(Action::Allow) => "prereleases allowed".to_owned(),
    }
}

/// The passages in order. If there are very many, only the first.
fn stretches(passages: &[Passage]) -> String {
    let named = passages.iter().take(MOST_STRETCHES).map(stretch);
    let named = named.collect::<Vec<_>>().join(", then ");
    and_more(named, passages.len().saturating_sub(MOST_STRETCHES))
}

fn stretch(passage: &Passage) -> String {
    go::escape(passage.via.as_str())
}

fn whose(by: &GuardedBy<'_>) -> CutLine {
    CutLine::default().say(match by {
        GuardedBy::Author(_) => "the author's",
        GuardedBy::Administrator(_) => "an administrator's",
    })
}

/// The most waypoints that are named. Each can be a range of half a kilobyte, and a rule can have hundreds.
const MOST_STRETCHES: usize = 6;

/// The values of [`GuardrailReport::kind`].
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

/// The most reasons of one step that are listed. There can be hundreds of rules, each with its own reason.
const MOST_LISTED: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    fn told_of(waypoints: usize) -> String {
        let versions: Vec<_> = (1..=waypoints).map(|at| format!("1.{at}.0")).collect();
        let guardrails = olmguard_catalog::guardrail::read(&json!({
            "schema": "olmguard.guardrails.v1alpha1", "package": "p",
            "rules": [{"id": "all", "kind": "Waypoints", "versions": versions}],
        }));
        let guardrails = guardrails.expect("readable");
        meaning(&guardrails.rules.first().expect("a rule").kind)
    }

    #[test]
    fn of_very_many_waypoints_the_first_are_named_and_the_rest_counted() {
        let six = "through 1.1.0, then 1.2.0, then 1.3.0, then 1.4.0, then 1.5.0, then 1.6.0";
        assert_eq!(told_of(2), "through 1.1.0, then 1.2.0");
        assert_eq!(told_of(6), six);
        assert_eq!(told_of(256), format!("{six} and 250 more"));
    }
}
