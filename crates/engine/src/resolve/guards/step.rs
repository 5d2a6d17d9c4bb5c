//! One step compared with the guardrails of one owner.

use std::collections::{BTreeMap, BTreeSet};

use crate::resolve::Offer;
use crate::resolve::guards::{CatalogEdge, ViolatedRule};
use crate::resolve::semver::{self, Hindrance};
use olmguard_catalog::guardrail::{
    Action, BaseGraph, Guardrails, Passage, Rule, RuleKind, UnreadGuardrails,
};
use olmguard_catalog::version::Version;

/// A step, with the versions of the catalog that it leads to.
pub(super) struct GuardedStep<'a, 's> {
    pub(super) from: &'a Version,
    pub(super) to: &'a Version,
    pub(super) edge: CatalogEdge,
    pub(super) pool: &'a VersionPool<'s>,
}

/// The rules that a step violates.
pub(super) fn forbidden<'s>(
    step: &GuardedStep<'_, 's>,
    stated: Result<&'s Guardrails, &'s UnreadGuardrails>,
) -> Vec<ViolatedRule<'s>> {
    let is_up = step.to.cmp_precedence(step.from).is_gt();
    let guardrails = match stated {
        Ok(guardrails) => guardrails,
        Err(unread) => {
            return is_up
                .then_some(ViolatedRule::Unread(unread))
                .into_iter()
                .collect();
        }
    };
    let graph = guardrails.graph;
    let edge = base_edge(step, graph);
    let lacking = edge.err().map(|why| ViolatedRule::Graph(graph, why));
    let rules = guardrails.rules.iter().filter(|_| is_up);
    let broken = rules
        .filter(|rule| step.breaks(rule))
        .map(ViolatedRule::Rule);
    let unasked =
        (is_up && edge != Ok(BaseEdge::Catalog) && step.is_unasked_prerelease(guardrails))
            .then_some(ViolatedRule::Prerelease(graph));
    lacking.into_iter().chain(broken).chain(unasked).collect()
}

/// The kind of edge in the base graph that a step follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum BaseEdge {
    Catalog,
    Semver,
}

/// The edge of the graph for a step. Rules decide about steps to prereleases.
fn base_edge(step: &GuardedStep<'_, '_>, graph: BaseGraph) -> Result<BaseEdge, Hindrance> {
    let by_semver = || match semver::step(step.from, step.to) {
        Ok(()) | Err(Hindrance::Prerelease | Hindrance::Same) => Ok(BaseEdge::Semver),
        Err(hindrance) => Err(hindrance),
    };
    match (graph, step.edge) {
        (BaseGraph::Catalog, _) | (BaseGraph::CatalogOrSemver, CatalogEdge::Present) => {
            Ok(BaseEdge::Catalog)
        }
        (BaseGraph::Semver, _) | (BaseGraph::CatalogOrSemver, CatalogEdge::Absent) => by_semver(),
    }
}

impl GuardedStep<'_, '_> {
    pub(super) fn breaks(&self, rule: &Rule) -> bool {
        let (from, to) = (self.from, self.to);
        match &rule.kind {
            RuleKind::PassThrough(passage) => passage.is_passed_by(from, to),
            RuleKind::Waypoints(passages) => {
                passages.iter().any(|p: &Passage| p.is_passed_by(from, to))
            }
            RuleKind::LatestPatchFirst { from: range } => {
                let leaves = (from.major(), from.minor()) != (to.major(), to.minor());
                let is_meant = || range.as_ref().is_none_or(|range| range.holds(from));
                leaves && self.pool.has_later_patch(from) && is_meant()
            }
            RuleKind::MaxMinorStep(step) => {
                let least = usize::try_from(step.get()).unwrap_or(usize::MAX);
                self.pool.has_minors_between(from, to, least)
            }
            RuleKind::Prerelease(Action::Deny) => self.is_to_prerelease(),
            RuleKind::Prerelease(Action::Allow) => false,
        }
    }

    /// Whether it is a step to a prerelease, and no rule is about prereleases.
    fn is_unasked_prerelease(&self, guardrails: &Guardrails) -> bool {
        let mut rules = guardrails.rules.iter();
        self.is_to_prerelease() && !rules.any(|rule| matches!(rule.kind, RuleKind::Prerelease(_)))
    }

    fn is_to_prerelease(&self) -> bool {
        self.to.is_prerelease() && !self.from.is_prerelease()
    }
}

// === The versions that rules compare a step with ===

/// Major and minor.
type Minor = (u64, u64);

/// The versions of an offer, whatever the range, arranged for the questions of rules.
#[derive(Debug, Default)]
pub(super) struct VersionPool<'s> {
    /// The minors that have a release.
    stable: BTreeSet<Minor>,
    /// The highest versions of each minor that are not deprecated.
    highest: BTreeMap<Minor, HighestVersions<'s>>,
}

/// The highest versions of one minor.
#[derive(Debug, Default)]
struct HighestVersions<'s> {
    any: Option<&'s Version>,
    stable: Option<&'s Version>,
}

impl<'s> VersionPool<'s> {
    /// The pool of the bundles in the requested channels whose versions can be read.
    pub(super) fn of(offer: &Offer<'s>) -> Self {
        let package = offer.package;
        Self::of_versions(offer.members.iter().filter_map(|index| {
            let read = package.bundle(index).version.as_ref().ok()?;
            Some((&read.version, package.is_deprecated(index)))
        }))
    }

    /// The pool of versions, each with whether it is deprecated.
    pub(super) fn of_versions(versions: impl IntoIterator<Item = (&'s Version, bool)>) -> Self {
        let mut pool = Self::default();
        for (version, is_deprecated) in versions {
            pool.add(version, is_deprecated);
        }
        pool
    }

    fn add(&mut self, version: &'s Version, is_deprecated: bool) {
        if !version.is_prerelease() {
            self.stable.insert(minor(version));
        }
        if is_deprecated {
            return;
        }
        let highest = self.highest.entry(minor(version)).or_default();
        raise(&mut highest.any, version);
        if !version.is_prerelease() {
            raise(&mut highest.stable, version);
        }
    }

    /// Whether the minor of a version has a higher version that is not deprecated; a prerelease counts if the version
    /// is one itself.
    pub(super) fn has_later_patch(&self, version: &Version) -> bool {
        let highest = self.highest.get(&minor(version));
        let latest = highest.and_then(|highest| {
            if version.is_prerelease() {
                highest.any
            } else {
                highest.stable
            }
        });
        latest.is_some_and(|latest| latest.cmp_precedence(version).is_gt())
    }

    /// Whether at least so many minors of one major have a release and are strictly between two versions.
    pub(super) fn has_minors_between(&self, from: &Version, to: &Version, least: usize) -> bool {
        if from.major() != to.major() || from.minor() >= to.minor() {
            return false;
        }
        let above = (from.major(), from.minor().saturating_add(1));
        let mut between = self.stable.range(above..minor(to));
        between.nth(least.saturating_sub(1)).is_some()
    }
}

fn minor(version: &Version) -> Minor {
    (version.major(), version.minor())
}

fn raise<'s>(highest: &mut Option<&'s Version>, version: &'s Version) {
    if highest.is_none_or(|highest| version.cmp_precedence(highest).is_gt()) {
        *highest = Some(version);
    }
}
