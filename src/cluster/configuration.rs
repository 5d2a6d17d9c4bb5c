//! The webhook configuration of a cluster, compared with the one that this version ships. The doctor reads it once, and
//! a server reads it every minute ([`watch`]).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    RuleWithOperations, ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube::{Api, Client};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::sleep;
use tracing::{info, warn};

use crate::cluster::authority::called;
use crate::cluster::watch::Pauses;
use crate::cluster::{WatchFault, line};
use olmguard_server::restart::until_lost;
use olmguard_server::telemetry::OncePerChange;
use olmguard_server::telemetry::metrics::{
    ConfigurationField, ConfigurationMetrics, WatchMetrics, WatchedResource,
};
use olmguard_server::tls::{Authorities, Clock};
use olmguard_views::doctor::{Bundle, Configuration, Difference, FailurePolicy, Webhook};

/// The expected configuration.
#[derive(Clone, Debug)]
pub struct ExpectedConfiguration {
    /// The name of the configuration.
    pub name: String,
    /// The shipped webhook that checks edits, in its usual form.
    pub usual: ValidatingWebhook,
    /// The other forms of that webhook.
    pub others: Vec<ValidatingWebhook>,
    /// The additional webhooks that are shipped.
    pub further: Vec<ValidatingWebhook>,
}

impl ExpectedConfiguration {
    /// Replaces the Service that the webhooks call.
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

    fn forms(&self) -> impl Iterator<Item = &ValidatingWebhook> {
        [&self.usual].into_iter().chain(&self.others)
    }

    /// Returns our webhook: the one with the expected name, or otherwise the one that calls the expected Service.
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

/// Reads the configuration, and the bundle of its webhook.
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
        let others = others(webhooks, &ours.name, &of.further);
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
        differences: least_differences(webhook, of.forms()),
        failure_policy: match webhook.failure_policy.as_deref() {
            Some("Ignore") => FailurePolicy::Ignore,
            _ => FailurePolicy::Fail,
        },
        timeout: timeout(webhook),
        shipped_timeout: timeout(&of.usual),
        bundle: read_bundle(bundle),
        server_name: called(&webhook.client_config),
        port: service.map(|service| service.port.unwrap_or(443)),
    }
}

fn read_bundle(bundle: Option<&[u8]>) -> Bundle {
    match bundle {
        None | Some([]) => Bundle::Absent,
        Some(bundle) => match Authorities::from_pem(bundle).count() {
            0 => Bundle::Unreadable,
            _ => Bundle::Certificates,
        },
    }
}

// A server reads the configuration every minute. An account that can change it can withhold edits from olmguard, or
// send other objects elsewhere.
//
// It does not watch, so `get` on that one object is the only permission that it needs. If a reading fails, the last one
// stays, with its age in the metrics. No verdict and no readiness depends on it.

/// The receiver of readings.
#[derive(Debug)]
pub struct ReadingListener {
    /// The metrics of the fields that are not as shipped.
    pub configuration: Arc<ConfigurationMetrics>,
    /// The metrics of whether the API server answers, and when it last did.
    pub watches: Arc<WatchMetrics>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// Reads the configuration while this future is polled.
pub async fn watch(
    client: Client,
    expected: ExpectedConfiguration,
    listener: ReadingListener,
) -> Infallible {
    let (client, _) = line::open(client);
    loop {
        let reading = read_again_and_again(&client, &expected, &listener);
        until_lost("Webhook configuration watcher", reading).await;
    }
}

async fn read_again_and_again(
    client: &Client,
    expected: &ExpectedConfiguration,
    listener: &ReadingListener,
) -> Infallible {
    let mut last = Last::default();
    let mut pauses = Pauses::default();
    loop {
        let pause = match read(client, expected).await {
            Ok(found) => {
                listener.read(&mut last, found.as_ref().map(|(found, _)| found));
                pauses = Pauses::default();
                PERIOD
            }
            Err(error) => {
                listener.failed(&mut last, &WatchFault::from(&error));
                pauses.next()
            }
        };
        sleep(pause).await;
    }
}

/// The last reading, so that only changes are logged.
#[derive(Default)]
struct Last {
    changed: BTreeSet<ConfigurationField>,
    fault: OncePerChange<()>,
}

impl ReadingListener {
    fn read(&self, last: &mut Last, found: Option<&Configuration>) {
        self.watches.heard(RESOURCE, self.clock.now());
        let changed = changed(found);
        self.configuration.read(&changed);
        if last.changed != changed {
            report(&changed);
        }
        last.changed = changed;
        last.fault.is_gone();
    }

    fn failed(&self, last: &mut Last, fault: &WatchFault) {
        self.watches.lost(RESOURCE);
        self.watches.failed(RESOURCE, fault.class);
        if last.fault.is_new(&()) {
            warn!(
                error = fault.words,
                "Failed to read the webhook configuration, keeping the last good reading"
            );
        }
    }
}

/// Returns the fields that are not as shipped.
fn changed(found: Option<&Configuration>) -> BTreeSet<ConfigurationField> {
    match found.and_then(|found| found.webhook.as_ref()) {
        None => BTreeSet::from([ConfigurationField::Webhook]),
        Some(webhook) => {
            let fields = webhook.differences.iter().map(|one| one.field);
            fields.filter_map(ConfigurationField::of).collect()
        }
    }
}

fn report(changed: &BTreeSet<ConfigurationField>) {
    if changed.is_empty() {
        info!("Webhook configuration is as shipped again");
        return;
    }
    let fields: Vec<_> = changed.iter().map(|field| field.as_str()).collect();
    warn!(
        fields = fields.join(", "),
        "Webhook configuration is not as shipped, run `olmguard doctor` to see the differences"
    );
}

const RESOURCE: WatchedResource = WatchedResource::WebhookConfiguration;

/// The time between two readings.
const PERIOD: Duration = Duration::from_mins(1);

// === Differences between a webhook and the shipped one, after the defaults of the API server ===
//
// Upstream: the defaults of `admissionregistration.k8s.io/v1` (Kubernetes,
// [`pkg/apis/admissionregistration/v1/defaults.go`]). The order of rules, and of the lists in them, has no meaning.
//
// [`pkg/apis/admissionregistration/v1/defaults.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/pkg/apis/admissionregistration/v1/defaults.go

/// Returns the differences from the form with the fewest; the first such form if several are equal.
fn least_differences<'s>(
    found: &ValidatingWebhook,
    forms: impl Iterator<Item = &'s ValidatingWebhook>,
) -> Vec<Difference> {
    let differences = forms.map(|form| differences(found, form));
    differences.min_by_key(Vec::len).unwrap_or_default()
}

/// Returns the difference in the other webhooks of our configuration, if they are not as shipped.
///
/// Another webhook in our configuration is called for the objects in its own rules, at its own `clientConfig`. An
/// additional webhook of ours that is missing does not affect edits.
fn others(
    found: &[ValidatingWebhook],
    ours: &str,
    further: &[ValidatingWebhook],
) -> Option<Difference> {
    let mut names: Vec<_> = found.iter().map(|one| one.name.clone()).collect();
    let mut is_other = false;
    for (name, webhook) in names
        .iter_mut()
        .zip(found)
        .filter(|(_, one)| one.name != ours)
    {
        let shipped = further.iter().find(|shipped| shipped.name == webhook.name);
        let changed = shipped.map(|shipped| differences(webhook, shipped));
        match changed.as_deref() {
            Some([]) => {}
            None => is_other = true,
            Some([first, ..]) => {
                is_other = true;
                *name = format!("{name}: {} {}", first.field, first.found);
            }
        }
    }
    let shipped = further.iter().map(|one| one.name.as_str());
    let shipped: Vec<_> = [ours].into_iter().chain(shipped).collect();
    is_other.then(|| Difference {
        field: WEBHOOKS,
        found: json!(names).to_string(),
        shipped: json!(shipped).to_string(),
    })
}

/// Returns the fields that differ; `caBundle`, `failurePolicy` and `timeoutSeconds` are separate facts.
fn differences(found: &ValidatingWebhook, shipped: &ValidatingWebhook) -> Vec<Difference> {
    let pairs = fields(found).into_iter().zip(fields(shipped));
    let differing = pairs.filter(|((_, found), (_, shipped))| found != shipped);
    differing
        .map(|((field, found), (_, shipped))| Difference {
            field,
            found: found.to_string(),
            shipped: shipped.to_string(),
        })
        .collect()
}

/// Returns `timeoutSeconds`, or its default.
fn timeout(webhook: &ValidatingWebhook) -> i32 {
    webhook.timeout_seconds.unwrap_or(10)
}

/// The name of the field that covers all webhooks of a configuration.
const WEBHOOKS: &str = "webhooks";

/// Returns each field with the defaults of the API server.
fn fields(webhook: &ValidatingWebhook) -> [(&'static str, Value); 8] {
    let selector = |selector: &Option<_>| selector.as_ref().map_or_else(|| json!({}), json);
    [
        ("rules", rules(webhook.rules.as_deref().unwrap_or_default())),
        ("clientConfig", client_config(&webhook.client_config)),
        (
            "matchConditions",
            json(&webhook.match_conditions.as_deref().unwrap_or_default()),
        ),
        (
            "matchPolicy",
            json!(webhook.match_policy.as_deref().unwrap_or("Equivalent")),
        ),
        ("sideEffects", json!(webhook.side_effects)),
        (
            "admissionReviewVersions",
            json!(webhook.admission_review_versions),
        ),
        ("namespaceSelector", selector(&webhook.namespace_selector)),
        ("objectSelector", selector(&webhook.object_selector)),
    ]
}

fn rules(rules: &[RuleWithOperations]) -> Value {
    let mut rules: Vec<_> = rules.iter().map(rule).collect();
    rules.sort_by_cached_key(ToString::to_string);
    Value::Array(rules)
}

fn rule(rule: &RuleWithOperations) -> Value {
    let sorted = |list: &Option<Vec<String>>| {
        let mut list = list.clone().unwrap_or_default();
        list.sort();
        list
    };
    json!({
        "apiGroups": sorted(&rule.api_groups),
        "apiVersions": sorted(&rule.api_versions),
        "operations": sorted(&rule.operations),
        "resources": sorted(&rule.resources),
        "scope": rule.scope.as_deref().unwrap_or("*"),
    })
}

/// Returns the called Service or URL, without the bundle.
fn client_config(config: &WebhookClientConfig) -> Value {
    match &config.service {
        None => json!({"url": config.url}),
        Some(service) => json!({"service": {
            "namespace": service.namespace,
            "name": service.name,
            "path": service.path.as_deref().unwrap_or("/"),
            "port": service.port.unwrap_or(443),
        }}),
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("texts, lists and maps of texts are JSON")
}
