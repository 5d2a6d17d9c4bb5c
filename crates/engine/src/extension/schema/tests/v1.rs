//! The v1 CRD.

use crate::extension::schema::tests::*;

pub(super) fn extension() -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "argocd"},
        "spec": {
            "namespace": "argocd",
            "serviceAccount": {"name": "argocd-installer"},
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "argocd-operator"}},
        },
    })
}

#[track_caller]
fn says(object: &Value, want: &[&str]) {
    assert_eq!(findings(Shape::V1, NEWEST, object), want, "{object}");
}

#[track_caller]
fn field_says(pointer: &str, value: Value, want: &[&str]) {
    says(&with(extension(), pointer, value), want);
}

/// Asserts that all of `texts` are accepted at `pointer`.
#[track_caller]
fn takes(pointer: &str, texts: &[&str]) {
    for text in texts {
        field_says(pointer, json!(text), &[]);
    }
}

/// Asserts that all of `texts` are refused at `pointer`, with this finding.
#[track_caller]
fn refuses(pointer: &str, texts: &[&str], finding: &str) {
    for text in texts {
        field_says(pointer, json!(text), &[finding]);
    }
}

const PACKAGE_NAME: &str = "/spec/source/catalog/packageName";
const VERSION: &str = "/spec/source/catalog/version";
const POLICY: &str = "/spec/source/catalog/upgradeConstraintPolicy";

const SUBDOMAIN: &str = "must be a valid DNS1123 subdomain. It must contain only lowercase \
    alphanumeric characters, hyphens (-) or periods (.), start and end with an alphanumeric \
    character, and be no longer than 253 characters";

#[test]
fn the_smallest_extension_is_taken() {
    says(&extension(), &[]);
    says(&without(extension(), "/spec", "serviceAccount"), &[]);
    says(&without(extension(), "", "spec"), &[]);
}

/// An API server decodes metadata before it applies the rules of a CRD.
#[test]
fn the_types_of_metadata() {
    let metadata =
        json!({"name": "e", "labels": {"a": "b"}, "finalizers": ["f"], "annotations": null});
    says(&with(extension(), "/metadata", metadata), &[]);
    let text = |path: &str, found: &str| {
        format!(
            "{path}: Invalid value: \"{found}\": {path} in body must be of type string: \"{found}\""
        )
    };
    for (pointer, value, expected) in [
        (
            "/metadata/labels/a",
            json!(1),
            text("metadata.labels.a", "integer"),
        ),
        (
            "/metadata/annotations/a",
            json!(true),
            text("metadata.annotations.a", "boolean"),
        ),
        (
            "/metadata/name",
            json!(123),
            text("metadata.name", "integer"),
        ),
        (
            "/metadata/finalizers",
            json!([{}]),
            text("metadata.finalizers[0]", "object"),
        ),
    ] {
        says(&with(extension(), pointer, value), &[&expected]);
    }
    let list =
        "metadata: Invalid value: \"array\": metadata in body must be of type object: \"array\"";
    says(&with(extension(), "/metadata", json!([])), &[list]);
}

#[test]
fn whole_objects() {
    says(&json!({}), &[]);
    says(
        &json!({"spec": {}}),
        &[
            "spec.namespace: Required value",
            "spec.source: Required value",
        ],
    );
    says(
        &json!([]),
        &[": Invalid value: \"array\": must be of type object: \"array\""],
    );
    says(
        &json!({"spec": []}),
        &["spec: Invalid value: \"array\": spec in body must be of type object: \"array\""],
    );
    let mut wrong = with(extension(), VERSION, json!("latest"));
    wrong = with(wrong, POLICY, json!("Never"));
    says(
        &with(wrong, PACKAGE_NAME, json!(7)),
        &[
            "spec.source.catalog.packageName: Invalid value: \"integer\": \
             spec.source.catalog.packageName in body must be of type string: \"integer\"",
            "spec.source.catalog.version: invalid version expression",
            "spec.source.catalog.upgradeConstraintPolicy: Unsupported value: \"Never\": supported \
             values: \"CatalogProvided\", \"SelfCertified\"",
        ],
    );
}

// === `spec.source`: package, version range, channels, selector, policy ===

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

/// For each expression, `versions.jsonl` has whether the pattern of the v1 CRD accepts it. The file
/// contains the rows of the upstream tests, and others on which the pattern and Masterminds
/// disagree.
#[test]
fn version() {
    field_says(VERSION, json!(null), &[]);
    for line in include_str!("versions.jsonl").lines() {
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

// === The installation: `namespace`, `serviceAccount`, `install`, `config` ===

#[test]
fn namespace() {
    const AT: &str = "/spec/namespace";
    takes(
        AT,
        &["justalphanumberic1", "hyphenated-name", &"a".repeat(63)],
    );
    refuses(
        AT,
        &[
            "",
            "dotted.name",
            "spaces spaces",
            "Capitalized",
            "camelCase",
            "-start-with-hyphen",
            "end-with-hyphen-",
            ".start-with-period",
            "end-with-period.",
        ],
        "spec.namespace: namespace must be a valid DNS1123 label",
    );
    let too_long = "spec.namespace: Too long: may not be more than 63";
    refuses(AT, &[&"a".repeat(64)], too_long);
    says(
        &without(extension(), "/spec", "namespace"),
        &["spec.namespace: Required value"],
    );
}

#[test]
fn service_account_name() {
    const AT: &str = "/spec/serviceAccount/name";
    takes(
        AT,
        &["hyphenated-name", "dotted.name", "1", &"a".repeat(253)],
    );
    refuses(
        AT,
        &[
            "spaces spaces",
            "Capitalized",
            "-start-with-hyphen",
            "end-with-hyphen-",
            ".start-with-period",
            "end-with-period.",
            "a.-b",
        ],
        &format!("spec.serviceAccount.name: name {SUBDOMAIN}"),
    );
    let too_long = "spec.serviceAccount.name: Too long: may not be more than 253";
    refuses(AT, &[&"a".repeat(254)], too_long);
}

#[test]
fn service_account_by_release() {
    let few = "spec.serviceAccount: Invalid value: 0: spec.serviceAccount in body should have at \
        least 1 properties";
    let short = "spec.serviceAccount.name: Invalid value: \"\": spec.serviceAccount.name in body \
        should be at least 1 chars long";
    let subdomain = &format!("spec.serviceAccount.name: name {SUBDOMAIN}");
    let no_name = "spec.serviceAccount.name: Required value";
    let rows: [(Value, &[&str], &[&str]); 5] = [
        // (serviceAccount, until v1.10, from v1.11)
        (json!({"name": "a"}), &[], &[]),
        (json!(null), &["spec.serviceAccount: Required value"], &[]),
        (json!({}), &[no_name], &[few]),
        (json!({"nmae": "a", "name": null}), &[no_name], &[few]),
        (json!({"name": ""}), &[subdomain], &[short, subdomain]),
    ];
    for (account, until_10, from_11) in rows {
        let object = with(extension(), "/spec/serviceAccount", account);
        for (minor, want) in [(0, until_10), (10, until_10), (11, from_11), (200, from_11)] {
            let found = findings(Shape::V1, SchemaRelease::v1(minor), &object);
            assert_eq!(found, want, "v1.{minor}: {object}");
        }
    }
}

#[test]
fn install() {
    const AT: &str = "/spec/install";
    let safety = |value: Value| json!({"preflight": {"crdUpgradeSafety": value}});
    let enforcement = "spec.install.preflight.crdUpgradeSafety.enforcement";
    for taken in [
        json!(null),
        safety(json!({"enforcement": "None"})),
        safety(json!({"enforcement": "Strict"})),
    ] {
        field_says(AT, taken, &[]);
    }
    let rows = [
        (
            json!({}),
            "spec.install: at least one of [preflight] are required when install is specified"
                .to_owned(),
        ),
        (
            json!({"preflight": {}}),
            "spec.install.preflight: at least one of [crdUpgradeSafety] are required when \
             preflight is specified"
                .to_owned(),
        ),
        (safety(json!({})), format!("{enforcement}: Required value")),
        (
            safety(json!({"enforcement": "Enabled"})),
            format!(
                "{enforcement}: Unsupported value: \"Enabled\": supported values: \"None\", \
                 \"Strict\""
            ),
        ),
    ];
    for (install, finding) in rows {
        field_says(AT, install, &[&finding]);
    }
}

/// Only the standard CRD of v1.8 has `config`. Others prune it, whatever it contains.
#[test]
fn config_by_release() {
    let rows = [
        (json!(null), None),
        (
            json!({"configType": "Inline", "inline": {"watchNamespace": "a"}}),
            None,
        ),
        (json!({"configType": "Inline", "inline": {"a": null}}), None),
        (
            json!("a"),
            Some(
                "spec.config: Invalid value: \"string\": spec.config in body must be of type \
                 object: \"string\"",
            ),
        ),
        (json!({}), Some("spec.config.configType: Required value")),
        (
            json!({"configType": "Other"}),
            Some(
                "spec.config.configType: Unsupported value: \"Other\": supported values: \
                 \"Inline\"",
            ),
        ),
        (
            json!({"configType": "Inline"}),
            Some(
                "spec.config: inline is required when configType is Inline, and forbidden \
                 otherwise",
            ),
        ),
        (
            json!({"configType": "Inline", "inline": {}}),
            Some(
                "spec.config.inline: Invalid value: 0: spec.config.inline in body should have \
                 at least 1 properties",
            ),
        ),
        (
            json!({"configType": "Inline", "inline": []}),
            Some(
                "spec.config.inline: Invalid value: \"array\": spec.config.inline in body must \
                 be of type object: \"array\"",
            ),
        ),
    ];
    for (config, finding) in rows {
        let object = with(extension(), "/spec/config", config);
        let found = findings(Shape::V1, SchemaRelease::v1(8), &object);
        assert_eq!(found, Vec::from_iter(finding), "{object}");
        for minor in [0, 7, 9, 11] {
            let found = findings(Shape::V1, SchemaRelease::v1(minor), &object);
            assert!(found.is_empty(), "v1.{minor}: {object}");
        }
    }
}
