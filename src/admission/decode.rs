//! From bytes to JSON: as much of a review as something reads.
//!
//! Go reads JSON of any depth up to 10,000, and of two equal keys the last one counts. So it is here;
//! what `keep` does not name is passed over without being kept, however deep or wide it is.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Number;

use crate::admission::ReviewError;
use crate::admission::alike::ask_alike;
use crate::admission::keep::{
    CONDITIONS, FILTER, Keep, KeptObject, OTHERS, Others, REVIEW, Room, SUBJECT,
};
use crate::admission::node::{Map, Node};
use crate::admission::text::text;

/// What of a body is kept, and how both filters compare.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DecodedBody<'de> {
    pub(super) review: Node<'de>,
    pub(super) filters: Filters,
}

/// Whether the filters of both objects can be compared by what is kept of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Filters {
    /// Both were kept whole.
    Comparable,
    /// Both have more entries than are kept, and the same ones.
    Alike,
    /// One or both have more entries than are kept, and not the same ones.
    Different,
}

/// Reads the body of a request.
pub(super) fn decode(body: &[u8]) -> Result<DecodedBody<'_>, ReviewError> {
    let kept = FilterProgress::default();
    let body = text(body)?;
    let mut reader = serde_json::Deserializer::from_str(body);
    let review = kept.of(&REVIEW).deserialize(&mut reader);
    let review = review.and_then(|review| reader.end().map(|()| review));
    Ok(DecodedBody {
        review: review.map_err(|error| ReviewError::Json(error.to_string()))?,
        filters: match (kept.new_is_cut.get(), kept.old_is_cut.get()) {
            (false, false) => Filters::Comparable,
            (true, true) if ask_alike(body) => Filters::Alike,
            _ => Filters::Different,
        },
    })
}

/// What is known of the filters while a body is read.
#[derive(Debug, Default)]
struct FilterProgress {
    /// The object that is read now, and how many entries of its filter are kept.
    object: Cell<Option<KeptObject>>,
    entries: Cell<usize>,
    new_is_cut: Cell<bool>,
    old_is_cut: Cell<bool>,
}

impl FilterProgress {
    fn of(&self, keep: &'static Keep) -> Reader<'_> {
        Reader { keep, kept: self }
    }

    fn begin(&self, object: KeptObject) {
        self.object.set(Some(object));
        self.begin_filter();
    }

    /// What was kept of the object's filter so far does not count.
    fn begin_filter(&self) {
        self.entries.set(0);
        if let Some(object) = self.object.get() {
            self.is_cut(object).set(false);
        }
    }

    /// Whether there is room for one more entry beside so many of the same list or map.
    fn has_room(&self, room: Room, beside: usize) -> bool {
        match room {
            Room::Filter => self.entries.get() < FILTER,
            Room::Conditions => beside < CONDITIONS,
            Room::Subject => beside < SUBJECT,
        }
    }

    fn count(&self, room: Room) {
        if room == Room::Filter {
            self.entries.set(self.entries.get() + 1);
        }
    }

    /// An entry was left out.
    fn leave_out(&self, room: Room) {
        if let (Room::Filter, Some(object)) = (room, self.object.get()) {
            self.is_cut(object).set(true);
        }
    }

    fn is_cut(&self, object: KeptObject) -> &Cell<bool> {
        match object {
            KeptObject::New => &self.new_is_cut,
            KeptObject::Old => &self.old_is_cut,
        }
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader<'k> {
    keep: &'static Keep,
    kept: &'k FilterProgress,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Node<'de>, D::Error> {
        let keep = match self.keep {
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
        reader.deserialize_any(self.kept.of(keep))
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node<'de>, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node<'de>, E> {
        Ok(Number::from_f64(value).map_or(Node::Null, Node::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<'de>, A::Error> {
        let mut values = Vec::new();
        if let Keep::Items(keep, room) = self.keep {
            while self.kept.has_room(*room, values.len()) {
                let Some(value) = items.next_element_seed(self.kept.of(keep))? else {
                    return Ok(Node::List(values));
                };
                self.kept.count(*room);
                values.push(value);
            }
            if items.next_element::<IgnoredAny>()?.is_some() {
                self.kept.leave_out(*room);
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Node::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node<'de>, A::Error> {
        if let Keep::Values(keep, room) = self.keep {
            return self.values(entries, keep, *room);
        }
        let mut map = Map::with_capacity(self.keep.fields());
        let mut others = 0;
        while let Some(key) = entries.next_key_seed(Key(self.keep))? {
            match key {
                KeyMeaning::Field(name, keep) => {
                    let value = entries.next_value_seed(self.kept.of(keep))?;
                    map.set(Cow::Borrowed(name), value);
                }
                KeyMeaning::Other(name) if others < OTHERS => {
                    others += 1;
                    map.set(name, entries.next_value_seed(self.kept.of(&Keep::Leaf))?);
                }
                KeyMeaning::Other(_) | KeyMeaning::Nothing => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Node::Map(map))
    }
}

impl Reader<'_> {
    /// A map whose keys may be any.
    fn values<'de, A: MapAccess<'de>>(
        self,
        mut entries: A,
        keep: &'static Keep,
        room: Room,
    ) -> Result<Node<'de>, A::Error> {
        let mut values = Vec::new();
        while let Some(Text(key)) = entries.next_key()? {
            if self.kept.has_room(room, values.len()) {
                self.kept.count(room);
                values.push((key, entries.next_value_seed(self.kept.of(keep))?));
            } else {
                self.kept.leave_out(room);
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Node::Map(Map::of(values)))
    }
}

/// A text, which is borrowed where nothing is escaped in it.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads a key of a map that is kept so.
struct Key(&'static Keep);

/// What a key stands for.
enum KeyMeaning<'de> {
    Field(&'static str, &'static Keep),
    Other(Cow<'de, str>),
    Nothing,
}

impl Key {
    /// The field of this name; `None` where it is not known, and its name is to be kept.
    fn found(&self, key: &str) -> Option<KeyMeaning<'static>> {
        let Keep::Fields(fields, others) = self.0 else {
            return Some(KeyMeaning::Nothing);
        };
        let known = fields.iter().find(|(name, _)| *name == key);
        match (known, others) {
            (Some((name, keep)), _) => Some(KeyMeaning::Field(name, keep)),
            (None, Others::Named) => None,
            (None, Others::PassedOver) => Some(KeyMeaning::Nothing),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = KeyMeaning<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<KeyMeaning<'de>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
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

#[cfg(test)]
mod tests;
