//! One blob as it is written: every field that `opm validate` looks at, each with its place.
//!
//! Where [`meta`](super::meta) stops at a fault and keeps what decides, this goes on and keeps what
//! there is to say about the blob. A fault in the JSON itself ends it all the same.
//!
//! Places are bytes from the beginning of the cursor's text.
//!
//! Upstream: operator-registry, `alpha/declcfg/{declcfg,load}.go`, `alpha/property/property.go`.

mod guardrails;
mod property;
mod types;

use std::borrow::Cow;

use super::error::Malformed;
use super::filed;
use super::json::{Cursor, Record, Step, fold_of};
use super::meta::keys::Keys;
use super::shape::Icon;
use crate::blob::{Fault, Kind};
use crate::guardrail;

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
    Other(Kind),
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
    pub duplicates: Vec<Malformed>,
    /// Why operator-controller cannot file it.
    pub unfilable: Option<Malformed>,
    /// The value of a key `channel`, which no schema has.
    pub channel_key: Option<Text<'a>>,
    /// What the schema makes of the other members.
    pub content: Content<'a>,
    /// The first value of a wrong type in what the schema decides.
    pub fault: Option<Fault>,
}

/// The value of `schema`, `package` or `name`.
#[derive(Debug, Default)]
pub enum Label<'a> {
    #[default]
    /// The object has no such key.
    Absent,
    /// A string.
    Text(Text<'a>),
    /// It is no string.
    Other {
        /// The key, as it is written.
        key: Cow<'a, str>,
        /// Where the value begins, in bytes.
        at: usize,
        /// What the value is.
        found: Kind,
    },
}

/// A string and its place.
#[derive(Clone, Debug, Default)]
pub struct Text<'a> {
    /// Where it begins, in bytes.
    pub at: usize,
    /// The string, decoded.
    pub text: Cow<'a, str>,
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
    /// The schema of what is deprecated.
    pub schema: Cow<'a, str>,
    /// Its name; empty for the package.
    pub name: Cow<'a, str>,
    /// The message, perhaps empty.
    pub message: Cow<'a, str>,
}

/// Reads the next blob.
pub fn read<'a>(cursor: &mut Cursor<'a>) -> Step<Raw<'a>> {
    let found = cursor.kind()?;
    let at = cursor.at();
    let value = if found == Kind::Object {
        let mut members = Members::read(cursor)?;
        members.start = at;
        Value::Object(Box::new(members.object(cursor)?))
    } else {
        cursor.skip()?;
        Value::Other(found)
    };
    Ok(Raw { at, value })
}

/// The members of a blob, not yet decoded.
#[derive(Default)]
struct Members<'a> {
    keys: Keys<'a>,
    schema: Label<'a>,
    package: Label<'a>,
    name: Label<'a>,
    /// Where the value of each of [`TYPED`] begins.
    typed: [Option<usize>; TYPED.len()],
    /// Where the blob does.
    start: usize,
}

impl<'a> Members<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Step<Self> {
        let mut members = Self::default();
        cursor.each_member(|cursor, key| {
            members.read_member(key.clone(), cursor)?;
            cursor.keep()?;
            members.keys.insert(key);
            Ok(())
        })?;
        Ok(members)
    }

    /// Reads the value of a key; of equal keys the last one counts.
    fn read_member(&mut self, key: Cow<'a, str>, cursor: &mut Cursor<'a>) -> Step<()> {
        let is = |name| fold_of(&key, name).is_some();
        if is("schema") {
            self.schema = Label::read(key, cursor)?;
        } else if is("package") {
            self.package = Label::read(key, cursor)?;
        } else if is("name") {
            self.name = Label::read(key, cursor)?;
        } else {
            cursor.kind()?;
            for (slot, name) in self.typed.iter_mut().zip(TYPED) {
                if is(name) {
                    *slot = Some(cursor.at());
                }
            }
            cursor.skip()?;
        }
        Ok(())
    }

    fn object(self, cursor: &mut Cursor<'a>) -> Step<Object<'a>> {
        let schema = self.schema.text();
        let (content, fault) = cursor.isolated(|cursor| self.content(schema, cursor))?;
        let (channel_key, _) = cursor.isolated(|cursor| self.field("channel", cursor, text))?;
        Ok(Object {
            unfilable: self.unfilable(),
            duplicates: self.keys.duplicates(),
            schema: self.schema,
            package: self.package,
            name: self.name,
            channel_key: (!channel_key.text.is_empty()).then_some(channel_key),
            content,
            fault,
        })
    }

    fn unfilable(&self) -> Option<Malformed> {
        let (schema, name) = (self.schema.text(), self.name.text());
        let folder = match schema {
            "olm.package" => name,
            _ => self.package.text(),
        };
        filed::file(folder.into(), schema.into(), name.into()).err()
    }

    fn content(&self, schema: &str, cursor: &mut Cursor<'a>) -> Step<Content<'a>> {
        Ok(match schema {
            "olm.package" => {
                self.field("properties", cursor, property::types_only)?;
                self.field("description", cursor, Cursor::text)?;
                let _: Icon = self.field("icon", cursor, Cursor::record)?;
                Content::Package {
                    default_channel: self.field("defaultChannel", cursor, text)?,
                    guardrails: self.field("properties", cursor, guardrails::of_properties)?,
                }
            }
            "olm.channel" => {
                self.field("properties", cursor, property::types_only)?;
                Content::Channel(self.field("entries", cursor, |c| c.list(Entry::read_item))?)
            }
            "olm.bundle" => Content::Bundle(Box::new(self.bundle(cursor)?)),
            "olm.deprecations" => {
                let entries = self.field("entries", cursor, |c| c.list(Deprecation::read_item))?;
                Content::Deprecations(entries)
            }
            guardrail::SCHEMA => Content::Guardrails(guardrails::read(self.start, cursor)?),
            _ => Content::Other,
        })
    }

    fn bundle(&self, cursor: &mut Cursor<'a>) -> Step<Bundle<'a>> {
        Ok(Bundle {
            image: self.field("image", cursor, text)?,
            related_images: self.field("relatedImages", cursor, |cursor| {
                cursor.list(|cursor| Ok(cursor.record::<RelatedImage<'a>>()?.0))
            })?,
            properties: self.field("properties", cursor, property::read)?,
        })
    }

    /// Reads one of [`TYPED`]; an absent one is empty.
    fn field<T: Default>(
        &self,
        name: &'static str,
        cursor: &mut Cursor<'a>,
        read: impl FnOnce(&mut Cursor<'a>) -> Step<T>,
    ) -> Step<T> {
        let mut slots = TYPED.iter().zip(&self.typed);
        match slots.find(|(typed, _)| **typed == name) {
            Some((_, Some(at))) => cursor.within(name, |cursor| cursor.revisit(*at, read)),
            _ => Ok(T::default()),
        }
    }
}

impl<'a> Label<'a> {
    fn read(key: Cow<'a, str>, cursor: &mut Cursor<'a>) -> Step<Self> {
        let found = cursor.kind()?;
        let at = cursor.at();
        if found == Kind::String {
            let text = cursor.string()?.decode();
            return Ok(Self::Text(Text { at, text }));
        }
        cursor.skip()?;
        Ok(Self::Other { key, at, found })
    }

    /// What it says; empty if it says nothing.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => &text.text,
            Self::Absent | Self::Other { .. } => "",
        }
    }
}

impl<'a> Entry<'a> {
    fn read_item(cursor: &mut Cursor<'a>) -> Step<Self> {
        cursor.kind()?;
        let at = cursor.at();
        let mut entry: Self = cursor.record()?;
        entry.at = at;
        Ok(entry)
    }
}

impl<'a> Record<'a> for Entry<'a> {
    const FIELDS: &'static [&'static str] = &["name", "replaces", "skips", "skipRange"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> Step<()> {
        match index {
            0 => self.name = text(cursor)?,
            1 => self.replaces = text(cursor)?,
            2 => self.skips = cursor.list(text)?,
            _ => self.skip_range = text(cursor)?,
        }
        Ok(())
    }
}

impl<'a> Deprecation<'a> {
    fn read_item(cursor: &mut Cursor<'a>) -> Step<Self> {
        cursor.kind()?;
        let at = cursor.at();
        let mut deprecation: Self = cursor.record()?;
        deprecation.at = at;
        Ok(deprecation)
    }
}

impl<'a> Record<'a> for Deprecation<'a> {
    const FIELDS: &'static [&'static str] = &["reference", "message"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> Step<()> {
        if index == 0 {
            let Reference { schema, name } = cursor.record()?;
            (self.schema, self.name) = (schema, name);
        } else {
            self.message = cursor.text()?;
        }
        Ok(())
    }
}

/// What an entry of an `olm.deprecations` refers to.
#[derive(Default)]
struct Reference<'a> {
    schema: Cow<'a, str>,
    name: Cow<'a, str>,
}

impl<'a> Record<'a> for Reference<'a> {
    const FIELDS: &'static [&'static str] = &["schema", "name"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> Step<()> {
        match index {
            0 => self.schema = cursor.text()?,
            _ => self.name = cursor.text()?,
        }
        Ok(())
    }
}

/// An item of a bundle's `relatedImages`.
#[derive(Default)]
struct RelatedImage<'a>(Text<'a>);

impl<'a> Record<'a> for RelatedImage<'a> {
    const FIELDS: &'static [&'static str] = &["name", "image"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> Step<()> {
        match index {
            0 => drop(cursor.text()?),
            _ => self.0 = text(cursor)?,
        }
        Ok(())
    }
}

/// Reads a string and notes its place.
fn text<'a>(cursor: &mut Cursor<'a>) -> Step<Text<'a>> {
    cursor.kind()?;
    let at = cursor.at();
    let text = cursor.text()?;
    Ok(Text { at, text })
}

/// The keys whose values have a type in one schema or another; no schema has `channel`.
const TYPED: [&str; 8] = [
    "image",
    "description",
    "defaultChannel",
    "icon",
    "entries",
    "relatedImages",
    "properties",
    "channel",
];
