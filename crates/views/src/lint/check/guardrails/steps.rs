//! The steps of the catalog that guardrails forbid: edges that somebody wrote for nothing, and versions
//! from which no step is left.
//!
//! OLM v1 asks the edges of all channels unless some are named, so a version is stranded where no channel
//! has a step upwards that is left to it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::GuardedPackage;
use crate::edge_field::EdgeField;
use crate::lint::check::ways;
use crate::lint::finding::Findings;
use crate::lint::view::Step;
use crate::lint::words;
use crate::lint::written::Spot;
use crate::lint::{Rule, Severity};
use olmguard_engine::resolve::ViolatedRule;

/// The steps upwards from one node, by the bundles that they lead to.
type Upwards<'w> = BTreeMap<usize, JudgedEdges<'w>>;

/// The edges to one bundle, and what first forbids to take them; nothing where they are free.
struct JudgedEdges<'w> {
    edges: Vec<Step>,
    against: Option<ViolatedRule<'w>>,
}

pub(super) fn check(guarded: &GuardedPackage<'_, '_, '_>, report: &mut Findings<'_>) {
    let judged = judged(guarded);
    if guarded.facts.has_all_edges() {
        for (from, upwards) in &judged {
            stranded(guarded, *from, upwards, report);
        }
    }
    against_edges(guarded, &judged, report);
}

/// What is said of every step upwards whose versions are known.
fn judged<'f>(guarded: &GuardedPackage<'f, '_, '_>) -> BTreeMap<usize, Upwards<'f>> {
    let mut judged = BTreeMap::<usize, Upwards<'_>>::new();
    for (node, step) in guarded.facts.steps.all() {
        let versions = (guarded.version(node), guarded.version(step.to));
        let (Some(from), Some(to)) = versions else {
            continue;
        };
        if to.cmp_precedence(from) != Ordering::Greater {
            continue;
        }
        let upwards = judged.entry(node).or_default();
        let judged = upwards.entry(step.to).or_insert_with(|| JudgedEdges {
            edges: Vec::new(),
            against: guarded.alone.violated(from, to).into_iter().next(),
        });
        judged.edges.push(step);
    }
    judged
}

/// Says so where every step upwards is forbidden: by the highest that a rule forbids, else by the highest.
fn stranded(
    guarded: &GuardedPackage<'_, '_, '_>,
    from: usize,
    upwards: &Upwards<'_>,
    report: &mut Findings<'_>,
) {
    let forbidden = upwards.iter();
    let forbidden = forbidden.map(|(to, judged)| Some((*to, judged.against.as_ref()?)));
    let Some(forbidden) = forbidden.collect::<Option<Vec<_>>>() else {
        return;
    };
    let order = |a: usize, b: usize| match (guarded.version(a), guarded.version(b)) {
        (Some(a), Some(b)) => a.cmp_precedence(b),
        _ => Ordering::Equal,
    };
    let weight = |violated: &ViolatedRule<'_>| weight(violated, Severity::Error);
    let told = forbidden
        .iter()
        .max_by(|(a, by), (b, other)| weight(by).cmp(&weight(other)).then(order(*a, *b)));
    if let Some((to, first)) = told {
        let (name, to) = (guarded.facts.name(from), guarded.facts.name(*to));
        let words = words::guardrail_strands(name, to, upwards.len() - 1, first);
        let (rule, spot) = (Rule::GuardrailStrandsVersion, spot(guarded, first));
        report.say_as(rule, weight(first), spot, guarded.package(), words);
    }
}

/// How much a finding weighs: what the graph forbids by itself its author means to forbid.
fn weight(violated: &ViolatedRule<'_>, of_a_rule: Severity) -> Severity {
    match violated {
        ViolatedRule::Graph(..) | ViolatedRule::Prerelease(_) => Severity::Note,
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => of_a_rule,
    }
}

/// The `replaces` and `skips` that are forbidden to take, told together for each field of an entry.
fn against_edges(
    guarded: &GuardedPackage<'_, '_, '_>,
    judged: &BTreeMap<usize, Upwards<'_>>,
    report: &mut Findings<'_>,
) {
    let mut by_field = BTreeMap::<_, Vec<(usize, Step, &ViolatedRule<'_>)>>::new();
    for (from, upwards) in judged {
        for judged in upwards.values() {
            let Some(first) = &judged.against else {
                continue;
            };
            // A range says nothing of the one version.
            let edges = judged
                .edges
                .iter()
                .filter(|edge| edge.kind != EdgeField::SkipRange);
            for edge in edges {
                let field = (edge.channel, edge.entry, edge.kind);
                by_field
                    .entry(field)
                    .or_default()
                    .push((*from, *edge, first));
            }
        }
    }
    for ((_, _, kind), edges) in &by_field {
        field(guarded, *kind, edges, report);
    }
}

fn field(
    guarded: &GuardedPackage<'_, '_, '_>,
    kind: EdgeField,
    edges: &[(usize, Step, &ViolatedRule<'_>)],
    report: &mut Findings<'_>,
) {
    let Some((_, edge, first)) = edges.first() else {
        return;
    };
    let facts = guarded.facts;
    let from: Vec<_> = edges.iter().map(|(from, ..)| facts.name(*from)).collect();
    // What is generated skips all that is lower, whatever rules there are.
    let (name, severity) = match kind {
        EdgeField::Replaces => ("replaces", weight(first, Severity::Warning)),
        EdgeField::Skips | EdgeField::SkipRange => ("skips", Severity::Note),
    };
    let words = words::guardrail_against_edge(name, facts.name(edge.to), &from, first);
    let (rule, spot) = (Rule::GuardrailAgainstEdge, ways::spot_of(facts, edge));
    report.say_as(rule, severity, spot, guarded.package(), words);
}

fn spot(guarded: &GuardedPackage<'_, '_, '_>, violated: &ViolatedRule<'_>) -> Spot {
    match violated {
        ViolatedRule::Rule(rule) => guarded.spot(&rule.id),
        ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) | ViolatedRule::Unread(_) => {
            guarded.written.spot
        }
    }
}
