//! The steps of a catalog that guardrails forbid: versions from which no step is left, and edges that have no effect.
//!
//! OLM v1 uses the edges of all channels unless an extension names some, so a version is stranded if no channel has
//! an allowed step upwards from it.

use std::collections::BTreeMap;

use crate::lint::Severity;
use crate::lint::check::Check;
use crate::lint::finding::Report;
use crate::lint::guarded::{GuardedPackage, Upwards};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::Step;
use crate::lint::words::{names, q};
use crate::lint::written::Spot;
use crate::see::EdgeField;
use olmguard_engine::resolve::ViolatedRule;

pub(super) const GUARDRAIL_STRANDS_VERSION: RuleItem =
    rule!("guardrail-strands-version", Users, Error).on(Check::Guarded(|guarded, report| {
        if guarded.facts.has_all_edges() {
            for (from, upwards) in &guarded.upwards {
                stranded(guarded, *from, upwards, report);
            }
        }
    }));

/// Names the highest step that a rule forbids, otherwise the highest step.
fn stranded(
    guarded: &GuardedPackage<'_, '_>,
    from: usize,
    upwards: &Upwards<'_>,
    report: &mut Report<'_, '_>,
) {
    let of_a_rule = report.severity();
    let Some((to, violated)) = highest(guarded, upwards, of_a_rule) else {
        return;
    };
    let others = match upwards.len() - 1 {
        0 => String::new(),
        1 => ", and 1 other step is forbidden".to_owned(),
        others => format!(", and {others} other steps are forbidden"),
    };
    let message = format!(
        "guardrails forbid every upgrade of {}: {} forbids the step to {}{others}; {}",
        q(guarded.facts.name(from)),
        what(violated),
        q(guarded.facts.name(to)),
        way_out(violated)
    );
    let severity = weight(violated, of_a_rule);
    report.say_as(severity, spot(guarded, violated), message);
}

/// The step that weighs the most if all are forbidden, of several the highest, with what forbids it.
fn highest<'u, 'v>(
    guarded: &GuardedPackage<'_, '_>,
    upwards: &'u Upwards<'v>,
    of_a_rule: Severity,
) -> Option<(usize, &'u ViolatedRule<'v>)> {
    let forbidden = upwards.iter();
    let forbidden = forbidden.map(|(to, judged)| Some((*to, judged.against.as_ref()?)));
    let forbidden = forbidden.collect::<Option<Vec<_>>>()?;
    forbidden.into_iter().max_by(|(a, by), (b, other)| {
        let versions = guarded.version(*a).zip(guarded.version(*b));
        let order = versions.map(|(a, b)| a.cmp_precedence(b));
        weight(by, of_a_rule)
            .cmp(&weight(other, of_a_rule))
            .then(order.unwrap_or(std::cmp::Ordering::Equal))
    })
}

fn way_out(violated: &ViolatedRule<'_>) -> &'static str {
    match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => {
            "publish a version that the rule allows, with an edge from there, or narrow the rule"
        }
        ViolatedRule::Graph(..) => {
            "correct if upgrades should end there, otherwise write graph: Catalog"
        }
        ViolatedRule::Prerelease(_) => {
            "correct if upgrades should end there, otherwise add a rule of kind Prerelease with \
             action: Allow"
        }
    }
}

/// How much a finding weighs: the author means the graph to forbid what it forbids.
fn weight(violated: &ViolatedRule<'_>, of_a_rule: Severity) -> Severity {
    match violated {
        ViolatedRule::Graph(..) | ViolatedRule::Prerelease(_) => Severity::Note,
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => of_a_rule,
    }
}

/// What forbids a step.
fn what(violated: &ViolatedRule<'_>) -> String {
    match violated {
        ViolatedRule::Rule(rule) => format!("rule {}", q(&rule.id)),
        ViolatedRule::Graph(graph, _) | ViolatedRule::Prerelease(graph) => {
            format!("graph {}", graph.as_str())
        }
        ViolatedRule::Unread(_) => "an invalid rule".to_owned(),
    }
}

fn spot(guarded: &GuardedPackage<'_, '_>, violated: &ViolatedRule<'_>) -> Spot {
    match violated {
        ViolatedRule::Rule(rule) => guarded.spot(rule),
        ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) | ViolatedRule::Unread(_) => {
            guarded.written.spot
        }
    }
}

pub(super) const GUARDRAIL_AGAINST_EDGE: RuleItem = rule!("guardrail-against-edge", Users, Warning)
    .on(Check::Guarded(|guarded, report| {
        // An administrator can forbid an edge of the author.
        if guarded.facts.catalog.written.imposed_from.is_none() {
            for edges in by_field(guarded).values() {
                against_edges(guarded, edges, report);
            }
        }
    }));

/// A forbidden step from a node.
type Forbidden<'f> = (usize, Step, &'f ViolatedRule<'f>);

/// The forbidden `replaces` and `skips`, by channel, entry and field.
fn by_field<'f>(
    guarded: &'f GuardedPackage<'_, '_>,
) -> BTreeMap<(usize, usize, EdgeField), Vec<Forbidden<'f>>> {
    let mut by_field = BTreeMap::<_, Vec<_>>::new();
    for (from, upwards) in &guarded.upwards {
        for judged in upwards.values() {
            let Some(first) = &judged.against else {
                continue;
            };
            // A range does not name the one version.
            let edges = judged.edges.iter();
            for edge in edges.filter(|edge| edge.kind != EdgeField::SkipRange) {
                let field = (edge.channel, edge.entry, edge.kind);
                by_field
                    .entry(field)
                    .or_default()
                    .push((*from, *edge, first));
            }
        }
    }
    by_field
}

fn against_edges(
    guarded: &GuardedPackage<'_, '_>,
    edges: &[Forbidden<'_>],
    report: &mut Report<'_, '_>,
) {
    let Some((_, edge, violated)) = edges.first() else {
        return;
    };
    let facts = guarded.facts;
    // Generated catalogs skip every lower version, whatever rules there are.
    let severity = match edge.kind {
        EdgeField::Replaces => weight(violated, report.severity()),
        EdgeField::Skips | EdgeField::SkipRange => Severity::Note,
    };
    let advice = match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => "remove the edge, or narrow the rule",
        ViolatedRule::Graph(..) => "correct if this is intended, otherwise write graph: Catalog",
        ViolatedRule::Prerelease(_) => {
            "correct if this is intended, otherwise add a rule of kind Prerelease with action: \
             Allow"
        }
    };
    let message = format!(
        "entry {} {} {}, but {} forbids this: OLM allows the step, olmguard denies it; {advice}",
        q(facts.name(edge.to)),
        edge.kind.as_str(),
        names(edges.iter().map(|(from, ..)| facts.name(*from))),
        what(violated)
    );
    report.say_as(severity, facts.spot_of(edge), message);
}
