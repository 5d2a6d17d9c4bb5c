//! One blob: what every blob has (schema, package, name), and what its schema makes of the rest.
//!
//! Upstream: `Meta.UnmarshalJSON` of operator-registry, `alpha/declcfg/declcfg.go` (the faults of
//! a whole catalog), and `addMeta`, `alpha/declcfg/load.go` (those of one package).

use std::borrow::Cow;

use super::error::Malformed;
use super::filed::{self, Filed};
use super::json::{Cursor, Step, fold_of};
use super::shape::{Icon, Properties, RelatedImage};
use crate::blob::{Channel, Content, Fault, Kind, Package};
use crate::guardrail;
use crate::heap::allocated;

pub(super) mod keys;

use keys::Keys;

/// A blob, filed and decoded.
#[derive(Debug)]
pub struct Blob<'a> {
    /// Where it is filed.
    pub filed: Filed<'a>,
    /// What its schema makes of it; the first value of a wrong type otherwise.
    pub content: Result<Content<'a>, Fault>,
}

/// What stands in a catalog where a blob is expected.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are blobs, and each is handed on before the next is read"
)]
pub enum Value<'a> {
    /// Nothing: an empty document is one.
    Null,
    /// An object that no package's folder holds.
    Unfiled {
        /// Whether it says a schema.
        has_schema: bool,
    },
    /// A blob.
    Blob(Blob<'a>),
}

/// Reads the next blob.
pub fn read<'a>(cursor: &mut Cursor<'a>) -> Step<Value<'a>> {
    match cursor.kind()? {
        Kind::Null => cursor.skip().map(|()| Value::Null),
        Kind::Object => Members::read(cursor)?.blob(cursor),
        found => cursor.malformed_at(cursor.at(), Malformed::NotAnObject { found }),
    }
}

/// The members of a blob that matter.
#[derive(Default)]
struct Members<'a> {
    schema: Option<Label<'a>>,
    package: Option<Label<'a>>,
    name: Option<Label<'a>>,
    properties: Properties<'a>,
    /// Where the value of each of [`TYPED`] begins.
    typed: [Option<usize>; TYPED.len()],
    /// Where the blob does.
    start: usize,
}

/// The value of `schema`, `package` or `name`.
struct Label<'a> {
    key: Cow<'a, str>,
    at: usize,
    value: Result<Cow<'a, str>, Kind>,
}

impl<'a> Members<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Step<Self> {
        let start = cursor.at();
        let mut members = Self {
            start,
            ..Self::default()
        };
        let mut keys = Keys::default();
        cursor.each_member(|cursor, key| {
            members.read_member(key.clone(), cursor)?;
            cursor.keep()?;
            cursor.hold(Keys::ROOM + 4 * allocated(key.len()))?;
            keys.insert(key);
            Ok(())
        })?;
        match keys.duplicate() {
            Some(malformed) => cursor.malformed_at(start, malformed),
            None => Ok(members),
        }
    }

    /// Reads the value of a key; of equal keys the last one counts.
    fn read_member(&mut self, key: Cow<'a, str>, cursor: &mut Cursor<'a>) -> Step<()> {
        let is = |name| fold_of(&key, name).is_some();
        if is("schema") {
            self.schema = Some(Label::read(key, cursor)?);
        } else if is("package") {
            self.package = Some(Label::read(key, cursor)?);
        } else if is("name") {
            self.name = Some(Label::read(key, cursor)?);
        } else if is("properties") {
            self.properties = Properties::read(cursor)?;
        } else {
            cursor.kind()?;
            let at = cursor.at();
            for (slot, name) in self.typed.iter_mut().zip(TYPED) {
                if is(name) {
                    *slot = Some(at);
                }
            }
            cursor.skip()?;
        }
        Ok(())
    }

    fn blob(self, cursor: &mut Cursor<'a>) -> Step<Value<'a>> {
        let start = cursor.at();
        let schema = Label::text(self.schema.as_ref(), cursor)?;
        let package = Label::text(self.package.as_ref(), cursor)?;
        let name = Label::text(self.name.as_ref(), cursor)?;
        let folder = if schema == "olm.package" {
            name.clone()
        } else {
            package
        };
        let filed = match filed::file(folder, schema.clone(), name.clone()) {
            Ok(Some(filed)) => filed,
            Ok(None) => {
                let has_schema = !schema.is_empty();
                return Ok(Value::Unfiled { has_schema });
            }
            Err(malformed) => return cursor.malformed_at(start, malformed),
        };
        let rest = Typed {
            properties: self.properties,
            at: self.typed,
            start: self.start,
        };
        let (content, fault) = cursor.isolated(|cursor| rest.content(&schema, name, cursor))?;
        let content = fault.map_or(Ok(content), Err);
        Ok(Value::Blob(Blob { filed, content }))
    }
}

impl<'a> Label<'a> {
    fn read(key: Cow<'a, str>, cursor: &mut Cursor<'a>) -> Step<Self> {
        let found = cursor.kind()?;
        let at = cursor.at();
        let value = if found == Kind::String {
            Ok(cursor.decoded()?)
        } else {
            cursor.skip()?;
            Err(found)
        };
        Ok(Self { key, at, value })
    }

    /// What it says; an absent one is empty.
    fn text(label: Option<&Self>, cursor: &Cursor<'a>) -> Step<Cow<'a, str>> {
        let Some(label) = label else {
            return Ok(Cow::Borrowed(""));
        };
        match &label.value {
            Ok(text) => Ok(text.clone()),
            Err(found) => {
                let key = label.key.as_ref().into();
                let malformed = Malformed::NotAString { key, found: *found };
                cursor.malformed_at(label.at, malformed)
            }
        }
    }
}

/// The members whose meaning the schema decides.
struct Typed<'a> {
    properties: Properties<'a>,
    at: [Option<usize>; TYPED.len()],
    /// Where the blob begins.
    start: usize,
}

impl<'a> Typed<'a> {
    /// Decodes them, noting what has not its type.
    fn content(
        mut self,
        schema: &str,
        name: Cow<'a, str>,
        cursor: &mut Cursor<'a>,
    ) -> Step<Content<'a>> {
        match schema {
            "olm.package" => self.package(cursor),
            "olm.channel" => self.channel(name, cursor),
            "olm.bundle" => self.bundle(name, cursor),
            "olm.deprecations" => {
                let entries = self.field("entries", cursor, |c| c.list(Cursor::record))?;
                Ok(Content::Deprecations(entries))
            }
            guardrail::SCHEMA => Ok(Content::Guardrails(cursor.rewritten(self.start)?.into())),
            "" => {
                cursor.note(Fault::MissingSchema);
                Ok(Content::Other)
            }
            _ => Ok(Content::Other),
        }
    }

    fn package(&mut self, cursor: &mut Cursor<'a>) -> Step<Content<'a>> {
        self.note_properties(cursor);
        let default_channel = self.field("defaultChannel", cursor, Cursor::text)?;
        self.field("description", cursor, Cursor::text)?;
        let places = std::mem::take(&mut self.properties.guardrails).into_iter();
        let guardrails = places.map(|at| match at {
            Some(at) => Ok(cursor.rewritten(at)?.into()),
            None => Ok("null".into()),
        });
        let guardrails = guardrails.collect::<Step<_>>()?;
        let other_guardrails = std::mem::take(&mut self.properties.other_guardrails);
        let _: Icon = self.field("icon", cursor, Cursor::record)?;
        Ok(Content::Package(Package {
            default_channel,
            guardrails,
            other_guardrails: other_guardrails.into_iter().collect(),
        }))
    }

    fn channel(&mut self, name: Cow<'a, str>, cursor: &mut Cursor<'a>) -> Step<Content<'a>> {
        self.note_properties(cursor);
        let entries = self.field("entries", cursor, |c| c.list(Cursor::record))?;
        Ok(Content::Channel(Channel { name, entries }))
    }

    fn bundle(mut self, name: Cow<'a, str>, cursor: &mut Cursor<'a>) -> Step<Content<'a>> {
        self.note_properties(cursor);
        let image = self.field("image", cursor, Cursor::text)?;
        let _: Vec<RelatedImage> =
            self.field("relatedImages", cursor, |c| c.list(Cursor::record))?;
        self.properties.check_objects(cursor)?;
        let mut bundle = self.properties.facts;
        bundle.name = name;
        bundle.image = image;
        Ok(Content::Bundle(bundle))
    }

    fn note_properties(&mut self, cursor: &mut Cursor<'a>) {
        if let Some(fault) = self.properties.take_fault() {
            cursor.note(fault);
        }
    }

    /// Reads one of [`TYPED`]; an absent one is empty.
    fn field<T: Default>(
        &self,
        name: &'static str,
        cursor: &mut Cursor<'a>,
        read: impl FnOnce(&mut Cursor<'a>) -> Step<T>,
    ) -> Step<T> {
        let slots = TYPED.iter().zip(&self.at);
        let at = slots
            .filter(|(typed, _)| **typed == name)
            .find_map(|(_, at)| *at);
        match at {
            Some(at) => cursor.within(name, |cursor| cursor.revisit(at, read)),
            None => Ok(T::default()),
        }
    }
}

/// The keys whose values have a type in one schema or another.
const TYPED: [&str; 6] = [
    "image",
    "description",
    "defaultChannel",
    "icon",
    "entries",
    "relatedImages",
];
