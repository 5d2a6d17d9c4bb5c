//! Bundles that need gates: webhooks with certificates from cert-manager, and watch namespaces.

use serde_json::{Value, json};

use super::bundles::{crd, crd_name, put, support, with_crd};
use super::cases::{Case, TO};

/// Returns a validating webhook of a deployment. Its name contains that of the deployment, to be unique among
/// extensions.
pub(super) fn webhook(deployment: &str) -> Value {
    let name = format!("{deployment}.example.com");
    json!({
        "type": "ValidatingAdmissionWebhook", "generateName": name, "deploymentName": deployment,
        "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
        "containerPort": 443, "targetPort": 9443, "webhookPath": "/validate",
        "rules": [{ "apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"] }],
    })
}

fn with_webhooks(name: &'static str, webhooks: Value) -> Case {
    Case::new(name, |bundle| {
        support(bundle, &["AllNamespaces"]);
        put(&mut bundle.csv, "/spec/webhookdefinitions", webhooks);
    })
}

fn one(name: &'static str, change: impl FnOnce(&mut Value)) -> Case {
    let mut webhook = webhook(name);
    change(&mut webhook);
    with_webhooks(name, json!([webhook]))
}

/// Returns the cases of a cluster that does not serve the kinds of cert-manager.
pub(super) fn without_cert_manager() -> Vec<Case> {
    vec![
        one("no-cert-manager", |_| {}),
        Case::new("no-webhook", |_| {}),
    ]
}

/// Returns the cases of a cluster with cert-manager.
pub(super) fn all() -> Vec<Case> {
    let group =
        |group| move |webhook: &mut Value| put(webhook, "/rules/0/apiGroups", json!([group]));
    let twice = |name: &'static str| {
        let webhook = webhook(name);
        with_webhooks(name, json!([webhook, webhook]))
    };
    vec![
        one("webhook", |_| {}),
        one("mutating-webhook", |it| {
            put(it, "/type", json!("MutatingAdmissionWebhook"));
        }),
        one("webhook-of-nothing", |it| {
            put(it, "/deploymentName", json!("other"));
        }),
        one("webhook-name", |it| {
            put(it, "/generateName", json!("V_example.com"));
        }),
        one("webhook-of-all-groups", group("*")),
        one("webhook-of-olm", group("olm.operatorframework.io")),
        twice("webhook-twice"),
        conversion("conversion", |_| {}),
        conversion("conversion-of-others", |it| {
            put(it, "/conversionCRDs", json!(["a.example.com"]));
        }),
        modes("own-namespace-watched", &["OwnNamespace"]),
        modes("several-namespaces-watched", &["MultiNamespace"]),
        modes("all-namespaces-watched", &["AllNamespaces", "OwnNamespace"]),
        several("conversion-and-own"),
    ]
}

fn modes(name: &'static str, modes: &[&str]) -> Case {
    Case::new(name, |bundle| support(bundle, modes))
}

/// Returns a case with a conversion webhook of the CRD that the bundle owns.
fn conversion(name: &'static str, change: impl FnOnce(&mut Value)) -> Case {
    let mut webhook = webhook(name);
    put(&mut webhook, "/type", json!("ConversionWebhook"));
    put(&mut webhook, "/webhookPath", json!("/convert"));
    put(&mut webhook, "/conversionCRDs", json!([crd_name(name)]));
    change(&mut webhook);
    let mut definition = crd(name);
    put(&mut definition, "/spec/preserveUnknownFields", json!(false));
    let mut bundle = with_crd(name, TO, definition);
    support(&mut bundle, &["AllNamespaces"]);
    put(
        &mut bundle.csv,
        "/spec/webhookdefinitions",
        json!([webhook]),
    );
    Case::of(name, bundle)
}

/// Returns a case with a conversion webhook in a bundle that supports more than all namespaces.
fn several(name: &'static str) -> Case {
    let mut case = conversion(name, |_| {});
    support(&mut case.to, &["AllNamespaces", "OwnNamespace"]);
    case
}
