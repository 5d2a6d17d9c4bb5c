//! The text about upgrade policies: the report that every command prints, and the sentences of a
//! refusal.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::explain::facts::{MessageFacts, allowed_by};
use crate::explain::text::{CutLine, Detail, one_line, versioned};
use crate::extension::Fields;
use crate::judge::{DeadEnd, PolicyFinding, PolicyRefusal, RuledEdit, Ruling};
use crate::resolve::Choice;
use olmguard_catalog::version::go;
use olmguard_policy::{ConditionOutcome, Enforcement, Opening, PolicyRule, RangeShape, Step};

/// A rule of an upgrade policy that an edit violates.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PolicyReport {
    /// Name of the `UpgradePolicy`.
    pub policy: String,
    /// Field of the rule, such as `spec.rules.step`.
    pub rule: String,
    /// Whether the rule denies the edit or only warns.
    #[schemars(extend("enum" = ["Deny", "Warn"]))]
    pub enforcement: &'static str,
    /// The whole reason in one sentence.
    pub text: String,
}

/// A fact that a rule reads about the requester: the user, or the time.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RequesterFact {
    /// The name or the groups of the user.
    User,
    /// The time of the edit.
    Time,
}

impl PolicyReport {
    /// A finding about an edit with this range.
    pub fn of(found: &PolicyFinding<'_>, range: &str) -> Self {
        Self {
            policy: found.policy.name().to_owned(),
            rule: found.violation.rule.path(),
            enforcement: found.violation.enforcement.as_str(),
            text: one_line(&against(found, range).to_string()),
        }
    }

    /// Every rule that an edit violates, denials first. If there are very many, only the first.
    pub(super) fn all(ruled: &RuledEdit<'_>, range: &str) -> Vec<Self> {
        let reports = findings(ruled).map(|found| Self::of(found, range));
        reports.take(MOST_FINDINGS).collect()
    }
}

fn findings<'a, 's>(ruled: &'a RuledEdit<'s>) -> impl Iterator<Item = &'a PolicyFinding<'s>> {
    let denials = match &ruled.ruling {
        Ruling::Policy(refusal) => &*refusal.findings,
        _ => &[],
    };
    denials.iter().chain(&ruled.policy_warnings)
}

impl RequesterFact {
    /// The facts that are read by rules that the edit violates or that block its path.
    pub(super) fn all(ruled: &RuledEdit<'_>, end: Option<&DeadEnd<'_>>) -> BTreeSet<Self> {
        let closing = end.map(|end| end.policies.as_slice()).unwrap_or_default();
        let findings = findings(ruled).chain(closing);
        let read = findings.filter_map(|found| Self::of(&found.violation.rule));
        read.collect()
    }

    fn of(rule: &PolicyRule) -> Option<Self> {
        match rule {
            PolicyRule::Window { .. } => Some(Self::Time),
            PolicyRule::Condition { expression, .. } => {
                let mut words = expression.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.any(|word| word == "user").then_some(Self::User)
            }
            _ => None,
        }
    }
}

/// The first rule that denies the edit.
pub(super) fn reason(refusal: &PolicyRefusal<'_>, range: &str) -> CutLine {
    let first = refusal.findings.first();
    first.map_or_else(CutLine::default, |found| against(found, range))
}

/// The other rules, and the fields of all of them.
pub(super) fn details(refusal: &PolicyRefusal<'_>, range: &str) -> Vec<Detail> {
    let others = each(refusal, range).skip(1);
    let rules = refusal.findings.iter().take(MOST_LISTED).map(place);
    let faults = refusal
        .findings
        .iter()
        .filter_map(|found| match &found.violation.rule {
            PolicyRule::Unreadable(fault) => Some(fault.to_string()),
            _ => None,
        });
    let is_unbounded = refusal.findings.iter().any(|found| {
        let rule = &found.violation.rule;
        matches!(
            rule,
            PolicyRule::Window {
                is_unbounded: true,
                ..
            }
        )
    });
    let note = is_unbounded.then(|| UNBOUNDED.to_owned());
    let all = refusal.findings.len();
    let others = others.map(|line| line.to_string()).collect();
    vec![
        Detail::sentences("Also", others).first_of(all.saturating_sub(1)),
        Detail::sentences("Cause", faults.collect()),
        Detail::sentences("Rule", rules.collect()).first_of(all),
        Detail::sentences("Note", note.into_iter().collect()),
    ]
}

/// Each denial, for a list of findings. If there are too many, only the first.
pub(super) fn each(refusal: &PolicyRefusal<'_>, range: &str) -> impl Iterator<Item = CutLine> {
    let findings = refusal.findings.iter().take(MOST_LISTED);
    findings.map(move |found| against(found, range))
}

/// The field of the extension that a finding is about.
pub(super) fn field(found: &PolicyFinding<'_>, fields: &Fields) -> String {
    match found.violation.rule {
        PolicyRule::Bypass | PolicyRule::BypassPermission => fields.policy(),
        PolicyRule::Catalog { .. } => fields.selector(),
        _ => fields.version(),
    }
}

/// The policies that block a path which edges alone allow.
pub(super) fn blocked_by(findings: &[PolicyFinding<'_>]) -> Detail {
    let lines = findings.iter().take(MOST_LISTED);
    let lines = lines.map(|found| against(found, "").to_string());
    Detail::sentences("Blocked by", lines.collect()).first_of(findings.len())
}

/// The rule that a step without an edit violates. The caller names the step.
pub fn denial(found: &PolicyFinding<'_>) -> CutLine {
    rule(found, "")
}

/// The rule that an edit with this range violates.
pub(super) fn against(found: &PolicyFinding<'_>, range: &str) -> CutLine {
    let line = rule(found, range);
    match found.after {
        None => line,
        Some(before) => line
            .say(", in the step ")
            .then(versioned(before))
            .say(" -> ")
            .then(versioned(found.to))
            .say(" that OLM then takes automatically"),
    }
}

fn rule(found: &PolicyFinding<'_>, range: &str) -> CutLine {
    let line = CutLine::default().say("policy ").name(found.policy.name());
    let bundle = |line: CutLine| line.then(versioned(found.to));
    let denies = denies(found.violation.enforcement);
    match &found.violation.rule {
        PolicyRule::Unreadable(_) => line.say(INVALID).say(denies).say("every change of version"),
        PolicyRule::VersionNotAllowed { allow } => {
            bundle(line.say(" allows only ").written(allow).say(", not "))
        }
        PolicyRule::VersionDenied { deny } => {
            let line = bundle(line.say(denies));
            line.say(" (versions.deny: ").written(deny).say(")")
        }
        PolicyRule::Step { found, largest } => {
            let is = format!("this is a {} step", found.as_str());
            line.say(&largest_step(*largest, &is))
        }
        PolicyRule::StepUnknown { largest } => line.say(&largest_step(
            *largest,
            "the installed version is unknown or cannot be read",
        )),
        PolicyRule::Prerelease => bundle(line.say(denies).say("prereleases: ")),
        PolicyRule::Deprecated => bundle(line.say(denies).say("what is deprecated: ")),
        PolicyRule::Range { needed, .. } => too_wide(line, *needed, range),
        PolicyRule::Catalog { .. } => line
            .say(" does not allow catalog ")
            .name(&found.to.catalog.name),
        PolicyRule::Bypass => line.say(" does not allow the override"),
        PolicyRule::BypassPermission => line
            .say(" requires the permission \"bypass\" for the override: the API server checks it"),
        PolicyRule::Window { opens, .. } => window(line, opens.as_ref()),
        PolicyRule::Condition {
            index,
            expression,
            outcome,
            ..
        } => condition(line, *index, expression, outcome),
    }
}

/// The verb for what a rule does about a violation, with a space on both sides.
fn denies(enforcement: Enforcement) -> &'static str {
    match enforcement {
        Enforcement::Deny => " denies ",
        Enforcement::Warn => " warns of ",
    }
}

const INVALID: &str = " is not valid, so it";

fn largest_step(largest: Step, but: &str) -> String {
    let largest = largest.as_str();
    format!(" allows {largest} steps at most, and {but}")
}

fn too_wide(line: CutLine, needed: RangeShape, range: &str) -> CutLine {
    let line = line.say(match needed {
        RangeShape::Pinned => " requires one exact version",
        RangeShape::Bounded | RangeShape::Any => " requires a range with an upper bound",
    });
    match range {
        "" => line.say(", and no version is set"),
        range => line.say(", not ").written(range),
    }
}

fn window(line: CutLine, opens: Option<&Opening>) -> CutLine {
    let line = line.say(" allows changes of version only in its windows");
    match opens {
        Some(opening) => line.say(&format!("; the next opens at {}", said(opening))),
        None => line.say("; none opens again"),
    }
}

/// The local time with its zone, and the time in UTC.
fn said(opening: &Opening) -> String {
    let zone = go::escape(&opening.zone);
    match &*opening.zone {
        "UTC" => opening.at.to_string(),
        _ => format!("{} {zone} ({})", opening.local, opening.at),
    }
}

fn condition(line: CutLine, index: usize, expression: &str, outcome: &ConditionOutcome) -> CutLine {
    match outcome {
        ConditionOutcome::False {
            message: Some(message),
        } => line.say(": condition not met: ").written(message),
        ConditionOutcome::False { message: None } => line
            .say(&format!(": condition {} is false: ", index + 1))
            .written(expression),
        ConditionOutcome::Failed { error } => line
            .say(&format!(": condition {} cannot be evaluated: ", index + 1))
            .said(error),
    }
}

/// The object and the field of a rule.
fn place(found: &PolicyFinding<'_>) -> String {
    let name = go::escape(found.policy.name());
    format!("UpgradePolicy {name}, {}", found.violation.rule.path())
}

/// The text about what is missing if no edit of the extension helps.
pub(super) fn needed(facts: &MessageFacts<'_>, refusal: &PolicyRefusal<'_>) -> CutLine {
    let words = refusal.findings.iter().filter_map(remedy);
    let first = words.min_by_key(|(order, _)| *order);
    let first = first.map(|(_, words)| words);
    first
        .or_else(|| wait(refusal))
        .unwrap_or_else(|| no_path(facts, refusal.resolved))
}

/// When to try again, if only the time and the shape of the range are wrong.
fn wait(refusal: &PolicyRefusal<'_>) -> Option<CutLine> {
    let (mut windows, mut ranges) = (0, 0);
    for found in &refusal.findings {
        match found.violation.rule {
            PolicyRule::Window { opens: Some(_), .. } => windows += 1,
            PolicyRule::Range { .. } => ranges += 1,
            _ => return None,
        }
    }
    let words = match (windows, ranges) {
        (0, _) => return None,
        (1, 0) => WAIT,
        (_, 0) => WAIT_FOR_ALL,
        (1, _) => WAIT_WITH_RANGE,
        _ => WAIT_FOR_ALL_WITH_RANGE,
    };
    Some(CutLine::default().say(words))
}

/// The text that policies leave no path to a bundle, or no bundle to install.
fn no_path(facts: &MessageFacts<'_>, to: Choice<'_>) -> CutLine {
    if facts.installed().is_none() {
        let scope = facts.scope();
        let line = CutLine::default().say(&format!("No bundle {scope} is allowed by all policies"));
        return line.say(if facts.is_installed_unknown() {
            " while the installed version is unknown."
        } else {
            "."
        });
    }
    let line = facts.no_path_to(versioned(to));
    let by_guardrails = facts.dead_end.is_some_and(|end| end.blocked.is_some());
    line.say(allowed_by(by_guardrails, true).unwrap_or_default())
        .then(facts.highest())
}

/// The remedy for a rule that only another person, or time, can change. The lowest number comes
/// first.
fn remedy(found: &PolicyFinding<'_>) -> Option<(u8, CutLine)> {
    let line = CutLine::default();
    Some(match &found.violation.rule {
        PolicyRule::Unreadable(_) => {
            let line = line.say("Fix UpgradePolicy ").name(found.policy.name());
            (0, line.say(": it is not valid."))
        }
        PolicyRule::Window { opens: None, .. } => (1, line.say(NEVER_OPENS)),
        PolicyRule::Bypass => (2, line.say(WITHOUT_BYPASS)),
        _ => return None,
    })
}

/// The time is in the text of the rule.
const WAIT: &str = "Wait until the next window opens.";
const WAIT_FOR_ALL: &str =
    "Wait until the windows of all these policies are open at the same time.";
const WAIT_WITH_RANGE: &str = "When the next window opens, set a range that the policies accept.";
const WAIT_FOR_ALL_WITH_RANGE: &str = "When the windows of all these policies are open at the same time, set a range \
     that they accept.";
const NEVER_OPENS: &str = "Only an administrator can add a window that opens again.";
const WITHOUT_BYPASS: &str =
    "Remove the override: olmguard path shows which upgrades are possible without it.";

/// The note about what a window cannot prevent.
const UNBOUNDED: &str = "the range has no upper bound: a window does not stop OLM from installing newer versions automatically";

/// The most findings that are listed; no one reads more.
const MOST_LISTED: usize = 32;
/// The most findings that are reported. There can be hundreds of policies, each with its own rules.
const MOST_FINDINGS: usize = 64;
