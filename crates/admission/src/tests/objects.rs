//! Reviews of policies and guardrails as objects.

use serde_json::{Value, json};

use crate::{
    CatalogReview, CatalogSubject, Enforcement, Mode, ObjectKind, ObjectReview, ReviewError,
};
use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::UpgradePolicy;
use olmguard_views::audit_change::CatalogRefusal;

fn body(kind: &str, operation: &str, object: &Value, old: &Value) -> Vec<u8> {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "kind": {"group": "olmguard.dev", "version": "v1alpha1", "kind": kind},
            "name": "production", "operation": operation, "object": object, "oldObject": old,
        },
    });
    review.to_string().into_bytes()
}

fn policy(rules: &Value) -> Value {
    json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": "production"}, "spec": {"rules": rules},
    })
}

/// Reads a review without any known policies.
fn read(body: &[u8]) -> Result<ObjectReview, ReviewError> {
    ObjectReview::from_bytes(body, &UpgradePolicies::default())
}

/// The response to a review.
#[track_caller]
fn response(kind: &str, operation: &str, object: &Value, old: &Value) -> Value {
    response_beside(
        &UpgradePolicies::default(),
        &body(kind, operation, object, old),
    )
}

/// The response to a review, given these known policies.
#[track_caller]
fn response_beside(known: &UpgradePolicies, body: &[u8]) -> Value {
    let review = ObjectReview::from_bytes(body, known).expect("a review");
    let mut reply: Value = serde_json::from_slice(&review.to_bytes()).expect("JSON");
    assert_eq!(reply["kind"], "AdmissionReview");
    reply["response"].take()
}

#[track_caller]
fn is_allowed(kind: &str, operation: &str, object: &Value, old: &Value) {
    let response = response(kind, operation, object, old);
    assert_eq!(response, json!({"uid": "u", "allowed": true}));
}

#[test]
fn a_policy_that_can_be_read_is_allowed() {
    let good = policy(&json!({"step": "Minor", "bypass": "ByPermission"}));
    is_allowed("UpgradePolicy", "CREATE", &good, &json!(null));
    let other = policy(&json!({"step": "Tiny"}));
    is_allowed("UpgradePolicy", "UPDATE", &good, &other);
}

#[test]
fn every_fault_is_a_cause_with_its_field_and_the_place_in_its_text() {
    let bad = policy(&json!({
        "step": "Tiny",
        "versions": {"allow": ">=1.2 <"},
    }));
    let response = response("UpgradePolicy", "CREATE", &bad, &json!(null));
    assert_eq!(response["allowed"], false);
    let status = &response["status"];
    assert_eq!(
        (&status["code"], &status["reason"]),
        (&json!(403), &json!("Forbidden"))
    );
    let message = status["message"].as_str().expect("a text");
    let (first, rest) = message.split_once('\n').expect("several lines");
    assert!(
        first.starts_with(
            "UpgradePolicy production is not valid: spec.rules.versions.allow: not a valid version range: "
        ),
        "{message}"
    );
    assert!(rest.starts_with("  >=1.2 <\n  "), "{message}");
    assert!(
        rest.ends_with(
            "spec.rules.step: unknown value \"Tiny\": expected one of Patch, Minor, Major"
        ),
        "{message}"
    );
    let causes = status["details"]["causes"].as_array().expect("a list");
    let fields: Vec<_> = causes.iter().map(|cause| cause["field"].as_str()).collect();
    assert_eq!(
        fields,
        [Some("spec.rules.versions.allow"), Some("spec.rules.step")]
    );
    assert_eq!(causes[1]["reason"], "FieldValueInvalid");
    assert_eq!(status["details"]["name"], "production");
}

#[test]
fn guardrails_are_read_as_those_of_files() {
    let guardrails = |step: i64| {
        json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradeGuardrails",
            "metadata": {"name": "lantern"},
            "spec": {"package": "p", "rules": [{"id": "a", "kind": "MaxMinorStep", "step": step}]},
        })
    };
    is_allowed("UpgradeGuardrails", "CREATE", &guardrails(1), &json!(null));
    let refused = response("UpgradeGuardrails", "CREATE", &guardrails(0), &json!(null));
    assert_eq!(
        refused["status"]["message"],
        "UpgradeGuardrails lantern is not valid: spec.rules[0].step: expected a whole number from 1, \
         found 0"
    );
}

/// A policy that is already broken locks no one out.
#[test]
fn what_does_not_change_a_spec_or_deletes_is_never_refused() {
    let bad = policy(&json!({"step": "Tiny"}));
    is_allowed("UpgradePolicy", "DELETE", &json!(null), &bad);
    let mut labelled = bad.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    is_allowed("UpgradePolicy", "UPDATE", &labelled, &bad);
    let mut leaving = policy(&json!({"step": "Small"}));
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    is_allowed("UpgradePolicy", "UPDATE", &leaving, &bad);
    for is_leaving in [false, true] {
        let mut many = bad.clone();
        many["metadata"]["managedFields"] = json!(vec![0; 20_000]);
        let old = many.clone();
        if is_leaving {
            many["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            many["spec"] = json!({});
        } else {
            many["metadata"]["labels"] = json!({"a": "b"});
        }
        is_allowed("UpgradePolicy", "UPDATE", &many, &old);
    }
    let other = policy(&json!({"step": "Small"}));
    let refused = response("UpgradePolicy", "UPDATE", &other, &bad);
    assert_eq!(refused["allowed"], false);
}

/// A policy is refused neither because of others nor because of its effect on others.
#[test]
fn policies_that_are_too_costly_together_are_warned_of() {
    let costly = |name: &str, expression: &str| {
        let mut policy = policy(&json!({"conditions": [{"expression": expression}]}));
        policy["metadata"]["name"] = json!(name);
        policy
    };
    let all = "user.groups.all(g, user.groups.all(h, g != h || true))";
    let names = ["p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    let known = names.map(|name| UpgradePolicy::read(&costly(name, all)));
    let known = UpgradePolicies::of(known);
    let warned = |operation: &str, object: &Value, old: &Value| {
        response_beside(&known, &body("UpgradePolicy", operation, object, old))
    };
    let none = json!({"uid": "u", "allowed": true});
    for (name, refused) in [("p8", "p8"), ("a", "p7")] {
        let told = warned("CREATE", &costly(name, all), &json!(null));
        let warnings = [
            format!("with this change policy {refused} is not valid"),
            "the conditions of all UpgradePolicies are too costly together: expected fewer, simpler or over smaller \
             lists"
                .to_owned(),
        ];
        assert_eq!(
            told,
            json!({"uid": "u", "allowed": true, "warnings": warnings})
        );
        assert_eq!(
            warned("UPDATE", &costly(name, all), &costly(name, all)),
            none
        );
        assert_eq!(warned("DELETE", &json!(null), &costly(name, all)), none);
    }
    assert_eq!(warned("CREATE", &costly("a", "true"), &json!(null)), none);
    assert_eq!(
        warned("UPDATE", &costly("p1", all), &costly("p1", "true")),
        none
    );
    let invalid = warned("CREATE", &costly("a", "user."), &json!(null));
    assert_eq!(
        (&invalid["allowed"], &invalid["warnings"]),
        (&json!(false), &json!(null))
    );
}

#[test]
fn other_kinds_and_operations_are_allowed() {
    let bad = policy(&json!({"step": "Tiny"}));
    is_allowed("ClusterExtension", "CREATE", &bad, &json!(null));
    is_allowed("UpgradePolicy", "CONNECT", &bad, &json!(null));
    let body = body("UpgradePolicy", "CREATE", &bad, &json!(null));
    let review = read(&body).expect("a review");
    assert_eq!(
        (review.kind(), review.uid()),
        (ObjectKind::UpgradePolicy, "u")
    );
}

#[test]
fn what_no_reader_takes_is_refused_without_being_read() {
    let large = policy(&json!({"conditions": [{"expression": "x".repeat(1 << 20)}]}));
    let refused = response("UpgradePolicy", "CREATE", &large, &json!(null));
    assert_eq!(
        refused["status"]["message"],
        "UpgradePolicy without a name is not valid: larger than 1048576 bytes: expected a smaller object"
    );
    let many = policy(&json!({"conditions": vec![0; 20_000]}));
    let refused = response("UpgradePolicy", "CREATE", &many, &json!(null));
    let message = refused["status"]["message"].as_str().expect("a text");
    let expected =
        "UpgradePolicy without a name is not valid: more than 20000 values at line 1 column ";
    assert!(message.starts_with(expected), "{message}");
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let body = body("UpgradePolicy", "CREATE", &json!("HERE"), &json!(null));
    let body = String::from_utf8(body)
        .expect("a text")
        .replace("\"HERE\"", &deep);
    let review = read(body.as_bytes()).expect("a review");
    assert!(!review.is_allowed());
}

#[test]
fn what_is_no_review_says_so() {
    for (body, expected) in [
        (
            "",
            "not an AdmissionReview: the body is empty: expected JSON",
        ),
        (
            r#"{"apiVersion": "v1", "kind": "AdmissionReview", "request": {"uid": "u",
                "kind": {"group": "", "kind": ""}, "operation": ""}}"#,
            "not an AdmissionReview: apiVersion is \"v1\": expected admission.k8s.io/v1",
        ),
        (
            r#"{"apiVersion": "admission.k8s.io/v1", "kind": "Review", "request": {"uid": "u",
                "kind": {"group": "", "kind": ""}, "operation": ""}}"#,
            "not an AdmissionReview: kind is \"Review\": expected AdmissionReview",
        ),
        (
            r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "",
                "kind": {"group": "", "kind": ""}, "operation": ""}}"#,
            "not an AdmissionReview: request.uid is \"\": expected a string of 1 to 128 bytes",
        ),
    ] {
        let said = read(body.as_bytes()).expect_err("no review");
        assert_eq!(said.to_string(), expected);
    }
    for body in ["{}", "[]", "null", "{\"request\": null}"] {
        assert!(read(body.as_bytes()).is_err(), "{body}");
    }
}

// === Reviews of catalogs ===

fn catalog(priority: &Value) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "hub"},
        "spec": {"source": {"type": "Image", "image": {"ref": "example.com/hub:v1"}}, "priority": priority},
    })
}

fn catalog_body(operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": operation, "object": object, "oldObject": old,
            "kind": {"group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterCatalog"},
        },
    })
}

/// Fields of another version may have another meaning.
#[test]
fn a_catalog_of_another_version_is_not_read() {
    let mut review = catalog_body("UPDATE", &catalog(&json!(2)), &catalog(&json!(1)));
    review["request"]["kind"]["version"] = json!("v9");
    assert_eq!(subject(&review), "idle");
}

#[test]
fn a_denied_edit_of_a_catalog_is_refused_or_only_warned_of() {
    let body = catalog_body("UPDATE", &catalog(&json!(2)), &catalog(&json!(1)));
    let review = CatalogReview::from_bytes(body.to_string().as_bytes()).expect("a review");
    assert_eq!(review.catalog(), "hub");
    let refusal = CatalogRefusal {
        message: "catalog c: refused\nmore".to_owned(),
        causes: vec!["one step".to_owned()],
    };
    let reply = |mode| {
        let enforcement = Enforcement {
            mode,
            ..Enforcement::default()
        };
        let reply = review.denied(&refusal, &["other".to_owned()], enforcement);
        serde_json::from_slice::<Value>(&reply).expect("JSON")["response"].clone()
    };
    let refused = reply(Mode::Enforce);
    assert_eq!(refused["allowed"], false);
    assert_eq!(refused["status"]["message"], refusal.message);
    assert_eq!(refused["warnings"], json!(["other"]));
    let observed = reply(Mode::Observe);
    assert_eq!(observed["allowed"], true);
    assert_eq!(
        observed["warnings"],
        json!(["allowed in observe mode: catalog c: refused", "other"])
    );
}

/// The subject of a review in a word, or the reason why it cannot be read.
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
        assert_eq!(
            subject(&catalog_body(operation, object, old)),
            "edit of hub"
        );
    }
}

#[test]
fn what_changes_nothing_that_olm_resolves_by_is_idle() {
    let (one, two) = (catalog(&json!(1)), catalog(&json!(2)));
    let mut leaving = two.clone();
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut finalized = one.clone();
    finalized["metadata"]["finalizers"] = json!(["a/b"]);
    let mut status = catalog_body("UPDATE", &two, &one);
    status["request"]["subResource"] = json!("status");
    let mut other = catalog_body("UPDATE", &two, &one);
    other["request"]["kind"]["kind"] = json!("ClusterExtension");
    for review in [
        catalog_body("UPDATE", &leaving, &one),
        catalog_body("DELETE", &Value::Null, &leaving),
        catalog_body("UPDATE", &finalized, &one),
        catalog_body("CONNECT", &two, &one),
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
            catalog_body("UPDATE", &catalog(&json!("high")), &one),
            "ClusterCatalog \"hub\": spec.priority is \"high\": expected a whole number of 32 bits",
        ),
        (catalog_body("UPDATE", &one, &Value::Null), unnamed),
        (catalog_body("CREATE", &json!([]), &Value::Null), unnamed),
        (
            catalog_body("CREATE", &json!("x".repeat(1 << 20)), &Value::Null),
            "larger than 1048576 bytes: expected a smaller object",
        ),
    ] {
        assert_eq!(subject(&review), expected);
    }
}

#[test]
fn an_edit_is_allowed_with_its_warnings() {
    let review = catalog_body("CREATE", &catalog(&json!(1)), &Value::Null);
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
    let mut review = catalog_body("CREATE", &catalog(&json!(1)), &Value::Null);
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

#[test]
fn an_error_repeats_no_more_than_the_start_of_a_text() {
    let body = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": "x".repeat(1 << 20),
    });
    let body = body.to_string();
    let of_policy = read(body.as_bytes()).expect_err("a text is no request");
    let of_catalog = CatalogReview::from_bytes(body.as_bytes()).expect_err("a text is no request");
    assert_eq!(of_policy, of_catalog);
    let shown = of_policy.to_string();
    assert!(shown.contains("invalid type: string"), "{shown}");
    assert!(shown.len() < 256, "{shown}");
}
