//! Decodes the parts of a review that something reads, from bytes to JSON.
//!
//! Go reads JSON of any depth up to 10,000, and the last of several equal keys counts. This decoder
//! does the same. Values that `keep` does not name are skipped without being kept, however deep or
//! wide they are.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::alike::ask_alike;
use crate::keep::{CONDITIONS, EntryRoom, Keep, KeptObject, OTHERS, Others, REVIEW};
use crate::kept::KeptValue;
use olmguard_catalog::json::Json;

/// The kept part of a body, and the result of comparing both filters.
#[derive(Debug)]
pub(super) struct DecodedBody<'de> {
    pub(super) review: KeptValue<'de>,
    pub(super) filters: Filters,
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
    let mut kept = FilterProgress::default();
    let mut reader = serde_json::Deserializer::from_str(body);
    let review = ValueReader {
        keep: &REVIEW,
        kept: &mut kept,
    };
    let read = review.deserialize(&mut reader);
    let read = read.and_then(|review| reader.end().map(|()| review));
    Ok(DecodedBody {
        review: read.map_err(|error| ReviewError::Json(error.to_string()))?,
        filters: match kept.cut() {
            (false, false) => Filters::Comparable,
            (true, true) if ask_alike(body) => Filters::Alike,
            _ => Filters::Different,
        },
    })
}

/// Reads one value.
struct ValueReader<'r> {
    keep: &'static Keep,
    kept: &'r mut FilterProgress,
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = KeptValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<KeptValue<'de>, D::Error> {
        let keep = match self.keep {
            Keep::Whole => {
                let whole: &RawValue = Deserialize::deserialize(reader)?;
                return Ok(KeptValue::Whole(whole.get()));
            }
            Keep::Object(object, keep) => {
                self.kept.begin(*object);
                keep
            }
            Keep::Filter(keep) => {
                self.kept.begin_filter();
                keep
            }
            keep => keep,
        };
        reader.deserialize_any(ValueReader { keep, ..self })
    }
}

impl<'de> Visitor<'de> for ValueReader<'_> {
    type Value = KeptValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<KeptValue<'de>, E> {
        Ok(KeptValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<KeptValue<'de>, E> {
        Ok(KeptValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<KeptValue<'de>, E> {
        Ok(KeptValue::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<KeptValue<'de>, E> {
        Ok(KeptValue::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<KeptValue<'de>, E> {
        Ok(Number::from_f64(value).map_or(KeptValue::Null, KeptValue::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<KeptValue<'de>, E> {
        Ok(KeptValue::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<KeptValue<'de>, E> {
        Ok(KeptValue::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<KeptValue<'de>, A::Error> {
        let mut list = Vec::new();
        if let Keep::Items(keep, room) = self.keep {
            while self.kept.has_room(*room, list.len()) {
                let Some(item) = items.next_element_seed(self.below(keep))? else {
                    return Ok(KeptValue::List(list));
                };
                self.kept.count(*room);
                if *room != EntryRoom::Conditions || is_condition_read(&item, &list) {
                    list.push(item);
                }
            }
            if items.next_element::<IgnoredAny>()?.is_some() {
                self.kept.leave_out(*room);
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(KeptValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<KeptValue<'de>, A::Error> {
        match self.keep {
            Keep::Values(room) => self.values(entries, *room),
            Keep::Fields(fields, others) => self.fields(entries, fields, *others),
            _ => self.fields(entries, &[], Others::PassedOver),
        }
    }
}

impl ValueReader<'_> {
    /// The reader of a value in this one.
    fn below(&mut self, keep: &'static Keep) -> ValueReader<'_> {
        ValueReader {
            keep,
            kept: self.kept,
        }
    }

    /// Reads the entries of a map whose keys are known. Of equal keys, the last counts.
    fn fields<'de, A: MapAccess<'de>>(
        mut self,
        mut entries: A,
        fields: &'static [(&'static str, Keep)],
        others: Others,
    ) -> Result<KeptValue<'de>, A::Error> {
        let mut map: Vec<(Cow<'de, str>, _)> = Vec::with_capacity(fields.len());
        let mut room_for_others = match others {
            Others::Named => OTHERS,
            Others::PassedOver => 0,
        };
        while let Some(BorrowedText(key)) = entries.next_key()? {
            let (key, keep) = match fields.iter().find(|(name, _)| *name == key) {
                Some((name, keep)) => (Cow::Borrowed(*name), keep),
                None if room_for_others > 0 => {
                    room_for_others -= 1;
                    (key, &Keep::Leaf)
                }
                None => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = entries.next_value_seed(self.below(keep))?;
            match map.iter_mut().find(|(known, _)| *known == key) {
                Some((_, earlier)) => *earlier = value,
                None => map.push((key, value)),
            }
        }
        Ok(KeptValue::Map(map))
    }

    /// Reads the entries of a map with arbitrary keys. Of equal keys, the last counts.
    fn values<'de, A: MapAccess<'de>>(
        mut self,
        mut entries: A,
        room: EntryRoom,
    ) -> Result<KeptValue<'de>, A::Error> {
        let mut map = BTreeMap::new();
        let mut count = 0;
        while let Some(BorrowedText(key)) = entries.next_key()? {
            if self.kept.has_room(room, count) {
                self.kept.count(room);
                count += 1;
                map.insert(key, entries.next_value_seed(self.below(&Keep::Leaf))?);
            } else {
                self.kept.leave_out(room);
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(KeptValue::Map(map.into_iter().collect()))
    }
}

/// Whether a condition is the first of a type that is read.
fn is_condition_read(condition: &KeptValue<'_>, earlier: &[KeptValue<'_>]) -> bool {
    let kind = condition.get("type").and_then(Json::as_str);
    let is_same = |earlier: &KeptValue<'_>| earlier.get("type").and_then(Json::as_str) == kind;
    kind.is_some_and(|kind| CONDITIONS.contains(&kind)) && !earlier.iter().any(is_same)
}

/// A text that is borrowed if nothing is escaped in it.
#[derive(Deserialize)]
pub(super) struct BorrowedText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

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
        let kept = match room {
            EntryRoom::Filter => self.entries,
            EntryRoom::Conditions | EntryRoom::Subject => beside,
        };
        kept < room.most()
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
