//! The table of rules: the steps that each forbids.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::guardrails::oracle::line::{LINE, Range, Version, range};

/// A bundle by the position of its version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundle {
    pub(crate) at: usize,
    pub(crate) is_deprecated: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Graph {
    Catalog,
    Semver,
    CatalogOrSemver,
}

#[derive(Clone, Debug)]
pub(crate) enum Rule {
    PassThrough(Range, Option<Range>, Option<Range>),
    Waypoints(Vec<Range>),
    LatestPatchFirst(Option<Range>),
    MaxMinorStep(usize),
    Prerelease(&'static str),
}

pub(crate) fn graph() -> impl Strategy<Value = Graph> {
    prop::sample::select(vec![Graph::Catalog, Graph::Semver, Graph::CatalogOrSemver])
}

pub(crate) fn rule() -> impl Strategy<Value = Rule> {
    let some = || prop::option::of(range());
    prop_oneof![
        (range(), some(), some()).prop_map(|(via, from, to)| Rule::PassThrough(via, from, to)),
        prop::collection::vec(range(), 1..3).prop_map(Rule::Waypoints),
        some().prop_map(Rule::LatestPatchFirst),
        (1_usize..4).prop_map(Rule::MaxMinorStep),
        prop::sample::select(vec!["Deny", "Allow"]).prop_map(Rule::Prerelease),
    ]
}

impl Graph {
    pub(crate) fn written(self) -> &'static str {
        match self {
            Self::Catalog => "Catalog",
            Self::Semver => "Semver",
            Self::CatalogOrSemver => "CatalogOrSemver",
        }
    }
}

impl Rule {
    pub(crate) fn written(&self, at: usize) -> Value {
        let some = |range: &Option<Range>| range.as_ref().map(Range::written);
        let mut rule = match self {
            Self::PassThrough(via, from, to) => {
                json!({"kind": "PassThrough", "via": via.written(), "from": some(from), "to": some(to)})
            }
            Self::Waypoints(ranges) => {
                let versions: Vec<_> = ranges.iter().map(Range::written).collect();
                json!({"kind": "Waypoints", "versions": versions})
            }
            Self::LatestPatchFirst(from) => json!({"kind": "LatestPatchFirst", "from": some(from)}),
            Self::MaxMinorStep(step) => json!({"kind": "MaxMinorStep", "step": step}),
            Self::Prerelease(action) => json!({"kind": "Prerelease", "action": action}),
        };
        rule["id"] = id(at).into();
        rule
    }

    /// Whether the rule forbids an upward step.
    fn forbids(&self, pool: &[Bundle], from: usize, to: usize) -> bool {
        let (f, t) = (LINE[from].1, LINE[to].1);
        match self {
            Self::PassThrough(via, starts, ends) => {
                passes_by(via, starts.as_ref(), ends.as_ref(), from, to)
            }
            Self::Waypoints(ranges) => ranges
                .iter()
                .any(|via| passes_by(via, None, None, from, to)),
            Self::LatestPatchFirst(starts) => {
                let is_later = |bundle: &Bundle| {
                    let v = LINE[bundle.at].1;
                    let counts = is_stable(v) || !is_stable(f);
                    bundle.at > from && minor(v) == minor(f) && !bundle.is_deprecated && counts
                };
                let starts = starts.as_ref().is_none_or(|range| range.holds(from));
                starts && minor(t) != minor(f) && pool.iter().any(is_later)
            }
            Self::MaxMinorStep(step) => {
                let versions = pool.iter().map(|bundle| LINE[bundle.at].1);
                let stable = versions.filter(|v| is_stable(*v) && v.0 == f.0);
                let mut between: Vec<_> = stable.filter(|v| v.1 > f.1 && v.1 < t.1).collect();
                between.dedup_by_key(|v| v.1);
                f.0 == t.0 && between.len() >= *step
            }
            Self::Prerelease(action) => *action == "Deny" && is_stable(f) && !is_stable(t),
        }
    }
}

/// A step, by the positions of its versions.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Whether the catalog has an edge for it.
    pub(crate) has_edge: bool,
}

/// Everything that forbids a step.
pub(crate) fn reasons(pool: &[Bundle], graph: Graph, rules: &[Rule], step: Step) -> Vec<String> {
    let Step { from, to, has_edge } = step;
    let (f, t) = (LINE[from].1, LINE[to].1);
    let is_by_semver = match graph {
        Graph::Catalog => false,
        Graph::Semver => true,
        Graph::CatalogOrSemver => !has_edge,
    };
    if is_by_semver && (to < from || !is_one_line(f, t)) {
        let mut reasons = vec!["graph".to_owned()];
        reasons.extend(broken(pool, rules, from, to));
        return reasons;
    }
    let mut reasons: Vec<_> = broken(pool, rules, from, to).collect();
    let mut all = rules.iter();
    let is_told = all.any(|rule| matches!(rule, Rule::Prerelease(_)));
    if is_by_semver && !is_told && is_stable(f) && !is_stable(t) {
        reasons.push("prerelease".to_owned());
    }
    reasons
}

fn broken(pool: &[Bundle], rules: &[Rule], from: usize, to: usize) -> impl Iterator<Item = String> {
    let rules = rules.iter().enumerate();
    let broken = rules.filter(move |(_, rule)| to > from && rule.forbids(pool, from, to));
    broken.map(|(at, _)| id(at))
}

fn passes_by(
    via: &Range,
    starts: Option<&Range>,
    ends: Option<&Range>,
    from: usize,
    to: usize,
) -> bool {
    let starts = starts.map_or(via.is_above(from), |range| range.holds(from));
    let ends = ends.map_or(via.is_below(to), |range| range.holds(to));
    starts && ends && !via.holds(from) && !via.holds(to)
}

/// Whether two versions, the higher one last, belong to the same compatibility line.
fn is_one_line(f: Version, t: Version) -> bool {
    match (f.0, f.1) {
        (0, 0) => (f.0, f.1, f.2) == (t.0, t.1, t.2),
        (0, _) => minor(f) == minor(t),
        _ => f.0 == t.0,
    }
}

fn is_stable(version: Version) -> bool {
    !version.3
}

fn minor(version: Version) -> (u64, u64) {
    (version.0, version.1)
}

pub(crate) fn id(at: usize) -> String {
    format!("rule-{at}")
}
