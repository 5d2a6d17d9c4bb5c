//! Decodes the parts of a review that something reads, from bytes to JSON.
//!
//! Go reads JSON of any depth up to 10,000, and the last of several equal keys counts. This decoder
//! does the same. Values that `keep` does not name are skipped without being kept, however deep or
//! wide they are.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::alike::ask_alike;
use crate::keep::{
    CONDITIONS, EntryRoom, FILTER, Keep, KeptObject, OTHERS, Others, REVIEW, SUBJECT,
};
use crate::node::{Node, NodeContent, NodeList};

/// The kept part of a body, and the result of comparing both filters.
#[derive(Debug)]
pub(super) struct DecodedBody<'de> {
    nodes: NodeList<'de>,
    pub(super) filters: Filters,
}

impl<'de> DecodedBody<'de> {
    /// The review.
    pub(super) fn review(&self) -> Node<'_, 'de> {
        self.nodes.root().expect("a body that was read is a value")
    }
}

/// Whether the filters of both objects can be compared by their kept parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Filters {
    /// Both filters were kept whole.
    Comparable,
    /// Both filters have more entries than are kept, and the same ones.
    Alike,
    /// One or both filters have more entries than are kept, and the entries are not the same.
    Different,
}

/// Decodes the body of a request.
pub(super) fn decode(body: &[u8]) -> Result<DecodedBody<'_>, ReviewError> {
    let body = text(body)?;
    let mut reading = Reading {
        nodes: NodeList::new(),
        kept: FilterProgress::default(),
    };
    let mut reader = serde_json::Deserializer::from_str(body);
    let read = reading.value(&REVIEW, NO_KEY).deserialize(&mut reader);
    let read = read.and_then(|()| reader.end());
    read.map_err(|error| ReviewError::Json(error.to_string()))?;
    Ok(DecodedBody {
        nodes: reading.nodes,
        filters: match reading.kept.cut() {
            (false, false) => Filters::Comparable,
            (true, true) if ask_alike(body) => Filters::Alike,
            _ => Filters::Different,
        },
    })
}

/// The state of decoding so far.
#[derive(Debug)]
struct Reading<'de> {
    nodes: NodeList<'de>,
    kept: FilterProgress,
}

impl<'de> Reading<'de> {
    fn value(&mut self, keep: &'static Keep, key: Cow<'de, str>) -> ValueReader<'_, 'de> {
        ValueReader {
            keep,
            key,
            reading: self,
        }
    }
}

/// Reads one value.
struct ValueReader<'r, 'de> {
    keep: &'static Keep,
    key: Cow<'de, str>,
    reading: &'r mut Reading<'de>,
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let keep = match self.keep {
            Keep::Whole => {
                let whole: &RawValue = Deserialize::deserialize(reader)?;
                self.reading
                    .nodes
                    .add(self.key, NodeContent::Whole(whole.get()));
                return Ok(());
            }
            Keep::Object(object, keep) => {
                self.reading.kept.begin(*object);
                keep
            }
            Keep::Filter(keep) => {
                self.reading.kept.begin_filter();
                keep
            }
            keep => keep,
        };
        reader.deserialize_any(ValueReader { keep, ..self })
    }
}

impl<'de> Visitor<'de> for ValueReader<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.leaf(NodeContent::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.leaf(NodeContent::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.leaf(NodeContent::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.leaf(NodeContent::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.leaf(Number::from_f64(value).map_or(NodeContent::Null, NodeContent::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        self.leaf(NodeContent::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.leaf(NodeContent::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let reading = self.reading;
        let list = reading.nodes.add(self.key, NodeContent::List);
        if let Keep::Items(keep, room) = self.keep {
            let mut count = 0;
            while reading.kept.has_room(*room, count) {
                let item = reading.value(keep, NO_KEY);
                if items.next_element_seed(item)?.is_none() {
                    reading.nodes.end(list);
                    return Ok(());
                }
                reading.kept.count(*room);
                count += 1;
            }
            if items.next_element::<IgnoredAny>()?.is_some() {
                reading.kept.leave_out(*room);
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        reading.nodes.end(list);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        let map = self.reading.nodes.add(self.key, NodeContent::Map);
        match self.keep {
            Keep::Values(room) => self.reading.values(map, entries, *room)?,
            keep => self.reading.fields(map, entries, keep)?,
        }
        self.reading.nodes.end(map);
        Ok(())
    }
}

impl<'de> ValueReader<'_, 'de> {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the methods of a visitor return it"
    )]
    fn leaf<E>(self, content: NodeContent<'de>) -> Result<(), E> {
        self.reading.nodes.add(self.key, content);
        Ok(())
    }
}

impl<'de> Reading<'de> {
    /// Reads the entries of a map whose keys are known.
    fn fields<A: MapAccess<'de>>(
        &mut self,
        map: usize,
        mut entries: A,
        keep: &'static Keep,
    ) -> Result<(), A::Error> {
        let mut seen = SeenFields::default();
        let mut others = 0;
        while let Some(key) = entries.next_key_seed(KeyReader(keep))? {
            let (name, keep, earlier) = match key {
                KeyMeaning::Field(number, name, keep) => {
                    let is_again = seen.see(number);
                    let earlier = is_again.then(|| self.nodes.find(map, name)).flatten();
                    (Cow::Borrowed(name), keep, earlier)
                }
                KeyMeaning::Other(name) if others < OTHERS => {
                    others += 1;
                    let earlier = self.nodes.find(map, &name);
                    (name, &Keep::Leaf, earlier)
                }
                KeyMeaning::Other(_) | KeyMeaning::Nothing => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let place = self.nodes.len();
            entries.next_value_seed(self.value(keep, name))?;
            if let Some(earlier) = earlier {
                self.nodes.replace(earlier, place);
            }
        }
        Ok(())
    }

    /// Reads the entries of a map with arbitrary keys.
    fn values<A: MapAccess<'de>>(
        &mut self,
        map: usize,
        mut entries: A,
        room: EntryRoom,
    ) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(BorrowedText(key)) = entries.next_key()? {
            if self.kept.has_room(room, count) {
                self.kept.count(room);
                count += 1;
                entries.next_value_seed(self.value(&Keep::Leaf, key))?;
            } else {
                self.kept.leave_out(room);
                entries.next_value::<IgnoredAny>()?;
            }
        }
        self.nodes.sort(map);
        Ok(())
    }
}

/// The key of a value that is not in a map.
const NO_KEY: Cow<'static, str> = Cow::Borrowed("");

// === The keys of maps, and the fields they stand for ===

/// The fields of a map that were seen so far, as a bit set of their numbers.
#[derive(Debug, Default)]
struct SeenFields(u32);

impl SeenFields {
    /// Marks a field as seen. Returns whether it was seen before.
    fn see(&mut self, number: usize) -> bool {
        let before = self.0;
        self.0 |= 1 << number;
        self.0 == before
    }
}

/// A text that is borrowed if nothing is escaped in it.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads a key of a map, given what is kept of the map.
struct KeyReader(&'static Keep);

/// The meaning of a key.
enum KeyMeaning<'de> {
    /// A known field: its number, its name, and the part of it that is kept.
    Field(usize, &'static str, &'static Keep),
    Other(Cow<'de, str>),
    Nothing,
}

impl KeyReader {
    /// Returns the meaning of a key; `None` if the key is not known and its name must be kept.
    fn found(&self, key: &str) -> Option<KeyMeaning<'static>> {
        let Keep::Fields(fields, others) = self.0 else {
            return Some(KeyMeaning::Nothing);
        };
        let mut known = fields.iter().enumerate();
        let known = known.find(|(_, (name, _))| *name == key);
        match (known, others) {
            (Some((number, (name, keep))), _) => Some(KeyMeaning::Field(number, name, keep)),
            (None, Others::Named) => None,
            (None, Others::PassedOver) => Some(KeyMeaning::Nothing),
        }
    }
}

impl<'de> DeserializeSeed<'de> for KeyReader {
    type Value = KeyMeaning<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<KeyMeaning<'de>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeyReader {
    type Value = KeyMeaning<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<KeyMeaning<'de>, E> {
        Ok(self
            .found(key)
            .unwrap_or(KeyMeaning::Other(Cow::Borrowed(key))))
    }

    fn visit_str<E>(self, key: &str) -> Result<KeyMeaning<'de>, E> {
        let named = || KeyMeaning::Other(Cow::Owned(key.to_owned()));
        Ok(self.found(key).unwrap_or_else(named))
    }
}

// === The kept parts of the filters so far ===

/// The state of the filters while a body is read.
#[derive(Debug, Default)]
struct FilterProgress {
    /// The object that is being read. `entries` counts the kept entries of its filter.
    object: Option<KeptObject>,
    entries: usize,
    new_is_cut: bool,
    old_is_cut: bool,
}

impl FilterProgress {
    fn begin(&mut self, object: KeptObject) {
        self.object = Some(object);
        self.begin_filter();
    }

    /// Discards the count of the object's filter, because a repeated key replaces what was kept so
    /// far.
    fn begin_filter(&mut self) {
        self.entries = 0;
        self.set_cut(false);
    }

    /// Whether one more entry fits, given that `beside` entries of the same list or map are kept.
    fn has_room(&self, room: EntryRoom, beside: usize) -> bool {
        match room {
            EntryRoom::Filter => self.entries < FILTER,
            EntryRoom::Conditions => beside < CONDITIONS,
            EntryRoom::Subject => beside < SUBJECT,
        }
    }

    fn count(&mut self, room: EntryRoom) {
        if room == EntryRoom::Filter {
            self.entries += 1;
        }
    }

    /// Records that an entry was omitted.
    fn leave_out(&mut self, room: EntryRoom) {
        if room == EntryRoom::Filter {
            self.set_cut(true);
        }
    }

    /// Whether entries were omitted from the filter of the new object, and of the old one.
    fn cut(&self) -> (bool, bool) {
        (self.new_is_cut, self.old_is_cut)
    }

    fn set_cut(&mut self, is_cut: bool) {
        match self.object {
            Some(KeptObject::New) => self.new_is_cut = is_cut,
            Some(KeptObject::Old) => self.old_is_cut = is_cut,
            None => {}
        }
    }
}

// === The body of a request as text: the rules of RFC 8259 for JSON texts, except the grammar ===

/// Returns the body as text.
pub(super) fn text(body: &[u8]) -> Result<&str, ReviewError> {
    if body.is_empty() {
        return Err(ReviewError::Empty);
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        return Err(ReviewError::ByteOrderMark);
    }
    let text = std::str::from_utf8(body).map_err(|error| ReviewError::NotUtf8 {
        at: error.valid_up_to(),
    })?;
    match memchr::memchr(0, body) {
        Some(at) => Err(ReviewError::Nul { at }),
        None => Ok(text),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

// === Reasons why a body is not a review that can be answered ===

/// The reason why a body is not a review that can be answered. Each error text is one line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReviewError {
    /// The body is empty.
    #[error("not an AdmissionReview: the body is empty: expected JSON")]
    Empty,
    /// The body starts with a byte order mark.
    #[error(
        "not an AdmissionReview: the body begins with a byte order mark: expected JSON in UTF-8 without one"
    )]
    ByteOrderMark,
    /// The body is not UTF-8.
    #[error(
        "not an AdmissionReview: the body is not UTF-8 from byte {at} on: expected JSON in UTF-8"
    )]
    NotUtf8 {
        /// The offset of the first invalid byte.
        at: usize,
    },
    /// The body contains a byte that is 0.
    #[error("not an AdmissionReview: byte {at} of the body is 0: expected JSON in UTF-8")]
    Nul {
        /// The offset of the byte.
        at: usize,
    },
    /// The body is not JSON.
    #[error("not an AdmissionReview: not JSON: {0}: expected one value as in RFC 8259")]
    Json(String),
    /// A field is missing or has a value that its API does not accept.
    #[error("not an AdmissionReview: {field} is {found}: expected {expected}")]
    Field {
        /// The path of the field.
        field: &'static str,
        /// The JSON type of the value, or the value in quotes.
        found: String,
        /// The value that the API accepts.
        expected: &'static str,
    },
}

// === One line of a text in an object, with a caret below the invalid place ===

/// Returns the line that contains byte `at` of the text of a field such as
/// `spec.rules.windows[0].timeZone`, with a caret below that byte. `None` if the field has no text.
pub(super) fn pointed_at(object: &Value, path: &str, at: usize) -> Option<String> {
    let text = value(object, path)?.as_str()?;
    let at = text.floor_char_boundary(at);
    let (before, after) = text.split_at_checked(at)?;
    let before: Vec<char> = before.rsplit('\n').next()?.chars().collect();
    let shown = before.len().min(BESIDE);
    let skipped = before.get(before.len() - shown..)?;
    let rest = after.split('\n').next()?.chars().take(BESIDE);
    let line: String = skipped.iter().copied().chain(rest).map(printable).collect();
    Some(format!("  {line}\n  {}^", " ".repeat(shown)))
}

/// Returns the value of a field.
fn value<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let mut steps = path.split(['.', '[']).filter(|step| !step.is_empty());
    steps.try_fold(object, |value, step| match step.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(step),
    })
}

/// Replaces a character by one that is printable. The length stays the same, so the caret is below
/// its place.
fn printable(character: char) -> char {
    if character.is_control() || is_invisible(character) {
        ' '
    } else {
        character
    }
}

/// Whether the character changes the text direction, or has no width.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

/// The number of characters that are shown on each side of the place.
const BESIDE: usize = 60;
