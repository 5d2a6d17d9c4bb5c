//! A value of a suite with its place, read strictly.

use serde_json::Value;

use crate::manifest::{Position, Positions, ValueStep};
use olmguard_catalog::json_type::JsonType;
use olmguard_engine::nearest::nearest;

/// A value, and the way to it from the root of its document.
#[derive(Clone, Debug)]
pub(super) struct Field<'d> {
    value: &'d Value,
    positions: &'d Positions,
    path: Vec<ValueStep<'d>>,
}

/// What is wrong with a suite, and where.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {why}")]
pub(super) struct SuiteError {
    at: Position,
    why: Why,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Why {
    #[error("{field} is {found}: expected {expected}{}", quotes(found))]
    Type {
        field: String,
        found: &'static str,
        expected: &'static str,
    },
    #[error("{field} is not known: {expected}")]
    Unknown { field: String, expected: String },
    #[error("{field} is missing: expected {expected}")]
    Missing {
        field: String,
        expected: &'static str,
    },
    #[error("{field} is empty: expected {expected}")]
    Empty {
        field: String,
        expected: &'static str,
    },
    #[error("{field} is {found:?}: expected {expected}")]
    Value {
        field: String,
        found: String,
        expected: String,
    },
    #[error("{text}")]
    Other { text: String },
}

impl<'d> Field<'d> {
    pub(super) fn root(value: &'d Value, positions: &'d Positions) -> Self {
        Self {
            value,
            positions,
            path: Vec::new(),
        }
    }

    pub(super) fn value(&self) -> &'d Value {
        self.value
    }

    pub(super) fn at(&self) -> Position {
        self.positions.nearest(&self.path)
    }

    pub(super) fn error(&self, why: Why) -> SuiteError {
        SuiteError { at: self.at(), why }
    }

    /// What it is called: `cases[0].expect`.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                ValueStep::Key(key) if name.is_empty() => name.push_str(key),
                ValueStep::Key(key) => name.extend([".", key]),
                ValueStep::Index(index) => name.extend(["[", &index.to_string(), "]"]),
            }
        }
        if name.is_empty() {
            "the suite".to_owned()
        } else {
            name
        }
    }

    /// A mapping with no other keys than these.
    pub(super) fn mapping(&self, known: &[&'static str]) -> Result<(), SuiteError> {
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
                let name = field.name();
                Err(field.error(Why::Unknown {
                    field: name,
                    expected,
                }))
            }
        }
    }

    /// A member; nothing where it is absent or null.
    pub(super) fn get(&self, key: &'d str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.below(ValueStep::Key(key), value))
    }

    /// A member that must be there.
    pub(super) fn need(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Self, SuiteError> {
        self.get(key).ok_or_else(|| {
            let field = self.below(ValueStep::Key(key), &Value::Null).name();
            self.error(Why::Missing { field, expected })
        })
    }

    /// The members of a mapping with any keys.
    pub(super) fn members(&self) -> Result<Vec<(&'d str, Self)>, SuiteError> {
        let members = self
            .value
            .as_object()
            .ok_or_else(|| self.wrong("a mapping"))?;
        let field = |(key, value): (&'d String, &'d Value)| {
            (key.as_str(), self.below(ValueStep::Key(key), value))
        };
        Ok(members.iter().map(field).collect())
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, SuiteError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        let items = items.iter().enumerate();
        Ok(items
            .map(|(index, item)| self.below(ValueStep::Index(index), item))
            .collect())
    }

    pub(super) fn text(&self) -> Result<&'d str, SuiteError> {
        match self.value.as_str() {
            None => Err(self.wrong("a string")),
            Some("") => Err(self.error(Why::Empty {
                field: self.name(),
                expected: "a string",
            })),
            Some(text) => Ok(text),
        }
    }

    /// One text, or a list of some.
    pub(super) fn texts(&self) -> Result<Vec<String>, SuiteError> {
        if self.value.is_array() {
            let items = self.items()?.into_iter();
            return items.map(|item| item.text().map(str::to_owned)).collect();
        }
        match self.value {
            Value::String(_) => Ok(vec![self.text()?.to_owned()]),
            _ => Err(self.wrong("a string, or a list of strings")),
        }
    }

    /// A text that something else can read.
    pub(super) fn parsed<T>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, SuiteError> {
        let text = self.text()?;
        parse(text).map_err(|why| {
            let text = format!("{}: {why}", self.name());
            self.error(Why::Other { text })
        })
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, SuiteError> {
        let found = self.text()?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == found) {
            return Ok(*value);
        }
        let near = nearest(found, words.iter().map(|(word, _)| *word), 1);
        let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let expected = match near.as_slice() {
            [near] => format!("one of a list that has {near}"),
            _ => format!("one of {}", all.join(", ")),
        };
        let (field, found) = (self.name(), found.to_owned());
        Err(self.error(Why::Value {
            field,
            found,
            expected,
        }))
    }

    fn wrong(&self, expected: &'static str) -> SuiteError {
        let found = match JsonType::of(self.value) {
            JsonType::Array => "a list",
            JsonType::Boolean => "a boolean",
            JsonType::Integer | JsonType::Number => "a number",
            JsonType::Null => "null",
            JsonType::Object => "a mapping",
            JsonType::String => "a string",
        };
        let field = self.name();
        self.error(Why::Type {
            field,
            found,
            expected,
        })
    }

    fn below(&self, step: ValueStep<'d>, value: &'d Value) -> Self {
        let path = self.path.iter().copied().chain([step]).collect();
        Self {
            value,
            positions: self.positions,
            path,
        }
    }
}

/// What is a number in YAML is a version to people.
fn quotes(found: &str) -> &'static str {
    match found {
        "a number" | "a boolean" => "; put it in quotes to make it a string",
        _ => "",
    }
}
