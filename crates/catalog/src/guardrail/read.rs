//! From JSON to rules. Strict: a key or word that is not known could change what the others mean, so
//! nothing is passed over.

use std::num::NonZeroU32;

use serde_json::Value;

use crate::guardrail::members::{Members, wrong};
use crate::guardrail::{Action, BaseGraph, Guardrails, Passage, Range, Rule, RuleKind};
use crate::heap::{Heap, allocated};
use crate::json_type::JsonType;
use crate::version::SkipRangeError;
use crate::version::go::quote;

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

// `UpgradeGuardrails`: guardrails of an administrator as an object of a cluster, whose `spec` holds what a document of
// a file holds.

/// What an object says.
#[derive(Clone, Debug)]
pub struct GuardrailsObject {
    /// `metadata.name`; empty if there is none.
    pub name: Box<str>,
    /// The package that it is about; none if that cannot be read, so that it could be any.
    pub package: Option<Box<str>>,
    /// The guardrails, or what cannot be read of the object.
    pub stated: Result<Guardrails, UnreadGuardrails>,
}

impl GuardrailsObject {
    /// The kind of these objects.
    pub const KIND: &'static str = "UpgradeGuardrails";

    /// Reads the whole object. It never fails: what cannot be read forbids every upgrade of the package.
    pub fn read(object: &Value) -> Self {
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        let (package, stated) = match spec(object) {
            Ok((package, spec)) => (Some(package.into()), read(spec).map_err(below_spec)),
            Err(unread) => (None, Err(unread)),
        };
        Self {
            name: name.unwrap_or_default().into(),
            package,
            stated,
        }
    }
}

fn spec(object: &Value) -> Result<(&str, &Value), UnreadGuardrails> {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    if !spec.is_object() {
        let expected = "an object";
        let found = JsonType::of(spec);
        return Err(unread("spec", Problem::Type { expected, found }));
    }
    let expected = "the name of a package";
    match spec.get("package") {
        None => Err(unread(PACKAGE, Problem::Missing { expected })),
        Some(Value::String(package)) if package.is_empty() => {
            Err(unread(PACKAGE, Problem::Empty { expected }))
        }
        Some(Value::String(package)) => Ok((package, spec)),
        Some(other) => {
            let (expected, found) = ("a string", JsonType::of(other));
            Err(unread(PACKAGE, Problem::Type { expected, found }))
        }
    }
}

fn below_spec(unread: UnreadGuardrails) -> UnreadGuardrails {
    let path = match unread.path.as_str() {
        "" => "spec".to_owned(),
        path => format!("spec.{path}"),
    };
    UnreadGuardrails { path, ..unread }
}

fn unread(path: &str, problem: Problem) -> UnreadGuardrails {
    let path = path.to_owned();
    UnreadGuardrails { path, problem }
}

const PACKAGE: &str = "spec.package";

/// Where guardrails cannot be read, and why.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{problem}", place(.path))]
pub struct UnreadGuardrails {
    /// The field, such as `rules[2].via`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a field of guardrails, or with all of them.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is of another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What it has to be.
        expected: &'static str,
        /// What it is.
        found: JsonType,
    },
    /// It must be there.
    #[error("missing: expected {expected}")]
    Missing {
        /// What it has to be.
        expected: &'static str,
    },
    /// It is empty.
    #[error("empty: expected {expected}")]
    Empty {
        /// What it has to be.
        expected: &'static str,
    },
    /// It means nothing there.
    #[error("unknown key: expected one of {}", .known.join(", "))]
    UnknownKey {
        /// What means something there.
        known: &'static [&'static str],
    },
    /// It is a word of which nothing is known.
    #[error("unknown value {}: expected one of {}", quote(found), .known.join(", "))]
    UnknownWord {
        /// What it is.
        found: String,
        /// What is known.
        known: &'static [&'static str],
    },
    /// It is no range.
    #[error("not a valid skipRange: {0}")]
    Range(Box<SkipRangeError>),
    /// OLM would crash on it.
    #[error("the range has an empty OR group: expected versions on both sides of ||")]
    EmptyGroup,
    /// It is too long a range.
    #[error("the range is too long: expected at most {most} bytes")]
    RangeTooLong {
        /// How long it may be.
        most: usize,
    },
    /// It is too long a text.
    #[error("too long: expected at most {most} bytes")]
    TooLong {
        /// How long it may be.
        most: usize,
    },
    /// There are too many.
    #[error("too many: expected at most {most} rules, each waypoint counted")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// Another rule has it.
    #[error("two rules have the id {}: expected a unique id for each rule", quote(.0))]
    SameId(String),
    /// What holds them cannot be read, for this reason.
    #[error("{0}")]
    Text(String),
    /// There is more than one blob, or more than one property.
    #[error("the package has two of them: expected one")]
    Twice,
    /// The blob and the property do not say the same.
    #[error(
        "the blob and the property of the olm.package differ: expected only one of them, or the \
         same content in both"
    )]
    Differ,
}

impl From<SkipRangeError> for Problem {
    fn from(error: SkipRangeError) -> Self {
        Self::Range(Box::new(error))
    }
}

impl Problem {
    /// A word of which nothing is known.
    pub fn unknown_word(found: &str, known: &'static [&'static str]) -> Self {
        let found = beginning(found);
        Self::UnknownWord { found, known }
    }
}

impl UnreadGuardrails {
    /// The whole of it.
    pub fn whole(problem: Problem) -> Self {
        let path = String::new();
        Self { path, problem }
    }
}

impl Heap for UnreadGuardrails {
    /// About that of its texts.
    fn heap_bytes(&self) -> usize {
        allocated(self.path.capacity()) + allocated(self.problem.to_string().len())
    }
}

/// As much of a text as is told of it: a key or word may be as long as a blob.
pub(super) fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(MOST_TOLD);
    match text.get(..end) {
        Some(beginning) if end < text.len() => format!("{beginning}..."),
        _ => text.to_owned(),
    }
}

fn place(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("{path}: "),
    }
}

/// How many bytes of a key or word that is not known are told.
const MOST_TOLD: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn says(spec: &Value, package: Option<&str>, fault: Option<&str>) {
        let object = json!({"metadata": {"name": "lantern"}, "spec": spec});
        let read = GuardrailsObject::read(&object);
        assert_eq!(&*read.name, "lantern");
        assert_eq!(read.package.as_deref(), package, "{spec}");
        let found = read.stated.err().map(|unread| unread.to_string());
        assert_eq!(found.as_deref(), fault, "{spec}");
    }

    #[test]
    fn the_spec_is_a_document() {
        let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1}]);
        says(
            &json!({"package": "p", "graph": "Semver", "rules": rules}),
            Some("p"),
            None,
        );
        says(&json!({"package": "p"}), Some("p"), None);
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_field() {
        let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 0}]);
        says(
            &json!({"package": "p", "rules": rules}),
            Some("p"),
            Some("spec.rules[0].step: expected a whole number from 1, found integer"),
        );
        says(
            &json!({"package": "p", "grph": 1}),
            Some("p"),
            Some("spec.grph: unknown key: expected one of schema, package, name, graph, rules"),
        );
    }

    #[test]
    fn without_a_package_it_is_about_any() {
        for (spec, fault) in [
            (json!(null), "spec: expected an object, found null"),
            (
                json!({}),
                "spec.package: missing: expected the name of a package",
            ),
            (
                json!({"package": ""}),
                "spec.package: empty: expected the name of a package",
            ),
            (
                json!({"package": 7}),
                "spec.package: expected a string, found integer",
            ),
        ] {
            says(&spec, None, Some(fault));
        }
    }
}
