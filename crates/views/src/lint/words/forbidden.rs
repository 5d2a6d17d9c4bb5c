//! About steps that guardrails forbid.

use super::{Words, names, q};
use olmguard_engine::resolve::ViolatedRule;

/// `others` is how many bundles above can be stepped to besides, all of them forbidden.
pub(in crate::lint) fn guardrail_strands(
    name: &str,
    to: &str,
    others: usize,
    violated: &ViolatedRule<'_>,
) -> Words {
    let others = match others {
        0 => String::new(),
        1 => ", nor to the other one above".to_owned(),
        others => format!(", nor to the {others} others above"),
    };
    let advice = match violated {
        ViolatedRule::Rule(_) | ViolatedRule::Unread(_) => {
            "publish what is to be stepped through with an edge from there, or narrow the rule"
        }
        ViolatedRule::Graph(..) => "right if the line is to end there; else write graph: Catalog",
        ViolatedRule::Prerelease(_) => {
            "right if the line is to end there; else add a rule of kind Prerelease with action: Allow"
        }
    };
    Words::own(format!(
        "from {} guardrails leave no step upwards: {} forbids the one to {}{others}; {advice}",
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
        ViolatedRule::Graph(..) => "right if nobody is to take it; else write graph: Catalog",
        ViolatedRule::Prerelease(_) => {
            "right if nobody is to take it; else add a rule of kind Prerelease with action: Allow"
        }
    };
    Words::own(format!(
        "{field} of entry {} leads from {}, which {} forbids: olmguard refuses the step, OLM takes it; \
         {advice}",
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
        ViolatedRule::Unread(_) => "what cannot be read".to_owned(),
    }
}
