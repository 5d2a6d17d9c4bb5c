//! From JSON to rules. Strict: a key or word that is not known could change what the others mean, so
//! nothing is passed over.

use std::num::NonZeroU32;

use serde_json::Value;

use super::members::{Members, wrong};
use super::problem::beginning;
use super::{
    Action, BaseGraph, Guardrails, Passage, Problem, Range, Rule, RuleKind, UnreadGuardrails,
};

/// Reads the value of a blob, a property, or a document of a file.
///
/// `schema`, `package` and `name` are the reader's who found it, and not looked at here.
///
/// # Errors
/// The first thing that cannot be read, in the order of the rules.
pub fn read(value: &Value) -> Result<Guardrails, UnreadGuardrails> {
    let members = Members::of(value, String::new(), WHOLE)?;
    let graph = members.word("graph", GRAPHS, GRAPHS_MEANT)?;
    let items = members.items("rules")?;
    let mut rules = Vec::new();
    let mut weight = 0;
    for (path, item) in items {
        let rule = rule(item, path)?;
        weight += rule.kind.passages().len().max(1);
        if weight > MOST_RULES {
            return Err(members.unread("rules", Problem::TooMany { most: MOST_RULES }));
        }
        rules.push(rule);
    }
    rules.sort_by(|a: &Rule, b| a.id.cmp(&b.id));
    let twice = rules.windows(2).find_map(|pair| match pair {
        [a, b] if a.id == b.id => Some(&a.id),
        _ => None,
    });
    if let Some(id) = twice {
        return Err(members.unread("rules", Problem::SameId(beginning(id))));
    }
    Ok(Guardrails {
        graph: graph.unwrap_or_default(),
        rules: rules.into(),
    })
}

fn rule(value: &Value, path: String) -> Result<Rule, UnreadGuardrails> {
    let any = Members::of(value, path.clone(), EVERY_KEY)?;
    let word = any.needed("kind", "the kind of a rule")?;
    let known = KINDS.iter().zip(KEYS).find(|(kind, _)| **kind == word);
    let (_, keys) = known.ok_or_else(|| any.unread("kind", Problem::unknown_word(word, KINDS)))?;
    let members = Members::of(value, path, keys)?;
    Ok(Rule {
        id: members.needed("id", "a name for the rule")?.into(),
        reason: members.text("reason")?.unwrap_or_default().into(),
        bypassable: boolean(&members, "bypassable")?,
        kind: kind(word, &members)?,
    })
}

fn kind(word: &str, members: &Members<'_>) -> Result<RuleKind, UnreadGuardrails> {
    Ok(match word {
        "PassThrough" => RuleKind::PassThrough(Box::new(Passage {
            via: range(members, "via")?.ok_or_else(|| missing(members, "via", A_RANGE))?,
            from: range(members, "from")?,
            to: range(members, "to")?,
        })),
        "Waypoints" => RuleKind::Waypoints(waypoints(members)?),
        "LatestPatchFirst" => RuleKind::LatestPatchFirst {
            from: range(members, "from")?,
        },
        "MaxMinorStep" => RuleKind::MaxMinorStep(step(members)?),
        _ => {
            let action = members.word("action", ACTIONS, ACTIONS_MEANT)?;
            RuleKind::Prerelease(action.ok_or_else(|| missing(members, "action", "Deny or Allow"))?)
        }
    })
}

fn range(members: &Members<'_>, key: &str) -> Result<Option<Range>, UnreadGuardrails> {
    let text = members.text(key)?;
    let range = text.map(Range::parse).transpose();
    range.map_err(|problem| members.unread(key, problem))
}

fn waypoints(members: &Members<'_>) -> Result<Box<[Passage]>, UnreadGuardrails> {
    let items = members.items("versions")?;
    if items.is_empty() {
        return Err(missing(members, "versions", "a list of versions or ranges"));
    }
    let passages = items.into_iter().map(|(path, item)| {
        let text = item.as_str();
        let text = text.ok_or_else(|| wrong(path.clone(), "a string", item))?;
        match Range::parse(text) {
            Ok(via) => Ok(Passage {
                via,
                from: None,
                to: None,
            }),
            Err(problem) => Err(UnreadGuardrails { path, problem }),
        }
    });
    passages.collect()
}

/// A whole number from 1; numbers are those of Go's decoder, so `1.0` is one.
fn step(members: &Members<'_>) -> Result<NonZeroU32, UnreadGuardrails> {
    let value = members.get("step");
    let value = value.ok_or_else(|| missing(members, "step", A_STEP))?;
    let whole = value.as_f64().filter(|number| number.fract() == 0.0);
    let number = whole.and_then(|number| format!("{number:.0}").parse().ok());
    number.ok_or_else(|| wrong(members.path_of("step"), A_STEP, value))
}

fn boolean(members: &Members<'_>, key: &str) -> Result<bool, UnreadGuardrails> {
    let Some(value) = members.get(key) else {
        return Ok(false);
    };
    let is = value.as_bool();
    is.ok_or_else(|| wrong(members.path_of(key), "true or false", value))
}

fn missing(members: &Members<'_>, key: &str, expected: &'static str) -> UnreadGuardrails {
    members.unread(key, Problem::Missing { expected })
}

const WHOLE: &[&str] = &["schema", "package", "name", "graph", "rules"];

const GRAPHS: &[&str] = &["Catalog", "Semver", "CatalogOrSemver"];
const GRAPHS_MEANT: &[BaseGraph] = &[
    BaseGraph::Catalog,
    BaseGraph::Semver,
    BaseGraph::CatalogOrSemver,
];

const ACTIONS: &[&str] = &["Deny", "Allow"];
const ACTIONS_MEANT: &[Action] = &[Action::Deny, Action::Allow];

const KINDS: &[&str] = &[
    "PassThrough",
    "Waypoints",
    "LatestPatchFirst",
    "MaxMinorStep",
    "Prerelease",
];

/// The keys of each of [`KINDS`].
const KEYS: &[&[&str]] = &[
    &["id", "kind", "reason", "bypassable", "via", "from", "to"],
    &["id", "kind", "reason", "bypassable", "versions"],
    &["id", "kind", "reason", "bypassable", "from"],
    &["id", "kind", "reason", "bypassable", "step"],
    &["id", "kind", "reason", "bypassable", "action"],
];

const EVERY_KEY: &[&str] = &[
    "id",
    "kind",
    "reason",
    "bypassable",
    "via",
    "from",
    "to",
    "versions",
    "step",
    "action",
];

const A_RANGE: &str = "a range such as \">=1.3.0 <1.4.0-0\"";
const A_STEP: &str = "a whole number from 1";

/// How many rules there may be, each waypoint counted as one: every step of a search is compared
/// with all of them.
const MOST_RULES: usize = 256;
