//! The shapes before v1, each form by the rules of the newest release that has it.

use super::*;

#[track_caller]
fn says(shape: Shape, object: &Value, want: &[&str]) {
    assert_eq!(findings(shape, NEWEST, object), want, "{object}");
}

fn operator() -> Value {
    json!({"spec": {"packageName": "argocd-operator"}})
}

fn flat() -> Value {
    let spec = json!({
        "packageName": "argocd-operator",
        "installNamespace": "argocd",
        "serviceAccount": {"name": "argocd-installer"},
    });
    json!({"spec": spec})
}

fn nested(spec: &Value) -> Value {
    let source = json!({"sourceType": "Catalog", "catalog": {"packageName": "argocd-operator"}});
    with(json!({"spec": spec}), "/spec/source", source)
}

fn v0_14() -> Value {
    nested(&json!({"installNamespace": "argocd", "serviceAccount": {"name": "a"}}))
}

fn v0_15() -> Value {
    let install = json!({"namespace": "argocd", "serviceAccount": {"name": "a"}});
    with(
        nested(&json!({"install": install})),
        "/spec/source/catalog/channel",
        json!("stable"),
    )
}

fn v0_17() -> Value {
    nested(&json!({"install": {"namespace": "argocd", "serviceAccount": {"name": "a"}}}))
}

fn v0_18() -> Value {
    nested(&json!({"namespace": "argocd", "serviceAccount": {"name": "a"}}))
}

#[test]
fn plain_manifests_are_taken() {
    says(Shape::Operator, &operator(), &[]);
    says(Shape::V1Alpha1Flat, &flat(), &[]);
    for object in [v0_14(), v0_15(), v0_17(), v0_18()] {
        says(Shape::V1Alpha1Nested, &object, &[]);
    }
}

#[test]
fn flat_fields() {
    let long = "a".repeat(49);
    let package = "spec.packageName in body should match '^[a-z0-9]+(-[a-z0-9]+)*$'";
    let channel = r"spec.channel in body should match '^[a-z0-9]+([\.-][a-z0-9]+)*$'";
    let policies = "supported values: \"Enforce\", \"Ignore\"";
    let rows = [
        (
            "/spec/packageName",
            "some.package",
            format!("Invalid value: \"some.package\": {package}"),
        ),
        (
            "/spec/packageName",
            "a--b",
            format!("Invalid value: \"a--b\": {package}"),
        ),
        (
            "/spec/packageName",
            "",
            format!("Invalid value: \"\": {package}"),
        ),
        (
            "/spec/packageName",
            &long,
            "Too long: may not be more than 48".to_owned(),
        ),
        (
            "/spec/version",
            "latest",
            "invalid version expression".to_owned(),
        ),
        (
            "/spec/version",
            &long[..48],
            "invalid version expression".to_owned(),
        ),
        (
            "/spec/channel",
            "a_b",
            format!("Invalid value: \"a_b\": {channel}"),
        ),
        (
            "/spec/channel",
            "a.-b",
            format!("Invalid value: \"a.-b\": {channel}"),
        ),
        (
            "/spec/channel",
            "A",
            format!("Invalid value: \"A\": {channel}"),
        ),
        (
            "/spec/channel",
            &long,
            "Too long: may not be more than 48".to_owned(),
        ),
        (
            "/spec/upgradeConstraintPolicy",
            "SelfCertified",
            format!("Unsupported value: \"SelfCertified\": {policies}"),
        ),
    ];
    for (pointer, value, message) in rows {
        let path = pointer.trim_start_matches('/').replace('/', ".");
        let finding = format!("{path}: {message}");
        says(
            Shape::Operator,
            &with(operator(), pointer, json!(value)),
            &[&finding],
        );
        says(
            Shape::V1Alpha1Flat,
            &with(flat(), pointer, json!(value)),
            &[&finding],
        );
    }
    for (pointer, value) in [
        ("/spec/channel", "candidate-0.1.2"),
        ("/spec/version", ">=1.0.0 <2.0.0"),
        ("/spec/upgradeConstraintPolicy", "Enforce"),
        ("/spec/upgradeConstraintPolicy", "Ignore"),
    ] {
        says(
            Shape::Operator,
            &with(operator(), pointer, json!(value)),
            &[],
        );
        says(
            Shape::V1Alpha1Flat,
            &with(flat(), pointer, json!(value)),
            &[],
        );
    }
}

#[test]
fn flat_requirements() {
    says(
        Shape::Operator,
        &json!({"spec": {}}),
        &["spec.packageName: Required value"],
    );
    says(
        Shape::V1Alpha1Flat,
        &json!({"spec": {}}),
        &[
            "spec.packageName: Required value",
            "spec.installNamespace: Required value",
            "spec.serviceAccount: Required value",
        ],
    );
    says(
        Shape::V1Alpha1Flat,
        &with(flat(), "/spec/serviceAccount", json!({})),
        &["spec.serviceAccount.name: Required value"],
    );
    says(
        Shape::V1Alpha1Flat,
        &with(flat(), "/spec/installNamespace", json!("a".repeat(64))),
        &["spec.installNamespace: Too long: may not be more than 63"],
    );
    let at = "spec.preflight.crdUpgradeSafety.disabled";
    says(
        Shape::V1Alpha1Flat,
        &with(
            flat(),
            "/spec/preflight/crdUpgradeSafety/disabled",
            json!("true"),
        ),
        &[&format!(
            "{at}: Invalid value: \"string\": {at} in body must be of type boolean: \"string\""
        )],
    );
    says(
        Shape::Operator,
        &with(operator(), "/spec/serviceAccount", json!(7)),
        &[],
    );
}

/// The words of the policy depend on the form: `channels` and `channel` never had the same words.
#[test]
fn nested_policy() {
    let old = ["Enforce", "Ignore"];
    let new = ["CatalogProvided", "SelfCertified"];
    let rows = [
        ("v0.14", v0_14(), old, new),
        ("v0.15", v0_15(), old, new),
        ("v0.17", v0_17(), new, old),
        ("v0.18", v0_18(), new, old),
    ];
    for (form, object, taken, refused) in rows {
        for index in [0, 1] {
            let policy = |word: &str| {
                let at = "/spec/source/catalog/upgradeConstraintPolicy";
                check(
                    Shape::V1Alpha1Nested,
                    NEWEST,
                    &with(object.clone(), at, json!(word)),
                )
            };
            assert_eq!(policy(taken[index]), [], "{form}");
            let instead: Vec<_> = policy(refused[index])
                .iter()
                .map(|found| found.instead.clone())
                .collect();
            let word = Correction::Word(taken[index]);
            assert_eq!(instead, [Some(word)], "{form}");
        }
    }
}

#[test]
fn nested_fields() {
    let long = json!("a".repeat(254));
    let over_48 = json!("a".repeat(49));
    let catalog = "spec.source.catalog";
    let rows: [(Value, &str, Value, &[&str]); 15] = [
        (
            v0_14(),
            "packageName",
            over_48.clone(),
            &["Too long: may not be more than 48"],
        ),
        (v0_15(), "packageName", over_48.clone(), &[]),
        (v0_17(), "packageName", over_48.clone(), &[]),
        (
            v0_18(),
            "packageName",
            long.clone(),
            &["Too long: may not be more than 253"],
        ),
        (
            v0_14(),
            "channel",
            over_48.clone(),
            &["Too long: may not be more than 48"],
        ),
        (v0_15(), "channel", over_48, &[]),
        (
            v0_15(),
            "channel",
            long.clone(),
            &["Too long: may not be more than 253"],
        ),
        (v0_17(), "channels", json!([long]), &[]),
        (
            v0_14(),
            "version",
            json!("latest"),
            &["invalid version expression"],
        ),
        (
            v0_15(),
            "version",
            json!("latest"),
            &["invalid version expression"],
        ),
        (
            v0_17(),
            "version",
            json!("latest"),
            &["invalid version expression"],
        ),
        (
            v0_18(),
            "version",
            json!("latest"),
            &["invalid version expression"],
        ),
        (v0_14(), "packageName", json!(null), &["Required value"]),
        (v0_17(), "packageName", json!(null), &["Required value"]),
        (v0_18(), "packageName", json!(null), &["Required value"]),
    ];
    for (object, field, value, messages) in rows {
        let object = with(object, &format!("/spec/source/catalog/{field}"), value);
        let want = messages
            .iter()
            .map(|message| format!("{catalog}.{field}: {message}"));
        let want: Vec<String> = want.collect();
        assert_eq!(
            findings(Shape::V1Alpha1Nested, NEWEST, &object),
            want,
            "{object}"
        );
    }
}

#[test]
fn nested_preflight() {
    let safety = "/spec/preflight/crdUpgradeSafety/policy";
    says(
        Shape::V1Alpha1Nested,
        &with(v0_14(), safety, json!("Disabled")),
        &[],
    );
    let finding = "spec.preflight.crdUpgradeSafety.policy: Unsupported value: \"Off\": supported \
        values: \"Enabled\", \"Disabled\"";
    says(
        Shape::V1Alpha1Nested,
        &with(v0_14(), safety, json!("Off")),
        &[finding],
    );

    let safety = "/spec/install/preflight/crdUpgradeSafety/enforcement";
    says(
        Shape::V1Alpha1Nested,
        &with(v0_18(), safety, json!("Strict")),
        &[],
    );
    let finding = "spec.install.preflight.crdUpgradeSafety.enforcement: Unsupported value: \
        \"Enabled\": supported values: \"None\", \"Strict\"";
    says(
        Shape::V1Alpha1Nested,
        &with(v0_18(), safety, json!("Enabled")),
        &[finding],
    );
}

#[test]
fn nested_without_a_readable_spec() {
    for object in [json!({}), json!({"spec": null})] {
        says(Shape::V1Alpha1Nested, &object, &[]);
    }
    says(
        Shape::V1Alpha1Nested,
        &json!({"spec": {"source": "catalog"}}),
        &[
            "spec.source: Invalid value: \"string\": spec.source in body must be of type object: \
           \"string\"",
        ],
    );
}
