//! About steps that guardrails forbid.

use super::{Words, names, q};
use olmguard_engine::resolve::ViolatedRule;

/// `others` is how many other higher bundles have an edge; the steps to them are forbidden, too.
pub(in crate::lint) fn guardrail_strands(
    name: &str,
    to: &str,
    others: usize,
    violated: &ViolatedRule<'_>,
) -> Words {
    let others = match others {
        0 => String::new(),
        1 => ", and 1 other step is forbidden".to_owned(),
        others => format!(", and {others} other steps are forbidden"),
    };
    let advice = match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => {
            "publish a version that the rule allows, with an edge from there, or narrow the rule"
        }
        ViolatedRule::Graph(..) => {
            "correct if upgrades should end there, otherwise write graph: Catalog"
        }
        ViolatedRule::Prerelease(_) => {
            "correct if upgrades should end there, otherwise add a rule of kind Prerelease with action: Allow"
        }
    };
    Words::own(format!(
        "guardrails forbid every upgrade of {}: {} forbids the step to {}{others}; {advice}",
        q(name),
        what(violated),
        q(to)
    ))
}

pub(in crate::lint) fn guardrail_against_edge(
    field: &str,
    entry: &str,
    from: &[&str],
    violated: &ViolatedRule<'_>,
) -> Words {
    let advice = match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => "remove the edge, or narrow the rule",
        ViolatedRule::Graph(..) => "correct if this is intended, otherwise write graph: Catalog",
        ViolatedRule::Prerelease(_) => {
            "correct if this is intended, otherwise add a rule of kind Prerelease with action: Allow"
        }
    };
    Words::own(format!(
        "entry {} {field} {}, but {} forbids this: OLM allows the step, olmguard denies it; {advice}",
        q(entry),
        names(from.iter().copied()),
        what(violated)
    ))
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
