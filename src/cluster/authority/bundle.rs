//! What of a webhook configuration has to change so that API servers trust a bundle.

use hyper::Uri;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};

use crate::cluster::authority::error::Failure;

/// The webhooks of ours: their places, and the bundles that they have.
pub(super) fn ours<'c>(
    configuration: &'c ValidatingWebhookConfiguration,
    names: &[ServerName<'_>],
) -> Result<Vec<(usize, &'c [u8])>, Failure> {
    if let Some(annotation) = injection(configuration) {
        let configuration = configuration.metadata.name.clone().unwrap_or_default();
        return Err(Failure::Injected {
            configuration,
            annotation,
        });
    }
    let webhooks = configuration.webhooks.iter().flatten().enumerate();
    let ours: Vec<_> = webhooks
        .filter(|(_, webhook)| is_ours(&webhook.client_config, names))
        .collect();
    if ours.is_empty() {
        return Err(no_webhook(configuration, names));
    }
    Ok(ours
        .into_iter()
        .map(|(at, webhook)| (at, bundle(webhook)))
        .collect())
}

/// The patch that puts a bundle at each of these places; none where there is none to put.
///
/// It changes only the version that was read, so that the places of the webhooks are right.
pub(super) fn patch(
    configuration: &ValidatingWebhookConfiguration,
    bundles: impl Iterator<Item = (usize, String)>,
) -> Option<json_patch::Patch> {
    let puts: Vec<_> = bundles.map(|(at, bundle)| put(at, &bundle)).collect();
    if puts.is_empty() {
        return None;
    }
    let version = &configuration.metadata.resource_version;
    let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": version});
    let steps: Vec<Value> = [test].into_iter().chain(puts).collect();
    let patch = serde_json::from_value(Value::Array(steps));
    Some(patch.expect("each step has its op, path and value"))
}

/// Of none, nothing.
fn bundle(webhook: &ValidatingWebhook) -> &[u8] {
    let found = webhook.client_config.ca_bundle.as_ref();
    found.map_or(&[], |ByteString(found)| found)
}

/// The annotation by which another program writes these bundles.
fn injection(configuration: &ValidatingWebhookConfiguration) -> Option<&'static str> {
    let annotations = configuration.metadata.annotations.as_ref()?;
    INJECTIONS
        .into_iter()
        .find(|name| annotations.contains_key(*name))
}

/// Adds it, or replaces the one that is there.
fn put(at: usize, bundle: &str) -> Value {
    let value = ByteString(bundle.as_bytes().to_vec());
    json!({"op": "add", "path": format!("/webhooks/{at}/clientConfig/caBundle"), "value": value})
}

/// Whether an API server calls it by one of these names.
fn is_ours(client: &WebhookClientConfig, names: &[ServerName<'_>]) -> bool {
    let called = called(client);
    let called = called.and_then(|called| ServerName::try_from(called).ok());
    called.is_some_and(|called| names.contains(&called))
}

/// The name that the certificate of a webhook has to be for.
pub(in crate::cluster) fn called(client: &WebhookClientConfig) -> Option<String> {
    if let Some(service) = &client.service {
        return Some(format!("{}.{}.svc", service.name, service.namespace));
    }
    let url: Uri = client.url.as_ref()?.parse().ok()?;
    let host = url.host()?.trim_start_matches('[').trim_end_matches(']');
    Some(host.to_owned())
}

fn no_webhook(configuration: &ValidatingWebhookConfiguration, names: &[ServerName<'_>]) -> Failure {
    let names: Vec<_> = names.iter().map(ServerName::to_str).collect();
    Failure::NoWebhook {
        configuration: configuration.metadata.name.clone().unwrap_or_default(),
        names: names.join(", "),
    }
}

/// Those of cert-manager's ca-injector, and of OpenShift's service-ca operator.
const INJECTIONS: [&str; 4] = [
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
];
