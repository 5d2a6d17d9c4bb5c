//! The text of every token and every warning, as a user reads it.
//!
//! `(Token)` represents an answer without a message; warnings follow it.

mod allowed;
mod outdated;
mod refused;
mod undecided;

use serde_json::{Value, json};

use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::schema::{self, SchemaRelease};
use olmguard_engine::extension::{Extension, Installed, Shape, UnknownCause};
use olmguard_engine::judge::{Basis, Edit, Requester};
use olmguard_fixtures::question::{Question, ask, extension};
use olmguard_fixtures::written::Written;

/// Compares a message and the warnings with the lines of a text, regardless of indentation. The last line of every
/// message differs only in its token, and is omitted there.
#[track_caller]
fn reads(answer: &Answer, expected: &str) {
    let token = answer.token.as_str();
    let silent = format!("({token})");
    let help = format!("\nHelp: olmguard explain {token}");
    let message = answer.message.as_deref().map(|message| {
        let told = message.strip_suffix(&help);
        assert!(told.is_some(), "no help: {message}");
        told.unwrap_or_default()
    });
    let message = message.unwrap_or(&silent);
    let warnings = answer
        .warnings
        .iter()
        .map(|warning| format!("warning: {warning}"));
    let told: Vec<String> = message.lines().map(str::to_owned).chain(warnings).collect();
    let expected: Vec<&str> = expected.trim().lines().map(str::trim_start).collect();
    assert_eq!(told, expected);
}

const ARGO: Written<'_> = Written {
    package: "argocd-operator",
    prefix: "argocd-operator.v",
    lines: "alpha: 0.5.0; 0.5.1 replaces 0.5.0; 0.6.0 replaces 0.5.1 skips 0.5.0; \
                   0.7.0 replaces 0.6.0; 0.8.0
            beta: 0.4.0; 0.8.0
            empty:",
};

/// A catalog whose object has everything that a message can cite.
fn argo() -> Question {
    let question = ask(&[("operatorhubio", 0, &ARGO)]).package("argocd-operator");
    question.state("operatorhubio", |state| {
        state.image_ref = Some("example.com/catalog@sha256:1a2b3c4d".to_owned());
        state.last_unpacked = Some("2026-08-21T10:03:00Z".to_owned());
    })
}

fn argo_at(version: &str) -> Question {
    argo().installed_as(&format!("argocd-operator.v{version}"), version, None)
}

/// Catalog `c` with package `P`.
fn one(lines: &'static str) -> Question {
    ask(&[("c", 0, &olmguard_fixtures::written::written(lines))])
}

fn put(new: &Extension, old: Option<&Extension>, schema: &[schema::Finding]) -> Answer {
    let edit = Edit {
        new,
        old,
        installed: &Installed::Nothing,
        schema,
        requester: Requester::unknown(),
    };
    answer(Basis::without_policies(&argo().snapshot()), &edit)
}

/// The answer to a creation in one of the versions of the nested shape.
fn read_as(version: &str, asked: &Value) -> Answer {
    put(&object(version, asked), None, &[])
}

fn object(version: &str, asked: &Value) -> Extension {
    let shape = match version {
        "v1" => Shape::V1,
        _ => Shape::V1Alpha1Nested,
    };
    let object = json!({
        "apiVersion": format!("olm.operatorframework.io/{version}"), "kind": "ClusterExtension",
        "metadata": {"name": "argocd"},
        "spec": {"source": {"sourceType": "Catalog", "catalog": asked}},
    });
    Extension::read(shape, &object)
}

/// The answer offline, which also applies the rules of the CRD.
fn checked(asked: &Value) -> Answer {
    let object = json!({
        "spec": {
            "namespace": "argocd", "serviceAccount": {"name": "argocd"},
            "source": {"sourceType": "Catalog", "catalog": asked},
        },
    });
    let findings = schema::check(Shape::V1, SchemaRelease::v1(11), &object);
    put(&extension(asked), None, &findings)
}

/// The answer to an update from one request to another.
fn updated(old: &Value, new: &Value) -> Answer {
    put(&extension(new), Some(&extension(old)), &[])
}

/// The answer to the same update while the installed bundle is unknown.
fn updated_unknown(old: &Value, new: &Value) -> Answer {
    let edit = Edit {
        new: &extension(new),
        old: Some(&extension(old)),
        installed: &Installed::Unknown(UnknownCause::Condition),
        schema: &[],
        requester: Requester::unknown(),
    };
    answer(Basis::without_policies(&argo().snapshot()), &edit)
}

fn rolling_out() -> Answer {
    let object = json!({
        "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": "argocd-operator"}}},
        "status": {"conditions": [
            {"type": "Progressing", "status": "True", "reason": "RollingOut"}]},
    });
    put(&Extension::read(Shape::V1, &object), None, &[])
}

// === Faults in the object's own fields ===

#[test]
fn invalid_spec_of_the_filter() {
    reads(
        &read_as("v1", &json!({"version": "1.0.0"})),
        "
            ClusterExtension argocd refused: spec.source.catalog.packageName is missing: expected the name of a package [InvalidSpec]
        ",
    );
    reads(
        &read_as("v1", &json!({"packageName": "p", "version": 3})),
        "
            ClusterExtension argocd refused: spec.source.catalog.version: expected string, found integer; put it in quotes to make it a string [InvalidSpec]
        ",
    );
    reads(
        &read_as("v1alpha1", &json!({"packageName": "p", "channel": "a", "channels": ["b"]})),
        "
            ClusterExtension argocd refused: spec.source.catalog.channels and spec.source.catalog.channel are both there: no OLM reads both; keep one [InvalidSpec]
        ",
    );
}

/// `Ignore` was the word before v0.16. Objects have had `spec.namespace` since v0.18.
#[test]
fn the_word_of_an_older_shape_is_no_bypass_in_a_later_one() {
    let bypasses = |place: &str, value: &Value| {
        let mut object = json!({
            "spec": {"source": {"sourceType": "Catalog", "catalog": {
                "packageName": "p", "upgradeConstraintPolicy": "Ignore",
            }}},
        });
        object["spec"][place] = value.clone();
        let extension = Extension::read(Shape::V1Alpha1Nested, &object);
        extension.filter.expect("a filter").bypasses()
    };
    assert!(bypasses("installNamespace", &json!("ns")), "v0.14");
    assert!(bypasses("paused", &json!(false)), "any release");
    assert!(bypasses("install", &json!({"namespace": "ns"})), "v0.15");
    assert!(!bypasses("namespace", &json!("ns")), "v0.18");
}

#[test]
fn invalid_spec_of_the_crd() {
    reads(
        &checked(&json!({"packageName": "argocd-operator", "version": "nonsense"})),
        "
            argocd-operator: install of nonsense refused: spec.source.catalog.version: invalid version expression [InvalidSpec]
            Fix: set spec.source.catalog.version to \"0.8.0\"
        ",
    );
    reads(
        &checked(&json!({"packageName": "argocd-operator", "version": "2.4.1 - 2.4.9"})),
        r#"
            argocd-operator: install of 2.4.1 - 2.4.9 refused: spec.source.catalog.version: invalid version expression; write ">=2.4.1 <=2.4.9" [InvalidSpec]
            Fix: set spec.source.catalog.version to "0.8.0"
        "#,
    );
    reads(
        &checked(&json!({"packageName": "argocd-operator", "version": "latest"})),
        "
            argocd-operator: install of latest refused: spec.source.catalog.version: invalid version expression; omit the version: OLM then installs the newest one that it can [InvalidSpec]
            Fix: set spec.source.catalog.version to \"0.8.0\"
        ",
    );
    reads(
        &checked(&json!({"packageName": "argocd-operator", "upgradeConstraintPolicy": "Ignore"})),
        r#"
            argo...ator: install of any version refused: spec.source.catalog.upgradeConstraintPolicy: Unsupported value: "Ignore": s...alogProvided", "SelfCertified" (here the word is SelfCertified) [InvalidSpec]
            warning: spec.source.catalog.upgradeConstraintPolicy: Ignore is a word of another API version; did you mean SelfCertified?
        "#,
    );
    reads(
        &checked(&json!({"packageName": "Argo", "version": "nonsense", "channels": ["A"]})),
        "
            Argo: install of nonsense refused: spec.source.catalog.packageName: packageName must be a valid DNS1123 subdomain. It must con...hanumeric character, and be no longer than 253 characters [InvalidSpec]
            Also: spec.source.catalog.version: invalid version expression; spec.source.catalog.channels[0]: channels entries must be valid DNS1123 subdomains
        ",
    );
}

#[test]
fn hints() {
    reads(
        &read_as("v1", &json!({"packageName": "argocd-operator", "channel": "alpha"})),
        "
            (Resolved)
            warning: spec.source.catalog.channel is not a field of this API version; did you mean spec.source.catalog.channels?
        ",
    );
    reads(
        &read_as("v1", &json!({"packageName": "argocd-operator", "upgradeConstraintPolicy": "Ignore"})),
        "
            (Resolved)
            warning: spec.source.catalog.upgradeConstraintPolicy: Ignore is a word of another API version; did you mean SelfCertified?
        ",
    );
    reads(
        &read_as("v1", &json!({"packageName": "argocd-operator", "chanels": ["alpha"]})),
        "
            (Resolved)
            warning: spec.source.catalog.chanels is not a field of this API version; did you mean spec.source.catalog.channels?
        ",
    );
}
