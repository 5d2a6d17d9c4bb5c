//! From an object to a [`Filter`], strict where it decides and tolerant of everything else.
//!
//! Unknown fields are passed over: a newer API may have them. Absent and `null` are the same.

use std::fmt;
use std::sync::Arc;

use crate::extension::fields::{ChannelField, Fields, SelectorField};
use crate::extension::{Filter, Json, Policy, Shape};
use olmguard_catalog::json::JsonType;
use olmguard_catalog::selector::LabelSelector;

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
        /// How the user wrote it, if that is known: YAML reads `1.10` as the number 1.1.
        written: Option<String>,
    },
    /// Its lists and maps have more entries than are judged.
    TooLarge {
        /// How many are judged.
        most: usize,
    },
    /// There are two of which no release of OLM reads both.
    Both {
        /// The other one.
        other: String,
    },
}

impl SourceType {
    pub(super) fn read<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        let nested = matches!(shape, Shape::V1 | Shape::V1Alpha1Nested);
        match object
            .at(&["spec", "source", "sourceType"])
            .and_then(Json::as_str)
        {
            Some(other) if nested && other != "Catalog" => Self::Other(other.to_owned()),
            _ => Self::Catalog,
        }
    }
}

impl Filter {
    pub(super) fn read<'a>(fields: &Fields, object: impl Json<'a>) -> Result<Self, FilterError> {
        let reader = FilterReader {
            fields,
            object: object.at(fields.base),
        };
        Ok(Self {
            package: reader.package()?,
            version: reader.text("version", Fields::version)?.map(str::to_owned),
            channels: reader.channels()?,
            selector: reader.selector()?,
            policy: reader.policy()?,
            is_too_large: false,
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

struct FilterReader<'f, J> {
    fields: &'f Fields,
    object: Option<J>,
}

impl<'a, J: Json<'a>> FilterReader<'_, J> {
    fn package(&self) -> Result<String, FilterError> {
        let name = self.text("packageName", Fields::package_name)?;
        name.filter(|name| !name.is_empty())
            .map(str::to_owned)
            .ok_or_else(|| FilterError {
                field: self.fields.package_name(),
                problem: FilterProblem::Missing,
            })
    }

    fn channels(&self) -> Result<Vec<String>, FilterError> {
        match self.fields.channels {
            ChannelField::One => {
                let channel = self.text("channel", Fields::channels)?;
                Ok(channel
                    .filter(|channel| !channel.is_empty())
                    .map(str::to_owned)
                    .into_iter()
                    .collect())
            }
            ChannelField::Many => self.many_channels(),
            ChannelField::Both => {
                let field = self.fields.channels();
                let other = field.trim_end_matches('s').to_owned();
                let problem = FilterProblem::Both { other };
                Err(FilterError { field, problem })
            }
        }
    }

    fn many_channels(&self) -> Result<Vec<String>, FilterError> {
        let Some(channels) = self.field("channels") else {
            return Ok(Vec::new());
        };
        let path = || self.fields.channels();
        let items = channels
            .items()
            .ok_or_else(|| wrong_type(path(), JsonType::Array, channels))?;
        let name = |(at, channel): (usize, J)| {
            let name = channel.as_str().map(str::to_owned);
            name.ok_or_else(|| wrong_type(format!("{}[{at}]", path()), JsonType::String, channel))
        };
        items.enumerate().map(name).collect()
    }

    fn selector(&self) -> Result<Option<Arc<LabelSelector>>, FilterError> {
        let selector = match self.fields.selector {
            SelectorField::Present => self.field("selector"),
            SelectorField::Absent => None,
        };
        let read = selector.map(|selector| LabelSelector::read(selector).map(Arc::new));
        read.transpose().map_err(|error| FilterError {
            field: join(&self.fields.selector(), &error.path),
            problem: FilterProblem::Type {
                expected: error.expected,
                found: error.found,
                written: None,
            },
        })
    }

    fn policy(&self) -> Result<Policy, FilterError> {
        let word = self.text("upgradeConstraintPolicy", Fields::policy)?;
        Ok(match word {
            Some(word) if self.fields.bypass.has(word) => Policy::SelfCertified,
            _ => Policy::CatalogProvided,
        })
    }

    fn text(
        &self,
        field: &str,
        path: fn(&Fields) -> String,
    ) -> Result<Option<&'a str>, FilterError> {
        let Some(value) = self.field(field) else {
            return Ok(None);
        };
        let text = value.as_str().map(Some);
        text.ok_or_else(|| wrong_type(path(self.fields), JsonType::String, value))
    }

    fn field(&self, field: &str) -> Option<J> {
        let value = self.object?.get(field);
        value.filter(|value| !value.is_null())
    }
}

fn wrong_type<'a>(field: String, expected: JsonType, found: impl Json<'a>) -> FilterError {
    let found = found.kind();
    FilterError {
        field,
        problem: FilterProblem::Type {
            expected,
            found,
            written: None,
        },
    }
}

fn join(path: &str, rest: &str) -> String {
    if rest.is_empty() {
        path.to_owned()
    } else {
        format!("{path}.{rest}")
    }
}
