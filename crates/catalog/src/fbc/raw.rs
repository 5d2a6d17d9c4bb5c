//! One blob as it is written: every field that `opm validate` looks at, each with its place.
//!
//! Where [`meta`](super::meta) stops at a fault and keeps what decides, this goes on and keeps what
//! there is to say about the blob. A fault in the JSON itself ends it all the same.
//!
//! Places are bytes from the beginning of the cursor's text.
//!
//! Upstream: operator-registry, [`alpha/declcfg/declcfg.go`] and [`alpha/declcfg/load.go`], [`alpha/property/property.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go

mod guardrails;
mod property;
mod schema;
mod types;

use super::error::FbcErrorKind;
use super::filed;
use super::json::{Cursor, CursorResult, Key, Record};
use super::members::Members;
use super::shape::Icon;
use crate::blob::{self, Fault, JsonKind};
use crate::guardrail;

pub use super::csv::CsvMetadata;
pub use super::json::UnknownKey;
pub use super::members::{Label, Text};
pub use guardrails::Guardrails;
pub use property::{Property, PropertyValue};

/// A blob.
#[derive(Debug)]
pub struct Raw<'a> {
    /// Where it begins.
    pub at: usize,
    /// What it is.
    pub value: Value<'a>,
}

/// What a document of a file is.
#[derive(Debug)]
pub enum Value<'a> {
    /// Something else than an object, such as an empty document.
    Other(JsonKind),
    /// An object: a blob.
    Object(Box<Object<'a>>),
}

/// The members of a blob that matter.
#[derive(Debug)]
pub struct Object<'a> {
    /// `schema`.
    pub schema: Label<'a>,
    /// `package`.
    pub package: Label<'a>,
    /// `name`.
    pub name: Label<'a>,
    /// Keys that differ in case only, a fault for each.
    pub duplicates: Vec<FbcErrorKind>,
    /// Why operator-controller cannot file it.
    pub unfilable: Option<FbcErrorKind>,
    /// The value of a key `channel`, which no schema has.
    pub channel_key: Option<Text<'a>>,
    /// Keys that neither the schema nor its nested objects have.
    pub unknown: Vec<UnknownKey<'a>>,
    /// What the schema makes of the other members.
    pub content: Content<'a>,
    /// The first value of a wrong type in what the schema decides.
    pub fault: Option<Fault>,
}

/// What the schema makes of the other members.
#[derive(Debug)]
pub enum Content<'a> {
    /// `olm.package`.
    Package {
        /// `defaultChannel`.
        default_channel: Text<'a>,
        /// Those of its properties.
        guardrails: Vec<Guardrails<'a>>,
    },
    /// `olm.channel`, with its entries.
    Channel(Vec<Entry<'a>>),
    /// `olm.bundle`.
    Bundle(Box<Bundle<'a>>),
    /// `olm.deprecations`, with its entries.
    Deprecations(Vec<Deprecation<'a>>),
    /// The rules of a package's author.
    Guardrails(Guardrails<'a>),
    /// A schema that OLM does not know.
    Other,
}

/// An entry of a channel.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// Where it begins, in bytes.
    pub at: usize,
    /// The bundle that it is about.
    pub name: Text<'a>,
    /// `replaces`; empty for none.
    pub replaces: Text<'a>,
    /// `skips`.
    pub skips: Vec<Text<'a>>,
    /// `skipRange`; empty for none.
    pub skip_range: Text<'a>,
}

/// A bundle.
#[derive(Debug, Default)]
pub struct Bundle<'a> {
    /// `image`; empty for none.
    pub image: Text<'a>,
    /// The images of `relatedImages`.
    pub related_images: Vec<Text<'a>>,
    /// `properties`.
    pub properties: Vec<Property<'a>>,
}

/// An entry of an `olm.deprecations`.
#[derive(Debug, Default)]
pub struct Deprecation<'a> {
    /// Where it begins, in bytes.
    pub at: usize,
    /// What it says.
    pub written: blob::Deprecation<'a>,
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

/// Properties are nearly all of a blob's bytes: they are read at once, for what they mean in a bundle.
fn read_object<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Object<'a>> {
    let (mut properties, mut at) = (ReadProperties::default(), None);
    let mut keys = Vec::new();
    cursor.want_unknown();
    let mut members = Members::read(cursor, |key, cursor| {
        cursor.kind()?;
        keys.push((*key, cursor.at()));
        let is_theirs = key.fold("properties").is_some();
        if is_theirs {
            at = Some(cursor.at());
            properties = ReadProperties::read(cursor)?;
        }
        Ok(is_theirs)
    })?;
    members.note("properties", at);
    let mut object = members.object(properties, cursor)?;
    object.unknown = schema::unknown(&object, &keys, cursor.take_unknown());
    Ok(object)
}

/// The properties of a bundle, and the first fault in their form.
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

    /// The properties; notes the fault.
    fn into_properties(self, cursor: &mut Cursor<'a>) -> Vec<Property<'a>> {
        if let Some(fault) = self.fault {
            cursor.note(fault);
        }
        self.all
    }
}

impl<'a> Members<'a> {
    fn object(
        self,
        properties: ReadProperties<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<Object<'a>> {
        let schema = self.schema.text();
        let content = |cursor: &mut Cursor<'a>| self.content(schema, properties, cursor);
        let (content, fault) = cursor.isolated(content)?;
        let (channel_key, _) =
            cursor.isolated(|cursor| self.field("channel", cursor, Text::read))?;
        Ok(Object {
            unfilable: self.unfilable(),
            duplicates: self.keys.duplicates(),
            schema: self.schema,
            package: self.package,
            name: self.name,
            channel_key: (!channel_key.text.is_empty()).then_some(channel_key),
            unknown: Vec::new(),
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
        filed::file(folder.into(), schema.into(), name.into()).err()
    }

    fn content(
        &self,
        schema: &str,
        properties: ReadProperties<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<Content<'a>> {
        Ok(match schema {
            "olm.package" => {
                self.field("properties", cursor, property::types_only)?;
                self.field("description", cursor, Cursor::skip_text)?;
                let _: Icon = self.field("icon", cursor, Cursor::record)?;
                Content::Package {
                    default_channel: self.field("defaultChannel", cursor, Text::read)?,
                    guardrails: self.field("properties", cursor, guardrails::of_properties)?,
                }
            }
            "olm.channel" => {
                self.field("properties", cursor, property::types_only)?;
                Content::Channel(self.field("entries", cursor, |c| c.list(Entry::read_item))?)
            }
            "olm.bundle" => Content::Bundle(Box::new(self.bundle(properties, cursor)?)),
            "olm.deprecations" => {
                let entries = self.field("entries", cursor, |c| c.list(Deprecation::read_item))?;
                Content::Deprecations(entries)
            }
            guardrail::SCHEMA => Content::Guardrails(guardrails::read(self.start, cursor)?),
            _ => Content::Other,
        })
    }

    fn bundle(
        &self,
        properties: ReadProperties<'a>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<Bundle<'a>> {
        Ok(Bundle {
            image: self.field("image", cursor, Text::read)?,
            related_images: self.field("relatedImages", cursor, |cursor| {
                cursor.list(|cursor| Ok(cursor.record::<RelatedImage<'a>>()?.0))
            })?,
            properties: properties.into_properties(cursor),
        })
    }
}

impl<'a> Entry<'a> {
    fn read_item(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        cursor.kind()?;
        let at = cursor.at();
        let mut entry: Self = cursor.record()?;
        entry.at = at;
        Ok(entry)
    }
}

impl<'a> Record<'a> for Entry<'a> {
    const FIELDS: &'static [&'static str] = &["name", "replaces", "skips", "skipRange"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => self.name = Text::read(cursor)?,
            1 => self.replaces = Text::read(cursor)?,
            2 => self.skips = cursor.list(Text::read)?,
            _ => self.skip_range = Text::read(cursor)?,
        }
        Ok(())
    }
}

impl<'a> Deprecation<'a> {
    fn read_item(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        cursor.kind()?;
        let at = cursor.at();
        let written = cursor.record()?;
        Ok(Self { at, written })
    }
}

/// An item of a bundle's `relatedImages`.
#[derive(Default)]
struct RelatedImage<'a>(Text<'a>);

impl<'a> Record<'a> for RelatedImage<'a> {
    const FIELDS: &'static [&'static str] = &["name", "image"];
    const IS_WHOLE: bool = true;

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => cursor.skip_text()?,
            _ => self.0 = Text::read(cursor)?,
        }
        Ok(())
    }
}
