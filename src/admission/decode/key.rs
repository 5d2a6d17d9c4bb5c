//! The keys of maps: which fields they name.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Visitor};
use serde::{Deserialize, Deserializer};

use crate::admission::keep::{Keep, Others};

/// Which fields of a map were there already, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Seen(u32);

impl Seen {
    /// Whether it was there already.
    pub(super) fn see(&mut self, number: usize) -> bool {
        let before = self.0;
        self.0 |= 1 << number;
        self.0 == before
    }
}

/// A text, which is borrowed where nothing is escaped in it.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Reads a key of a map that is kept so.
pub(super) struct Key(pub(super) &'static Keep);

/// What a key stands for.
pub(super) enum KeyMeaning<'de> {
    /// A field: its number, its name, and what is kept of it.
    Field(usize, &'static str, &'static Keep),
    Other(Cow<'de, str>),
    Nothing,
}

impl Key {
    /// The field of this name; `None` where it is not known, and its name is to be kept.
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
