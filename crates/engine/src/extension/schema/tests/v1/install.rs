//! Where and how to install: `namespace`, `serviceAccount`, `install`, `config`.

use super::*;

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

/// Only the standard CRD of v1.8 has `config`; others prune it, whatever it holds.
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
