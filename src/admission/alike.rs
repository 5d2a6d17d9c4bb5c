//! Whether both objects of a review ask for the same to the byte, where they ask for too much to keep.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Whether `spec.source.catalog` is written alike in both objects of a review.
///
/// An API server writes what is equal alike. Where either is not to be found they count as different,
/// also where a key is there twice, which no API server writes.
pub(super) fn are_alike(review: &str) -> bool {
    let read: Result<Review<'_>, _> = serde_json::from_str(review);
    read.is_ok_and(|Review { request }| {
        let (new, old) = (request.object, request.old_object);
        new.spec.source.catalog.get() == old.spec.source.catalog.get()
    })
}

#[derive(Deserialize)]
struct Review<'a> {
    #[serde(borrow)]
    request: Request<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    object: Object<'a>,
    old_object: Object<'a>,
}

#[derive(Deserialize)]
struct Object<'a> {
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
    catalog: &'a RawValue,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_text_is_alike() {
        let object =
            |catalog: &str| format!(r#"{{"spec": {{"source": {{"catalog": {catalog}}}}}}}"#);
        let review = |new: &str, old: &str| {
            format!(r#"{{"request": {{"object": {new}, "oldObject": {old}, "uid": "u"}}}}"#)
        };
        let (one, two) = (object(r#"{"a": [1, 2]}"#), object(r#"{"a": [2, 1]}"#));
        let twice = r#"{"spec": {}, "spec": {"source": {"catalog": 1}}}"#;
        for (new, old, expected) in [
            (&*one, &*one, true),
            (&one, &two, false),
            (&one, "null", false),
            ("{}", "{}", false),
            (twice, twice, false),
        ] {
            assert_eq!(are_alike(&review(new, old)), expected, "{new} {old}");
        }
    }
}
