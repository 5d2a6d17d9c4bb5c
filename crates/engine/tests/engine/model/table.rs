//! Rows 6 to 18 of the table without 7, 10a, 14 and 15a, over indexes on a line. This file uses nothing of the program
//! to read, compare or choose.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use crate::guardrails::oracle::line::{LINE, Range};
use crate::guardrails::oracle::table as guardrail;
use crate::model::world::{
    Catalog, Name, PlacedBundle, Policy, PolicyRules, RandomCluster, Request, Stated,
};

/// The outcome of an edit.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct EditOutcome {
    pub(crate) token: &'static str,
    /// The catalog and the bundle that it resolves to.
    pub(crate) to: Option<(String, String)>,
    /// Everything that a guardrail or a policy forbids, with the bundle that the step installs.
    pub(crate) reasons: Vec<String>,
    /// The rules of policies that only warn.
    pub(crate) warned: Vec<String>,
}

/// The rows that the worlds can end in.
pub(crate) const TOKENS: [&str; 13] = [
    "PackageNotFound",
    "ChannelNotFound",
    "NotInChannel",
    "VersionNotFound",
    "Downgrade",
    "NotASuccessor",
    "AmbiguousCatalogs",
    "UnsupportedDependency",
    "Guardrail",
    "Policy",
    "Unchanged",
    "Bypassed",
    "Resolved",
];

/// Conditions, each with its meaning in the plain terms of `is_met`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    SameMajor,
    LowMinors,
    NoBypass,
    Creations,
}

impl Condition {
    pub(crate) const ALL: [Self; 4] = [
        Self::SameMajor,
        Self::LowMinors,
        Self::NoBypass,
        Self::Creations,
    ];

    pub(crate) fn expression(self) -> &'static str {
        match self {
            Self::SameMajor => "from == null || to.major == from.major",
            Self::LowMinors => "to.minor < 2",
            Self::NoBypass => "!bypass",
            Self::Creations => "operation == 'CREATE'",
        }
    }

    fn is_met(self, world: &RandomCluster, step: &Step<'_>) -> bool {
        let to = LINE[step.to.name.at].1;
        match self {
            Self::SameMajor => step.from.is_none_or(|from| LINE[from.at].1.0 == to.0),
            Self::LowMinors => to.1 < 2,
            Self::NoBypass => !world.request.bypasses,
            Self::Creations => world.request.installed.is_none(),
        }
    }

    /// Whether the condition is about a bundle. The others are about the edit.
    fn is_of_bundles(self) -> bool {
        matches!(self, Self::SameMajor | Self::LowMinors)
    }
}

/// A step of the walk. The edit itself takes the first one.
#[derive(Clone, Copy)]
struct Step<'w> {
    catalog: &'w Catalog,
    from: Option<Name>,
    to: &'w PlacedBundle,
    has_edge: bool,
}

impl Step<'_> {
    fn is_move(&self) -> bool {
        self.from != Some(self.to.name)
    }
}

pub(crate) fn outcome(world: &RandomCluster) -> EditOutcome {
    let first = match resolved(world, world.request.installed) {
        Ok(first) => first,
        Err(token) => return EditOutcome::of(token, None),
    };
    let walk = walk(world, first);
    if let Some(outcome) = by_guardrails(world, &walk) {
        return outcome;
    }
    let (denied, warned) = by_policies(world, &walk);
    let token = match denied.is_empty() {
        false => "Policy",
        true if !first.is_move() => "Unchanged",
        true if !first.has_edge => "Bypassed",
        true => "Resolved",
    };
    let mut outcome = EditOutcome::of(token, Some(&first));
    (outcome.reasons, outcome.warned) = (denied, warned);
    outcome.reasons.sort();
    outcome.warned.sort();
    outcome
}

impl EditOutcome {
    fn of(token: &'static str, first: Option<&Step<'_>>) -> Self {
        let named = |step: &Step<'_>| (step.catalog.name.to_owned(), step.to.name.written());
        Self {
            token,
            to: first.map(named),
            reasons: Vec::new(),
            warned: Vec::new(),
        }
    }
}

// === Rows 6 to 13, and 15: the bundle that OLM resolves to ===

fn resolved(world: &RandomCluster, installed: Option<Name>) -> Result<Step<'_>, &'static str> {
    let request = &world.request;
    let having: Vec<&Catalog> = world
        .catalogs
        .iter()
        .filter(|catalog| has_package(catalog))
        .collect();
    if having.is_empty() {
        return Err("PackageNotFound");
    }
    let candidates: Vec<(&Catalog, &PlacedBundle)> = having
        .iter()
        .flat_map(|catalog| catalog.bundles.iter().map(move |bundle| (*catalog, bundle)))
        .filter(|(catalog, bundle)| is_in_channels(request, catalog, bundle.name))
        .filter(|(_, bundle)| is_in_range(request, bundle.name))
        .collect();
    if candidates.is_empty() {
        return Err(why_no_candidate(request, &having));
    }
    let strict = installed.filter(|_| !request.bypasses);
    let left: Vec<(&Catalog, &PlacedBundle)> = candidates
        .iter()
        .copied()
        .filter(|(catalog, bundle)| {
            strict.is_none_or(|from| is_successor(request, catalog, from, bundle.name))
        })
        .collect();
    if left.is_empty() {
        let from = strict.expect("only edges leave none");
        let is_older = candidates
            .iter()
            .all(|(_, bundle)| bundle.name.at < from.at);
        return Err(if is_older {
            "Downgrade"
        } else {
            "NotASuccessor"
        });
    }
    let (catalog, to) = chosen(&having, &left)?;
    if to.is_dependent {
        return Err("UnsupportedDependency");
    }
    Ok(Step {
        catalog,
        from: installed,
        to,
        has_edge: installed.is_none_or(|from| is_successor(request, catalog, from, to.name)),
    })
}

/// A blob of any schema is enough.
fn has_package(catalog: &Catalog) -> bool {
    !catalog.bundles.is_empty()
        || !catalog.channels.is_empty()
        || catalog.is_deprecated
        || catalog.author.is_some()
}

fn why_no_candidate(request: &Request, having: &[&Catalog]) -> &'static str {
    let asked = &request.channels;
    let mut channels = having.iter().flat_map(|catalog| &catalog.channels);
    if !asked.is_empty() && !channels.any(|channel| asked.contains(&channel.name)) {
        return "ChannelNotFound";
    }
    let mut bundles = having.iter().flat_map(|catalog| &catalog.bundles);
    if bundles.any(|bundle| is_in_range(request, bundle.name)) {
        return "NotInChannel";
    }
    "VersionNotFound"
}

fn is_in_channels(request: &Request, catalog: &Catalog, name: Name) -> bool {
    request.channels.is_empty() || entries(request, catalog).any(|entry| entry.name == name)
}

fn is_in_range(request: &Request, name: Name) -> bool {
    request
        .range
        .as_ref()
        .is_none_or(|range| range.admits(name.at))
}

/// The entries of the requested channels, or of all.
fn entries<'w>(
    request: &'w Request,
    catalog: &'w Catalog,
) -> impl Iterator<Item = &'w crate::model::world::Entry> {
    let asked = &request.channels;
    let channels = catalog.channels.iter();
    let channels = channels.filter(|channel| asked.is_empty() || asked.contains(&channel.name));
    channels.flat_map(|channel| &channel.entries)
}

/// An edge, or the same version under any name.
fn is_successor(request: &Request, catalog: &Catalog, from: Name, to: Name) -> bool {
    let edge = entries(request, catalog)
        .filter(|entry| entry.name == to)
        .any(|entry| {
            let in_range = |range: &Range| range.holds(from.at);
            entry.replaces == Some(from)
                || entry.skips.contains(&from)
                || entry.skip_range.as_ref().is_some_and(in_range)
        });
    edge || from.at == to.at
}

/// The best bundle of each catalog, and among those the one of the deciding catalog.
fn chosen<'w>(
    having: &[&'w Catalog],
    left: &[(&'w Catalog, &'w PlacedBundle)],
) -> Result<(&'w Catalog, &'w PlacedBundle), &'static str> {
    let best = |catalog: &&'w Catalog| {
        let own = left.iter().filter(|(of, _)| of.name == catalog.name);
        own.copied().min_by(|(_, a), (_, b)| preference(a, b))
    };
    let mut best: Vec<_> = having.iter().filter_map(best).collect();
    if best.iter().any(|(_, bundle)| !bundle.is_deprecated) {
        best.retain(|(_, bundle)| !bundle.is_deprecated);
    }
    best.sort_by_key(|(catalog, _)| Reverse(catalog.priority));
    match best.as_slice() {
        [(first, _), (second, _), ..] if first.priority == second.priority => {
            Err("AmbiguousCatalogs")
        }
        [first, ..] => Ok(*first),
        [] => panic!("something is left"),
    }
}

/// Bundles that are not deprecated first, then the higher version, then the order of the files in OLM's cache.
fn preference(a: &PlacedBundle, b: &PlacedBundle) -> Ordering {
    let key = |bundle: &PlacedBundle| {
        let file = format!("{}.json", bundle.name.written());
        (bundle.is_deprecated, Reverse(bundle.name.at), file)
    };
    key(a).cmp(&key(b))
}

/// The step of the edit, and all steps that OLM takes automatically after it.
fn walk<'w>(world: &'w RandomCluster, first: Step<'w>) -> Vec<Step<'w>> {
    let mut walk = vec![first];
    while let Some(last) = walk.last().filter(|last| last.is_move()) {
        match resolved(world, Some(last.to.name)) {
            Ok(next) if next.is_move() => walk.push(next),
            _ => break,
        }
    }
    walk
}

// === Row 16 ===

/// The first step that a guardrail forbids; none for a first installation, or if nothing moves.
fn by_guardrails(world: &RandomCluster, walk: &[Step<'_>]) -> Option<EditOutcome> {
    let first = walk.first()?;
    first.from.filter(|_| first.is_move())?;
    walk.iter().find_map(|step| {
        let mut reasons = Vec::new();
        if let Some(author) = step
            .catalog
            .author
            .as_ref()
            .filter(|_| !world.request.bypasses)
        {
            let said = said(world, author, step, |_| true);
            reasons.extend(said.map(|reason| format!("author {reason}")));
        }
        if let Some(administrator) = &world.administrator {
            let holds = |at: usize| !(world.request.bypasses && administrator.rules[at].1);
            let said = said(world, administrator, step, holds);
            reasons.extend(said.map(|reason| format!("administrator {reason}")));
        }
        let mut outcome = EditOutcome::of("Guardrail", Some(first));
        let to = step.to.name.written();
        outcome.reasons = reasons
            .iter()
            .map(|reason| format!("{to}: {reason}"))
            .collect();
        outcome.reasons.sort();
        (!reasons.is_empty()).then_some(outcome)
    })
}

fn said(
    world: &RandomCluster,
    stated: &Stated,
    step: &Step<'_>,
    holds: impl Fn(usize) -> bool,
) -> impl Iterator<Item = String> {
    let pool = step.catalog.bundles.iter();
    let pool = pool.filter(|bundle| is_in_channels(&world.request, step.catalog, bundle.name));
    let pool = pool.map(|bundle| guardrail::Bundle {
        at: bundle.name.at,
        is_deprecated: bundle.is_deprecated,
    });
    let pool: Vec<_> = pool.collect();
    let rules: Vec<_> = stated.rules.iter().map(|(rule, _)| rule.clone()).collect();
    let from = step.from.expect("a first install has no rules").at;
    let judged = guardrail::Step {
        from,
        to: step.to.name.at,
        has_edge: step.has_edge,
    };
    let said = guardrail::reasons(&pool, stated.graph, &rules, judged);
    let lifted: BTreeSet<_> = (0..rules.len())
        .filter(|at| !holds(*at))
        .map(guardrail::id)
        .collect();
    said.into_iter()
        .filter(move |reason| !lifted.contains(reason))
}

// === Row 17 ===

/// The rules that deny, and those that only warn.
fn by_policies(world: &RandomCluster, walk: &[Step<'_>]) -> (Vec<String>, Vec<String>) {
    let (mut denied, mut warned) = (Vec::new(), Vec::new());
    let mut known = BTreeSet::new();
    for (place, step) in walk.iter().enumerate() {
        let to = step.to.name.written();
        let mut is_forbidden = false;
        for (at, policy) in world.policies.iter().enumerate() {
            for (rule, denies, is_of_bundle) in violated(world, policy, step, place) {
                let said = format!("policy-{at} spec.rules.{rule}");
                if denies {
                    is_forbidden |= is_of_bundle;
                    denied.push(format!("{to}: {said}"));
                } else if known.insert(said.clone()) {
                    warned.push(format!("{to}: {said}"));
                }
            }
        }
        if is_forbidden {
            break;
        }
    }
    (denied, warned)
}

/// The rules of a policy that a step violates: whether each denies, and whether it is about a bundle.
fn violated(
    world: &RandomCluster,
    policy: &Policy,
    step: &Step<'_>,
    place: usize,
) -> Vec<(&'static str, bool, bool)> {
    let rules = &policy.rules;
    let mut found = Vec::new();
    if step.is_move() {
        let of_bundle = of_bundle(world, rules, step);
        found.extend(
            of_bundle
                .into_iter()
                .map(|(rule, denies)| (rule, denies, true)),
        );
    }
    if place == 0 {
        let of_edit = of_edit(&world.request, rules, step);
        found.extend(
            of_edit
                .into_iter()
                .map(|(rule, denies)| (rule, denies, false)),
        );
    }
    if let Some(condition) = rules.condition {
        let is_asked = if condition.is_of_bundles() {
            step.is_move()
        } else {
            place == 0
        };
        if is_asked && !condition.is_met(world, step) {
            found.push(("conditions[0]", true, condition.is_of_bundles()));
        }
    }
    for (_, denies, _) in &mut found {
        *denies &= !policy.warns;
    }
    found
}

fn of_bundle(
    world: &RandomCluster,
    rules: &PolicyRules,
    step: &Step<'_>,
) -> Vec<(&'static str, bool)> {
    let to = step.to.name.at;
    let is_deprecated = step.to.is_deprecated
        || step.catalog.is_deprecated
        || step.catalog.channels.iter().any(|channel| {
            channel.is_deprecated
                && world.request.channels.contains(&channel.name)
                && channel
                    .entries
                    .iter()
                    .any(|entry| entry.name == step.to.name)
        });
    let is_too_large = |largest| {
        step.from
            .is_some_and(|from| size(from.at, to) > size_of(largest))
    };
    let cases = [
        (
            "versions.allow",
            rules.allow.as_ref().is_some_and(|range| !range.admits(to)),
            true,
        ),
        (
            "versions.deny",
            rules.deny.as_ref().is_some_and(|range| range.admits(to)),
            true,
        ),
        ("step", rules.step.is_some_and(is_too_large), true),
        (
            "prereleases",
            rules.prereleases == Some("Deny") && LINE[to].1.3,
            true,
        ),
        (
            "deprecated",
            rules.deprecated == Some("Deny") && is_deprecated,
            true,
        ),
        (
            "deprecated",
            rules.deprecated == Some("Warn") && is_deprecated,
            false,
        ),
        (
            "catalogs",
            rules
                .catalogs
                .as_ref()
                .is_some_and(|names| !names.contains(&step.catalog.name)),
            true,
        ),
    ];
    violations(&cases)
}

/// The rules that are checked once, for the edit.
fn of_edit(request: &Request, rules: &PolicyRules, step: &Step<'_>) -> Vec<(&'static str, bool)> {
    let order = ["Pinned", "Bounded", "Any"];
    let shape = request.range.as_ref().map_or("Any", Range::shape);
    let place = |word| order.iter().position(|known| *known == word);
    let is_too_open = rules
        .range
        .is_some_and(|needed| place(shape) > place(needed));
    let bypasses = request.bypasses;
    violations(&[
        ("range", is_too_open, true),
        ("bypass", rules.bypass == Some("Deny") && bypasses, true),
        (
            "bypass",
            rules.bypass == Some("ByPermission") && bypasses,
            false,
        ),
        (
            "windows",
            rules.is_closed == Some(true) && step.is_move(),
            true,
        ),
    ])
}

fn violations(cases: &[(&'static str, bool, bool)]) -> Vec<(&'static str, bool)> {
    let violated = cases.iter().filter(|(_, is_violated, _)| *is_violated);
    violated.map(|(rule, _, denies)| (*rule, *denies)).collect()
}

/// The highest part that differs, up or down.
fn size(from: usize, to: usize) -> usize {
    let (from, to) = (LINE[from].1, LINE[to].1);
    match (from.0 == to.0, from.1 == to.1) {
        (false, _) => size_of("Major"),
        (true, false) => size_of("Minor"),
        (true, true) => size_of("Patch"),
    }
}

fn size_of(word: &str) -> usize {
    ["Patch", "Minor", "Major"]
        .iter()
        .position(|known| *known == word)
        .expect("a size of step")
}
