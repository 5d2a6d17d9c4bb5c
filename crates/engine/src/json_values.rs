//! Counts the values of a JSON text before it is decoded. A value takes many times the memory of its text, and a few
//! KiB of compressed text can expand to many MiB of `{},{},...`.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Refuses a text with more than `most` values: items of lists and members of objects.
///
/// # Errors
/// Fails if the text has more values; [`serde_json::Error::is_data`] is then true. Also fails if the text is not JSON,
/// or is nested more deeply than serde reads.
pub fn at_most(most: usize, json: &[u8]) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let count = Count {
        most,
        counted: &Cell::new(0),
    };
    count.deserialize(&mut reader)?;
    reader.end()
}

/// Counts a value and everything in it, without keeping it.
#[derive(Clone, Copy)]
struct Count<'c> {
    most: usize,
    counted: &'c Cell<usize>,
}

impl Count<'_> {
    fn one<E: Error>(self) -> Result<(), E> {
        let most = self.most;
        if self.counted.get() == most {
            return Err(E::custom(format_args!("more than {most} values")));
        }
        self.counted.set(self.counted.get() + 1);
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {
            self.one()?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while object.next_key::<IgnoredAny>()?.is_some() {
            object.next_value_seed(self)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_members_count() {
        for (text, values) in [
            ("1", 0),
            ("[1, null, \"a,b\", [2.5, true], {}]", 7),
            (r#"{"a": {"b": -1, "c": []}, "d": "[,"}"#, 4),
        ] {
            assert!(at_most(values, text.as_bytes()).is_ok(), "{text}");
            if let Some(fewer) = values.checked_sub(1) {
                let error = at_most(fewer, text.as_bytes()).expect_err("one too many");
                let words = format!("more than {fewer} values at ");
                assert!(
                    error.is_data() && error.to_string().starts_with(&words),
                    "{error}"
                );
            }
        }
        for text in ["", "[1", "[1] 2", "{a: 1}"] {
            let error = at_most(9, text.as_bytes()).expect_err("not JSON");
            assert!(!error.is_data(), "{text}: {error}");
        }
    }
}
