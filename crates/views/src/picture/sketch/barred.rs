//! Steps of a picture that guardrails forbid.
//!
//! A range is one fan for every version that it includes, but guardrails apply to each step. A fan is therefore split
//! in two if they forbid a part of it.

use std::collections::BTreeMap;

use crate::picture::sketch::{EdgeFate, Fan, Lane, VersionRow};
use crate::picture::{GraphTooLarge, ShownGuards, View};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_engine::explain::{GuardrailReport, Places, ReasonTable, Reasons};
use olmguard_engine::resolve::{
    CatalogEdge, Choice, MatchingPolicies, Origin, PolicyFinding, Violation,
};

/// Forbidden steps and the reasons.
#[derive(Clone, Debug, Default)]
pub struct ForbiddenSteps {
    /// Reasons without duplicates, in the order in which they are found from the top of the first lane.
    reasons: Reasons,
    /// Positions of the reasons of each forbidden step.
    steps: BTreeMap<(VersionRow, VersionRow), Places>,
}

impl ForbiddenSteps {
    /// Returns every reason once.
    pub fn reasons(&self) -> &[GuardrailReport] {
        self.reasons.all()
    }

    /// Returns the names of the rules that forbid steps, in a few words.
    pub(in crate::picture) fn names(&self) -> String {
        self.reasons.all_names()
    }

    /// Returns the names of the rules that forbid a step.
    pub(in crate::picture) fn names_of(&self, from: VersionRow, to: VersionRow) -> String {
        self.reasons.names(self.places(from, to))
    }

    /// Returns the positions of the reasons why a step is forbidden. Empty if it is not.
    pub(in crate::picture) fn places(&self, from: VersionRow, to: VersionRow) -> &[usize] {
        let places = self.steps.get(&(from, to));
        places.map_or(&[], |places| places)
    }

    /// Replaces the rows.
    pub(super) fn mapped(self, row: impl Fn(VersionRow) -> VersionRow) -> Self {
        let steps = self.steps.into_iter();
        let steps = steps.map(|((from, to), places)| ((row(from), row(to)), places));
        Self {
            reasons: self.reasons,
            steps: steps.collect(),
        }
    }

    /// Returns the number of forbidden steps. Several edges of one step count once.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether no step is forbidden.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the targets of the forbidden steps from a row, the newest first, with the positions of the reasons.
    pub fn from(&self, row: VersionRow) -> impl Iterator<Item = (VersionRow, &[usize])> {
        let own = self
            .steps
            .range((row, VersionRow(0))..=(row, VersionRow(u32::MAX)));
        own.map(|((_, to), reasons)| (*to, &**reasons))
    }
}

/// Marks the edges that OLM takes and guardrails forbid.
pub(super) fn bar<'g, 'p>(
    graph: &'g Graph<'p>,
    view: &View<'g>,
    nodes: &[NodeIndex],
    lanes: &mut [Lane<'p>],
) -> Result<ForbiddenSteps, GraphTooLarge> {
    let Some(guarded) = view.guarded.filter(ShownGuards::binds) else {
        return Ok(ForbiddenSteps::default());
    };
    let edges = lanes.iter().map(Lane::edges).sum::<usize>();
    let rules = guarded.weight();
    if edges.saturating_mul(rules.saturating_add(OWN_WEIGHT)) > MOST_COMPARISONS {
        return Err(GraphTooLarge::Guardrails { edges, rules });
    }
    let mut judge = StepJudge {
        graph,
        guarded,
        nodes,
        gathered: ReasonTable::default(),
        steps: BTreeMap::new(),
    };
    for lane in lanes {
        judge.lane(lane);
    }
    Ok(ForbiddenSteps {
        reasons: judge.gathered.finish(),
        steps: judge.steps,
    })
}

impl ShownGuards<'_> {
    /// Whether any rule can forbid a step.
    fn binds(&self) -> bool {
        !self.guards.is_empty() || self.policies.is_some_and(|policies| !policies.is_empty())
    }

    /// Returns the number of values that a step is compared with.
    fn weight(&self) -> usize {
        self.guards.weight() + self.policies.map_or(0, MatchingPolicies::weight)
    }
}

/// Applies guardrails and policies to steps between rows.
struct StepJudge<'j, 'g, 'p> {
    graph: &'g Graph<'p>,
    guarded: ShownGuards<'g>,
    nodes: &'j [NodeIndex],
    gathered: ReasonTable<'g>,
    steps: BTreeMap<(VersionRow, VersionRow), Places>,
}

impl<'g, 'p> StepJudge<'_, 'g, 'p> {
    fn lane(&mut self, lane: &mut Lane<'p>) {
        for step in &mut lane.steps {
            if step.fate == EdgeFate::Taken && self.forbids(step.from, step.to) {
                step.fate = EdgeFate::Forbidden;
            }
        }
        let fans = std::mem::take(&mut lane.fans).into_iter();
        lane.fans = fans.flat_map(|fan| self.split(fan)).collect();
    }

    /// Splits a fan into its allowed and its forbidden part.
    fn split(&mut self, fan: Fan<'p>) -> Vec<Fan<'p>> {
        if fan.fate != EdgeFate::Taken {
            return vec![fan];
        }
        let rows = fan.from.iter().copied();
        let (forbidden, taken): (Vec<_>, Vec<_>) =
            rows.partition(|from| self.forbids(*from, fan.to));
        if forbidden.is_empty() {
            return vec![fan];
        }
        let parts = [(taken, EdgeFate::Taken), (forbidden, EdgeFate::Forbidden)].into_iter();
        let parts = parts.filter(|(from, _)| !from.is_empty());
        let fans = parts.enumerate().map(|(at, (from, fate))| Fan {
            from,
            continues: fan.continues || at > 0,
            fate,
            ..fan
        });
        fans.collect()
    }

    /// Whether a step is forbidden. Records the reasons if it is.
    fn forbids(&mut self, from: VersionRow, to: VersionRow) -> bool {
        if self.steps.contains_key(&(from, to)) {
            return true;
        }
        let violations = self.violations(from, to).unwrap_or_default();
        let denials = self.denials(from, to).unwrap_or_default();
        if violations.is_empty() && denials.is_empty() {
            return false;
        }
        let places = self.gathered.places(&violations, &denials);
        self.steps.insert((from, to), places);
        true
    }

    fn violations(&self, from: VersionRow, to: VersionRow) -> Option<Vec<Violation<'g>>> {
        let choice = self.choice(to)?;
        let from = self.graph.version_of(self.node(from)?)?;
        let guards = self.guarded.guards;
        Some(guards.violations(from, &choice, CatalogEdge::Present))
    }

    /// Returns violations of upgrade policies by a step from a bundle.
    fn denials(&self, from: VersionRow, to: VersionRow) -> Option<Vec<PolicyFinding<'g>>> {
        let policies = self.guarded.policies?;
        let origin = Origin::of_choice(self.choice(from)?, self.guarded.rules)?;
        Some(policies.denials_of_pin(&origin, &self.choice(to)?))
    }

    fn node(&self, VersionRow(row): VersionRow) -> Option<NodeIndex> {
        self.nodes.get(row as usize).copied()
    }

    fn choice(&self, to: VersionRow) -> Option<Choice<'g>> {
        Some(Choice {
            catalog: self.guarded.catalog,
            package: self.graph.package(),
            index: self.graph.bundle_index(self.node(to)?)?,
        })
    }
}

/// Cost of a step in addition to its comparisons.
const OWN_WEIGHT: usize = 32;
/// Maximum number of comparisons: a few seconds of work.
const MOST_COMPARISONS: usize = 1 << 27;
