//! `spec.source`: package, version range, channels, selector, policy.

use super::*;

#[test]
fn source_type() {
    const AT: &str = "/spec/source/sourceType";
    const REFUSED: &str = "spec.source.sourceType: Unsupported value: ";
    takes(AT, &["Catalog"]);
    for word in ["", "Invalid", "catalog"] {
        let finding = format!("{REFUSED}{word:?}: supported values: \"Catalog\"");
        refuses(AT, &[word], &finding);
    }
    field_says(AT, json!(null), &["spec.source.sourceType: Required value"]);
    let union = "spec.source: catalog is required when sourceType is Catalog, and forbidden \
        otherwise";
    says(&without(extension(), "/spec/source", "catalog"), &[union]);
    field_says("/spec/source/catalog", json!(null), &[union]);
}

#[test]
fn package_name() {
    takes(
        PACKAGE_NAME,
        &[
            "0my-1package-9name",
            "my0-package1-name9",
            "012-345-678-9",
            "abc-def-ghi-jkl",
            "abcdefghi",
            "abc123def456ghi789",
            "1234567890",
            "a",
            "1",
            "some.package",
            &"a".repeat(253),
        ],
    );
    refuses(
        PACKAGE_NAME,
        &[
            "",
            "-",
            "ABC-DEF-GHI-JKL",
            "my-$pecial-package-name",
            "some_package",
            ".some.package",
            "a.-b",
            "a\n",
        ],
        &format!("spec.source.catalog.packageName: packageName {SUBDOMAIN}"),
    );
    let too_long = "spec.source.catalog.packageName: Too long: may not be more than 253";
    refuses(
        PACKAGE_NAME,
        &[&"a".repeat(254), &"Ä".repeat(254)],
        too_long,
    );
    let required = "spec.source.catalog.packageName: Required value";
    field_says(PACKAGE_NAME, json!(null), &[required]);
    says(
        &without(extension(), "/spec/source/catalog", "packageName"),
        &[required],
    );
}

/// `versions.jsonl` says for each expression whether the pattern of the v1 CRD takes it: the rows
/// of the upstream tests, and others on which the pattern and Masterminds disagree.
#[test]
fn version() {
    field_says(VERSION, json!(null), &[]);
    for line in include_str!("../versions.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let refused = "spec.source.catalog.version: invalid version expression";
        let want: &[&str] = if row["accepted"] == true {
            &[]
        } else {
            &[refused]
        };
        field_says(VERSION, row["version"].clone(), want);
    }
    refuses(
        VERSION,
        &[
            "1234567890.1234567890.12345678901234567890123456789012345678901234",
            &"é".repeat(65),
        ],
        "spec.source.catalog.version: Too long: may not be more than 64",
    );
    let integer = "spec.source.catalog.version: Invalid value: \"integer\": \
        spec.source.catalog.version in body must be of type string: \"integer\"";
    field_says(VERSION, json!(1), &[integer]);
    let number = integer.replace("\"integer\"", "\"number\"");
    field_says(VERSION, json!(1.0), &[&number]);
}

#[test]
fn channels() {
    const AT: &str = "/spec/source/catalog/channels";
    let names = [
        "hyphenated-name",
        "dotted.name",
        "channel-has-version-1.0.1",
    ];
    field_says(AT, json!(names), &[]);
    field_says(AT, json!(["twice", "twice"]), &[]);
    field_says(AT, json!([]), &[]);
    for name in [
        "",
        "spaces spaces",
        "Capitalized",
        "camelCase",
        "many/invalid$characters+in_name",
        "-start-with-hyphen",
        "end-with-hyphen-",
        ".start-with-period",
        "end-with-period.",
        "some_thing",
        "a.-b",
    ] {
        let finding = "spec.source.catalog.channels[1]: channels entries must be valid DNS1123 \
            subdomains";
        field_says(AT, json!(["good", name]), &[finding]);
    }
    let at = "spec.source.catalog.channels";
    let too_long = format!("{at}[0]: Too long: may not be more than 253");
    field_says(AT, json!(["a".repeat(254)]), &[&too_long]);
    field_says(AT, json!(vec!["a"; 256]), &[]);
    let too_many = format!("{at}: Too many: 257: must have at most 256 items");
    field_says(AT, json!(vec!["a"; 257]), &[&too_many]);
    let null = format!(
        "{at}[0]: Invalid value: \"null\": {at}[0] in body must be of type string: \
        \"null\""
    );
    field_says(AT, json!([null]), &[&null]);
    let text = format!(
        "{at}: Invalid value: \"string\": {at} in body must be of type array: \
        \"string\""
    );
    field_says(AT, json!("stable"), &[&text]);
}

#[test]
fn selector_structure_only() {
    const AT: &str = "/spec/source/catalog/selector";
    for selector in [
        json!(null),
        json!({}),
        json!({"matchLabels": {"bad key!": "bad value!", "null": null}}),
        json!({"matchExpressions": [{"key": "", "operator": "Bad", "values": null}]}),
        json!({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
    ] {
        field_says(AT, selector, &[]);
    }
    let at = "spec.source.catalog.selector";
    let of_type = |field: &str, expected: &str, found: &str| {
        format!(
            "{at}{field}: Invalid value: \"{found}\": {at}{field} in body must be of type \
            {expected}: \"{found}\""
        )
    };
    let rows = [
        (json!([]), of_type("", "object", "array")),
        (
            json!({"matchLabels": {"a": 1}}),
            of_type(".matchLabels.a", "string", "integer"),
        ),
        (
            json!({"matchLabels": {"\n": 1}}),
            of_type(".matchLabels.\\n", "string", "integer"),
        ),
        (
            json!({"matchExpressions": {}}),
            of_type(".matchExpressions", "array", "object"),
        ),
        (
            json!({"matchExpressions": [1]}),
            of_type(".matchExpressions[0]", "object", "integer"),
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": [true]}]}),
            of_type(".matchExpressions[0].values[0]", "string", "boolean"),
        ),
        (
            json!({"matchExpressions": [{"operator": "In"}]}),
            format!("{at}.matchExpressions[0].key: Required value"),
        ),
        (
            json!({"matchExpressions": [{"key": "a"}]}),
            format!("{at}.matchExpressions[0].operator: Required value"),
        ),
    ];
    for (selector, finding) in rows {
        field_says(AT, selector, &[&finding]);
    }
}

#[test]
fn upgrade_constraint_policy() {
    takes(POLICY, &["CatalogProvided", "SelfCertified"]);
    field_says(POLICY, json!(null), &[]);
    let rows = [
        ("", None),
        ("selfcertified", None),
        ("Ignore", Some("SelfCertified")),
        ("Enforce", Some("CatalogProvided")),
    ];
    for (word, instead) in rows {
        let object = with(extension(), POLICY, json!(word));
        let want = Finding {
            path: "spec.source.catalog.upgradeConstraintPolicy".to_owned(),
            message: format!(
                "Unsupported value: {word:?}: supported values: \"CatalogProvided\", \
                 \"SelfCertified\""
            ),
            instead: instead.map(Correction::Word),
        };
        assert_eq!(check(Shape::V1, NEWEST, &object), [want]);
    }
}
