//! From what the command line says to a server that takes reviews, and to its end.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::ServeError;
use super::audit::AuditArgs;
use super::catalog_preview::PreviewArgs;
use super::certs::Certs;
use super::configuration::Configuration;
use super::events::EventArgs;
use super::guardrails::Guardrails;
use super::origin::CatalogsOrigin;
use super::policies::{Policies, PolicyArgs};
use super::scrapes::ScrapeArgs;
use crate::admission::Enforcement;
use crate::cli::Exit;
use crate::cli::signals::{self, Signals};
use crate::cluster::policies::PolicyStore;
use crate::cluster::{Cluster, Leadership};
use crate::server::{Config, Limits, Server};
use crate::telemetry::Metrics;
use crate::telemetry::log::{DecisionLog, LogHandle};
use olmguard_catalog::memory::Pool;

/// A server from its first certificate to its end.
pub(super) struct Plan {
    pub(super) origin: CatalogsOrigin,
    pub(super) memory: Pool,
    pub(super) guardrails: Guardrails,
    pub(super) policies: PolicyArgs,
    pub(super) events: EventArgs,
    pub(super) audit: AuditArgs,
    pub(super) previews: PreviewArgs,
    /// What administrators decide.
    pub(super) store: Arc<PolicyStore>,
    pub(super) certs: Certs,
    pub(super) webhook: Configuration,
    pub(super) listen: SocketAddr,
    pub(super) ops_listen: SocketAddr,
    pub(super) scrapes: ScrapeArgs,
    pub(super) limits: Limits,
    pub(super) metrics: Metrics,
    pub(super) decisions: DecisionLog,
    pub(super) log_level: LogHandle,
    pub(super) enforcement: Enforcement,
    pub(super) shutdown_delay: Duration,
}

impl Plan {
    /// Serves until a signal ends it.
    pub(super) async fn run(self) -> Result<ExitCode, ServeError> {
        // As process 1 there is no other way out than by signals that are listened for.
        let mut signals = Signals::new()?;
        signals::ignore_others()?;
        let delay = self.shutdown_delay;
        let server = tokio::select! {
            server = self.begin() => server?,
            early = signals.next() => {
                info!(signal = early.as_str(), "Shut down before the webhook was ready");
                return Ok(Exit::Good.into());
            }
        };
        announce(&server);
        leave(server, delay, &mut signals).await
    }

    /// A server that takes reviews; what it needs for that may be long in coming.
    async fn begin(self) -> Result<Server, ServeError> {
        let (source, cluster) = self.origin.ready(self.memory, &self.metrics).await?;
        if let Some(cluster) = &cluster {
            self.webhook.watch(cluster, &self.metrics);
        }
        let policies = self.policies.of(cluster.as_ref());
        let (events, event_writer) = self.events.of(cluster.as_ref(), &self.metrics);
        let checks: Vec<_> = source
            .checks()
            .into_iter()
            .chain(self.guardrails.check())
            .chain(policies.as_ref().map(Policies::check))
            .collect();
        let audit = self.audit.of(cluster.as_ref(), &checks);
        // Before anything is asked of the cluster: the process lives without an API server, too.
        let listening = Server::listen(Config {
            listen: self.listen,
            ops_listen: self.ops_listen,
            limits: self.limits,
            scrapes: self.scrapes.scrapes(cluster.as_ref())?,
            checks,
            metrics: self.metrics.clone(),
            decisions: self.decisions,
            events,
            log_level: Some(self.log_level),
        })?;
        log_addresses(listening.server());
        let certificates = self.certs.start(cluster.as_ref(), listening.observer());
        let certified = listening.certify(certificates.await?);
        // Without a duty for one replica of several, none needs a lease.
        let has_duty = policies.is_some() || audit.is_some();
        let leadership = cluster.as_ref().filter(|_| has_duty).map(lead);
        if let Some((policies, leadership)) = policies.zip(leadership.clone()) {
            policies.follow(Arc::clone(&self.store), &self.metrics, leadership);
        }
        if let Some(events) = event_writer {
            events.write();
        }
        let guard = source.guard(self.metrics.clone()).await?;
        let guard = guard.with_policies(self.store.current());
        if let Some((audit, leadership)) = audit.zip(leadership) {
            audit.begin(&guard, &self.metrics, leadership);
        }
        self.guardrails.follow();
        let previews = self.previews.of(cluster.as_ref(), &guard);
        let certified = certified.previewing(previews);
        Ok(certified.open(Arc::new(guard), self.enforcement))
    }
}

/// Tries to lead the replicas, in a task of its own, for as long as the runtime lasts.
fn lead(cluster: &Cluster) -> Leadership {
    let (leadership, keeping) = Leadership::of(cluster.client.clone(), &cluster.namespace);
    tokio::spawn(keeping);
    leadership
}

/// Writes where health and metrics are served, for those who cannot read stdout.
fn log_addresses(server: &Server) {
    let ops = server.ops_addr();
    if let Some(address) = server.scrapes_addr() {
        info!(address = %ops, "Serving health");
        info!(%address, "Serving metrics over TLS");
    } else {
        info!(address = %ops, "Serving health and metrics");
    }
}

/// Goes on until a signal ends it, then leaves in good order; a second signal ends that at once.
async fn leave(
    server: Server,
    delay: Duration,
    signals: &mut Signals,
) -> Result<ExitCode, ServeError> {
    let first = signals.next().await;
    info!(signal = first.as_str(), ?delay, "Shutting down");
    server.leave();
    let leave = async {
        tokio::time::sleep(delay).await;
        server.close().await;
    };
    tokio::select! {
        () = leave => {
            info!("Shut down");
            Ok(Exit::Good.into())
        }
        second = signals.next() => {
            info!(signal = second.as_str(), "Exiting immediately after a second signal");
            Ok(second.exit_code())
        }
    }
}

/// Scripts wait for these lines. Without a reader it is no failure.
fn announce(server: &Server) {
    let mut stdout = io::stdout().lock();
    let metrics = server.scrapes_addr();
    let metrics = metrics.map(|addr| format!("listening on https://{addr}/metrics\n"));
    let lines = format!(
        "listening on https://{}\nlistening on http://{}\n{}",
        server.addr(),
        server.ops_addr(),
        metrics.unwrap_or_default()
    );
    drop(
        stdout
            .write_all(lines.as_bytes())
            .and_then(|()| stdout.flush()),
    );
}
