//! Checks of single guardrail rules against the versions of the package: required versions that do not exist, rules
//! that forbid nothing, and ranges that match prereleases of the next version.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::lint::Severity;
use crate::lint::check::Check;
use crate::lint::finding::Report;
use crate::lint::guarded::GuardedPackage;
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::{escaped, names, q, range};
use olmguard_catalog::guardrail::{Action, BaseGraph, Passage, Range, Rule, RuleKind};
use olmguard_catalog::version::Version;

pub(super) const GUARDRAIL_STEP_NOT_AVAILABLE: RuleItem =
    rule!("guardrail-step-not-available", Users, Warning).on(Check::Guarded(|guarded, report| {
        for rule in guarded.rules() {
            let passages = rule.kind.passages().iter();
            for passage in passages.filter(|passage| guarded.applies(passage) == Applies::ToSteps) {
                step_not_available(guarded, rule, &passage.via, report);
            }
        }
    }));

fn step_not_available(
    guarded: &GuardedPackage<'_, '_>,
    rule: &Rule,
    via: &Range,
    report: &mut Report<'_, '_>,
) {
    let bundles = guarded.bundles();
    let inside: Vec<_> = bundles
        .filter(|(_, version, _)| via.holds(version))
        .collect();
    let requires = format!(
        "rule {} requires a version in {}",
        q(&rule.id),
        range(via.as_str())
    );
    if inside.is_empty() {
        let message = format!(
            "{requires}, but package {} has no such bundle, so users cannot upgrade past it; \
             publish one, or fix the range",
            q(guarded.facts.package.name)
        );
        report.say(guarded.spot(rule), message);
    } else if inside.iter().all(|(_, _, is_deprecated)| *is_deprecated) {
        let bundles = names(inside.iter().map(|(name, ..)| *name));
        let message =
            format!("{requires}, but all bundles in this range are deprecated: {bundles}");
        report.note(guarded.spot(rule), message);
    }
}

/// Effect of a rule that requires versions on the path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Applies {
    Never,
    /// The rule applies to no step between the versions of the package.
    ToNoStep,
    ToSteps,
    /// Unknown, because the rule can apply to a bundle that cannot be read.
    Unknown,
}

impl GuardedPackage<'_, '_> {
    fn applies(&self, passage: &Passage) -> Applies {
        let to = self.bundles().map(|(_, version, _)| version);
        if !passage.can_be_passed_by() {
            Applies::Never
        } else if !self.has_all_bundles() {
            Applies::Unknown
        } else if passage.can_be_passed_by_among(self.installed(), to) {
            Applies::ToSteps
        } else {
            Applies::ToNoStep
        }
    }

    fn has_all_bundles(&self) -> bool {
        self.facts.package.unread.bundles.is_empty()
    }
}

pub(super) const GUARDRAIL_NEVER_APPLIES: RuleItem =
    rule!("guardrail-never-applies", Users, Warning).on(Check::Guarded(|guarded, report| {
        for rule in guarded.rules() {
            let passages = rule.kind.passages();
            let passages = passages.iter();
            let idle = passages.filter_map(|passage| idle_passage(guarded, rule, passage));
            for (severity, message) in idle.chain(idle_rule(guarded, rule)) {
                report.say_as(severity, guarded.spot(rule), message);
            }
        }
    }));

/// The reason why a rule forbids nothing, and the severity: a rule can be meant for other versions.
type Idle = (Severity, String);

fn idle_passage(guarded: &GuardedPackage<'_, '_>, rule: &Rule, passage: &Passage) -> Option<Idle> {
    match guarded.applies(passage) {
        Applies::Never => Some((Severity::Warning, never_passed(rule, passage))),
        Applies::ToNoStep => Some(applies_to_none(guarded, rule, &range(passage.via.as_str()))),
        Applies::ToSteps | Applies::Unknown => None,
    }
}

fn never_passed(rule: &Rule, passage: &Passage) -> String {
    let via = &passage.via;
    let (bound, versions, key) = if passage.to.is_none() && via.is_open_above() {
        ("upper", "higher", "to")
    } else if passage.from.is_none() && via.is_open_below() {
        ("lower", "lower", "from")
    } else {
        return never_applies(rule, via);
    };
    // Only rules of kind `PassThrough` can have these keys.
    let advice = match &rule.kind {
        RuleKind::Waypoints(_) => format!("use a rule of kind PassThrough with {key:?}"),
        _ => format!("add {key:?}"),
    };
    format!(
        "rule {} can never forbid anything: {} has no {bound} bound, so no version is {versions}; \
         add a bound, as in \">=1.3.0 <1.4.0-0\", or {advice}",
        q(&rule.id),
        range(via.as_str())
    )
}

fn never_applies(rule: &Rule, found: &Range) -> String {
    format!(
        "rule {} with {} can never forbid anything: no two versions match its ranges; fix the \
         ranges",
        q(&rule.id),
        range(found.as_str())
    )
}

fn applies_to_none(guarded: &GuardedPackage<'_, '_>, rule: &Rule, with: &str) -> Idle {
    let message = format!(
        "rule {} with {with} forbids no step between the versions of package {}: correct if the \
         rule is for future versions",
        q(&rule.id),
        q(guarded.facts.package.name)
    );
    (Severity::Note, message)
}

fn idle_rule(guarded: &GuardedPackage<'_, '_>, rule: &Rule) -> Option<Idle> {
    match &rule.kind {
        RuleKind::LatestPatchFirst { from: Some(from) } if from.is_empty() => {
            Some((Severity::Warning, never_applies(rule, from)))
        }
        RuleKind::LatestPatchFirst { from: Some(from) } => {
            let applies = guarded.installed().any(|version| from.holds(version));
            let is_idle = !applies && guarded.has_all_bundles();
            is_idle.then(|| applies_to_none(guarded, rule, &range(from.as_str())))
        }
        RuleKind::MaxMinorStep(step) => {
            let is_idle = guarded.has_all_bundles() && !forbids_longest(guarded, rule);
            is_idle.then(|| applies_to_none(guarded, rule, &format!("step {step}")))
        }
        RuleKind::Prerelease(Action::Allow) => idle_allowance(guarded, rule),
        _ => None,
    }
}

/// Whether a rule about minor steps forbids the longest step within any major version.
fn forbids_longest(guarded: &GuardedPackage<'_, '_>, rule: &Rule) -> bool {
    let lowest = each_major(guarded.installed(), Ordering::Less);
    let versions = guarded.bundles().map(|(_, version, _)| version);
    let highest = each_major(versions, Ordering::Greater);
    let steps = lowest.iter();
    let mut steps = steps.filter_map(|(major, from)| Some((from, highest.get(major)?)));
    steps.any(|(from, to)| guarded.alone.breaks(rule, from, to))
}

/// Returns the lowest or the highest version of each major version.
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

/// Reports a rule that allows prereleases, if they are allowed without it or denied anyway.
fn idle_allowance(guarded: &GuardedPackage<'_, '_>, rule: &Rule) -> Option<Idle> {
    let (mut rules, name) = (guarded.rules(), q(&rule.id));
    let denying = rules.find(|rule| rule.kind == RuleKind::Prerelease(Action::Deny));
    let message = match denying {
        Some(denying) => format!(
            "rule {name} has no effect, because rule {} forbids every step from a release to a \
             prerelease; remove one of them",
            q(&denying.id)
        ),
        None if guarded.guardrails.graph == BaseGraph::Catalog => format!(
            "rule {name} has no effect, because graph Catalog already allows every edge to a \
             prerelease; remove the rule, or write action: Deny to forbid such edges"
        ),
        None => return None,
    };
    Some((Severity::Warning, message))
}

pub(super) const GUARDRAIL_TAKES_PRERELEASE: RuleItem =
    rule!("guardrail-takes-prerelease", Users, Warning).on(Check::Guarded(|guarded, report| {
        for rule in guarded.rules() {
            for passage in rule.kind.passages() {
                takes_prerelease(guarded, rule, &passage.via, report);
            }
        }
    }));

fn takes_prerelease(
    guarded: &GuardedPackage<'_, '_>,
    rule: &Rule,
    via: &Range,
    report: &mut Report<'_, '_>,
) {
    let versions = guarded.bundles().map(|(_, version, _)| version);
    let inside = versions.filter(|version| via.ends_among_prereleases_like(version));
    if let Some(lowest) = inside.min_by(|a, b| a.cmp_precedence(b)) {
        let (major, minor, patch) = (lowest.major(), lowest.minor(), lowest.patch());
        let message = format!(
            "rule {} accepts {} as a version in {}, because a prerelease is lower than its \
             release; end the range with <{major}.{minor}.{patch}-0",
            q(&rule.id),
            escaped(lowest),
            range(via.as_str())
        );
        report.say(guarded.spot(rule), message);
    }
}
