//! Reads one blob as written: every field that `opm validate` checks, with its position.
//!
//! [`meta`](super::meta) stops at a fault and keeps the facts that decide. This module continues,
//! and keeps all facts about the blob. However, a fault in the JSON itself still ends reading.
//!
//! Positions are bytes from the start of the cursor's text.
//!
//! Upstream: operator-registry, [`alpha/declcfg/declcfg.go`] and [`alpha/declcfg/load.go`], [`alpha/property/property.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

mod property;

use std::borrow::Cow;

use crate::blob::{self, Fault, JsonKind};
use crate::fbc::FbcErrorKind;
use crate::fbc::json::{Cursor, CursorResult, Fold, JsonRecord, fold_of};
use crate::fbc::members::{BlobMembers, file};
use crate::fbc::raw::property::RawProperty;
use crate::fbc::shape::Icon;
use crate::guardrail::{self, is_of_other_version};

pub use crate::fbc::json::IgnoredKey;
pub use crate::fbc::members::{BlobLabel, PlacedText};
pub use crate::fbc::raw::property::{Property, PropertyValue};
pub use crate::fbc::shape::csv::CsvMetadata;

/// A blob.
#[derive(Debug)]
pub struct Raw<'a> {
    /// Start of the blob.
    pub at: usize,
    /// Value of the blob.
    pub value: Value<'a>,
}

/// The value of a document in a file.
#[derive(Debug)]
pub enum Value<'a> {
    /// A value other than an object, such as an empty document.
    Other(JsonKind),
    /// An object: a blob.
    Object(Box<RawObject<'a>>),
}

/// The members of a blob that are checked.
#[derive(Debug)]
pub struct RawObject<'a> {
    /// `schema`.
    pub schema: BlobLabel<'a>,
    /// `package`.
    pub package: BlobLabel<'a>,
    /// `name`.
    pub name: BlobLabel<'a>,
    /// A fault for each key with spellings that differ only in case.
    pub duplicates: Vec<FbcErrorKind>,
    /// The reason why operator-controller cannot file the blob, if any.
    pub unfilable: Option<FbcErrorKind>,
    /// The value of a key `channel`, which no schema has.
    pub channel_key: Option<PlacedText<'a>>,
    /// Keys that neither the schema nor its nested objects define.
    pub unknown: Vec<IgnoredKey<'a>>,
    /// Content of the other members by the schema.
    pub content: RawContent<'a>,
    /// The first value of a wrong type in the content.
    pub fault: Option<Fault>,
}

/// Content of a blob by its schema.
#[derive(Debug)]
pub enum RawContent<'a> {
    /// `olm.package`.
    Package {
        /// `defaultChannel`.
        default_channel: PlacedText<'a>,
        /// The guardrails among the properties.
        guardrails: Vec<RawGuardrails<'a>>,
    },
    /// `olm.channel`, with its entries.
    Channel(Vec<RawEntry<'a>>),
    /// `olm.bundle`.
    Bundle(Box<RawBundle<'a>>),
    /// `olm.deprecations`, with its entries.
    Deprecations(Vec<RawDeprecation<'a>>),
    /// Guardrails of the package's author.
    Guardrails(RawGuardrails<'a>),
    /// A schema that OLM does not know.
    Other,
}

/// An entry of a channel.
#[derive(Debug, Default)]
pub struct RawEntry<'a> {
    /// Start of the entry, in bytes.
    pub at: usize,
    /// The bundle that the entry names.
    pub name: PlacedText<'a>,
    /// `replaces`; empty if absent.
    pub replaces: PlacedText<'a>,
    /// `skips`.
    pub skips: Vec<PlacedText<'a>>,
    /// `skipRange`; empty if absent.
    pub skip_range: PlacedText<'a>,
}

/// A bundle.
#[derive(Debug, Default)]
pub struct RawBundle<'a> {
    /// `image`; empty if absent.
    pub image: PlacedText<'a>,
    /// The images of `relatedImages`.
    pub related_images: Vec<PlacedText<'a>>,
    /// `properties`.
    pub properties: Vec<Property<'a>>,
}

/// An entry of an `olm.deprecations`.
#[derive(Debug, Default)]
pub struct RawDeprecation<'a> {
    /// Start of the entry, in bytes.
    pub at: usize,
    /// Content of the entry.
    pub written: blob::DeprecationEntry<'a>,
}

/// Reads the next blob.
pub fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Raw<'a>> {
    let found = cursor.kind()?;
    let at = cursor.at();
    let value = if found == JsonKind::Object {
        Value::Object(Box::new(read_object(cursor)?))
    } else {
        cursor.skip()?;
        Value::Other(found)
    };
    Ok(Raw { at, value })
}

/// Reads an object. Properties are nearly all bytes of a blob, so they are read immediately, as if
/// the blob was a bundle.
fn read_object<'a>(cursor: &mut Cursor<'a>) -> CursorResult<RawObject<'a>> {
    let mut properties = ReadProperties::default();
    cursor.want_unknown();
    let members = BlobMembers::read(cursor, |key, cursor| {
        let is_theirs = key.fold("properties").is_some();
        if is_theirs {
            properties = ReadProperties::read(cursor)?;
        }
        Ok(is_theirs)
    })?;
    members.object(properties, cursor)
}

/// The properties of a bundle, and the first fault in their types.
#[derive(Default)]
struct ReadProperties<'a> {
    all: Vec<Property<'a>>,
    fault: Option<Fault>,
}

impl<'a> ReadProperties<'a> {
    fn read(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let read = |cursor: &mut Cursor<'a>| cursor.within("properties", property::read);
        let (all, fault) = cursor.isolated(read)?;
        Ok(Self { all, fault })
    }

    /// Returns the properties, and notes the fault.
    fn into_properties(self, cursor: &mut Cursor<'a>) -> Vec<Property<'a>> {
        if let Some(fault) = self.fault {
            cursor.note(fault);
        }
        self.all
    }
}

impl<'a> BlobMembers<'a> {
    fn object(
        self,
        properties: ReadProperties<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<RawObject<'a>> {
        let schema = self.schema.text();
        let content = |cursor: &mut Cursor<'a>| self.content(schema, properties, cursor);
        let (content, fault) = cursor.isolated(content)?;
        let (channel_key, _) =
            cursor.isolated(|cursor| self.field("channel", cursor, PlacedText::read))?;
        let channel_key = (!channel_key.text.is_empty()).then_some(channel_key);
        Ok(RawObject {
            unknown: self.unknown(channel_key.as_ref(), cursor.take_unknown()),
            unfilable: self.unfilable(),
            duplicates: self.keys.duplicates(),
            schema: self.schema,
            package: self.package,
            name: self.name,
            channel_key,
            content,
            fault,
        })
    }

    fn unfilable(&self) -> Option<FbcErrorKind> {
        let (schema, name) = (self.schema.text(), self.name.text());
        let folder = match schema {
            "olm.package" => name,
            _ => self.package.text(),
        };
        file(folder.into(), schema.into(), name.into()).err()
    }

    fn content(
        &self,
        schema: &str,
        properties: ReadProperties<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<RawContent<'a>> {
        Ok(match schema {
            "olm.package" => {
                self.field("properties", cursor, property::types_only)?;
                self.field("description", cursor, Cursor::skip_text)?;
                let _: Icon = self.field("icon", cursor, Cursor::record)?;
                RawContent::Package {
                    default_channel: self.field("defaultChannel", cursor, PlacedText::read)?,
                    guardrails: self.field("properties", cursor, RawGuardrails::of_properties)?,
                }
            }
            "olm.channel" => {
                self.field("properties", cursor, property::types_only)?;
                RawContent::Channel(self.field("entries", cursor, |c| c.list(RawEntry::read_item))?)
            }
            "olm.bundle" => RawContent::Bundle(Box::new(self.bundle(properties, cursor)?)),
            "olm.deprecations" => {
                let entries =
                    self.field("entries", cursor, |c| c.list(RawDeprecation::read_item))?;
                RawContent::Deprecations(entries)
            }
            guardrail::SCHEMA => RawContent::Guardrails(RawGuardrails::read(self.start, cursor)?),
            _ => RawContent::Other,
        })
    }

    fn bundle(
        &self,
        properties: ReadProperties<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<RawBundle<'a>> {
        Ok(RawBundle {
            image: self.field("image", cursor, PlacedText::read)?,
            related_images: self.field("relatedImages", cursor, |cursor| {
                cursor.list(|cursor| Ok(cursor.record::<RawRelatedImage<'a>>()?.0))
            })?,
            properties: properties.into_properties(cursor),
        })
    }
}

impl<'a> RawEntry<'a> {
    fn read_item(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let at = cursor.start()?;
        let mut entry: Self = cursor.record()?;
        entry.at = at;
        Ok(entry)
    }
}

impl<'a> JsonRecord<'a> for RawEntry<'a> {
    const FIELDS: &'static [&'static str] = &["name", "replaces", "skips", "skipRange"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => self.name = PlacedText::read(cursor)?,
            1 => self.replaces = PlacedText::read(cursor)?,
            2 => self.skips = cursor.list(PlacedText::read)?,
            _ => self.skip_range = PlacedText::read(cursor)?,
        }
        Ok(())
    }
}

impl<'a> RawDeprecation<'a> {
    fn read_item(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let at = cursor.start()?;
        let written = cursor.record()?;
        Ok(Self { at, written })
    }
}

/// An item of a bundle's `relatedImages`.
#[derive(Default)]
struct RawRelatedImage<'a>(PlacedText<'a>);

impl<'a> JsonRecord<'a> for RawRelatedImage<'a> {
    const FIELDS: &'static [&'static str] = &["name", "image"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => cursor.skip_text()?,
            _ => self.0 = PlacedText::read(cursor)?,
        }
        Ok(())
    }
}

// === The keys of each schema, as in the Go structs ===
//
// Upstream: operator-registry, [`alpha/declcfg/declcfg.go`].
//
// [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go

/// The keys of a schema; `None` if the schema is not one of OLM's, because it can then have any
/// keys.
fn fields(schema: &str) -> Option<&'static [&'static str]> {
    Some(match schema {
        "olm.package" => &PACKAGE,
        "olm.channel" => &CHANNEL,
        "olm.bundle" => &BUNDLE,
        "olm.deprecations" => &DEPRECATIONS,
        _ => return None,
    })
}

impl<'a> BlobMembers<'a> {
    /// Returns the keys of the blob that are unknown to its schema, and the unknown keys in
    /// `nested`. The key `channel` has its own finding.
    fn unknown(
        &self,
        channel: Option<&PlacedText<'a>>,
        nested: Vec<IgnoredKey<'a>>,
    ) -> Vec<IgnoredKey<'a>> {
        let Some(known) = fields(self.schema.text()) else {
            return Vec::new();
        };
        let own = self.keys.0.iter().filter_map(|(key, at)| {
            let read_as = match read_as(key, known) {
                Some((Fold::Exact, _)) => return None,
                other => other.map(|(_, name)| name),
            };
            Some(IgnoredKey {
                at: *at,
                path: Box::default(),
                key: key.clone(),
                known,
                read_as,
            })
        });
        let channel = channel.map(|key| key.at);
        let own = own.filter(|key| Some(key.at) != channel);
        own.chain(nested).collect()
    }
}

/// The field that a key is read as, if any, and how the key is spelled.
fn read_as(key: &str, known: &[&'static str]) -> Option<(Fold, &'static str)> {
    // Every blob can have these keys, because opm files blobs by them.
    let labels = ["schema", "package", "name"];
    let mut names = known.iter().copied().chain(labels);
    names.find_map(|name| Some((fold_of(key, name)?, name)))
}

const PACKAGE: [&str; 6] = [
    "schema",
    "name",
    "defaultChannel",
    "icon",
    "description",
    "properties",
];

const CHANNEL: [&str; 5] = ["schema", "package", "name", "entries", "properties"];

const BUNDLE: [&str; 6] = [
    "schema",
    "package",
    "name",
    "image",
    "properties",
    "relatedImages",
];

const DEPRECATIONS: [&str; 3] = ["schema", "package", "entries"];

/// Guardrails as written.
#[derive(Debug)]
pub struct RawGuardrails<'a> {
    /// Start of the guardrails.
    pub at: usize,
    /// The schema of the blob, or the type of the property.
    pub schema: Cow<'a, str>,
    /// The JSON that catalogd makes of the guardrails; `null` for guardrails of an unknown version.
    pub text: Cow<'a, str>,
    /// Start of each rule.
    pub rules: Vec<usize>,
}

impl<'a> RawGuardrails<'a> {
    /// Reads the guardrails that start at a position.
    fn read(at: usize, cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let text = cursor.rewritten(at)?.into();
        let (RulePlaces(rules), _) =
            cursor.isolated(|cursor| cursor.revisit(at, Cursor::record))?;
        Ok(Self {
            at,
            schema: guardrail::SCHEMA.into(),
            text,
            rules,
        })
    }

    /// Reads the guardrails among the properties of a package, and records guardrails of other
    /// versions.
    fn of_properties(cursor: &mut Cursor<'a>) -> CursorResult<Vec<Self>> {
        let (items, _) = cursor.isolated(|cursor| {
            cursor.list(|cursor| {
                let at = cursor.start()?;
                let item: RawProperty<'a> = cursor.record()?;
                Ok((at, item))
            })
        })?;
        let is_of_them = |kind: &str| kind == guardrail::SCHEMA || is_of_other_version(kind);
        let of_them = items.into_iter().filter(|(_, item)| is_of_them(&item.kind));
        let guardrails = of_them.map(|(at, item)| match item.value {
            Some(value) if item.kind == guardrail::SCHEMA => Self::read(value, cursor),
            _ => Ok(Self {
                at,
                schema: item.kind,
                text: "null".into(),
                rules: Vec::new(),
            }),
        });
        guardrails.collect()
    }
}

/// Start of each of `rules`.
#[derive(Default)]
struct RulePlaces(Vec<usize>);

impl<'a> JsonRecord<'a> for RulePlaces {
    const FIELDS: &'static [&'static str] = &["rules"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        self.0 = cursor.list(|cursor| {
            let at = cursor.start()?;
            cursor.skip()?;
            Ok(at)
        })?;
        Ok(())
    }
}
