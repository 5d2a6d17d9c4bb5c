//! A server reads its webhook configuration every minute: an account that can change it can take edits
//! away from olmguard, or send other objects elsewhere.
//!
//! It is a reading and no watch, so that `get` of the one object is the only right that it needs. A
//! reading that fails leaves the last one, whose age the metrics have. No verdict and no readiness
//! depends on it.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::time::sleep;
use tracing::{info, warn};

use super::{ExpectedConfiguration, read};
use crate::cluster::fault::WatchFault;
use crate::cluster::line;
use crate::cluster::watch::Pauses;
use crate::once_per_change::OncePerChange;
use crate::telemetry::metrics::{
    ConfigurationField, ConfigurationMetrics, WatchMetrics, WatchedResource,
};
use crate::tls::Clock;
use olmguard_views::doctor::Configuration;

/// Where readings are reported.
#[derive(Debug)]
pub struct ReadingListener {
    /// Which fields are not as shipped.
    pub configuration: Arc<ConfigurationMetrics>,
    /// Whether the API server answers, and when it did last.
    pub watches: Arc<WatchMetrics>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// Reads the configuration for as long as this is polled.
pub async fn watch(
    client: Client,
    expected: ExpectedConfiguration,
    listener: ReadingListener,
) -> Infallible {
    let (client, _) = line::open(client);
    let mut last = Last::default();
    let mut pauses = Pauses::default();
    loop {
        let pause = match read(&client, &expected).await {
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

/// What was read last, so that a line of the log is a change.
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

/// What is not as shipped.
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

/// From one reading to the next.
const PERIOD: Duration = Duration::from_mins(1);
