//! Members of one blob. The ones that file it are read; of the others only the beginning is noted, because the schema
//! gives them their meaning and can come last.

use std::borrow::Cow;

use super::error::FbcErrorKind;
use super::json::{Cursor, CursorResult, JsonKey};
use crate::blob::JsonKind;
use crate::fbc::intake::Keys;
use crate::heap::allocated;

/// The members of a blob, of equal keys the last.
#[derive(Default)]
pub(super) struct BlobMembers<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) schema: BlobLabel<'a>,
    pub(super) package: BlobLabel<'a>,
    pub(super) name: BlobLabel<'a>,
    /// Beginning of the value of each of [`TYPED`].
    typed: [Option<usize>; TYPED.len()],
    /// Beginning of the blob.
    pub(super) start: usize,
}

/// The value of `schema`, `package` or `name`.
#[derive(Debug, Default)]
pub enum BlobLabel<'a> {
    #[default]
    /// The object has no such key.
    Absent,
    /// A string.
    Text(PlacedText<'a>),
    /// The value is not a string.
    Other {
        /// The key, as it is written.
        key: Cow<'a, str>,
        /// Beginning of the value, in bytes.
        at: usize,
        /// Type of the value.
        found: JsonKind,
    },
}

/// A string and its place.
#[derive(Clone, Debug, Default)]
pub struct PlacedText<'a> {
    /// Beginning of the string, in bytes.
    pub at: usize,
    /// The string, decoded.
    pub text: Cow<'a, str>,
}

impl<'a> BlobMembers<'a> {
    /// Reads them from the object that the cursor stands on. `early` may read the value of a key at once; it
    /// says whether it did.
    pub(super) fn read(
        cursor: &mut Cursor<'a>,
        mut early: impl FnMut(&JsonKey<'a>, &mut Cursor<'a>) -> CursorResult<bool>,
    ) -> CursorResult<Self> {
        let mut members = Self {
            start: cursor.at(),
            ..Self::default()
        };
        cursor.each_member(|cursor, key| {
            if !early(&key, cursor)? {
                members.read_member(&key, cursor)?;
            }
            let key = key.decode();
            cursor.keep()?;
            cursor.hold(Keys::ROOM + 4 * allocated(key.len()))?;
            members.keys.insert(key);
            Ok(())
        })?;
        Ok(members)
    }

    fn read_member(&mut self, key: &JsonKey<'a>, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        let is = |name| key.fold(name).is_some();
        if is("schema") {
            self.schema = BlobLabel::read(key, cursor)?;
        } else if is("package") {
            self.package = BlobLabel::read(key, cursor)?;
        } else if is("name") {
            self.name = BlobLabel::read(key, cursor)?;
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

    /// Beginning of the value of one of [`TYPED`].
    pub(super) fn begins(&self, name: &'static str) -> Option<usize> {
        let slots = TYPED.iter().zip(&self.typed);
        let mut own = slots.filter(|(typed, _)| **typed == name);
        own.find_map(|(_, at)| *at)
    }

    /// Notes where the value of one of [`TYPED`] begins that was read early.
    pub(super) fn note(&mut self, name: &'static str, at: Option<usize>) {
        let slots = TYPED.iter().zip(&mut self.typed);
        for (_, slot) in slots.filter(|(typed, _)| **typed == name) {
            *slot = at;
        }
    }

    /// Reads one of [`TYPED`]; an absent one is empty.
    pub(super) fn field<T: Default>(
        &self,
        name: &'static str,
        cursor: &mut Cursor<'a>,
        read: impl FnOnce(&mut Cursor<'a>) -> CursorResult<T>,
    ) -> CursorResult<T> {
        match self.begins(name) {
            Some(at) => cursor.within(name, |cursor| cursor.revisit(at, read)),
            None => Ok(T::default()),
        }
    }
}

impl<'a> BlobLabel<'a> {
    fn read(key: &JsonKey<'a>, cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let found = cursor.kind()?;
        let at = cursor.at();
        if found == JsonKind::String {
            let text = cursor.decoded()?;
            return Ok(Self::Text(PlacedText { at, text }));
        }
        cursor.skip()?;
        let key = key.decode();
        Ok(Self::Other { key, at, found })
    }

    /// The text; empty if there is none.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => &text.text,
            Self::Absent | Self::Other { .. } => "",
        }
    }

    /// The text, empty if the label is absent. A value that is not a string is a fault.
    pub(super) fn string(self, cursor: &Cursor<'a>) -> CursorResult<Cow<'a, str>> {
        match self {
            Self::Text(text) => Ok(text.text),
            Self::Absent => Ok(Cow::Borrowed("")),
            Self::Other { key, at, found } => {
                let key = key.as_ref().into();
                cursor.malformed_at(at, FbcErrorKind::NotAString { key, found })
            }
        }
    }
}

impl<'a> PlacedText<'a> {
    /// Reads a string and notes its place; null is empty, another type a fault.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        cursor.kind()?;
        let at = cursor.at();
        let text = cursor.text()?;
        Ok(Self { at, text })
    }
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
