//! What upgrade policies deny, and what to do if no edit helps.

use olmguard_policy::{ConditionOutcome, Opening, PolicyRule, RangeShape};

use crate::explain::message::MessageFacts;
use crate::explain::refusal::{Detail, range_of, sentences, versioned};
use crate::explain::text::{CutLine, one_line};
use crate::judge::{PolicyFinding, PolicyRefusal, Request};
use olmguard_catalog::version::go;

/// The first rule that denies the edit.
pub(super) fn reason(refusal: &PolicyRefusal<'_>, request: Option<&Request<'_>>) -> CutLine {
    let first = refusal.findings.first();
    first.map_or_else(CutLine::default, |found| against(found, range_of(request)))
}

/// The other rules, and where all of them are written.
pub(super) fn details(refusal: &PolicyRefusal<'_>, request: Option<&Request<'_>>) -> Vec<Detail> {
    let others = each(refusal, request).into_iter().skip(1);
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
    vec![
        sentences("Also", others.map(|line| line.to_string()).collect()),
        sentences("Cause", faults.collect()),
        sentences("Rule", rules.collect()),
        sentences("Note", note.into_iter().collect()),
    ]
}

/// Each denial, for those who list findings; the last ones of too many are omitted.
pub(in crate::explain) fn each(
    refusal: &PolicyRefusal<'_>,
    request: Option<&Request<'_>>,
) -> Vec<CutLine> {
    let findings = refusal.findings.iter().take(MOST_LISTED);
    let range = range_of(request);
    findings.map(|found| against(found, range)).collect()
}

/// The policies that take a path away that edges alone would give.
pub(in crate::explain) fn blocked_by(findings: &[PolicyFinding<'_>]) -> Detail {
    let lines = findings.iter().take(MOST_LISTED);
    let lines = lines.map(|found| against(found, "").to_string());
    sentences("Blocked by", lines.collect())
}

/// What a step without an edit violates; the step itself is named around it.
pub fn denial(found: &PolicyFinding<'_>) -> CutLine {
    rule(found, "")
}

/// What an edit with this range violates.
pub(in crate::explain) fn against(found: &PolicyFinding<'_>, range: &str) -> CutLine {
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
    match &found.violation.rule {
        PolicyRule::Unreadable(_) => {
            line.say(" is not valid, so it denies every change of version")
        }
        PolicyRule::VersionNotAllowed { allow } => {
            let line = line.say(" allows only ").written(allow).say(", not ");
            bundle(line)
        }
        PolicyRule::VersionDenied { deny } => {
            let line = bundle(line.say(" denies "));
            line.say(" (versions.deny: ").written(deny).say(")")
        }
        PolicyRule::Step { found, largest } => line.say(&format!(
            " allows {} steps at most, and this is a {} step",
            largest.as_str(),
            found.as_str()
        )),
        PolicyRule::StepUnknown { largest } => line.say(&format!(
            " allows {} steps at most, and the installed version is unknown or cannot be read",
            largest.as_str()
        )),
        PolicyRule::Prerelease => bundle(line.say(" denies prereleases: ")),
        PolicyRule::Deprecated => bundle(line.say(" denies what is deprecated: ")),
        PolicyRule::Range { needed, .. } => too_wide(line, *needed, range),
        PolicyRule::Catalog { .. } => {
            let line = line.say(" does not allow catalog ");
            line.name(&found.to.catalog.name)
        }
        PolicyRule::Bypass => line.say(" does not allow the override (SelfCertified)"),
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

/// The local time, its zone, and the same in UTC.
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
        } => line
            .say(": condition not met: ")
            .written(&one_line(message)),
        ConditionOutcome::False { message: None } => line
            .say(&format!(": condition {} is false: ", index + 1))
            .written(&one_line(expression)),
        ConditionOutcome::Failed { error } => line
            .say(&format!(": condition {} cannot be evaluated: ", index + 1))
            .written(&one_line(error)),
    }
}

/// The object and the field of a rule.
fn place(found: &PolicyFinding<'_>) -> String {
    let name = go::escape(found.policy.name());
    format!("UpgradePolicy {name}, {}", found.violation.rule.path())
}

/// What is missing if no edit of the extension helps.
pub(super) fn needed(facts: &MessageFacts<'_>, refusal: &PolicyRefusal<'_>) -> CutLine {
    let words = refusal.findings.iter().filter_map(remedy);
    let first = words.min_by_key(|(order, _)| *order);
    let within = || super::needed::within_policies(facts, refusal.resolved);
    first.map_or_else(within, |(_, words)| words)
}

/// What only someone else, or time, can do against a rule. The lowest number is the first to do.
fn remedy(found: &PolicyFinding<'_>) -> Option<(u8, CutLine)> {
    let line = CutLine::default();
    Some(match &found.violation.rule {
        PolicyRule::Unreadable(_) => {
            let line = line.say("Fix UpgradePolicy ").name(found.policy.name());
            (0, line.say(": it is not valid."))
        }
        PolicyRule::Window { opens: Some(_), .. } => (1, line.say(WAIT)),
        PolicyRule::Window { opens: None, .. } => (1, line.say(NEVER_OPENS)),
        PolicyRule::Bypass => (2, line.say(WITHOUT_BYPASS)),
        _ => return None,
    })
}

/// The rule says when.
const WAIT: &str = "Wait until the next window opens.";
/// The reason while policies are not known that could forbid the edit.
pub(super) const UNLISTED: &str = "not all policies of the cluster are known yet";
const NEVER_OPENS: &str = "Only an administrator can add a window that opens again.";
const WITHOUT_BYPASS: &str =
    "Remove the override, and upgrade step by step: olmguard path shows the steps.";

/// What a window cannot do.
const UNBOUNDED: &str = "the range has no upper bound: a window does not stop OLM from installing newer versions automatically";

/// More findings than this no one reads.
const MOST_LISTED: usize = 32;
