//! Where guardrails are found in a catalog, and the effect of guardrails that cannot be read.

use olmguard_catalog::guardrail::{AuthorGuardrails, read};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::snapshot::Content;
use serde_json::{Value, json};

use olmguard_fixtures::guardrails::catalog::{
    Asked, Facts, blobs, content, guardrails, judged, snapshot,
};
use olmguard_fixtures::guardrails::samples::{REWRITTEN, WRITTEN, unreadable};

const POOL: [&str; 3] = ["1.0.0", "1.1.0", "1.2.0"];

fn one_minor() -> Value {
    json!([{"id": "one", "kind": "MaxMinorStep", "step": 1}])
}

fn authored(content: &Content) -> AuthorGuardrails {
    let Content::Loaded(catalog) = content else {
        panic!("{content:?}");
    };
    let package = catalog.package("p").expect("it is there");
    package.expect("it decodes").guardrails().clone()
}

/// The faults of the guardrails among some blobs next to those of the package.
fn fault(more: &[Value]) -> String {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.extend_from_slice(more);
    let authored = authored(&content(&blobs));
    let unread = authored.stated().expect("there are some");
    unread.expect_err("unread").to_string()
}

fn with_property(value: &Value) -> Vec<Value> {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs[0]["properties"] = json!([{"type": "olmguard.guardrails.v1alpha1", "value": value}]);
    blobs
}

/// The token of the jump from the first version to the last.
fn leap(snapshot: &Facts) -> &'static str {
    judged(snapshot, "1.0.0", Asked::range("1.2.0"))
        .token
        .as_str()
}

#[test]
fn a_property_of_the_package_is_as_good_as_a_blob() {
    let property = with_property(&json!({"rules": one_minor()}));
    assert_eq!(leap(&snapshot(&property)), "Guardrail");
    let mut alike = property.clone();
    alike.push(guardrails("Catalog", &one_minor()));
    assert_eq!(leap(&snapshot(&alike)), "Guardrail");
    let stated = authored(&content(&alike));
    assert!(stated.stated().is_some_and(|stated| stated.is_ok()));
}

#[test]
fn two_that_may_differ_are_none_that_can_be_read() {
    let blob = guardrails("Catalog", &json!([]));
    let twice = "the package has two of them: expected one";
    assert_eq!(fault(&[blob.clone(), blob.clone()]), twice);
    let mut named = blob.clone();
    named["name"] = "another".into();
    assert_eq!(fault(&[blob.clone(), named]), twice);
    let mut both = with_property(&json!({"rules": one_minor()}));
    both.push(blob);
    let stated = authored(&content(&both));
    let unread = stated.stated().expect("some").expect_err("unread");
    let differ = "the blob and the property of the olm.package differ: expected only one of them, \
                  or the same content in both";
    assert_eq!(unread.to_string(), differ);
}

#[test]
fn what_is_not_known_is_refused_by_its_place() {
    for (blob, expected) in unreadable() {
        let found = fault(&[blob]);
        assert!(found.starts_with(&expected), "{found}\n{expected}");
    }
}

#[test]
fn those_of_another_version_are_passed_over_with_a_warning() {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(json!({"schema": "olmguard.guardrails.v2", "package": "p", "rules": one_minor()}));
    let answer = judged(&snapshot(&blobs), "1.0.0", Asked::range("1.2.0"));
    assert_eq!(answer.token.as_str(), "Resolved");
    let expected = "guardrails of schema olmguard.guardrails.v2 are not known to this olmguard and not applied";
    assert_eq!(answer.warnings, [expected]);
}

#[test]
fn a_property_of_another_version_is_passed_over_with_the_same_warning() {
    let mut blobs = blobs(&POOL, "1.0.0");
    let property =
        |version: &str| json!({"type": format!("olmguard.guardrails.{version}"), "value": 7});
    blobs[0]["properties"] = json!([property("v2")]);
    let warnings =
        |blobs: &[Value]| judged(&snapshot(blobs), "1.0.0", Asked::range("1.2.0")).warnings;
    let expected = "guardrails of schema olmguard.guardrails.v2 are not known to this olmguard and not applied";
    assert_eq!(warnings(&blobs), [expected]);
    // All unknown schemas are one warning, and each is counted once.
    blobs[0]["properties"] = json!([
        property("v4"),
        property("v2"),
        property("v3"),
        property("v2")
    ]);
    blobs.push(json!({"schema": "olmguard.guardrails.v2", "package": "p"}));
    let expected = "guardrails of schema olmguard.guardrails.v2 and 2 more are not known to this olmguard and not applied";
    assert_eq!(warnings(&blobs), [expected]);
}

#[test]
fn what_names_no_package_or_another_is_nothing_to_this_one() {
    for package in ["", "q"] {
        let mut blobs = blobs(&POOL, "1.0.0");
        let mut blob = guardrails("Catalog", &one_minor());
        blob["package"] = package.into();
        blobs.push(blob);
        assert_eq!(leap(&snapshot(&blobs)), "Resolved");
    }
}

#[test]
fn a_blob_that_cannot_be_read_leaves_the_package_readable() {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(json!({"schema": "olmguard.guardrails.v1alpha1", "package": "p", "rules": 7}));
    let snapshot = snapshot(&blobs);
    assert_eq!(leap(&snapshot), "Guardrail");
    let down = judged(&snapshot, "1.2.0", Asked::range("1.2.0"));
    assert_eq!(down.token.as_str(), "Unchanged");
}

#[test]
fn a_catalog_written_anew_says_the_same() {
    let expected = read(&serde_json::from_str(REWRITTEN).expect("JSON")).expect("guardrails");
    for text in WRITTEN.into_iter().chain([REWRITTEN]) {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        // A blob must not have a key twice. Upstream, this is a fault of the whole catalog.
        let text = text.replacen(r#""rules": [], "#, "", 1);
        fbc::read("p", text.as_bytes(), &mut builder).expect("a catalog");
        let catalog = builder.finish().expect("no bound");
        let package = catalog
            .package("p")
            .expect("it is there")
            .expect("it decodes");
        let found = package.guardrails().stated().expect("there are some");
        assert_eq!(found.expect("they can be read"), &expected, "{text}");
    }
}
