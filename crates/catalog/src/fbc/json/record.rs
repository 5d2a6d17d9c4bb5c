//! JSON objects read into structs, with Go's rules for which key means which field.
//!
//! catalogd decodes an object into a map and writes it again with sorted keys, so of equal keys
//! the last one counts. operator-controller then decodes the result into a struct, where a key
//! means a field also without regard to case, and a later one in byte order overrides an earlier
//! one unless it is null. Nearly every object spells its keys as the struct does, and each once;
//! only for others is the order worked out.
//!
//! Not followed: objects and lists under two spellings of one key, which Go would merge.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::cursor::{Cursor, CursorResult};
use super::key::{Fold, Key, field_of, fold_of};
use super::string::RawString;
use crate::blob::JsonKind;
use crate::heap::allocated;

/// A struct that an object is read into.
pub trait Record<'a>: Default {
    /// The names of its fields.
    const FIELDS: &'static [&'static str];

    /// Reads the value of `FIELDS[index]`.
    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()>;

    /// Whether these are all fields of the Go struct, so that any other key has no effect.
    const IS_WHOLE: bool = false;

    /// Whether null is a value of `FIELDS[index]` like any other (Go's `json.RawMessage`). In
    /// other fields it leaves the value of an earlier spelling of the key as it is.
    fn takes_null(_index: usize) -> bool {
        false
    }
}

impl<'a> Cursor<'a> {
    /// Reads an object; null is the struct's default, another type a fault.
    pub(crate) fn record<T: Record<'a>>(&mut self) -> CursorResult<T> {
        let found = self.kind()?;
        if found != JsonKind::Object {
            self.skip_instead(found, "an object")?;
            return Ok(T::default());
        }
        let (start, depth, fault) = (self.at(), self.depth(), self.take_fault());
        self.set_fault(fault.clone());
        if let Some(record) = self.exact_record()? {
            return Ok(record);
        }
        self.set_fault(fault);
        self.back_to(start, depth);
        self.folded_record()
    }

    /// Reads an object from its first byte, if it spells all fields as `T` does, each once.
    fn exact_record<T: Record<'a>>(&mut self) -> CursorResult<Option<T>> {
        let mut record = T::default();
        let mut read = 0_u32;
        let mut seen = 0;
        self.enter()?;
        while self.has_item(seen, b'}')? {
            seen += 1;
            let key = Key::of(self.member_key()?);
            match key.field_of(T::FIELDS) {
                Some((index, name, Fold::Exact)) if read & 1 << index == 0 => {
                    read |= 1 << index;
                    self.within(name, |cursor| record.read(index, cursor))?;
                }
                Some(_) => return Ok(None),
                None => {
                    self.note_unknown::<T>(None, || key.decode())?;
                    self.skip()?;
                }
            }
        }
        Ok(Some(record))
    }

    /// Reads an object from its first byte, field after field in the order of its sorted keys.
    fn folded_record<T: Record<'a>>(&mut self) -> CursorResult<T> {
        let mut record = T::default();
        let members = self.members()?;
        let (end, depth) = (self.at(), self.depth());
        for (key, at) in members {
            let field = field_of(T::FIELDS, |name| fold_of(&key, name));
            self.back_to(at, depth + 1);
            let meant = field.map(|(_, name, _)| name);
            if meant != Some(&key) {
                self.note_unknown::<T>(meant, || key.clone())?;
            }
            let Some((index, name, _)) = field else {
                continue;
            };
            if self.kind()? != JsonKind::Null || T::takes_null(index) {
                self.within(name, |cursor| record.read(index, cursor))?;
            }
        }
        self.back_to(end, depth);
        Ok(record)
    }

    /// Steps over an object; where the value of each key begins, of equal keys the last one's.
    fn members(&mut self) -> CursorResult<BTreeMap<Cow<'a, str>, usize>> {
        let mut members = BTreeMap::new();
        let mut seen = 0;
        self.enter()?;
        while self.has_item(seen, b'}')? {
            seen += 1;
            let key = self.member_key()?.decode();
            self.keep()?;
            self.hold(MEMBER + allocated(key.len()))?;
            members.insert(key, self.at());
            self.skip()?;
        }
        Ok(members)
    }

    /// Reads a key and its colon.
    pub(super) fn member_key(&mut self) -> CursorResult<RawString<'a>> {
        if self.next_byte()? != b'"' {
            return self.unexpected("a key in quotes");
        }
        let key = self.string()?;
        if self.next_byte()? != b':' {
            return self.unexpected("a colon after a key");
        }
        self.advance(1);
        Ok(key)
    }

    /// Reads the members of an object from its first byte, key by key.
    pub fn each_member(
        &mut self,
        mut member: impl FnMut(&mut Self, Key<'a>) -> CursorResult<()>,
    ) -> CursorResult<()> {
        let mut seen = 0;
        self.enter()?;
        while self.has_item(seen, b'}')? {
            seen += 1;
            let key = Key::of(self.member_key()?);
            member(self, key)?;
        }
        Ok(())
    }

    fn back_to(&mut self, at: usize, depth: usize) {
        self.go_to(at);
        self.set_depth(depth);
    }
}

/// A member in a map whose nodes are at least five elevenths full.
const MEMBER: usize = 3 * size_of::<(Cow<'static, str>, usize)>();
