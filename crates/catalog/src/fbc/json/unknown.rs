//! Keys that no field of a struct has. Go ignores them without a word, so a misspelt edge is no edge.

use std::borrow::Cow;

use super::cursor::{Cursor, CursorResult};
use super::record::Record;

/// A key that is not the name of a field.
#[derive(Clone, Debug)]
pub struct UnknownKey<'a> {
    /// Where its value begins, in bytes.
    pub at: usize,
    /// The object that has it, such as `entries[2]`; empty for the blob itself.
    pub path: Box<str>,
    /// The key.
    pub key: Cow<'a, str>,
    /// The fields of the object.
    pub known: &'static [&'static str],
    /// The field that Go reads it as, for it differs in case only.
    pub read_as: Option<&'static str>,
}

impl<'a> Cursor<'a> {
    /// Notes unknown keys from here on.
    pub(in crate::fbc) fn want_unknown(&mut self) {
        self.unknown = Some(Vec::new());
    }

    /// The unknown keys noted, in their order. An object that is read twice has them once.
    pub(in crate::fbc) fn take_unknown(&mut self) -> Vec<UnknownKey<'a>> {
        let mut unknown = self.unknown.take().unwrap_or_default();
        unknown.sort_by_key(|key| key.at);
        unknown.dedup_by_key(|key| key.at);
        unknown
    }

    /// Notes a key of the object being read, before its value.
    pub(super) fn note_unknown<T: Record<'a>>(
        &mut self,
        read_as: Option<&'static str>,
        key: impl FnOnce() -> Cow<'a, str>,
    ) -> CursorResult<()> {
        let noted = self.unknown.as_ref().map_or(MOST, Vec::len);
        if T::IS_WHOLE && noted < MOST {
            self.kind()?;
            let unknown = UnknownKey {
                at: self.at(),
                path: self.path(),
                key: key(),
                known: T::FIELDS,
                read_as,
            };
            self.unknown.get_or_insert_default().push(unknown);
        }
        Ok(())
    }
}

/// How many unknown keys of one blob are noted.
const MOST: usize = 1000;
