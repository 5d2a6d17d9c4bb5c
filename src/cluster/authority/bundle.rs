//! What of a webhook configuration has to change so that API servers trust a bundle.

use hyper::Uri;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};

use crate::cluster::authority::error::Failure;

/// The patch that puts the bundle into every webhook of ours; none where it stands in all of them.
///
/// It changes only the version that was read, so that the places of the webhooks are right.
pub(super) fn patch(
    configuration: &ValidatingWebhookConfiguration,
    names: &[ServerName<'_>],
    bundle: &str,
) -> Result<Option<json_patch::Patch>, Failure> {
    let webhooks = configuration.webhooks.iter().flatten().enumerate();
    let ours: Vec<_> = webhooks
        .filter(|(_, webhook)| is_ours(&webhook.client_config, names))
        .collect();
    if ours.is_empty() {
        return Err(no_webhook(configuration, names));
    }
    let lack = ours
        .into_iter()
        .filter(|(_, webhook)| !has(webhook, bundle));
    let puts: Vec<_> = lack.map(|(at, _)| put(at, bundle)).collect();
    if puts.is_empty() {
        return Ok(None);
    }
    let version = &configuration.metadata.resource_version;
    let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": version});
    let steps: Vec<Value> = [test].into_iter().chain(puts).collect();
    let patch = serde_json::from_value(Value::Array(steps));
    Ok(Some(patch.expect("each step has its op, path and value")))
}

fn has(webhook: &ValidatingWebhook, bundle: &str) -> bool {
    let found = webhook.client_config.ca_bundle.as_ref();
    found.is_some_and(|ByteString(found)| found == bundle.as_bytes())
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
fn called(client: &WebhookClientConfig) -> Option<String> {
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
