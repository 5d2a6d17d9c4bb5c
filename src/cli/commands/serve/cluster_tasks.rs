//! The tasks of a server in its cluster, in addition to reviews of extensions: it writes Events, audits installed
//! extensions, previews edits of catalogs, and watches its own webhook configuration.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::sync::mpsc::Receiver;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::commands::serve::certs::CertsArgs;
use crate::cli::shipped::{self, NAME};
use crate::cluster::audit::{AuditConfig, audit};
use crate::cluster::configuration::{ExpectedConfiguration, ReadingListener, watch};
use crate::cluster::extensions::SharedExtensions;
use crate::cluster::{Cluster, Leadership, events};
use olmguard_catalog::go_duration;
use olmguard_server::telemetry::{EditEvent, EditEvents, Metrics};
use olmguard_server::tls::SystemClock;
use olmguard_server::{CatalogPreviews, Guard, Installations, ListExtensions, ReadinessCheck};

/// The flags about tasks that need a cluster.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct TaskArgs {
    /// Write an Event on each ClusterExtension whose change is denied or gets a warning
    #[arg(long, help_heading = heading::DECISIONS)]
    events: bool,

    /// Audit what is installed this often (0s: never)
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "0s",
        value_parser = interval,
        help_heading = heading::AUDIT
    )]
    audit_interval: Duration,

    /// Write each audit as objects of openreports.io for dashboards
    #[arg(long, help_heading = heading::AUDIT)]
    audit_cluster_report: bool,

    /// Warn about what a change of a ClusterCatalog does to installed extensions
    #[arg(long, help_heading = heading::DECISIONS)]
    catalog_preview: bool,
}

impl TaskArgs {
    /// The first of these flags that is given and has no meaning without a cluster.
    pub(super) fn given(self) -> Option<&'static str> {
        let given = [
            self.events.then_some("--events"),
            (!self.audit_interval.is_zero()).then_some("--audit-interval"),
            self.catalog_preview.then_some("--catalog-preview"),
        ];
        given.into_iter().flatten().next()
    }

    /// Checks that each flag can have an effect.
    pub(super) fn check(self) -> Result<(), UsageError> {
        if self.audit_cluster_report && self.audit_interval.is_zero() {
            return Err(UsageError::Without {
                flag: "--audit-cluster-report",
                without: "--audit-interval",
            });
        }
        Ok(())
    }

    /// The sender of events for answers, and the queue of events to write to this cluster.
    pub(super) fn events(
        self,
        cluster: Option<&Cluster>,
        metrics: &Metrics,
    ) -> Option<(EditEvents, Receiver<EditEvent>)> {
        let cluster = cluster.filter(|_| self.events);
        cluster.map(|_| EditEvents::queue(Arc::clone(&metrics.events)))
    }

    pub(super) fn audits(self) -> bool {
        !self.audit_interval.is_zero()
    }

    /// Audits a cluster by the rules for edits, once all of these checks pass. Runs in a task of its own, as long as
    /// the runtime exists.
    pub(super) fn audit(
        self,
        cluster: &Cluster,
        checks: Vec<Arc<dyn ReadinessCheck>>,
        guard: &Guard,
        metrics: &Metrics,
        leadership: Leadership,
    ) {
        let config = AuditConfig {
            interval: self.audit_interval,
            writes_reports: self.audit_cluster_report,
            facts: guard.facts().clone(),
            clock: Arc::new(SystemClock),
            metrics: Arc::clone(&metrics.audit),
        };
        let is_ready = move || checks.iter().all(|check| check.readiness().known);
        let client = cluster.client.clone();
        tokio::spawn(audit(client, leadership, is_ready, config));
    }

    /// The previews with which this guard answers edits of catalogs, for the extensions of this cluster.
    pub(super) fn previews(
        self,
        cluster: Option<&Cluster>,
        guard: &Guard,
    ) -> Option<CatalogPreviews> {
        let cluster = cluster.filter(|_| self.catalog_preview)?;
        let installed = SharedExtensions::of(cluster.client.clone());
        Some(CatalogPreviews::new(guard.clone(), Arc::new(installed)))
    }
}

/// Writes events to a cluster in a task of its own, as long as the runtime exists.
pub(super) fn write_events(cluster: &Cluster, metrics: &Metrics, queue: Receiver<EditEvent>) {
    let (client, clock) = (cluster.client.clone(), Arc::new(SystemClock));
    let writing = events::write(client, clock, Arc::clone(&metrics.events), queue);
    tokio::spawn(writing);
}

impl ListExtensions for SharedExtensions {
    fn list(&self) -> Pin<Box<dyn Future<Output = Installations> + Send>> {
        let list = Self::list(self);
        Box::pin(async {
            let (extensions, fault) = list.await;
            Installations { extensions, fault }
        })
    }
}

/// The webhook configuration that calls this server, to compare with the shipped one.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct WatchedConfiguration {
    name: String,
    /// The namespace and the name of the Service, if a name of the certificate has both.
    service: Option<(String, String)>,
}

impl WatchedConfiguration {
    /// The first configuration that is named, for the first Service in the names of the certificate.
    pub(super) fn of(certs: &CertsArgs) -> Self {
        let name = certs.configurations().first();
        Self {
            name: name.map_or_else(|| NAME.to_owned(), Clone::clone),
            service: certs.names().iter().find_map(service),
        }
    }

    /// Starts to watch the configuration in this cluster, in a task of its own.
    pub(super) fn watch(self, cluster: &Cluster, metrics: &Metrics) {
        let listener = ReadingListener {
            configuration: Arc::clone(&metrics.configuration),
            watches: Arc::clone(&metrics.watches),
            clock: Arc::new(SystemClock),
        };
        let client = cluster.client.clone();
        let expected = self.expected(&cluster.namespace);
        tokio::spawn(async move {
            watch(client, expected, listener).await;
        });
    }

    fn expected(&self, own_namespace: &str) -> ExpectedConfiguration {
        let expected = shipped::expected(&self.name);
        match &self.service {
            Some((namespace, name)) => expected.asking(namespace, name),
            None => expected.asking(own_namespace, NAME),
        }
    }
}

/// The namespace and the name of the Service in `SERVICE.NAMESPACE.svc`.
fn service(name: &ServerName<'_>) -> Option<(String, String)> {
    let ServerName::DnsName(name) = name else {
        return None;
    };
    let (service, namespace) = name.as_ref().strip_suffix(".svc")?.split_once('.')?;
    let is_one = !namespace.contains('.');
    is_one.then(|| (namespace.to_owned(), service.to_owned()))
}

/// Parses an interval. A short one is rejected, because each audit lists all extensions.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = go_duration::parse(text).map_err(|error| error.to_string())?;
    if interval.is_zero() || interval >= SHORTEST {
        return Ok(interval);
    }
    let shortest = SHORTEST.as_secs();
    Err(format!(
        "expected {shortest}s or more, such as 10m, or 0s for no audit"
    ))
}

const SHORTEST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn an_interval_is_none_or_at_least_ten_seconds() {
        let short = "expected 10s or more, such as 10m, or 0s for no audit";
        for (text, expected) in [
            ("0s", Ok(0)),
            ("10s", Ok(10)),
            ("1h", Ok(3600)),
            ("9.999s", Err(short.to_owned())),
            ("1ns", Err(short.to_owned())),
        ] {
            let found = interval(text).map(|found| found.as_secs());
            assert_eq!(found, expected, "{text}");
        }
        assert!(interval("-1m").is_err() && interval("often").is_err());
    }

    #[derive(Parser)]
    struct ServiceName {
        #[command(flatten)]
        certs: CertsArgs,
    }

    #[track_caller]
    fn is(arguments: &[&str], name: &str, service: Option<(&str, &str)>) {
        let line = ServiceName::try_parse_from([&["serve"], arguments].concat()).unwrap();
        let service = service.map(|(namespace, name)| (namespace.to_owned(), name.to_owned()));
        let name = name.to_owned();
        assert_eq!(
            WatchedConfiguration::of(&line.certs),
            WatchedConfiguration { name, service }
        );
    }

    #[test]
    fn it_is_named_by_flags() {
        is(&[], "olmguard", None);
        is(&["--webhook-configuration=a,b"], "a", None);
        is(
            &["--tls-server-name=::1,localhost,a.b.c.svc,guard.home.svc,x.y.svc"],
            "olmguard",
            Some(("home", "guard")),
        );
    }
}
