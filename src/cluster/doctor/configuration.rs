//! The configuration by which API servers ask the guard.

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration,
};
use kube::{Api, Client};

use crate::cluster::authority::called;
use crate::cluster::doctor::{Examination, need, shipped, unasked};
use crate::doctor::{Bundle, Configuration, FailurePolicy, Names, Unasked, Webhook};
use crate::tls::Authorities;

/// The configuration with the bundle of its webhook, if there is one.
pub(super) async fn read(
    client: &Client,
    of: &Examination,
) -> Result<Option<(Configuration, Option<Vec<u8>>)>, Unasked> {
    let name = &of.names.configuration;
    let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let found = api.get_opt(name).await.map_err(|error| {
        let resource = "validatingwebhookconfigurations";
        unasked(need("get", resource, None, Some(name)), &error)
    })?;
    Ok(found.map(|found| configuration(&found, of)))
}

fn configuration(
    found: &ValidatingWebhookConfiguration,
    of: &Examination,
) -> (Configuration, Option<Vec<u8>>) {
    let webhooks = found.webhooks.as_deref().unwrap_or_default();
    let ours = ours(webhooks, of);
    let bundle = ours.and_then(|webhook| webhook.client_config.ca_bundle.clone());
    let bundle = bundle.map(|ByteString(bundle)| bundle);
    let configuration = Configuration {
        webhook: ours.map(|webhook| read_webhook(webhook, bundle.as_deref(), of)),
        webhooks: webhooks.iter().map(|one| one.name.clone()).collect(),
    };
    (configuration, bundle)
}

/// By its name, else by whom it asks.
fn ours<'w>(webhooks: &'w [ValidatingWebhook], of: &Examination) -> Option<&'w ValidatingWebhook> {
    let named = |one: &&ValidatingWebhook| one.name == of.shipped.name;
    let asking = |one: &&ValidatingWebhook| asks(one, &of.names);
    let named = webhooks.iter().find(named);
    named.or_else(|| webhooks.iter().find(asking))
}

fn asks(webhook: &ValidatingWebhook, names: &Names) -> bool {
    let service = webhook.client_config.service.as_ref();
    service.is_some_and(|one| one.name == names.service && one.namespace == names.namespace)
}

fn read_webhook(webhook: &ValidatingWebhook, bundle: Option<&[u8]>, of: &Examination) -> Webhook {
    let shipped = shipped::of(&of.shipped, &of.names);
    let service = webhook.client_config.service.as_ref();
    Webhook {
        name: webhook.name.clone(),
        differences: shipped::differences(webhook, &shipped),
        failure_policy: match webhook.failure_policy.as_deref() {
            Some("Ignore") => FailurePolicy::Ignore,
            _ => FailurePolicy::Fail,
        },
        timeout: shipped::timeout(webhook),
        shipped_timeout: shipped::timeout(&shipped),
        bundle: read_bundle(bundle),
        server_name: called(&webhook.client_config),
        port: service.map(|service| service.port.unwrap_or(443)),
    }
}

fn read_bundle(bundle: Option<&[u8]>) -> Bundle {
    match bundle {
        None | Some([]) => Bundle::Absent,
        Some(bundle) => match Authorities::from_pem(bundle).len() {
            0 => Bundle::Unreadable,
            count => Bundle::Certificates(count),
        },
    }
}
