//! Applies the table of a CRD to an object.
//!
//! A field that the table does not have, or not in the release asked for, is pruned: no finding.
//! A `null` field counts as absent, a `null` item of a list is of the wrong type, as in an API
//! server (it drops nulls of fields that are not nullable before it validates).

use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use crate::extension::schema::finding::FieldPath;
use crate::extension::schema::rule::{Crd, Field, Need, ObjectRules, Schema, Text, TextRule, has};
use crate::extension::schema::{Finding, SchemaRelease};
use olmguard_catalog::json::JsonType;

/// What `schema` refuses of `object`.
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
            self.find(|| Finding::rule(at, rule.message));
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
            Text::Form { characters, rule } => self.form(at, text, characters, rule.as_slice()),
            Text::Forms {
                most_characters,
                rules,
            } => self.form(at, text, &(0..=*most_characters), rules),
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

    /// A text that is too long is not tried further: the API server then evaluates no CEL rule.
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

    /// A number without a fraction is a whole one, however it is written.
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

/// A manifest of megabytes can be wrong in every item; more than this no one reads.
pub(super) const MOST_FINDINGS: usize = 32;
