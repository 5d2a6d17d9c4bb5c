//! The webhook configuration of a cluster, compared with the one that this version ships: read once by
//! the doctor, and every minute by a server ([`watch`]).

mod shipped;
mod watch;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration,
};
use kube::{Api, Client};

pub use watch::{ReadingListener, watch};

use crate::cluster::authority::called;
use crate::tls::Authorities;
use olmguard_views::doctor::{Bundle, Configuration, FailurePolicy, Webhook};

/// The configuration that is expected.
#[derive(Clone, Debug)]
pub struct ExpectedConfiguration {
    name: String,
    usual: ValidatingWebhook,
    others: Vec<ValidatingWebhook>,
    /// The further webhooks that are shipped.
    further: Vec<ValidatingWebhook>,
}

impl ExpectedConfiguration {
    /// A configuration of this name with the webhook that is shipped, in its usual form or in one of
    /// the others.
    pub fn new(name: String, usual: ValidatingWebhook, others: Vec<ValidatingWebhook>) -> Self {
        Self {
            name,
            usual,
            others,
            further: Vec::new(),
        }
    }

    /// The same with webhooks besides the one that checks edits.
    #[must_use]
    pub fn with(mut self, further: Vec<ValidatingWebhook>) -> Self {
        self.further = further;
        self
    }

    /// The same for the Service of this namespace and name.
    #[must_use]
    pub fn asking(mut self, namespace: &str, service: &str) -> Self {
        let forms = [&mut self.usual].into_iter().chain(&mut self.others);
        for form in forms.chain(&mut self.further) {
            if let Some(asked) = &mut form.client_config.service {
                namespace.clone_into(&mut asked.namespace);
                service.clone_into(&mut asked.name);
            }
        }
        self
    }

    /// The name of the configuration.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn forms(&self) -> impl Iterator<Item = &ValidatingWebhook> {
        [&self.usual].into_iter().chain(&self.others)
    }

    /// The webhook of ours: by its name, otherwise by whom it asks.
    fn ours<'w>(&self, webhooks: &'w [ValidatingWebhook]) -> Option<&'w ValidatingWebhook> {
        let named = webhooks.iter().find(|one| one.name == self.usual.name);
        let is_further =
            |one: &ValidatingWebhook| self.further.iter().any(|further| further.name == one.name);
        named.or_else(|| {
            let mut unnamed = webhooks.iter().filter(|one| !is_further(one));
            unnamed.find(|one| self.asks(one))
        })
    }

    fn asks(&self, webhook: &ValidatingWebhook) -> bool {
        let asked = |of: &ValidatingWebhook| {
            let service = of.client_config.service.as_ref();
            service.map(|one| (one.namespace.clone(), one.name.clone()))
        };
        asked(webhook).is_some_and(|found| asked(&self.usual) == Some(found))
    }
}

/// The configuration with the bundle of its webhook, if there is one.
pub(super) async fn read(
    client: &Client,
    of: &ExpectedConfiguration,
) -> kube::Result<Option<(Configuration, Option<Vec<u8>>)>> {
    let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let found = api.get_opt(&of.name).await?;
    Ok(found.map(|found| configuration(&found, of)))
}

fn configuration(
    found: &ValidatingWebhookConfiguration,
    of: &ExpectedConfiguration,
) -> (Configuration, Option<Vec<u8>>) {
    let webhooks = found.webhooks.as_deref().unwrap_or_default();
    let ours = of.ours(webhooks);
    let bundle = ours.and_then(|webhook| webhook.client_config.ca_bundle.clone());
    let bundle = bundle.map(|ByteString(bundle)| bundle);
    let mut webhook = ours.map(|webhook| read_webhook(webhook, bundle.as_deref(), of));
    if let (Some(webhook), Some(ours)) = (&mut webhook, ours) {
        let others = shipped::others(webhooks, &ours.name, &of.further);
        webhook.differences.extend(others);
    }
    let configuration = Configuration {
        webhook,
        webhooks: webhooks.iter().map(|one| one.name.clone()).collect(),
    };
    (configuration, bundle)
}

fn read_webhook(
    webhook: &ValidatingWebhook,
    bundle: Option<&[u8]>,
    of: &ExpectedConfiguration,
) -> Webhook {
    let service = webhook.client_config.service.as_ref();
    Webhook {
        name: webhook.name.clone(),
        differences: shipped::least_differences(webhook, of.forms()),
        failure_policy: match webhook.failure_policy.as_deref() {
            Some("Ignore") => FailurePolicy::Ignore,
            _ => FailurePolicy::Fail,
        },
        timeout: shipped::timeout(webhook),
        shipped_timeout: shipped::timeout(&of.usual),
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

#[cfg(test)]
mod tests;
