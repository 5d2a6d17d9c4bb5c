//! What guardrails forbid, who says so, and why.

use crate::explain::refusal::{Detail, sentences};
use crate::explain::text::{CutLine, and_more, one_line};
use crate::judge::ForbiddenStep;
use crate::resolve::semver::Hindrance;
use crate::resolve::{GuardedBy, ViolatedRule, Violation};
use olmguard_catalog::guardrail::{Action, Passage, Range, Rule, RuleKind};
use olmguard_catalog::version::{Version, go};

/// The first reason: who forbids which step.
pub(super) fn reason(forbidden: &ForbiddenStep<'_>) -> CutLine {
    let first = forbidden.violations.first();
    let line = first.map_or_else(CutLine::default, |violation| {
        let to = forbidden.to.bundle().version.as_ref().ok();
        against(violation, &forbidden.from, to.map(|read| &read.version))
    });
    if forbidden.is_first_step() {
        line
    } else {
        line.say(", a step that OLM then takes automatically")
    }
}

/// What a step from a version to another goes against.
pub(in crate::explain) fn against(
    violation: &Violation<'_>,
    from: &Version,
    to: Option<&Version>,
) -> CutLine {
    let step = |line: CutLine| match to {
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

/// Why versions alone do not allow a step.
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

/// Every reason, with what its rule is and why it is there.
pub(super) fn details(forbidden: &ForbiddenStep<'_>) -> Vec<Detail> {
    let items = forbidden.violations.iter().map(told).collect();
    vec![sentences("Guardrail", items)]
}

/// Each reason by itself, for those who list findings; the last ones of too many are left out.
pub(in crate::explain) fn each(forbidden: &ForbiddenStep<'_>) -> Vec<CutLine> {
    let to = forbidden.to.bundle().version.as_ref().ok();
    let to = to.map(|read| &read.version);
    let violations = forbidden.violations.iter().take(MOST_LISTED);
    violations
        .map(|violation| against(violation, &forbidden.from, to))
        .collect()
}

/// Whether guardrails that cannot be read are among the reasons.
pub(super) fn is_unread(forbidden: &ForbiddenStep<'_>) -> bool {
    let unread = |violation: &Violation<'_>| matches!(violation.of, ViolatedRule::Unread(_));
    forbidden.violations.iter().any(unread)
}

/// The guardrails that take a path away which edges alone would give.
pub(in crate::explain) fn blocked_by(blocked: &ForbiddenStep<'_>) -> Detail {
    let named = |violation: &Violation<'_>| match violation.of {
        ViolatedRule::Rule(_) => format!("guardrail {}", told(violation)),
        ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) => {
            format!("guardrails: {}", told(violation))
        }
        ViolatedRule::Unread(_) => format!("guardrails that cannot be read, {}", told(violation)),
    };
    sentences("Blocked by", blocked.violations.iter().map(named).collect())
}

/// A reason in full: the rule, who says it, and why.
pub(in crate::explain) fn told(violation: &Violation<'_>) -> String {
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

/// What a kind of rule asks for, in a few words.
pub(in crate::explain) fn meaning(kind: &RuleKind) -> String {
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

/// One after another; of very many the first ones.
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

/// There may be hundreds of rules, and each may forbid one step; more findings than this no one reads.
const MOST_LISTED: usize = 32;

/// How many waypoints are named: each may be a range of half a kilobyte, and a rule may have hundreds.
const MOST_STRETCHES: usize = 6;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
