//! Reads JSON as Go's `encoding/json` does: strictly, and in one pass over bytes.
//!
//! A [`Cursor`] checks every byte that it passes, in skipped values too. So a text that was read to
//! its end is JSON. It differs from RFC 8259 where Go does: strings may have bytes that are not
//! UTF-8, and there can be at most `DEPTH_LIMIT` levels of nesting.
//!
//! The text may be the start of one that is still being read. If it ends too early, the result is
//! [`Halt::Incomplete`], never a fault.

mod cursor;
mod string;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::blob::JsonKind;
use crate::fbc::FbcErrorKind;
use crate::memory::allocated;

pub use crate::fbc::json::cursor::{Cursor, CursorResult, Halt, ITEM_LIMIT, skip_space};

pub(crate) use crate::fbc::json::string::{RawString, plain_run};

// === Values of any type, as catalogd holds them after it has decoded a blob and re-encoded it ===
//
// If keys are equal, the last one counts. Numbers are Go's `float64`. This is for blobs that are
// small and rare. Levels that are too deep for their schemas are dropped.

impl Cursor<'_> {
    /// Re-encodes the value that starts at `start`, with sorted keys and without white space.
    pub(crate) fn rewritten(&mut self, start: usize) -> CursorResult<String> {
        let value = self.revisit(start, |cursor| cursor.value(LEVELS))?;
        // Escapes make the text at most six times as long, and it exists twice while it grows.
        self.hold(allocated(12 * self.since(start).len()))?;
        Ok(value.to_string())
    }

    fn value(&mut self, levels: usize) -> CursorResult<Value> {
        match self.kind()? {
            JsonKind::Object | JsonKind::List if levels == 0 => self.skip().map(|()| Value::Null),
            JsonKind::Object => self.object(levels - 1),
            JsonKind::List => {
                let items = self.list(|cursor| cursor.value(levels - 1))?;
                Ok(Value::Array(items))
            }
            JsonKind::String => {
                let text = self.string()?.decode();
                self.hold(allocated(text.len()))?;
                Ok(Value::String(text.into_owned()))
            }
            JsonKind::Number => Ok(number(self.number()?)),
            JsonKind::Boolean => self.boolean().map(Value::Bool),
            JsonKind::Null => self.skip().map(|()| Value::Null),
        }
    }

    fn object(&mut self, levels: usize) -> CursorResult<Value> {
        let mut object = Map::new();
        self.hold(NODE)?;
        self.each_member(|cursor, key| {
            let key = key.decode();
            cursor.keep()?;
            cursor.hold(VALUE_MEMBER + allocated(key.len()))?;
            object.insert(key.into_owned(), cursor.value(levels)?);
            Ok(())
        })?;
        Ok(Value::Object(object))
    }
}

/// Reads a number as Go's `float64`. The reader has already rejected numbers outside its range.
fn number(text: &str) -> Value {
    let float = text.parse::<f64>().unwrap_or_default();
    let whole = (float.fract() == 0.0).then(|| format!("{float:.0}").parse::<i64>());
    match whole {
        Some(Ok(whole)) => Value::from(whole),
        _ => Number::from_f64(float).map_or(Value::Null, Value::Number),
    }
}

/// Memory of a node in the map of an object: eleven members.
const NODE: usize = allocated(11 * size_of::<(String, Value)>() + 16);

/// Memory of a member in a map whose nodes are at least five elevenths full.
const VALUE_MEMBER: usize = 3 * size_of::<(String, Value)>();

/// Maximum number of levels of a value that are kept. The blobs that are read in this way have
/// four.
const LEVELS: usize = 8;

// === JSON objects read into structs, with Go's rules for matching keys to fields ===
//
// catalogd decodes an object into a map and encodes it again with sorted keys, so the last of equal
// keys counts. operator-controller then decodes the result into a struct. A key also matches a
// field if it differs only in case. A key that is later in byte order overrides an earlier one
// unless its value is null. Nearly every object spells its keys as the struct does, each once; the
// order is determined only for the others.
//
// Not mirrored: Go would merge objects and lists under two spellings of one key.

/// A struct that an object can be read into.
pub trait JsonRecord<'a>: Default {
    /// The names of its fields.
    const FIELDS: &'static [&'static str];

    /// Reads the value of `FIELDS[index]`.
    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()>;

    /// Whether these are all fields of the Go struct, so that any other key has no effect.
    const IS_WHOLE: bool = false;

    /// Whether null is an ordinary value of `FIELDS[index]` (Go's `json.RawMessage`). In other
    /// fields, null keeps the value of an earlier spelling of the key.
    fn takes_null(_index: usize) -> bool {
        false
    }
}

impl<'a> Cursor<'a> {
    /// Reads an object. Null gives the default, and another type is a fault.
    pub(crate) fn record<T: JsonRecord<'a>>(&mut self) -> CursorResult<T> {
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

    /// Reads an object from its first byte, if it spells all fields exactly as `T` does, each once.
    fn exact_record<T: JsonRecord<'a>>(&mut self) -> CursorResult<Option<T>> {
        let mut record = T::default();
        let mut read = 0_u32;
        let mut seen = 0;
        self.enter()?;
        while self.has_item(seen, b'}')? {
            seen += 1;
            let key = JsonKey::of(self.member_key()?);
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

    /// Reads an object from its first byte, in the order of its sorted keys.
    fn folded_record<T: JsonRecord<'a>>(&mut self) -> CursorResult<T> {
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

    /// Skips an object. Returns the start of the value of each key; if keys are equal, of the last
    /// one.
    fn members(&mut self) -> CursorResult<BTreeMap<Cow<'a, str>, usize>> {
        let mut members = BTreeMap::new();
        self.each_member(|cursor, key| {
            let key = key.decode();
            cursor.keep()?;
            cursor.hold(MEMBER + allocated(key.len()))?;
            members.insert(key, cursor.at());
            cursor.skip()
        })?;
        Ok(members)
    }

    /// Reads a key and its colon.
    fn member_key(&mut self) -> CursorResult<RawString<'a>> {
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
        mut member: impl FnMut(&mut Self, JsonKey<'a>) -> CursorResult<()>,
    ) -> CursorResult<()> {
        let mut seen = 0;
        self.enter()?;
        while self.has_item(seen, b'}')? {
            seen += 1;
            let key = JsonKey::of(self.member_key()?);
            member(self, key)?;
        }
        Ok(())
    }

    fn back_to(&mut self, at: usize, depth: usize) {
        self.go_to(at);
        self.set_depth(depth);
    }
}

/// Memory of a member in a map whose nodes are at least five elevenths full.
const MEMBER: usize = 3 * size_of::<(Cow<'static, str>, usize)>();

/// A key as written.
#[derive(Clone, Copy, Debug)]
pub struct JsonKey<'a> {
    raw: RawString<'a>,
    /// The key, if it has no escapes and is ASCII, as nearly all keys are.
    ascii: Option<&'a [u8]>,
}

/// The relation of a key to the name of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fold {
    /// The key is exactly the name.
    Exact,
    /// The key is another spelling of the name.
    Other,
}

/// The field that a key matches: index, name, and how the key spells it.
type FieldOf = (usize, &'static str, Fold);

impl<'a> JsonKey<'a> {
    fn of(raw: RawString<'a>) -> Self {
        let ascii = raw.plain().filter(|key| key.is_ascii());
        Self { raw, ascii }
    }

    /// Returns the decoded key.
    pub fn decode(&self) -> Cow<'a, str> {
        self.raw.decode()
    }

    /// Whether the key matches the field with this name, which must be ASCII.
    pub fn fold(&self, name: &str) -> Option<Fold> {
        match self.ascii {
            Some(key) => fold_ascii(key, name),
            None => fold_of(&self.decode(), name),
        }
    }

    /// The field that the key matches.
    fn field_of(&self, fields: &[&'static str]) -> Option<FieldOf> {
        field_of(fields, |name| self.fold(name))
    }
}

/// The field that a key matches.
fn field_of(fields: &[&'static str], fold: impl Fn(&str) -> Option<Fold>) -> Option<FieldOf> {
    let mut folded = None;
    for (index, &name) in fields.iter().enumerate() {
        match fold(name) {
            Some(Fold::Exact) => return Some((index, name, Fold::Exact)),
            Some(Fold::Other) => folded = Some((index, name, Fold::Other)),
            None => {}
        }
    }
    folded
}

/// Whether a key matches the field with this name, which must be ASCII.
///
/// Two letters outside ASCII fold to ASCII letters: U+017F (long s) and U+212A (Kelvin sign).
pub fn fold_of(key: &str, name: &str) -> Option<Fold> {
    if key.is_ascii() {
        return fold_ascii(key.as_bytes(), name);
    }
    let letters = key.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    });
    letters
        .eq(name.chars().map(|letter| letter.to_ascii_lowercase()))
        .then_some(Fold::Other)
}

#[inline]
fn fold_ascii(key: &[u8], name: &str) -> Option<Fold> {
    let name = name.as_bytes();
    if key == name {
        return Some(Fold::Exact);
    }
    key.eq_ignore_ascii_case(name).then_some(Fold::Other)
}

// === JSON numbers: their grammar, and whether they fit a 64-bit float ===
//
// catalogd reads every number into a float, so a number outside its range makes the catalog
// unreadable.

impl<'a> Cursor<'a> {
    /// Skips a number and returns its text.
    ///
    /// Only the byte after a number ends it, so a number at the end of the text is incomplete.
    pub(crate) fn number(&mut self) -> CursorResult<&'a str> {
        let start = self.at();
        if self.byte()? == b'-' {
            self.advance(1);
        }
        match self.byte()? {
            b'0' => self.advance(1),
            _ => self.digits()?,
        }
        if self.byte()? == b'.' {
            self.advance(1);
            self.digits()?;
        }
        if matches!(self.byte()?, b'e' | b'E') {
            self.advance(1);
            if matches!(self.byte()?, b'+' | b'-') {
                self.advance(1);
            }
            self.digits()?;
        }
        let text = str::from_utf8(self.since(start)).unwrap_or_default();
        if is_out_of_range(text) {
            return self.malformed_at(start, FbcErrorKind::NumberRange);
        }
        Ok(text)
    }

    /// Skips at least one digit.
    fn digits(&mut self) -> CursorResult<()> {
        let count = self
            .rest()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        if count == 0 {
            return self.unexpected("a digit");
        }
        self.advance(count);
        if self.rest().is_empty() {
            return Err(Halt::Incomplete);
        }
        Ok(())
    }
}

/// Whether a number is outside the range of a float. Short numbers without an exponent never are.
fn is_out_of_range(text: &str) -> bool {
    (text.len() > 300 || text.contains(['e', 'E']))
        && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

// === Keys that are not fields of a struct: Go ignores them silently, so a misspelt edge is not an
// edge ===

/// A key that is not the name of a field.
#[derive(Clone, Debug)]
pub struct IgnoredKey<'a> {
    /// Start of the value, in bytes.
    pub at: usize,
    /// The object with the key, such as `entries[2]`; empty for the blob itself.
    pub path: Box<str>,
    /// The key.
    pub key: Cow<'a, str>,
    /// The fields of the object.
    pub known: &'static [&'static str],
    /// The field that Go reads the key as, because it differs only in case.
    pub read_as: Option<&'static str>,
}

impl<'a> Cursor<'a> {
    /// Records unknown keys from here on.
    pub(in crate::fbc) fn want_unknown(&mut self) {
        self.unknown = Some(Vec::new());
    }

    /// Takes the recorded unknown keys, in order. An object that was read twice has each key once.
    pub(in crate::fbc) fn take_unknown(&mut self) -> Vec<IgnoredKey<'a>> {
        let mut unknown = self.unknown.take().unwrap_or_default();
        unknown.sort_by_key(|key| key.at);
        unknown.dedup_by_key(|key| key.at);
        unknown
    }

    /// Records a key of the current object, before its value.
    fn note_unknown<T: JsonRecord<'a>>(
        &mut self,
        read_as: Option<&'static str>,
        key: impl FnOnce() -> Cow<'a, str>,
    ) -> CursorResult<()> {
        let noted = self.unknown.as_ref().map_or(MOST, Vec::len);
        if T::IS_WHOLE && noted < MOST {
            self.kind()?;
            let unknown = IgnoredKey {
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

/// Maximum number of unknown keys of one blob that are recorded.
const MOST: usize = 1000;

#[cfg(test)]
mod tests;
