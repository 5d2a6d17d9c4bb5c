//! What guardrails forbid of what is drawn.
//!
//! A range is one line for every version that it holds; guardrails judge each step by itself. So a fan
//! becomes two where they forbid a part of it.

use std::collections::BTreeMap;

use crate::explain::GuardrailReport;
use crate::graph::{Graph, NodeIndex};
use crate::picture::sketch::{Fan, Fate, Lane, Row};
use crate::picture::{Guarded, TooLarge, View};
use crate::resolve::{CatalogEdge, Choice, Violation};

/// The steps that guardrails forbid, and why.
#[derive(Clone, Debug, Default)]
pub struct Barred {
    /// Every reason once, in the order in which they are found from the top of the first lane.
    reasons: Vec<GuardrailReport>,
    /// The places of the reasons of each step that is forbidden.
    steps: BTreeMap<(Row, Row), Vec<usize>>,
}

impl Barred {
    /// Every reason once.
    pub fn reasons(&self) -> &[GuardrailReport] {
        &self.reasons
    }

    /// How many steps are forbidden, those of several edges counted once.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Where no step from a row may lead, the newest first, with the places of the reasons.
    pub fn from(&self, row: Row) -> impl Iterator<Item = (Row, &[usize])> {
        let own = self.steps.range((row, Row(0))..=(row, Row(u32::MAX)));
        own.map(|((_, to), reasons)| (*to, reasons.as_slice()))
    }

    /// Why a step is forbidden; nothing where it is not.
    pub fn of(&self, from: Row, to: Row) -> impl Iterator<Item = &GuardrailReport> {
        let places = self.steps.get(&(from, to)).into_iter().flatten();
        places.filter_map(|place| self.reasons.get(*place))
    }
}

/// Marks what guardrails forbid of the edges that OLM takes.
pub(super) fn bar<'g, 'p>(
    graph: &'g Graph<'p>,
    view: &View<'g>,
    nodes: &[NodeIndex],
    lanes: &mut [Lane<'p>],
) -> Result<Barred, TooLarge> {
    let Some(guarded) = view.guarded.filter(|guarded| !guarded.guards.is_empty()) else {
        return Ok(Barred::default());
    };
    let edges = lanes.iter().map(Lane::edges).sum::<usize>();
    let rules = guarded.guards.weight();
    if edges.saturating_mul(rules.saturating_add(OWN_WEIGHT)) > MOST_COMPARISONS {
        return Err(TooLarge::Guardrails { edges, rules });
    }
    let mut judge = Judge {
        graph,
        guarded,
        nodes,
        places: BTreeMap::new(),
        barred: Barred::default(),
    };
    for lane in lanes {
        judge.lane(lane);
    }
    Ok(judge.barred)
}

/// Asks guardrails about steps between rows.
struct Judge<'j, 'g, 'p> {
    graph: &'g Graph<'p>,
    guarded: Guarded<'g>,
    nodes: &'j [NodeIndex],
    /// Where each reason stands.
    places: BTreeMap<GuardrailReport, usize>,
    barred: Barred,
}

impl<'g, 'p> Judge<'_, 'g, 'p> {
    fn lane(&mut self, lane: &mut Lane<'p>) {
        for step in &mut lane.steps {
            if step.fate == Fate::Taken && self.forbids(step.from, step.to) {
                step.fate = Fate::Forbidden;
            }
        }
        let fans = std::mem::take(&mut lane.fans).into_iter();
        lane.fans = fans.flat_map(|fan| self.split(fan)).collect();
    }

    /// A fan as what is taken of it and what is forbidden.
    fn split(&mut self, fan: Fan<'p>) -> Vec<Fan<'p>> {
        if fan.fate != Fate::Taken {
            return vec![fan];
        }
        let rows = fan.from.iter().copied();
        let (forbidden, taken): (Vec<_>, Vec<_>) =
            rows.partition(|from| self.forbids(*from, fan.to));
        if forbidden.is_empty() {
            return vec![fan];
        }
        let parts = [(taken, Fate::Taken), (forbidden, Fate::Forbidden)].into_iter();
        let parts = parts.filter(|(from, _)| !from.is_empty());
        parts
            .map(|(from, fate)| Fan { from, fate, ..fan })
            .collect()
    }

    /// Whether a step is forbidden; why is kept.
    fn forbids(&mut self, from: Row, to: Row) -> bool {
        if self.barred.steps.contains_key(&(from, to)) {
            return true;
        }
        let violations = self.violations(from, to).unwrap_or_default();
        let reasons = violations.iter().map(GuardrailReport::of);
        let places: Vec<_> = reasons.map(|reason| self.place(reason)).collect();
        let is_forbidden = !places.is_empty();
        if is_forbidden {
            self.barred.steps.insert((from, to), places);
        }
        is_forbidden
    }

    fn violations(&self, from: Row, to: Row) -> Option<Vec<Violation<'g>>> {
        let node = |Row(row): Row| self.nodes.get(row as usize).copied();
        let choice = Choice {
            catalog: self.guarded.catalog,
            package: self.graph.package(),
            index: self.graph.bundle_index(node(to)?)?,
        };
        let from = self.graph.version_of(node(from)?)?;
        let guards = self.guarded.guards;
        Some(guards.violations(from, &choice, CatalogEdge::Present))
    }

    fn place(&mut self, reason: GuardrailReport) -> usize {
        let next = self.barred.reasons.len();
        let reasons = &mut self.barred.reasons;
        *self.places.entry(reason).or_insert_with_key(|reason| {
            reasons.push(reason.clone());
            next
        })
    }
}

/// What a step costs beside its comparisons.
const OWN_WEIGHT: usize = 32;
/// Some seconds of work.
const MOST_COMPARISONS: usize = 1 << 27;
