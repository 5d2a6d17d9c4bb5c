//! Comparison of the two objects of a review by digest, if their channels or selectors are too
//! large to keep.
//!
//! Equal texts are equal, whatever their size: an API server writes equal values in the same way.
//! Values written in a different order are compared by digests of sets: a list or a map counts as
//! the set of the SHA-256 digests of its items, so two are equal only if they have the same items.
//! At most [`MOST_DIGESTS`] of these digests are kept at a time, which is two mebibytes. Larger
//! values are compared only as text.

use std::cell::Cell;
use std::fmt;

use ring::digest::{Context, SHA256};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::decode::BorrowedText;

/// Whether `channels` and `selector` of `spec.source.catalog` request the same in both objects.
///
/// If either object has no catalog, they count as different. The same is true if a key is repeated,
/// which no API server writes.
pub(super) fn ask_alike(review: &str) -> bool {
    let read: Result<ComparedReview<'_>, _> = serde_json::from_str(review);
    read.is_ok_and(|ComparedReview { request }| {
        let (new, old) = (request.object, request.old_object);
        let (new, old) = (new.spec.source.catalog, old.spec.source.catalog);
        are_alike(new.channels, old.channels) && are_alike(new.selector, old.selector)
    })
}

fn are_alike(new: Option<&RawValue>, old: Option<&RawValue>) -> bool {
    let (new, old) = (text(new), text(old));
    new == old || set_digest(new).is_some_and(|digest| set_digest(old) == Some(digest))
}

/// Returns the text of a value. Absent and `null` are equal.
fn text(value: Option<&RawValue>) -> &str {
    value.map_or("null", RawValue::get)
}

#[derive(Deserialize)]
struct ComparedReview<'a> {
    #[serde(borrow)]
    request: ComparedRequest<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ComparedRequest<'a> {
    #[serde(borrow)]
    object: ComparedObject<'a>,
    old_object: ComparedObject<'a>,
}

#[derive(Deserialize)]
struct ComparedObject<'a> {
    #[serde(borrow)]
    spec: Spec<'a>,
}

#[derive(Deserialize)]
struct Spec<'a> {
    #[serde(borrow)]
    source: Source<'a>,
}

#[derive(Deserialize)]
struct Source<'a> {
    #[serde(borrow)]
    catalog: ComparedCatalog<'a>,
}

#[derive(Deserialize)]
struct ComparedCatalog<'a> {
    #[serde(borrow, default)]
    channels: Option<&'a RawValue>,
    #[serde(borrow, default)]
    selector: Option<&'a RawValue>,
}

// === Digest of the content of a JSON value ===
//
// Lists and maps count as sets.

/// A SHA-256 digest.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct ValueDigest([u8; 32]);

/// Returns the digest of a JSON text; `None` if it has too many items to compare, or is not JSON.
fn set_digest(json: &str) -> Option<ValueDigest> {
    let left = Cell::new(MOST_DIGESTS);
    let mut reader = serde_json::Deserializer::from_str(json);
    DigestReader { left: &left }.deserialize(&mut reader).ok()
}

/// Reads a value and returns its digest.
#[derive(Clone, Copy)]
struct DigestReader<'c> {
    /// The number of further digests that may be kept.
    left: &'c Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for DigestReader<'_> {
    type Value = ValueDigest;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<ValueDigest, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DigestReader<'_> {
    type Value = ValueDigest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<ValueDigest, E> {
        Ok(digest("null", &[]))
    }

    fn visit_bool<E>(self, value: bool) -> Result<ValueDigest, E> {
        Ok(digest("bool", &[&[u8::from(value)]]))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ValueDigest, E> {
        Ok(digest("i64", &[&value.to_be_bytes()]))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ValueDigest, E> {
        Ok(digest("u64", &[&value.to_be_bytes()]))
    }

    fn visit_f64<E>(self, value: f64) -> Result<ValueDigest, E> {
        Ok(digest("f64", &[&value.to_bits().to_be_bytes()]))
    }

    fn visit_str<E>(self, value: &str) -> Result<ValueDigest, E> {
        Ok(digest("text", &[value.as_bytes()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ValueDigest, A::Error> {
        let mut set = Set::new(self.left);
        while let Some(item) = items.next_element_seed(self)? {
            set.insert(item)?;
        }
        Ok(set.digest("list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ValueDigest, A::Error> {
        let mut set = Set::new(self.left);
        while let Some(BorrowedText(key)) = entries.next_key()? {
            let key = digest("text", &[key.as_bytes()]);
            let value = entries.next_value_seed(self)?;
            set.insert(digest("entry", &[&key.0, &value.0]))?;
        }
        Ok(set.digest("map"))
    }
}

/// A set of digests, each of which counts once.
struct Set<'c> {
    digests: Vec<ValueDigest>,
    left: &'c Cell<usize>,
}

impl<'c> Set<'c> {
    fn new(left: &'c Cell<usize>) -> Self {
        Self {
            digests: Vec::new(),
            left,
        }
    }

    /// Adds a digest. Fails if too many digests would be kept.
    fn insert<E: Error>(&mut self, digest: ValueDigest) -> Result<(), E> {
        if self.left.get() == 0 {
            self.count_once();
            // Otherwise a long list that repeats one of its items would be sorted again for each
            // repetition.
            if self.left.get() < MOST_DIGESTS / 4 {
                return Err(E::custom("too many items"));
            }
        }
        self.left.set(self.left.get() - 1);
        self.digests.push(digest);
        Ok(())
    }

    fn count_once(&mut self) {
        let before = self.digests.len();
        self.digests.sort_unstable();
        self.digests.dedup();
        self.left.set(self.left.get() + before - self.digests.len());
    }

    fn digest(mut self, kind: &str) -> ValueDigest {
        self.count_once();
        let items: Vec<&[u8]> = self.digests.iter().map(|item| &item.0[..]).collect();
        digest(kind, &items)
    }
}

/// A list that has been read keeps only its digest, so its room is returned.
impl Drop for Set<'_> {
    fn drop(&mut self) {
        self.left.set(self.left.get() + self.digests.len());
    }
}

/// Returns the digest of several parts of one kind. Several parts must have equal lengths.
fn digest(kind: &str, parts: &[&[u8]]) -> ValueDigest {
    let mut context = Context::new(&SHA256);
    context.update(kind.as_bytes());
    context.update(&[0]);
    for part in parts {
        context.update(part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    ValueDigest(digest)
}

/// The maximum number of digests that are kept at a time, of 32 bytes each.
const MOST_DIGESTS: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_sets_are_alike_and_nothing_else_is() {
        let object =
            |catalog: &str| format!(r#"{{"spec": {{"source": {{"catalog": {catalog}}}}}}}"#);
        let review = |new: &str, old: &str| {
            format!(r#"{{"request": {{"object": {new}, "oldObject": {old}, "uid": "u"}}}}"#)
        };
        let channels = |list: &str| object(&format!(r#"{{"channels": {list}, "version": "1"}}"#));
        let values = |values: &str| {
            object(&format!(
                r#"{{"selector": {{"matchExpressions": [{{"key": "k", "values": {values}}}]}}}}"#
            ))
        };
        let twice = r#"{"spec": {}, "spec": {"source": {"catalog": {}}}}"#;
        for (new, old, expected) in [
            (channels(r#"["a", "b"]"#), channels(r#"["a", "b"]"#), true),
            (
                channels(r#"["a", "b"]"#),
                channels(r#"["b", "a", "b"]"#),
                true,
            ),
            (channels(r#"["a", "b"]"#), channels(r#"["ab"]"#), false),
            (channels(r#"["a"]"#), channels(r#"["a", "b"]"#), false),
            (channels("null"), object("{}"), true),
            (values(r#"["x", "y"]"#), values(r#"["y", "x"]"#), true),
            (values(r#"["x", "y"]"#), values(r#"["y"]"#), false),
            (object("{}"), "null".to_owned(), false),
            ("{}".to_owned(), "{}".to_owned(), false),
            (twice.to_owned(), twice.to_owned(), false),
        ] {
            assert_eq!(ask_alike(&review(&new, &old)), expected, "{new} {old}");
        }
    }

    #[test]
    fn order_and_repetition_do_not_count_and_all_else_does() {
        for (a, b, expected) in [
            ("[1, 2]", "[2, 1, 2]", true),
            (r#"{"a": [1, 2], "b": 3}"#, r#"{"b": 3, "a": [2, 1]}"#, true),
            ("[1]", r#"["1"]"#, false),
            (r#"["null"]"#, "[null]", false),
            ("[]", "{}", false),
            ("[[]]", "[]", false),
            (r#"{"a": "b"}"#, r#"{"b": "a"}"#, false),
            ("1.5", "1", false),
            ("true", "false", false),
        ] {
            assert!(set_digest(a).is_some(), "{a}");
            assert_eq!(set_digest(a) == set_digest(b), expected, "{a} {b}");
        }
    }

    #[test]
    fn only_so_many_different_items_are_compared() {
        let list = |items: usize| format!("{:?}", (0..items).collect::<Vec<_>>());
        assert!(set_digest(&list(MOST_DIGESTS)).is_some());
        assert_eq!(set_digest(&list(MOST_DIGESTS + 1)), None);
        let same = format!("{:?}", vec![7; 3 * MOST_DIGESTS]);
        assert_eq!(set_digest(&same), set_digest("[7]"));
        let several = format!("[{0}, {0}, {0}]", list(MOST_DIGESTS / 2));
        assert_eq!(
            set_digest(&several),
            set_digest(&format!("[{}]", list(MOST_DIGESTS / 2)))
        );
    }
}
