//! Applies the table of a CRD to an object: the faults that it reports, and the fields that it does not have.
//!
//! A field that the table does not have, or not in the requested release, is pruned and is no finding. A `null` field
//! counts as absent, and a `null` item of a list has the wrong type. An API server does the same: it drops nulls of
//! fields that are not nullable before it validates.

use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use crate::extension::Json;
use crate::extension::schema::rule::{
    Crd, Field, FieldPath, Need, ObjectRules, Schema, Text, TextRule, has,
};
use crate::extension::schema::{Finding, SchemaRelease};
use olmguard_catalog::json::JsonType;

/// The findings of `schema` in `object`.
pub(super) fn walk(schema: &Schema, olm: SchemaRelease, object: &Value) -> Vec<Finding> {
    let mut walk = SchemaWalk {
        olm,
        findings: Vec::new(),
    };
    walk.value(&FieldPath::Root, object, schema);
    walk.findings
}

struct SchemaWalk {
    olm: SchemaRelease,
    /// Invariant: at most [`MOST_FINDINGS`].
    findings: Vec<Finding>,
}

impl SchemaWalk {
    fn value(&mut self, at: &FieldPath<'_>, value: &Value, schema: &Schema) {
        match (schema, value) {
            (Schema::Anything, _) | (Schema::Boolean, Value::Bool(_)) => {}
            (Schema::Integer { least, most }, Value::Number(number)) => {
                self.number(at, number, *least, *most);
            }
            (Schema::FreeObject { min_properties }, Value::Object(fields)) => {
                self.at_least(at, fields.len(), *min_properties);
            }
            (Schema::List { max_items, items }, Value::Array(values)) => {
                self.list(at, values, *max_items, items);
            }
            (Schema::Map(schema), Value::Object(values)) => self.map(at, values, schema),
            (Schema::Object(object), Value::Object(fields)) => self.object(at, fields, object),
            (Schema::Text(rules), Value::String(text)) => self.text(at, text, rules),
            _ => self.find(|| Finding::wrong_type(at, expected(schema), JsonType::of(value))),
        }
    }

    fn object(&mut self, at: &FieldPath<'_>, object: &Map<String, Value>, rules: &ObjectRules) {
        let olm = self.olm.minor;
        let known = || {
            rules
                .fields
                .iter()
                .filter(|field| field.is_in(Crd::Standard, olm))
        };
        let present = known().filter(|field| has(object, field.name)).count();
        self.at_least(at, present, rules.min_properties);
        for field in known() {
            self.field(at, object, field);
        }
        if let Some(rule) = rules.rule.as_ref().filter(|rule| !(rule.accepts)(object)) {
            self.find(|| Finding::new(at, rule.message));
        }
    }

    fn field(&mut self, at: &FieldPath<'_>, object: &Map<String, Value>, field: &Field) {
        let at = FieldPath::Field(at, field.name);
        match object.get(field.name).filter(|value| !value.is_null()) {
            Some(value) => self.value(&at, value, field.schema),
            None if field.need == Need::Required => self.find(|| Finding::required(&at)),
            None => {}
        }
    }

    fn map(&mut self, at: &FieldPath<'_>, values: &Map<String, Value>, schema: &Schema) {
        for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            self.value(&FieldPath::Field(at, name), value, schema);
        }
    }

    fn list(&mut self, at: &FieldPath<'_>, values: &[Value], max_items: usize, items: &Schema) {
        if values.len() > max_items {
            self.find(|| Finding::too_many(at, values.len(), max_items));
        }
        for (index, value) in values.iter().enumerate() {
            self.value(&FieldPath::Item(at, index), value, items);
        }
    }

    fn text(&mut self, at: &FieldPath<'_>, text: &str, rules: &Text) {
        match rules {
            Text::Enum { words, foreign } => self.word(at, text, words, foreign),
            Text::Form { characters, rules } => self.form(at, text, characters, rules),
        }
    }

    fn word(
        &mut self,
        at: &FieldPath<'_>,
        word: &str,
        words: &[&str],
        foreign: &[(&str, &'static str)],
    ) {
        if !words.contains(&word) {
            let instead = foreign.iter().find(|(theirs, _)| *theirs == word);
            let instead = instead.map(|(_, ours)| *ours);
            self.find(|| Finding::unsupported(at, word, words, instead));
        }
    }

    /// Checks a string. A string that is too long is not checked further, because the API server then evaluates no CEL
    /// rule.
    fn form(
        &mut self,
        at: &FieldPath<'_>,
        text: &str,
        characters: &RangeInclusive<usize>,
        rules: &[TextRule],
    ) {
        let length = text.chars().count();
        if length > *characters.end() {
            return self.find(|| Finding::too_long(at, *characters.end()));
        }
        if length < *characters.start() {
            self.find(|| Finding::too_short(at, text, *characters.start()));
        }
        for rule in rules.iter().filter(|rule| !(rule.accepts)(text)) {
            self.find(|| Finding::refused(at, text, rule.refusal));
        }
    }

    /// Checks a number. A number without a fraction is an integer, however it is written.
    fn number(&mut self, at: &FieldPath<'_>, number: &Number, least: i64, most: i64) {
        let float = number.as_f64().unwrap_or(f64::NAN);
        if float.fract() != 0.0 {
            self.find(|| Finding::wrong_type(at, JsonType::Integer, JsonType::Number));
        } else if number.as_i64().map_or(float < 0.0, |whole| whole < least) {
            self.find(|| Finding::too_small(at, number, least));
        } else if number.as_i64().is_none_or(|whole| whole > most) {
            self.find(|| Finding::too_large(at, number, most));
        }
    }

    fn at_least(&mut self, at: &FieldPath<'_>, found: usize, least: usize) {
        if found < least {
            self.find(|| Finding::too_few_properties(at, found, least));
        }
    }

    fn find(&mut self, finding: impl FnOnce() -> Finding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding());
        }
    }
}

fn expected(schema: &Schema) -> JsonType {
    match schema {
        Schema::Anything | Schema::Boolean => JsonType::Boolean,
        Schema::Integer { .. } => JsonType::Integer,
        Schema::FreeObject { .. } | Schema::Map(_) | Schema::Object(_) => JsonType::Object,
        Schema::List { .. } => JsonType::Array,
        Schema::Text(_) => JsonType::String,
    }
}

/// The most findings that are reported. A manifest of megabytes can be wrong in every item, and no one reads more.
pub(super) const MOST_FINDINGS: usize = 32;

// === The fields of an object that the table of its CRD does not have ===
//
// An API server drops or refuses them.
//
// `status` is omitted, because an API server drops it from a manifest anyway.

/// A field that a CRD does not have.
#[derive(Debug)]
pub(in crate::extension) struct UnknownField<'o> {
    /// The path from the root of the object.
    pub(in crate::extension) path: Vec<&'o str>,
    /// The fields that the parent object can have.
    pub(in crate::extension) siblings: Vec<&'static str>,
    /// Whether the experimental CRD of the release has the field.
    pub(in crate::extension) is_experimental: bool,
}

/// The unknown fields in the order of their names, up to a limit. Without a release, the fields of all releases and of
/// both CRDs count as known, and only the fields whose names a review keeps are found.
pub(super) fn unknown<'o>(
    schema: &Schema,
    olm: Option<SchemaRelease>,
    object: impl Json<'o>,
) -> Vec<UnknownField<'o>> {
    let mut search = UnknownSearch {
        olm,
        found: Vec::new(),
    };
    search.names(&[], object, ROOT);
    if let Some(metadata) = object.get("metadata") {
        search.names(&["metadata"], metadata, METADATA);
    }
    if let (Schema::Object(root), Some(spec)) = (schema, object.get("spec")) {
        let mut fields = root.fields.iter();
        if let Some(field) = fields.find(|field| field.name == "spec") {
            search.value(&["spec"], spec, field.schema);
        }
    }
    search.found
}

/// The paths of all fields of a table, except those in lists.
pub(super) fn paths(schema: &Schema, olm: Option<SchemaRelease>) -> Vec<String> {
    let Schema::Object(rules) = schema else {
        return Vec::new();
    };
    let below = rules.fields.iter().filter(|field| is_known(field, olm));
    let below = below.flat_map(|field| {
        let deeper = paths(field.schema, olm).into_iter();
        let deeper = deeper.map(|path| format!("{}.{path}", field.name));
        [field.name.to_owned()].into_iter().chain(deeper)
    });
    below.collect()
}

fn is_known(field: &Field, olm: Option<SchemaRelease>) -> bool {
    olm.is_none_or(|olm| field.is_in(Crd::Standard, olm.minor))
}

struct UnknownSearch<'o> {
    olm: Option<SchemaRelease>,
    /// Invariant: at most [`MOST`].
    found: Vec<UnknownField<'o>>,
}

impl<'o> UnknownSearch<'o> {
    fn value(&mut self, at: &[&'o str], value: impl Json<'o>, schema: &Schema) {
        match schema {
            Schema::Object(rules) => self.object(at, value, rules),
            Schema::List { items, .. } => {
                let values = value.items().into_iter().flatten();
                for (index, value) in INDEXES.iter().zip(values) {
                    self.value(&[at, &[*index]].concat(), value, items);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, at: &[&'o str], object: impl Json<'o>, rules: &ObjectRules) {
        let olm = self.olm;
        let siblings = rules.fields.iter().filter(|field| is_known(field, olm));
        let siblings: Vec<_> = siblings.map(|field| field.name).collect();
        let is_experimental =
            |field: &&Field| olm.is_some_and(|olm| field.is_in(Crd::Experimental, olm.minor));
        for (name, value) in members(object) {
            let path = [at, &[name]].concat();
            let mut named = rules.fields.iter().filter(|field| field.name == name);
            let known = named.clone().find(|field| is_known(field, olm));
            let experimental = named.find(is_experimental);
            if known.is_none() {
                self.find(path.clone(), &siblings, experimental.is_some());
            }
            if let Some(field) = known.or(experimental) {
                self.value(&path, value, field.schema);
            }
        }
    }

    fn names(&mut self, at: &[&'o str], object: impl Json<'o>, known: &[&'static str]) {
        let unknown = members(object).into_iter().map(|(name, _)| name);
        let unknown = unknown.filter(|name| !known.contains(name));
        unknown.for_each(|name| self.find([at, &[name]].concat(), known, false));
    }

    fn find(&mut self, path: Vec<&'o str>, siblings: &[&'static str], is_experimental: bool) {
        let above = path.split_last().map(|(_, above)| above);
        let is_kept = self.olm.is_some() || above.is_some_and(|above| REVIEWED.contains(&above));
        if is_kept && self.found.len() < MOST {
            self.found.push(UnknownField {
                path,
                siblings: siblings.to_vec(),
                is_experimental,
            });
        }
    }
}

/// The members of an object in byte order of their names; empty if the value is not an object.
fn members<'o, J: Json<'o>>(object: J) -> Vec<(&'o str, J)> {
    let mut members: Vec<_> = object.entries().into_iter().flatten().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

/// The objects in which a review keeps the names of unknown fields.
const REVIEWED: [&[&str]; 3] = [
    &["spec"],
    &["spec", "source", "catalog"],
    &["spec", "install"],
];

/// The most unknown fields, because an admission response has no room for more.
const MOST: usize = 5;

/// The first items of a list, as parts of a path.
const INDEXES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

const ROOT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];

/// The fields of `ObjectMeta` in apimachinery, of current and older releases.
const METADATA: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
    "clusterName",
];
