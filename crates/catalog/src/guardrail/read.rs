//! Reads rules from JSON. Reading is strict: an unknown key or word could change the meaning of the
//! others, so nothing is ignored.

use std::num::NonZeroU32;

use serde_json::Value;

use crate::guardrail::{
    Action, BaseGraph, Guardrails, MOST_BYTES, Passage, Range, Rule, RuleKind, SCHEMA,
};
use crate::members::{
    ECHOED_BYTES, FieldFaults, FieldProblem, Members, TextRule, WordRule, beginning, text,
};
use crate::memory::{Heap, allocated};
use crate::version::SkipRangeError;
use crate::version::go::quote;

/// Reads the JSON that a blob or property was re-encoded to. A text that is not JSON counts as
/// null.
///
/// # Errors
/// The errors of [`read`].
pub fn read_text(text: &str) -> Result<Guardrails, UnreadGuardrails> {
    let value = serde_json::from_str(text).unwrap_or_default();
    read(&value)
}

/// Memory that [`read_text`] uses per byte of its text: `{"":0},` is an object of one member, whose
/// map has room for eleven.
pub(crate) const VALUE_PER_BYTE: usize = 128;

/// Reads the value of a blob, a property, or a document of a file.
///
/// `schema`, `package` and `name` belong to the caller, and are not checked here.
///
/// # Errors
/// The first fault, in the order of the rules.
pub fn read(value: &Value) -> Result<Guardrails, UnreadGuardrails> {
    let mut faults = FirstFault::default();
    let guardrails = whole(value, &mut faults);
    let unread = || FieldProblem::other_type("guardrails", value).into();
    match faults.0 {
        Some(unread) => Err(unread),
        // Invalid guardrails always have a fault. If there were none, they would still be invalid,
        // not absent.
        None => guardrails.ok_or_else(|| UnreadGuardrails::whole(unread())),
    }
}

/// Keeps the first fault, which makes all of the guardrails invalid.
#[derive(Debug, Default)]
struct FirstFault(Option<UnreadGuardrails>);

impl FirstFault {
    fn report(&mut self, path: String, problem: GuardrailProblem) {
        self.0.get_or_insert(UnreadGuardrails { path, problem });
    }
}

impl FieldFaults for FirstFault {
    const OBJECT: &'static str = "an object";
    const LIST_ENTRIES: usize = usize::MAX;
    const UNKNOWN_KEYS: usize = 1;

    fn report_field(&mut self, path: String, problem: FieldProblem) {
        self.report(path, problem.into());
    }
}

fn whole(value: &Value, faults: &mut FirstFault) -> Option<Guardrails> {
    let members = Members::of(value, "", WHOLE, faults)?;
    let graph = members.word("graph", &GRAPHS, faults).unwrap_or_default();
    let mut rules = Vec::new();
    let mut weight = 0;
    for (path, item) in members.items("rules", "a list", faults).unwrap_or_default() {
        let rule = rule(item, &path, faults)?;
        weight += rule.kind.passages().len().max(1);
        if weight > MOST_RULES {
            faults.report("rules".to_owned(), GuardrailProblem::TooMany);
            return None;
        }
        rules.push(rule);
    }
    rules.sort_by(|a: &Rule, b| a.id.cmp(&b.id));
    if let Some([same, _]) = rules.array_windows().find(|[a, b]| a.id == b.id) {
        let same = beginning(&same.id, ECHOED_BYTES);
        faults.report("rules".to_owned(), GuardrailProblem::SameId(same));
    }
    let rules = rules.into();
    Some(Guardrails { graph, rules })
}

fn rule(value: &Value, path: &str, faults: &mut FirstFault) -> Option<Rule> {
    let any = Members::of(value, path, EVERY_KEY, faults)?;
    filled(&any, "kind", "the kind of a rule", faults)?;
    let keys = any.word("kind", &KINDS, faults)?;
    let members = Members::of(value, path, keys, faults)?;
    Some(Rule {
        id: filled(&members, "id", "a name for the rule", faults)?.into(),
        reason: members
            .text("reason", TEXT, faults)
            .unwrap_or_default()
            .into(),
        bypassable: boolean(&members, "bypassable", faults),
        kind: kind(&members, faults)?,
    })
}

fn kind(members: &Members<'_>, faults: &mut FirstFault) -> Option<RuleKind> {
    Some(match members.text("kind", TEXT, faults)? {
        "PassThrough" => {
            members.needed("via", A_RANGE, faults)?;
            RuleKind::PassThrough(Box::new(Passage {
                via: range(members, "via", faults)?,
                from: range(members, "from", faults),
                to: range(members, "to", faults),
            }))
        }
        "Waypoints" => RuleKind::Waypoints(waypoints(members, faults)?),
        "LatestPatchFirst" => RuleKind::LatestPatchFirst {
            from: range(members, "from", faults),
        },
        "MaxMinorStep" => RuleKind::MaxMinorStep(step(members, faults)?),
        _ => {
            members.needed("action", "Deny or Allow", faults)?;
            RuleKind::Prerelease(members.word("action", &ACTIONS, faults)?)
        }
    })
}

/// Returns a text that is required and must not be empty.
fn filled<'v>(
    members: &Members<'v>,
    key: &str,
    expected: &'static str,
    faults: &mut FirstFault,
) -> Option<&'v str> {
    members.needed(key, expected, faults)?;
    let text = members.text(key, TEXT, faults)?;
    if text.is_empty() {
        faults.report_field(members.path_of(key), FieldProblem::Empty { expected });
        return None;
    }
    Some(text)
}

fn range(members: &Members<'_>, key: &str, faults: &mut FirstFault) -> Option<Range> {
    let text = members.text(key, TEXT, faults)?;
    parsed(text, members.path_of(key), faults)
}

fn parsed(text: &str, path: String, faults: &mut FirstFault) -> Option<Range> {
    let range = Range::parse(text);
    range.map_err(|problem| faults.report(path, problem)).ok()
}

fn waypoints(members: &Members<'_>, faults: &mut FirstFault) -> Option<Box<[Passage]>> {
    let items = members.items("versions", "a list", faults);
    let items = items.unwrap_or_default();
    if items.is_empty() {
        let expected = "a list of versions or ranges";
        faults.report_field(
            members.path_of("versions"),
            FieldProblem::Missing { expected },
        );
    }
    let passages = items.into_iter().map(|(path, item)| {
        let found = text(item, path.clone(), ANY_TEXT, faults)?;
        Some(Passage {
            via: parsed(found, path, faults)?,
            from: None,
            to: None,
        })
    });
    passages.collect()
}

/// Reads a whole number from 1. Numbers are Go's, so `1.0` is one.
fn step(members: &Members<'_>, faults: &mut FirstFault) -> Option<NonZeroU32> {
    let value = members.needed("step", A_STEP, faults)?;
    let whole = value.as_f64().filter(|number| number.fract() == 0.0);
    let number = whole.and_then(|number| format!("{number:.0}").parse().ok());
    if number.is_none() {
        let problem = match value {
            Value::Number(found) => FieldProblem::Number {
                expected: A_STEP,
                found: found.clone(),
            },
            _ => FieldProblem::other_type(A_STEP, value),
        };
        faults.report_field(members.path_of("step"), problem);
    }
    number
}

fn boolean(members: &Members<'_>, key: &str, faults: &mut FirstFault) -> bool {
    let Some(value) = members.get(key) else {
        return false;
    };
    let is = value.as_bool();
    if is.is_none() {
        let problem = FieldProblem::other_type("true or false", value);
        faults.report_field(members.path_of(key), problem);
    }
    is.unwrap_or_default()
}

const WHOLE: &[&str] = &["schema", "package", "name", "graph", "rules"];

const GRAPHS: WordRule<BaseGraph> = WordRule {
    rule: TEXT,
    known: &["Catalog", "Semver", "CatalogOrSemver"],
    meant: &[
        BaseGraph::Catalog,
        BaseGraph::Semver,
        BaseGraph::CatalogOrSemver,
    ],
};

const ACTIONS: WordRule<Action> = WordRule {
    rule: TEXT,
    known: &["Deny", "Allow"],
    meant: &[Action::Deny, Action::Allow],
};

/// The kinds of rules, and the keys of each.
const KINDS: WordRule<&[&str]> = WordRule {
    rule: TEXT,
    known: &[
        "PassThrough",
        "Waypoints",
        "LatestPatchFirst",
        "MaxMinorStep",
        "Prerelease",
    ],
    meant: &[
        &["id", "kind", "reason", "bypassable", "via", "from", "to"],
        &["id", "kind", "reason", "bypassable", "versions"],
        &["id", "kind", "reason", "bypassable", "from"],
        &["id", "kind", "reason", "bypassable", "step"],
        &["id", "kind", "reason", "bypassable", "action"],
    ],
};

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

/// Any text of a rule. It is shown to users in a message of a kilobyte.
const TEXT: TextRule = TextRule::any("a string", 1 << 10);

/// A waypoint. [`Range::parse`] has its own limit.
const ANY_TEXT: TextRule = TextRule::any("a string", usize::MAX);

/// Maximum number of rules, with each waypoint counted as one. Every step of a search is compared
/// with all of them.
const MOST_RULES: usize = 256;

// `UpgradeGuardrails`: guardrails of an administrator as an object of a cluster. Its `spec` has the
// content of a document in a file.

/// The content of an object.
#[derive(Clone, Debug)]
pub struct GuardrailsObject {
    /// `metadata.name`; empty if there is none.
    pub name: Box<str>,
    /// The package of the guardrails; `None` if it cannot be read, so that they apply to every
    /// package.
    pub package: Option<Box<str>>,
    /// The guardrails, or the fault of the object.
    pub stated: Result<Guardrails, UnreadGuardrails>,
}

impl GuardrailsObject {
    /// The kind of these objects.
    pub const KIND: &'static str = "UpgradeGuardrails";

    /// Reads the whole object. This never fails, because an invalid object forbids every upgrade of
    /// the package.
    pub fn read(object: &Value) -> Self {
        let mut faults = FirstFault::default();
        let members = Members::of(object, "", OBJECT, &mut faults);
        let name = members.and_then(|members| head(&members, &mut faults));
        let (package, stated) = match spec(object) {
            Ok((package, spec)) => (Some(package.into()), read(spec).map_err(below_spec)),
            Err(unread) => (None, Err(unread)),
        };
        Self {
            name: name.unwrap_or_default().into(),
            package,
            stated: faults.0.map_or(stated, Err),
        }
    }
}

/// Reports an object of another version or schema, which could mean other rules. Returns the name
/// of the object.
fn head<'v>(members: &Members<'v>, faults: &mut FirstFault) -> Option<&'v str> {
    members.needed("apiVersion", API_VERSION, faults);
    members.word("apiVersion", &API_VERSIONS, faults);
    let spec = members.get("spec");
    let spec = spec.and_then(|spec| Members::any(spec, "spec", faults));
    spec.and_then(|spec| spec.word("schema", &SCHEMAS, faults));
    let metadata = members.needed("metadata", "an object with a name", faults)?;
    let metadata = Members::any(metadata, "metadata", faults)?;
    filled(&metadata, "name", "a name", faults)
}

/// The API version of the objects by which administrators restrict upgrades.
pub const API_VERSION: &str = "olmguard.dev/v1alpha1";

const OBJECT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];

const API_VERSIONS: WordRule<()> = only(&[API_VERSION]);

const SCHEMAS: WordRule<()> = only(&[SCHEMA]);

const fn only(known: &'static [&'static str]) -> WordRule<()> {
    WordRule {
        rule: TEXT,
        known,
        meant: &[()],
    }
}

fn spec(object: &Value) -> Result<(&str, &Value), UnreadGuardrails> {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    if !spec.is_object() {
        return Err(UnreadGuardrails::of_field(
            "spec",
            FieldProblem::other_type("an object", spec),
        ));
    }
    let expected = "the name of a package";
    let problem = match spec.get("package") {
        None => FieldProblem::Missing { expected },
        Some(Value::String(package)) if package.is_empty() => FieldProblem::Empty { expected },
        Some(Value::String(package)) => return Ok((package, spec)),
        Some(other) => FieldProblem::other_type("a string", other),
    };
    Err(UnreadGuardrails::of_field("spec.package", problem))
}

fn below_spec(unread: UnreadGuardrails) -> UnreadGuardrails {
    let path = match unread.path.as_str() {
        "" => "spec".to_owned(),
        path => format!("spec.{path}"),
    };
    UnreadGuardrails { path, ..unread }
}

/// The reason why guardrails are invalid, and the field.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{problem}", place(.path))]
pub struct UnreadGuardrails {
    /// The field, such as `rules[2].via`; empty for the whole guardrails.
    pub path: String,
    /// The fault of the field.
    pub problem: GuardrailProblem,
}

/// The fault of a field of guardrails, or of the whole guardrails.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GuardrailProblem {
    /// A field is invalid.
    #[error(transparent)]
    Field(Box<FieldProblem>),
    /// A text is not a range.
    #[error("not a valid skipRange: {0}")]
    Range(Box<SkipRangeError>),
    /// OLM would crash on the range.
    #[error("the range has an empty OR group: expected versions on both sides of ||")]
    EmptyGroup,
    /// A range is too long.
    #[error("the range is too long: expected at most {MOST_BYTES} bytes")]
    RangeTooLong,
    /// A text is too long.
    #[error("too long: expected at most {most} bytes")]
    TooLong {
        /// Maximum length of a text, in bytes.
        most: usize,
    },
    /// There are too many rules.
    #[error("too many: expected at most {MOST_RULES} rules, each waypoint counted")]
    TooMany,
    /// Two rules have the same id.
    #[error("two rules have the id {}: expected a unique id for each rule", quote(.0))]
    SameId(String),
    /// The text with the guardrails cannot be read, for this reason.
    #[error("{0}")]
    Text(String),
    /// The package has more than one blob, or more than one property, with guardrails.
    #[error("the package has two of them: expected one")]
    Twice,
    /// The blob and the property have different guardrails.
    #[error(
        "the blob and the property of the olm.package differ: expected only one of them, or the \
         same content in both"
    )]
    Differ,
}

impl From<SkipRangeError> for GuardrailProblem {
    fn from(error: SkipRangeError) -> Self {
        Self::Range(Box::new(error))
    }
}

impl From<FieldProblem> for GuardrailProblem {
    fn from(problem: FieldProblem) -> Self {
        match problem {
            FieldProblem::TooLong { most, .. } => Self::TooLong { most },
            other => Self::Field(other.into()),
        }
    }
}

impl UnreadGuardrails {
    /// Creates a fault of a field.
    pub fn of_field(path: &str, problem: FieldProblem) -> Self {
        let path = path.to_owned();
        let problem = problem.into();
        Self { path, problem }
    }

    /// Creates a fault of the whole guardrails.
    pub fn whole(problem: GuardrailProblem) -> Self {
        let path = String::new();
        Self { path, problem }
    }
}

impl Heap for UnreadGuardrails {
    /// Estimates the heap memory from the lengths of the texts.
    fn heap_bytes(&self) -> usize {
        allocated(self.path.capacity()) + allocated(self.problem.to_string().len())
    }
}

fn place(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("{path}: "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn says(spec: &Value, package: Option<&str>, fault: Option<&str>) {
        let object =
            json!({"apiVersion": API_VERSION, "metadata": {"name": "lantern"}, "spec": spec});
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
            Some("spec.rules[0].step: expected a whole number from 1, found 0"),
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

    #[test]
    fn an_object_says_which_it_is_and_nothing_beside_its_spec() {
        let changed = |change: fn(&mut Value)| {
            let mut object = json!({"apiVersion": API_VERSION, "kind": "UpgradeGuardrails", "metadata": {"name": "a"},
                "spec": {"package": "p", "schema": SCHEMA}, "status": {}});
            change(&mut object);
            let read = GuardrailsObject::read(&object);
            assert_eq!(read.package.as_deref(), Some("p"), "it binds one package");
            read.stated.err().map(|unread| unread.to_string())
        };
        assert_eq!(changed(|_| ()), None);
        for (change, expected) in [
            (
                (|object| object["rules"] = json!([])) as fn(&mut Value),
                "rules: unknown key: expected one of apiVersion, kind, metadata, spec, status",
            ),
            (
                |object| object["apiVersion"] = json!("a/v2"),
                "apiVersion: unknown value \"a/v2\": expected one of olmguard.dev/v1alpha1",
            ),
            (
                |object| object["spec"]["schema"] = json!("v9"),
                "spec.schema: unknown value \"v9\": expected one of olmguard.guardrails.v1alpha1",
            ),
            (
                |object| object["metadata"] = json!({"generateName": "a"}),
                "metadata.name: missing: expected a name",
            ),
        ] {
            assert_eq!(changed(change).as_deref(), Some(expected));
        }
    }
}
