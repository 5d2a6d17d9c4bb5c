//! How much the facts of an archive can take of memory, known before anything is built of them.
//!
//! A file of a few KiB can have many MiB of `{},{},...` in it, and a value takes many times the room of its text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Reason;

/// The most bytes. A cluster of a thousand extensions and a thousand policies has two million.
pub(super) const MOST_BYTES: u64 = 16 << 20;

/// The most values: items of lists and members of objects. That cluster has about 80,000.
const MOST_VALUES: usize = 400_000;

/// Refuses facts that are larger than any cluster's.
pub(super) fn check(json: &[u8]) -> Result<(), Reason> {
    if json.len() as u64 > MOST_BYTES {
        return Err(Reason::Size);
    }
    let mut left = MOST_VALUES;
    let mut reader = serde_json::Deserializer::from_slice(json);
    Count { left: &mut left }.deserialize(&mut reader)?;
    Ok(reader.end()?)
}

/// Counts a value, and all in it, without keeping it.
struct Count<'c> {
    left: &'c mut usize,
}

impl Count<'_> {
    fn again(&mut self) -> Count<'_> {
        Count { left: self.left }
    }

    fn one<E: Error>(&mut self) -> Result<(), E> {
        let left = self.left.checked_sub(1);
        *self.left =
            left.ok_or_else(|| E::custom(format_args!("more than {MOST_VALUES} values")))?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self.again())?.is_some() {
            self.one()?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<(), A::Error> {
        while object.next_key::<IgnoredAny>()?.is_some() {
            object.next_value_seed(self.again())?;
            self.one()?;
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
