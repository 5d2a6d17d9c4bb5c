//! From bytes to JSON: as much of a review as something reads.
//!
//! Go reads JSON of any depth up to 10,000, and of two equal keys the last one counts. So it is here;
//! what `keep` does not name is passed over without being kept, however deep or wide it is.

mod key;
mod progress;

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::admission::ReviewError;
use crate::admission::alike::ask_alike;
use crate::admission::keep::{Keep, OTHERS, REVIEW, Room};
use crate::admission::node::{Content, Node, Nodes};
use crate::admission::text::text;
use key::{Key, KeyMeaning, Seen, Text};
use progress::FilterProgress;

/// What of a body is kept, and how both filters compare.
#[derive(Debug)]
pub(super) struct DecodedBody<'de> {
    nodes: Nodes<'de>,
    pub(super) filters: Filters,
}

impl<'de> DecodedBody<'de> {
    /// The review.
    pub(super) fn review(&self) -> Node<'_, 'de> {
        self.nodes.root().expect("a body that was read is a value")
    }
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
    let body = text(body)?;
    let mut reading = Reading {
        nodes: Nodes::new(),
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

/// What was read so far.
#[derive(Debug)]
struct Reading<'de> {
    nodes: Nodes<'de>,
    kept: FilterProgress,
}

impl<'de> Reading<'de> {
    fn value(&mut self, keep: &'static Keep, key: Cow<'de, str>) -> Reader<'_, 'de> {
        Reader {
            keep,
            key,
            reading: self,
        }
    }
}

/// Reads one value.
struct Reader<'r, 'de> {
    keep: &'static Keep,
    key: Cow<'de, str>,
    reading: &'r mut Reading<'de>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let keep = match self.keep {
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
        reader.deserialize_any(Reader { keep, ..self })
    }
}

impl<'de> Visitor<'de> for Reader<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.leaf(Content::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.leaf(Content::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.leaf(Content::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.leaf(Content::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.leaf(Number::from_f64(value).map_or(Content::Null, Content::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        self.leaf(Content::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.leaf(Content::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let reading = self.reading;
        let list = reading.nodes.add(self.key, Content::List);
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
        let map = self.reading.nodes.add(self.key, Content::Map);
        match self.keep {
            Keep::Values(room) => self.reading.values(map, entries, *room)?,
            keep => self.reading.fields(map, entries, keep)?,
        }
        self.reading.nodes.end(map);
        Ok(())
    }
}

impl<'de> Reader<'_, 'de> {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the methods of a visitor return it"
    )]
    fn leaf<E>(self, content: Content<'de>) -> Result<(), E> {
        self.reading.nodes.add(self.key, content);
        Ok(())
    }
}

impl<'de> Reading<'de> {
    /// The entries of a map whose keys are known.
    fn fields<A: MapAccess<'de>>(
        &mut self,
        map: usize,
        mut entries: A,
        keep: &'static Keep,
    ) -> Result<(), A::Error> {
        let mut seen = Seen::default();
        let mut others = 0;
        while let Some(key) = entries.next_key_seed(Key(keep))? {
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

    /// The entries of a map whose keys may be any.
    fn values<A: MapAccess<'de>>(
        &mut self,
        map: usize,
        mut entries: A,
        room: Room,
    ) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(Text(key)) = entries.next_key()? {
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

/// The key of what is in no map.
const NO_KEY: Cow<'static, str> = Cow::Borrowed("");

#[cfg(test)]
mod tests;
