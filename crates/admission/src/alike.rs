//! Comparison of both objects of a review by digest, if they name too many channels or catalogs to keep.
//!
//! What is written alike is the same, whatever its size: an API server writes what is equal alike. What
//! is written in another order is compared by digests of sets: a list or a map counts as the set of the
//! SHA-256 digests of its items, so two are the same only if they have the same items. Of these digests
//! [`crate::digest::MOST_DIGESTS`] are kept at a time, two mebibytes; what has more is compared as it is written.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::digest::set_digest;

/// Whether `channels` and `selector` of `spec.source.catalog` ask for the same in both objects.
///
/// Where either is not to be found they count as different, also where a key is there twice, which no
/// API server writes.
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

/// Absent and `null` are the same.
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
}
