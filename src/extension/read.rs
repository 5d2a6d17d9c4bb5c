//! From an object to a [`Filter`], strict where it decides and tolerant of everything else.
//!
//! Unknown fields are passed over: a newer API may have them. Absent and `null` are the same.

use std::fmt;

use serde_json::Value;

use crate::extension::fields::{ChannelField, Fields, SelectorField};
use crate::extension::{Filter, Policy, Shape};
use crate::json_type::JsonType;
use crate::selector::LabelSelector;

/// Where an extension's content comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SourceType {
    /// A catalog; the only one there is, so also where nothing is said.
    Catalog,
    /// Something this program knows nothing of.
    Other(String),
}

/// Why a filter cannot be read: the field and what is wrong with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FilterError {
    /// The path of the field.
    pub field: String,
    /// What is wrong.
    pub problem: FilterProblem,
}

/// What is wrong with a field of a filter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FilterProblem {
    /// It is needed and not there, or empty.
    Missing,
    /// It has another JSON type.
    Type {
        /// What its schema wants.
        expected: JsonType,
        /// What is there.
        found: JsonType,
    },
    /// Its lists and maps have more entries than are read.
    TooLarge {
        /// How many are read.
        most: usize,
    },
    /// There are two of which no release of OLM reads both.
    Both {
        /// The other one.
        other: String,
    },
}

impl SourceType {
    pub(super) fn read(shape: Shape, object: &Value) -> Self {
        let nested = matches!(shape, Shape::V1 | Shape::V1Alpha1Nested);
        match object
            .pointer("/spec/source/sourceType")
            .and_then(Value::as_str)
        {
            Some(other) if nested && other != "Catalog" => Self::Other(other.to_owned()),
            _ => Self::Catalog,
        }
    }
}

impl Filter {
    pub(super) fn read(fields: &Fields, object: &Value) -> Result<Self, FilterError> {
        let reader = Reader {
            fields,
            object: object.pointer(fields.base).unwrap_or(&Value::Null),
        };
        Ok(Self {
            package: reader.package()?,
            version: reader.text("version", &fields.version())?,
            channels: reader.channels()?,
            selector: reader.selector()?,
            policy: reader.policy()?,
        })
    }
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalog => f.write_str("Catalog"),
            Self::Other(other) => f.write_str(other),
        }
    }
}

struct Reader<'a> {
    fields: &'a Fields,
    object: &'a Value,
}

impl Reader<'_> {
    fn package(&self) -> Result<String, FilterError> {
        let name = self.text("packageName", &self.fields.package_name())?;
        name.filter(|name| !name.is_empty())
            .ok_or_else(|| FilterError {
                field: self.fields.package_name(),
                problem: FilterProblem::Missing,
            })
    }

    fn channels(&self) -> Result<Vec<String>, FilterError> {
        let path = self.fields.channels();
        match self.fields.channels {
            ChannelField::One => {
                let channel = self.text("channel", &path)?;
                Ok(channel
                    .filter(|channel| !channel.is_empty())
                    .into_iter()
                    .collect())
            }
            ChannelField::Many => self.many_channels(&path),
            ChannelField::Both => Err(FilterError {
                problem: FilterProblem::Both {
                    other: path.trim_end_matches('s').to_owned(),
                },
                field: path,
            }),
        }
    }

    fn many_channels(&self, path: &str) -> Result<Vec<String>, FilterError> {
        let channels = match self.field("channels") {
            None => return Ok(Vec::new()),
            Some(Value::Array(channels)) => channels,
            Some(other) => return Err(wrong_type(path, JsonType::Array, other)),
        };
        let channel = |(at, channel): (usize, &Value)| match channel {
            Value::String(name) => Ok(name.clone()),
            other => Err(wrong_type(
                &format!("{path}[{at}]"),
                JsonType::String,
                other,
            )),
        };
        channels.iter().enumerate().map(channel).collect()
    }

    fn selector(&self) -> Result<Option<LabelSelector>, FilterError> {
        let selector = match self.fields.selector {
            SelectorField::Present => self.field("selector"),
            SelectorField::Absent => None,
        };
        let read = selector.map(LabelSelector::read).transpose();
        read.map_err(|error| FilterError {
            field: join(&self.fields.selector(), &error.path),
            problem: FilterProblem::Type {
                expected: error.expected,
                found: error.found,
            },
        })
    }

    fn policy(&self) -> Result<Policy, FilterError> {
        let word = self.text("upgradeConstraintPolicy", &self.fields.policy())?;
        Ok(match word {
            Some(word) if self.fields.bypass.has(&word) => Policy::SelfCertified,
            _ => Policy::CatalogProvided,
        })
    }

    fn text(&self, field: &str, path: &str) -> Result<Option<String>, FilterError> {
        match self.field(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong_type(path, JsonType::String, other)),
        }
    }

    fn field(&self, field: &str) -> Option<&Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }
}

fn wrong_type(path: &str, expected: JsonType, found: &Value) -> FilterError {
    let problem = FilterProblem::Type {
        expected,
        found: JsonType::of(found),
    };
    FilterError {
        field: path.to_owned(),
        problem,
    }
}

fn join(path: &str, rest: &str) -> String {
    if rest.is_empty() {
        path.to_owned()
    } else {
        format!("{path}.{rest}")
    }
}
