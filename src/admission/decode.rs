//! From bytes to JSON: as much of a review as something reads.
//!
//! Go reads JSON of any depth up to 10,000, and of two equal keys the last one counts. So it is here;
//! what `keep` does not name is passed over without being kept, however deep or wide it is.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::admission::ReviewError;
use crate::admission::keep::{CONDITIONS, FILTER, Keep, OTHERS, Object, Others, REVIEW, Room};
use crate::admission::text::text;

/// What of a body is kept, and whether that is all of both filters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) review: Value,
    pub(super) extents: Extents,
}

/// Whether the filters of both objects were kept whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Extents {
    pub(super) new: Extent,
    pub(super) old: Extent,
}

/// Whether a filter was kept whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Extent {
    /// It was.
    Whole,
    /// It has more entries than are kept.
    Cut,
}

impl Extents {
    pub(super) const WHOLE: Self = Self {
        new: Extent::Whole,
        old: Extent::Whole,
    };
}

/// Reads the body of a request.
pub(super) fn decode(body: &[u8]) -> Result<Decoded, ReviewError> {
    let kept = Kept::default();
    let mut reader = serde_json::Deserializer::from_str(text(body)?);
    let review = kept.of(&REVIEW).deserialize(&mut reader);
    let review = review.and_then(|review| reader.end().map(|()| review));
    Ok(Decoded {
        review: review.map_err(|error| ReviewError::Json(error.to_string()))?,
        extents: Extents {
            new: kept.extent(Object::New),
            old: kept.extent(Object::Old),
        },
    })
}

/// What is known of the filters while a body is read.
#[derive(Debug, Default)]
struct Kept {
    /// The object that is read now, and how many entries of its filter are kept.
    object: Cell<Option<Object>>,
    entries: Cell<usize>,
    new_is_cut: Cell<bool>,
    old_is_cut: Cell<bool>,
}

impl Kept {
    fn of(&self, keep: &'static Keep) -> Reader<'_> {
        Reader { keep, kept: self }
    }

    fn begin(&self, object: Object) {
        self.object.set(Some(object));
        self.entries.set(0);
        self.is_cut(object).set(false);
    }

    /// Whether there is room for one more entry beside so many of the same list or map.
    fn has_room(&self, room: Room, beside: usize) -> bool {
        match room {
            Room::Filter => self.entries.get() < FILTER,
            Room::Conditions => beside < CONDITIONS,
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

    fn extent(&self, object: Object) -> Extent {
        if self.is_cut(object).get() {
            Extent::Cut
        } else {
            Extent::Whole
        }
    }

    fn is_cut(&self, object: Object) -> &Cell<bool> {
        match object {
            Object::New => &self.new_is_cut,
            Object::Old => &self.old_is_cut,
        }
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader<'k> {
    keep: &'static Keep,
    kept: &'k Kept,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        let Keep::Object(object, keep) = self.keep else {
            return reader.deserialize_any(self);
        };
        self.kept.begin(*object);
        reader.deserialize_any(self.kept.of(keep))
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        if let Keep::Items(keep, room) = self.keep {
            while self.kept.has_room(*room, values.len()) {
                let Some(value) = items.next_element_seed(self.kept.of(keep))? else {
                    return Ok(Value::Array(values));
                };
                self.kept.count(*room);
                values.push(value);
            }
            if items.next_element::<IgnoredAny>()?.is_some() {
                self.kept.leave_out(*room);
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut others = 0;
        while let Some(key) = entries.next_key_seed(Key(self.keep))? {
            match key {
                Found::Field(name, keep) => {
                    let value = entries.next_value_seed(self.kept.of(keep))?;
                    map.insert(name.to_owned(), value);
                }
                Found::Entry(name, keep, room) if self.kept.has_room(room, map.len()) => {
                    self.kept.count(room);
                    map.insert(name, entries.next_value_seed(self.kept.of(keep))?);
                }
                Found::Other(name) if others < OTHERS => {
                    others += 1;
                    map.insert(name, entries.next_value_seed(self.kept.of(&Keep::Leaf))?);
                }
                left_out => {
                    if let Found::Entry(_, _, room) = left_out {
                        self.kept.leave_out(room);
                    }
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// Reads a key of a map that is kept so.
struct Key(&'static Keep);

/// What a key stands for.
enum Found {
    Field(&'static str, &'static Keep),
    Entry(String, &'static Keep, Room),
    Other(String),
    Nothing,
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Found, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Found, E> {
        Ok(match self.0 {
            Keep::Fields(fields, others) => {
                let known = fields.iter().find(|(name, _)| *name == key);
                match (known, others) {
                    (Some((name, keep)), _) => Found::Field(name, keep),
                    (None, Others::Named) => Found::Other(key.to_owned()),
                    (None, Others::PassedOver) => Found::Nothing,
                }
            }
            Keep::Values(keep, room) => Found::Entry(key.to_owned(), keep, *room),
            Keep::Leaf | Keep::Items(..) | Keep::Object(..) => Found::Nothing,
        })
    }
}

#[cfg(test)]
mod tests;
