//! One step upwards against the guardrails of one who says them.

use super::{CatalogEdge, Pool, ViolatedRule};
use crate::resolve::semver::{self, Hindrance};
use olmguard_catalog::guardrail::{
    Action, BaseGraph, Guardrails, Passage, Rule, RuleKind, UnreadGuardrails,
};
use olmguard_catalog::version::Version;

/// A step, and what the catalog that it leads to has.
pub(super) struct GuardedStep<'a, 's> {
    pub(super) from: &'a Version,
    pub(super) to: &'a Version,
    pub(super) edge: CatalogEdge,
    pub(super) pool: &'a Pool<'s>,
}

/// What a step goes against.
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
    let unasked = (is_up && edge != Ok(Edge::Catalog) && step.is_unasked_prerelease(guardrails))
        .then_some(ViolatedRule::Prerelease(graph));
    lacking.into_iter().chain(broken).chain(unasked).collect()
}

/// Which edge of the base graph a step goes along.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Edge {
    Catalog,
    Semver,
}

/// Whether the graph has an edge for a step. Steps to prereleases are a matter of the rules.
fn base_edge(step: &GuardedStep<'_, '_>, graph: BaseGraph) -> Result<Edge, Hindrance> {
    let by_semver = || match semver::step(step.from, step.to) {
        Ok(()) | Err(Hindrance::Prerelease | Hindrance::Same) => Ok(Edge::Semver),
        Err(hindrance) => Err(hindrance),
    };
    match (graph, step.edge) {
        (BaseGraph::Catalog, _) | (BaseGraph::CatalogOrSemver, CatalogEdge::Present) => {
            Ok(Edge::Catalog)
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

    /// Whether no rule speaks of prereleases, and it is a step to one.
    fn is_unasked_prerelease(&self, guardrails: &Guardrails) -> bool {
        let mut rules = guardrails.rules.iter();
        self.is_to_prerelease() && !rules.any(|rule| matches!(rule.kind, RuleKind::Prerelease(_)))
    }

    fn is_to_prerelease(&self) -> bool {
        self.to.is_prerelease() && !self.from.is_prerelease()
    }
}
