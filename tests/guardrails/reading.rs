//! Where guardrails are found in a catalog, and what becomes of those that cannot be read.

use olmguard::catalog::{CatalogBuilder, fbc};
use olmguard::guardrail::{Authored, read};
use olmguard::olm::Rules;
use olmguard::snapshot::{Content, Snapshot};
use serde_json::{Value, json};

use crate::catalog::{Asked, blobs, content, guardrails, judged, snapshot};

const POOL: [&str; 3] = ["1.0.0", "1.1.0", "1.2.0"];

fn one_minor() -> Value {
    json!([{"id": "one", "kind": "MaxMinorStep", "step": 1}])
}

fn authored(content: &Content) -> Authored {
    let Content::Loaded(catalog) = content else {
        panic!("{content:?}");
    };
    let package = catalog.package("p").expect("it is there");
    package.expect("it decodes").guardrails().clone()
}

/// What is wrong with the guardrails among some blobs beside the package's own.
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

/// The token of the leap from the first version to the last.
fn leap(snapshot: &Snapshot) -> &'static str {
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
    let twice = "there are two of them for the package: expected one";
    assert_eq!(fault(&[blob.clone(), blob.clone()]), twice);
    let mut named = blob.clone();
    named["name"] = "another".into();
    assert_eq!(fault(&[blob.clone(), named]), twice);
    let mut both = with_property(&json!({"rules": one_minor()}));
    both.push(blob);
    let stated = authored(&content(&both));
    let unread = stated.stated().expect("some").expect_err("unread");
    let differ =
        "the blob and the property of the olm.package differ: expected one of them, or both alike";
    assert_eq!(unread.to_string(), differ);
}

/// Blobs that cannot be read, and why.
pub(crate) fn unreadable() -> Vec<(Value, String)> {
    let blob = |rules: Value| guardrails("Catalog", &rules);
    let rule = |key: &str, value: Value| {
        let mut rule = json!({"id": "x", "kind": "PassThrough", "via": "1.1.0"});
        rule[key] = value;
        blob(json!([rule]))
    };
    let kinds = "PassThrough, Waypoints, LatestPatchFirst, MaxMinorStep, Prerelease";
    vec![
        (blob(json!({})), "rules: expected a list, found object".to_owned()),
        (blob(json!([1])), "rules[0]: expected an object, found integer".to_owned()),
        (blob(json!([{}])), "rules[0].kind: missing: expected the kind of a rule".to_owned()),
        (rule("kind", json!("")), "rules[0].kind: empty: expected the kind of a rule".to_owned()),
        (rule("kind", json!("Via")), format!("rules[0].kind: \"Via\" is not known: expected one of {kinds}")),
        (rule("form", json!("<1.0.0")), "rules[0].form: not known here: expected one of id, kind, reason, bypassable, via, from, to, versions, step, action".to_owned()),
        (rule("step", json!(1)), "rules[0].step: not known here: expected one of id, kind, reason, bypassable, via, from, to".to_owned()),
        (rule("id", json!(null)), "rules[0].id: missing: expected a name for the rule".to_owned()),
        (rule("via", json!(null)), "rules[0].via: missing: expected a range such as \">=1.3.0 <1.4.0-0\"".to_owned()),
        (rule("via", json!(1.3)), "rules[0].via: expected a string, found number".to_owned()),
        (rule("via", json!("1.x.y")), "rules[0].via: not a range in the grammar of skipRange: ".to_owned()),
        (rule("via", json!(" || 1.1.0")), "rules[0].via: not a range in the grammar of skipRange: ".to_owned()),
        (rule("via", json!("1.1.0 || ")), "rules[0].via: not a range in the grammar of skipRange: ".to_owned()),
        (rule("from", json!("<1.0.0 || || >2.0.0")), "rules[0].from: a range with an empty OR group: expected versions on both sides of ||".to_owned()),
        (rule("to", json!(">1.0.0 ".repeat(130))), "rules[0].to: too long a range: expected at most 512 bytes".to_owned()),
        (rule("reason", json!("a".repeat(1025))), "rules[0].reason: too long: expected at most 1024 bytes".to_owned()),
        (rule("bypassable", json!("no")), "rules[0].bypassable: expected true or false, found string".to_owned()),
        (guardrails("Semantic", &json!([])), "graph: \"Semantic\" is not known: expected one of Catalog, Semver, CatalogOrSemver".to_owned()),
        (blob(json!([{"id": "x", "kind": "MaxMinorStep"}])), "rules[0].step: missing: expected a whole number from 1".to_owned()),
        (blob(json!([{"id": "x", "kind": "MaxMinorStep", "step": 0}])), "rules[0].step: expected a whole number from 1, found integer".to_owned()),
        (blob(json!([{"id": "x", "kind": "MaxMinorStep", "step": 1.5}])), "rules[0].step: expected a whole number from 1, found number".to_owned()),
        (blob(json!([{"id": "x", "kind": "Waypoints"}])), "rules[0].versions: missing: expected a list of versions or ranges".to_owned()),
        (blob(json!([{"id": "x", "kind": "Waypoints", "versions": ["1.0.0", 2]}])), "rules[0].versions[1]: expected a string, found integer".to_owned()),
        (blob(json!([{"id": "x", "kind": "Prerelease"}])), "rules[0].action: missing: expected Deny or Allow".to_owned()),
        (blob(json!([{"id": "x", "kind": "Prerelease", "action": "Warn"}])), "rules[0].action: \"Warn\" is not known: expected one of Deny, Allow".to_owned()),
        (blob(json!([{"id": "x", "kind": "LatestPatchFirst"}, {"id": "x", "kind": "LatestPatchFirst"}])), "rules: \"x\" is the id of two rules: expected one of its own for each".to_owned()),
        (blob((0..257).map(|n| json!({"id": format!("{n}"), "kind": "LatestPatchFirst"})).collect()), "rules: too many: expected at most 256 rules, each waypoint counted".to_owned()),
    ]
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
    // All that are not known are one warning, each counted once.
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

/// As catalogd writes a blob once it has read it: keys sorted, numbers as `float64`, no blanks.
pub(crate) const REWRITTEN: &str = r#"{"graph":"Catalog","package":"p","rules":[{"id":"one","kind":"MaxMinorStep","reason":"a \u003c b","step":1},{"bypassable":true,"id":"via","kind":"PassThrough","via":"\u003e=1.1.0 \u003c1.2.0"}],"schema":"olmguard.guardrails.v1alpha1"}"#;

/// The same as an author may write it, in YAML and in JSON.
pub(crate) const WRITTEN: [&str; 2] = [
    r#"
schema: olmguard.guardrails.v1alpha1
package: p
graph: Catalog   # the default
rules:
- {kind: MaxMinorStep, id: one, step: 1.0, reason: a < b}
- id: via
  kind: PassThrough
  bypassable: true
  via: ">=1.1.0 <1.2.0"
  from: ~
"#,
    r#"{"schema": "olmguard.guardrails.v1alpha1", "rules": [], "package": "p", "graph": null,
  "rules": [{"id": "via", "kind": "PassThrough", "via": ">=1.1.0 <1.2.0", "bypassable": true},
            {"kind": "MaxMinorStep", "step": 10e-1, "id": "two", "id": "one", "reason": "a \u003c b"}]}"#,
];

#[test]
fn a_catalog_written_anew_says_the_same() {
    let expected = read(&serde_json::from_str(REWRITTEN).expect("JSON")).expect("guardrails");
    for text in WRITTEN.into_iter().chain([REWRITTEN]) {
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        // The keys of a blob may not be there twice: that is the whole catalog's fault upstream.
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
