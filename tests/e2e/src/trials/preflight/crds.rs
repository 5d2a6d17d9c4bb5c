//! Upgrades that change a CRD.

use serde_json::{Value, json};

use super::bundles::{crd, put, smallest, take, version, with_crd};
use super::cases::{Case, FROM, TO};

/// Returns one upgrade for each change.
pub(super) fn all() -> Vec<Case> {
    [of_fields(), of_versions(), without_checks()].concat()
}

/// Changes of the schema of `spec`, by pointers below it: a new value, or `None` to remove it.
type Changes = &'static [(&'static str, Option<&'static str>)];

const OF_FIELDS: &[(&str, Changes)] = &[
    ("crd-as-it-was", &[]),
    (
        "field-added",
        &[("/properties/more", Some(r#"{"type": "string"}"#))],
    ),
    ("field-removed", &[("/properties/note", None)]),
    (
        "description-added",
        &[("/properties/note/description", Some(r#""a note""#))],
    ),
    (
        "type-changed",
        &[("/properties/note/type", Some(r#""boolean""#))],
    ),
    (
        "item-type-changed",
        &[("/properties/tags/items/type", Some(r#""integer""#))],
    ),
    (
        "map-value-changed",
        &[(
            "/properties/limits/additionalProperties/type",
            Some(r#""integer""#),
        )],
    ),
    (
        "map-value-described",
        &[(
            "/properties/limits/additionalProperties/description",
            Some(r#""a limit""#),
        )],
    ),
    (
        "enum-value-added",
        &[(
            "/properties/color/enum",
            Some(r#"["blue", "green", "red"]"#),
        )],
    ),
    (
        "enum-value-removed",
        &[("/properties/color/enum", Some(r#"["red"]"#))],
    ),
    ("enum-added", &[("/properties/note/enum", Some(r#"["a"]"#))]),
    ("enum-removed", &[("/properties/color/enum", None)]),
    (
        "default-added",
        &[("/properties/note/default", Some(r#""none""#))],
    ),
    (
        "default-changed",
        &[("/properties/color/default", Some(r#""green""#))],
    ),
    ("default-removed", &[("/properties/color/default", None)]),
    (
        "required-added",
        &[("/required", Some(r#"["name", "size"]"#))],
    ),
    ("required-removed", &[("/required", None)]),
    ("minimum-raised", &[("/properties/size/minimum", Some("3"))]),
    (
        "minimum-lowered",
        &[("/properties/size/minimum", Some("1"))],
    ),
    ("minimum-removed", &[("/properties/size/minimum", None)]),
    (
        "maximum-lowered",
        &[("/properties/size/maximum", Some("9"))],
    ),
    (
        "maximum-raised",
        &[("/properties/size/maximum", Some("11"))],
    ),
    (
        "max-length-lowered",
        &[("/properties/name/maxLength", Some("19"))],
    ),
    (
        "max-length-added",
        &[("/properties/note/maxLength", Some("5"))],
    ),
    (
        "min-items-added",
        &[("/properties/tags/minItems", Some("1"))],
    ),
    (
        "pattern-changed",
        &[("/properties/code/pattern", Some(r#""^[a-z0-9]+$""#))],
    ),
    (
        "nullable-added",
        &[("/properties/note/nullable", Some("true"))],
    ),
    (
        "format-added",
        &[("/properties/note/format", Some(r#""date""#))],
    ),
    (
        "list-type-added",
        &[(
            "/properties/tags/x-kubernetes-list-type",
            Some(r#""atomic""#),
        )],
    ),
    (
        "rule-added",
        &[(
            "/x-kubernetes-validations",
            Some(r#"[{"rule": "self.name != ''"}]"#),
        )],
    ),
    (
        "unknown-fields-kept",
        &[("/x-kubernetes-preserve-unknown-fields", Some("true"))],
    ),
    (
        "two-changes",
        &[
            ("/properties/note", None),
            ("/properties/size/minimum", Some("3")),
        ],
    ),
];

fn of_fields() -> Vec<Case> {
    let upgrade = |(name, changes): &(&'static str, Changes)| {
        upgrade(name, |crd| {
            for (pointer, value) in *changes {
                change(crd, "/spec/versions/0", pointer, *value);
            }
        })
    };
    OF_FIELDS.iter().map(upgrade).collect()
}

fn change(crd: &mut Value, version: &str, pointer: &str, value: Option<&str>) {
    let pointer = format!("{version}/schema/openAPIV3Schema/properties/spec{pointer}");
    match value {
        Some(value) => put(
            crd,
            &pointer,
            serde_json::from_str(value).unwrap_or_default(),
        ),
        None => take(crd, &pointer),
    }
}

fn of_versions() -> Vec<Case> {
    let to_two = |crd: &mut Value, is_served: bool, value: Option<&str>| {
        put(crd, "/spec/versions/-", version("v2"));
        put(crd, "/spec/versions/0/storage", json!(false));
        put(crd, "/spec/versions/1/served", json!(is_served));
        if value.is_some() {
            change(crd, "/spec/versions/1", "/properties/size/minimum", value);
        }
    };
    vec![
        upgrade("version-added", |crd| to_two(crd, true, None)),
        upgrade("version-added-stricter", |crd| to_two(crd, true, Some("3"))),
        upgrade("version-added-looser", |crd| to_two(crd, true, Some("1"))),
        upgrade("version-added-unserved", |crd| {
            to_two(crd, false, Some("3"));
        }),
        upgrade("version-replaced", |crd| {
            put(crd, "/spec/versions", json!([version("v2")]));
        }),
        upgrade("version-not-served", |crd| {
            put(crd, "/spec/versions/0/served", json!(false));
        }),
        upgrade("scope-changed", |crd| {
            put(crd, "/spec/scope", json!("Cluster"));
        }),
        upgrade("column-added", |crd| {
            let column = json!([{ "name": "Size", "type": "integer", "jsonPath": ".spec.size" }]);
            put(crd, "/spec/versions/0/additionalPrinterColumns", column);
        }),
        upgrade("status-added", |crd| {
            put(
                crd,
                "/spec/versions/0/subresources",
                json!({ "status": {} }),
            );
        }),
        Case::of("crd-added", with_crd("crd-added", TO, crd("crd-added")))
            .from(smallest("crd-added", FROM)),
        Case::of("crd-dropped", smallest("crd-dropped", TO)).from(with_crd(
            "crd-dropped",
            FROM,
            crd("crd-dropped"),
        )),
    ]
}

/// Returns the cases with `crdUpgradeSafety.enforcement: None`.
fn without_checks() -> Vec<Case> {
    let cases = [
        upgrade("field-removed-unchecked", |crd| {
            change(crd, "/spec/versions/0", "/properties/note", None);
        }),
        upgrade("scope-changed-unchecked", |crd| {
            put(crd, "/spec/scope", json!("Cluster"));
        }),
        upgrade("version-replaced-unchecked", |crd| {
            put(crd, "/spec/versions", json!([version("v2")]));
        }),
    ];
    let unchecked = |case| Case {
        spec: json!({ "install": { "preflight": { "crdUpgradeSafety": { "enforcement": "None" } } } }),
        ..case
    };
    cases.map(unchecked).into()
}

fn upgrade(name: &'static str, change: impl FnOnce(&mut Value)) -> Case {
    let mut new = crd(name);
    change(&mut new);
    Case::of(name, with_crd(name, TO, new)).from(with_crd(name, FROM, crd(name)))
}
