//! The life of a server: from its settings, to accepting reviews, to its end.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::ServeError;
use super::certs::Certs;
use super::cluster_tasks::{TaskArgs, WatchedConfiguration, write_events};
use super::origin::CatalogsOrigin;
use super::policies::{FollowedGuardrails, FollowedPolicies, PolicyArgs};
use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::commands::serve::flags::ListenArgs;
use crate::cli::{self, Exit, Signals};
use crate::cluster::policies::PolicyStore;
use crate::cluster::{Cluster, Leadership};
use crate::facts::GivenFilesError;
use olmguard_admission::Enforcement;
use olmguard_catalog::memory::Pool;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::log::{DecisionLog, Log, LogHandle};
use olmguard_server::{Config, Limits, Server};

/// The settings of a server, once the flags are known to be consistent.
pub(super) struct ServerSettings {
    pub(super) origin: CatalogsOrigin,
    pub(super) memory: Pool,
    pub(super) guardrails: GuardrailsArgs,
    pub(super) policies: PolicyArgs,
    pub(super) tasks: TaskArgs,
    pub(super) certs: Certs,
    pub(super) webhook: WatchedConfiguration,
    pub(super) listen: ListenArgs,
    pub(super) limits: Limits,
    pub(super) decisions: DecisionLog,
    pub(super) enforcement: Enforcement,
    pub(super) shutdown_delay: Duration,
}

/// A server, from its settings to its end.
pub(super) struct ServerPlan {
    settings: ServerSettings,
    guardrails: FollowedGuardrails,
    /// The rules of administrators.
    store: Arc<PolicyStore>,
    metrics: Metrics,
    log_level: LogHandle,
}

impl ServerPlan {
    /// Reads the guardrails.
    ///
    /// # Errors
    /// If a file of guardrails cannot be read.
    pub(super) fn new(settings: ServerSettings, log: &Log) -> Result<Self, GivenFilesError> {
        let metrics = Metrics::new();
        metrics.log.follow(log.dropped());
        let store = Arc::<PolicyStore>::default();
        let counts = Arc::clone(&metrics.guardrails);
        Ok(Self {
            guardrails: FollowedGuardrails::read(
                settings.guardrails.clone(),
                counts,
                Arc::clone(&store),
            )?,
            settings,
            store,
            metrics,
            log_level: log.handle(),
        })
    }

    /// Serves until a signal ends the server.
    pub(super) async fn run(self) -> Result<ExitCode, ServeError> {
        // As process 1, the server ends only on signals that it listens for.
        let mut signals = Signals::new()?;
        cli::ignore_other_signals()?;
        let delay = self.settings.shutdown_delay;
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

    /// Starts a server that accepts reviews. What the server needs for this may take long to
    /// arrive.
    async fn begin(self) -> Result<Server, ServeError> {
        let Self {
            settings,
            guardrails,
            store,
            metrics,
            log_level,
        } = self;
        let (source, cluster) = settings.origin.ready(settings.memory, &metrics).await?;
        let cluster = cluster.as_ref();
        if let Some(cluster) = cluster {
            settings.webhook.watch(cluster, &metrics);
        }
        let policies = settings.policies.of(cluster);
        let own = guardrails.check().into_iter();
        let own = own.chain(policies.as_ref().map(FollowedPolicies::check));
        let checks: Vec<_> = source.checks().into_iter().chain(own).collect();
        let (events, queue) = settings.tasks.events(cluster, &metrics).unzip();
        // Listen before the first request to the cluster, because the server must also run without
        // an API server.
        let listening = Server::listen(Config {
            listen: settings.listen.reviews,
            ops_listen: settings.listen.ops,
            limits: settings.limits,
            scrapes: settings.listen.scrapes(cluster)?,
            checks: checks.clone(),
            metrics: metrics.clone(),
            decisions: settings.decisions,
            events: events.unwrap_or_default(),
            log_level: Some(log_level),
        })?;
        log_addresses(listening.server());
        let certificates = settings.certs.start(cluster, listening.observer());
        let certified = listening.certify(certificates.await?);
        // A lease is needed only for duties of a single replica.
        let audited = cluster.filter(|_| settings.tasks.audits());
        let leader = cluster.filter(|_| policies.is_some() || audited.is_some());
        let leadership = leader.map(lead);
        if let Some((policies, leadership)) = policies.zip(leadership.clone()) {
            policies.follow(Arc::clone(&store), &metrics, leadership);
        }
        if let Some((cluster, queue)) = cluster.zip(queue) {
            write_events(cluster, &metrics, queue);
        }
        let guard = source.guard(metrics.clone()).await?;
        let guard = guard.with_policies(store.current());
        if let Some((cluster, leadership)) = audited.zip(leadership) {
            let tasks = settings.tasks;
            tasks.audit(cluster, checks, &guard, &metrics, leadership);
        }
        guardrails.follow();
        let certified = certified.previewing(settings.tasks.previews(cluster, &guard));
        Ok(certified.open(Arc::new(guard), settings.enforcement))
    }
}

/// Tries to lead the replicas, in a task of its own, as long as the runtime exists.
fn lead(cluster: &Cluster) -> Leadership {
    let (leadership, keeping) = Leadership::of(cluster.client.clone(), &cluster.namespace);
    tokio::spawn(keeping);
    leadership
}

/// Logs the addresses of health and metrics, for users who cannot read stdout.
fn log_addresses(server: &Server) {
    let ops = server.ops_addr();
    if let Some(address) = server.scrapes_addr() {
        info!(address = %ops, "Serving health");
        info!(%address, "Serving metrics over TLS");
    } else {
        info!(address = %ops, "Serving health and metrics");
    }
}

/// Serves until a signal, then shuts down gracefully. A second signal ends the shutdown
/// immediately.
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

/// Prints the addresses, because scripts wait for these lines. A missing reader is not an error.
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
