//! Reads a [`Filter`] from an object: strict about the fields that decide, tolerant of everything else. Also the field
//! paths of each shape.
//!
//! Unknown fields are ignored, because a newer API may have them. Absent and `null` are equal.

use std::fmt;
use std::sync::Arc;

use crate::extension::{Filter, Json, Policy, Shape};
use olmguard_catalog::json::JsonType;
use olmguard_catalog::selector::LabelSelector;

/// The source of an extension's content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SourceType {
    /// A catalog. This is the only known source, and the default.
    Catalog,
    /// A source that this program does not know.
    Other(String),
}

/// Why a filter cannot be read: the field and its problem.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FilterError {
    /// The path of the field.
    pub field: String,
    /// The problem.
    pub problem: FilterProblem,
}

/// A problem with a field of a filter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FilterProblem {
    /// The field is required, but missing or empty.
    Missing,
    /// The field has another JSON type.
    Type {
        /// The type in the schema.
        expected: JsonType,
        /// The type found.
        found: JsonType,
        /// The text as the user wrote it, if known. For example, YAML reads `1.10` as the number 1.1.
        written: Option<String>,
    },
    /// The lists and maps of the filter have more entries than are judged.
    TooLarge {
        /// The most entries that are judged.
        most: usize,
    },
    /// Two fields are set that no release of OLM reads together.
    Both {
        /// The other field.
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

// === The field paths of a filter in each API shape, and the words of the bypass ===

/// The field paths and words of one shape, for messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fields {
    /// The keys down to the object that contains the filter.
    pub(super) base: &'static [&'static str],
    /// The same keys as a field path.
    prefix: &'static str,
    /// The field for channels.
    pub channels: ChannelField,
    /// Whether catalogs can be selected.
    pub selector: SelectorField,
    /// The words of `upgradeConstraintPolicy` that set the bypass.
    pub bypass: BypassWords,
    /// The path of the installed bundle in the status.
    pub installed: &'static str,
}

/// The field of a shape for channels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChannelField {
    /// `channels`, a list.
    Many,
    /// `channel`, one name.
    One,
    /// Both fields are set, but no release of OLM reads both.
    Both,
}

/// Whether a shape can select catalogs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SelectorField {
    /// The shape has `selector`.
    Present,
    /// The shape has no selector and reads every catalog.
    Absent,
}

/// The words of `upgradeConstraintPolicy` that set the bypass. The first one is suggested.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BypassWords {
    /// v0.16 and later.
    SelfCertified,
    /// v0.7 to v0.15.
    Ignore,
    /// Either word, because nothing in the object shows for which release it is written.
    Either,
}

impl Fields {
    /// The fields of an object in this shape.
    pub fn of<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        match shape {
            Shape::V1 => NESTED,
            Shape::V1Alpha1Nested => Self::of_nested(object),
            Shape::V1Alpha1Flat | Shape::Operator => FLAT,
        }
    }

    /// The fields of a nested v1alpha1 object. v0.14 and v0.15 had `channel` and `Ignore`; later releases have
    /// `channels` and `SelfCertified`. Only v0.14 had `installNamespace`.
    fn of_nested<'a>(object: impl Json<'a>) -> Self {
        let has = |field: &str| {
            object
                .at(NESTED.base)
                .and_then(|catalog| catalog.get(field))
                .is_some_and(|v| !v.is_null())
        };
        let is_v0_14 = object
            .at(&["spec", "installNamespace"])
            .is_some_and(|name| !name.is_null());
        // `namespace` was added in v0.18, after `SelfCertified`.
        let is_later = object
            .at(&["spec", "namespace"])
            .is_some_and(|name| !name.is_null());
        match (has("channels"), has("channel")) {
            (true, true) => Self {
                channels: ChannelField::Both,
                bypass: BypassWords::Either,
                ..NESTED
            },
            (true, false) => NESTED,
            (false, true) => Self {
                channels: ChannelField::One,
                bypass: BypassWords::Ignore,
                ..NESTED
            },
            (false, false) if is_v0_14 => Self {
                bypass: BypassWords::Ignore,
                ..NESTED
            },
            (false, false) if is_later => NESTED,
            (false, false) => Self {
                bypass: BypassWords::Either,
                ..NESTED
            },
        }
    }

    /// The path of the object that contains the filter.
    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// The path of the package name.
    pub fn package_name(&self) -> String {
        self.path("packageName")
    }

    /// Whether the CRD makes the package immutable. Every CRD with `spec.source` does.
    pub fn is_package_immutable(&self) -> bool {
        self.base == NESTED.base
    }

    /// The path of the version range.
    pub fn version(&self) -> String {
        self.path("version")
    }

    /// The path of the channels, or of the single channel.
    pub fn channels(&self) -> String {
        self.path(self.channels.name())
    }

    /// The path of the catalog selector.
    pub fn selector(&self) -> String {
        match self.selector {
            SelectorField::Present => self.path("selector"),
            SelectorField::Absent => String::new(),
        }
    }

    /// The path of the policy.
    pub fn policy(&self) -> String {
        self.path("upgradeConstraintPolicy")
    }

    /// The keys from the object down to the deciding field: the version, otherwise the package.
    pub fn deciding(&self, has_version: bool) -> impl Iterator<Item = &'static str> {
        let field = if has_version {
            "version"
        } else {
            "packageName"
        };
        self.prefix.split('.').chain([field])
    }

    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.prefix)
    }
}

impl ChannelField {
    /// The name of the field.
    pub fn name(self) -> &'static str {
        match self {
            Self::Many | Self::Both => "channels",
            Self::One => "channel",
        }
    }
}

impl BypassWords {
    /// Whether a word sets the bypass.
    pub fn has(self, word: &str) -> bool {
        match self {
            Self::SelfCertified => word == "SelfCertified",
            Self::Ignore => word == "Ignore",
            Self::Either => matches!(word, "SelfCertified" | "Ignore"),
        }
    }

    /// The word to suggest.
    pub fn word(self) -> &'static str {
        match self {
            Self::SelfCertified | Self::Either => "SelfCertified",
            Self::Ignore => "Ignore",
        }
    }

    /// The word without the bypass, of the same release.
    pub fn opposite(self) -> &'static str {
        match self {
            Self::SelfCertified | Self::Either => "CatalogProvided",
            Self::Ignore => "Enforce",
        }
    }
}

const NESTED: Fields = Fields {
    base: &["spec", "source", "catalog"],
    prefix: "spec.source.catalog",
    channels: ChannelField::Many,
    selector: SelectorField::Present,
    bypass: BypassWords::SelfCertified,
    installed: "status.install.bundle",
};

const FLAT: Fields = Fields {
    base: &["spec"],
    prefix: "spec",
    channels: ChannelField::One,
    selector: SelectorField::Absent,
    bypass: BypassWords::Ignore,
    installed: "status.installedBundle",
};
