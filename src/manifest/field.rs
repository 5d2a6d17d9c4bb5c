//! Strict access to the values of olmguard's own files, with their places.

use serde_json::Value;

use crate::manifest::{Document, Position, Positions, ValueStep};
use olmguard_catalog::json::JsonType;
use olmguard_engine::explain::in_quotes;
use olmguard_engine::nearest::nearest;

/// A value, and its path from the root of its document.
#[derive(Clone, Debug)]
pub(crate) struct DocumentField<'d> {
    value: &'d Value,
    positions: &'d Positions,
    path: Vec<ValueStep<'d>>,
    /// The name of the whole document in messages.
    whole: &'static str,
}

/// A fault of a value, with its place.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {why}")]
pub(crate) struct FieldError {
    at: Position,
    why: String,
}

impl<'d> DocumentField<'d> {
    /// Returns the field of a whole document, with its name for messages.
    pub(crate) fn root(document: &'d Document, whole: &'static str) -> Self {
        Self {
            value: &document.value,
            positions: &document.positions,
            path: Vec::new(),
            whole,
        }
    }

    pub(crate) fn value(&self) -> &'d Value {
        self.value
    }

    pub(crate) fn at(&self) -> Position {
        self.positions.nearest(&self.path)
    }

    pub(crate) fn error(&self, why: impl Into<String>) -> FieldError {
        FieldError {
            at: self.at(),
            why: why.into(),
        }
    }

    /// Returns the name of the field: `cases[0].expect`.
    pub(crate) fn name(&self) -> String {
        let name = super::placeholder::name(&self.path);
        if name.is_empty() {
            self.whole.to_owned()
        } else {
            name
        }
    }

    /// Checks that the value is a mapping without unknown keys.
    pub(crate) fn mapping(&self, known: &[&'static str]) -> Result<(), FieldError> {
        let Some(members) = self.value.as_object() else {
            return Err(self.wrong("a mapping"));
        };
        match members.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let field = self.below(ValueStep::Key(key), &Value::Null);
                let near = nearest(key, known.iter().copied(), 1);
                let expected = match near.as_slice() {
                    [near] => format!("did you mean {near}?"),
                    _ => format!("expected one of {}", known.join(", ")),
                };
                Err(field.error(format!("{} is not known: {expected}", field.name())))
            }
        }
    }

    /// Returns a member; `None` if it is absent or null.
    pub(crate) fn get(&self, key: &'d str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.below(ValueStep::Key(key), value))
    }

    /// Reads a member; `None` if it is absent or null.
    pub(crate) fn optional<T>(
        &self,
        key: &'d str,
        read: impl FnOnce(Self) -> Result<T, FieldError>,
    ) -> Result<Option<T>, FieldError> {
        self.get(key).map(read).transpose()
    }

    /// Returns a required member.
    pub(crate) fn need(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Self, FieldError> {
        self.get(key).ok_or_else(|| {
            let field = self.below(ValueStep::Key(key), &Value::Null).name();
            self.error(format!("{field} is missing: expected {expected}"))
        })
    }

    /// Returns the members of a mapping with arbitrary keys.
    pub(crate) fn members(&self) -> Result<Vec<(&'d str, Self)>, FieldError> {
        let members = self
            .value
            .as_object()
            .ok_or_else(|| self.wrong("a mapping"))?;
        let field = |(key, value): (&'d String, &'d Value)| {
            (key.as_str(), self.below(ValueStep::Key(key), value))
        };
        Ok(members.iter().map(field).collect())
    }

    pub(crate) fn items(&self) -> Result<Vec<Self>, FieldError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        let items = items.iter().enumerate();
        Ok(items
            .map(|(index, item)| self.below(ValueStep::Index(index), item))
            .collect())
    }

    pub(crate) fn text(&self) -> Result<&'d str, FieldError> {
        match self.value.as_str() {
            None => Err(self.wrong("a string")),
            Some("") => Err(self.error(format!("{} is empty: expected a string", self.name()))),
            Some(text) => Ok(text),
        }
    }

    /// Returns one text, or a list of texts.
    pub(crate) fn texts(&self) -> Result<Vec<String>, FieldError> {
        if self.value.is_array() {
            let items = self.items()?.into_iter();
            return items.map(|item| item.text().map(str::to_owned)).collect();
        }
        match self.value {
            Value::String(_) => Ok(vec![self.text()?.to_owned()]),
            _ => Err(self.wrong("a string, or a list of strings")),
        }
    }

    /// Parses a text with the given function.
    pub(crate) fn parsed<T>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, FieldError> {
        let text = self.text()?;
        parse(text).map_err(|why| self.error(format!("{}: {why}", self.name())))
    }

    /// Returns the value of one of several words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, FieldError> {
        let found = self.text()?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == found) {
            return Ok(*value);
        }
        let near = nearest(found, words.iter().map(|(word, _)| *word), 1);
        let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let expected = match near.as_slice() {
            [near] if all.len() == 1 => (*near).to_owned(),
            [near] => format!("one of a list that has {near}"),
            _ => format!("one of {}", all.join(", ")),
        };
        let field = self.name();
        Err(self.error(format!("{field} is {found:?}: expected {expected}")))
    }

    fn wrong(&self, expected: &'static str) -> FieldError {
        let found = match JsonType::of(self.value) {
            JsonType::Array => "a list",
            JsonType::Boolean => "a boolean",
            JsonType::Integer | JsonType::Number => "a number",
            JsonType::Null => "null",
            JsonType::Object => "a mapping",
            JsonType::String => "a string",
        };
        let field = self.name();
        let written = self.positions.source_text(&self.path);
        // Advice about quotes, if YAML does not read the value as a text.
        let quotes = if self.value.is_number() || self.value.is_boolean() {
            in_quotes(written)
        } else {
            String::new()
        };
        self.error(format!("{field} is {found}: expected {expected}{quotes}"))
    }

    fn below(&self, step: ValueStep<'d>, value: &'d Value) -> Self {
        let path = self.path.iter().copied().chain([step]).collect();
        Self {
            value,
            positions: self.positions,
            path,
            whole: self.whole,
        }
    }
}
