//! Reviews of catalogs.

use serde_json::{Value, json};

use crate::admission::{CatalogReview, CatalogSubject, ReviewError};

fn catalog(priority: &Value) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "hub"},
        "spec": {"source": {"type": "Image", "image": {"ref": "example.com/hub:v1"}}, "priority": priority},
    })
}

fn body(operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": operation, "object": object, "oldObject": old,
            "kind": {"group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterCatalog"},
        },
    })
}

/// What a review is about, in a word, or why it cannot be read.
#[track_caller]
fn subject(review: &Value) -> String {
    let review = CatalogReview::from_bytes(review.to_string().as_bytes()).expect("a review");
    assert_eq!(review.uid(), "u");
    match review.subject() {
        CatalogSubject::Idle => "idle".to_owned(),
        CatalogSubject::Unreadable(why) => why.clone(),
        CatalogSubject::Edit(edit) => format!("edit of {}", edit.name()),
    }
}

#[test]
fn creations_updates_and_deletions_are_edits() {
    let (one, two) = (catalog(&json!(1)), catalog(&json!(2)));
    for (operation, object, old) in [
        ("CREATE", &two, &Value::Null),
        ("UPDATE", &two, &one),
        ("DELETE", &Value::Null, &one),
    ] {
        assert_eq!(subject(&body(operation, object, old)), "edit of hub");
    }
}

#[test]
fn what_changes_nothing_that_olm_resolves_by_is_idle() {
    let (one, two) = (catalog(&json!(1)), catalog(&json!(2)));
    let mut leaving = two.clone();
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut finalized = one.clone();
    finalized["metadata"]["finalizers"] = json!(["a/b"]);
    let mut status = body("UPDATE", &two, &one);
    status["request"]["subResource"] = json!("status");
    let mut other = body("UPDATE", &two, &one);
    other["request"]["kind"]["kind"] = json!("ClusterExtension");
    for review in [
        body("UPDATE", &leaving, &one),
        body("UPDATE", &finalized, &one),
        body("CONNECT", &two, &one),
        status,
        other,
    ] {
        assert_eq!(subject(&review), "idle", "{review}");
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let one = catalog(&json!(1));
    let unnamed =
        "ClusterCatalog without metadata.name: expected the name that --catalog NAME=PATH uses";
    for (review, expected) in [
        (
            body("UPDATE", &catalog(&json!("high")), &one),
            "ClusterCatalog \"hub\": spec.priority is \"high\": expected a whole number of 32 bits",
        ),
        (body("UPDATE", &one, &Value::Null), unnamed),
        (body("CREATE", &json!([]), &Value::Null), unnamed),
        (
            body("CREATE", &json!("x".repeat(1 << 20)), &Value::Null),
            "larger than 1048576 bytes: expected a smaller object",
        ),
    ] {
        assert_eq!(subject(&review), expected);
    }
}

#[test]
fn an_edit_is_allowed_with_its_warnings() {
    let review = body("CREATE", &catalog(&json!(1)), &Value::Null);
    let review = CatalogReview::from_bytes(review.to_string().as_bytes()).expect("a review");
    let reply = |warnings: &[String]| -> Value {
        serde_json::from_slice(&review.allowed(warnings)).expect("JSON")
    };
    let said = reply(&["a".to_owned(), "b".to_owned()]);
    assert_eq!(
        said,
        json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": "u", "allowed": true, "warnings": ["a", "b"]},
        })
    );
    assert_eq!(reply(&[])["response"], json!({"uid": "u", "allowed": true}));
}

#[test]
fn what_is_no_review_is_an_error() {
    for body in ["", "{", "null", "[]", r#"{"kind": "AdmissionReview"}"#] {
        assert!(
            CatalogReview::from_bytes(body.as_bytes()).is_err(),
            "{body}"
        );
    }
    let mut review = body("CREATE", &catalog(&json!(1)), &Value::Null);
    review["request"]["uid"] = json!("u".repeat(129));
    let error = CatalogReview::from_bytes(review.to_string().as_bytes()).expect_err("too long");
    assert!(
        matches!(
            error,
            ReviewError::Field {
                field: "request.uid",
                ..
            }
        ),
        "{error}"
    );
}
