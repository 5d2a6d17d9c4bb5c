//! `olmguard serve`: the webhook in front of a cluster.

mod audit;
mod catalog_preview;
mod catalogs;
mod certs;
mod configuration;
mod events;
mod files;
mod guardrails;
mod limits;
mod live;
mod olm;
mod origin;
mod policies;
mod scrapes;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tracing::{error, info};

use crate::admission::{Enforcement, Mode, OnUndecided};
use crate::cli::Exit;
use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::cluster::ClusterArgs;
use crate::cli::args::guardrails::GuardrailsArgs;
use crate::cli::args::heading;
use crate::cli::args::log::LogArgs;
use crate::cli::help;
use crate::cli::signals::Signals;
use crate::cluster::policies::PolicyStore;
use crate::cluster::{Cluster, ConnectError, Leadership};
use crate::guardrail_files::GuardrailsFault;
use crate::server::{BindError, Config, Limits, Server};
use crate::source::catalogd::CatalogdError;
use crate::telemetry::Metrics;
use crate::telemetry::log::{DecisionLog, Log, LogHandle, log_panics, log_start};
use crate::tls::TlsError;
use audit::AuditArgs;
use catalog_preview::PreviewArgs;
use certs::{Certs, CertsArgs};
use configuration::Configuration;
use events::EventArgs;
use guardrails::Guardrails;
use limits::LimitArgs;
use live::LiveArgs;
use olmguard_catalog::go_duration;
use olmguard_catalog::memory::Pool;
use origin::CatalogsOrigin;
use policies::{Policies, PolicyArgs};
use scrapes::ScrapeArgs;

/// Run the admission webhook
#[derive(clap::Args, Debug)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct ServeArgs {
    /// Serve reviews over TLS here
    #[arg(
        long,
        value_name = "IP:PORT",
        default_value = "[::]:9443",
        value_parser = addr,
        help_heading = heading::LISTEN
    )]
    listen: SocketAddr,

    /// Serve health and metrics over HTTP here
    #[arg(
        long,
        value_name = "IP:PORT",
        default_value = "[::]:8080",
        value_parser = addr,
        help_heading = heading::LISTEN
    )]
    ops_listen: SocketAddr,

    #[command(flatten)]
    scrapes: ScrapeArgs,

    #[command(flatten)]
    certs: CertsArgs,

    /// Deny changes, or only observe them
    #[arg(
        long,
        value_name = "MODE",
        value_enum,
        default_value_t,
        help_heading = heading::DECISIONS
    )]
    mode: Mode,

    /// What to do with an undecided change
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        default_value_t,
        help_heading = heading::DECISIONS
    )]
    on_undecided: OnUndecided,

    #[command(flatten)]
    common: CommonArgs,

    #[command(flatten)]
    guardrails: GuardrailsArgs,

    #[command(flatten)]
    policies: PolicyArgs,

    #[command(flatten)]
    events: EventArgs,

    #[command(flatten)]
    audit: AuditArgs,

    #[command(flatten)]
    previews: PreviewArgs,

    #[command(flatten)]
    live: LiveArgs,

    #[command(flatten)]
    cluster: ClusterArgs,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    log: LogArgs,

    /// Accept requests for this long after SIGTERM
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "10s",
        value_parser = go_duration::parse,
        help_heading = heading::SHUTDOWN
    )]
    shutdown_delay: Duration,
}

const EXAMPLES: &[&str] = &[
    "olmguard serve --self-signed --catalog hub=hub.yaml",
    "olmguard serve --tls-cert tls.crt --tls-key tls.key --catalogd-ca ca.crt",
    "olmguard serve --tls-cert tls.crt --tls-key tls.key --mode observe",
];

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error("{0}; or name the catalogs' files: --catalog NAME=PATH")]
    Cluster(#[from] ConnectError),
    #[error(transparent)]
    Catalogd(#[from] CatalogdError),
    #[error(transparent)]
    Guardrails(#[from] GuardrailsFault),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// Serves until a signal ends it.
///
/// `configuration` is the command line that says all that this one means.
pub(crate) fn run(args: ServeArgs, configuration: &str) -> ExitCode {
    let log = args.log.install();
    log_panics();
    let code = serve(args, configuration, &log).unwrap_or_else(|error| {
        error.report();
        error.exit().into()
    });
    // What was logged last is written before the process ends.
    drop(log);
    code
}

fn serve(args: ServeArgs, configuration: &str, log: &Log) -> Result<ExitCode, ServeError> {
    let ServeArgs {
        common,
        cluster,
        live,
        guardrails,
        policies,
        events,
        audit,
        previews,
        listen,
        ops_listen,
        scrapes,
        certs,
        mode,
        on_undecided,
        shutdown_delay,
        limits,
        log: log_args,
    } = args;
    let decisions = log_args.decisions();
    let webhook_configuration = Configuration::of(&certs);
    let certs = certs.resolve()?;
    audit.check()?;
    let given = [
        policies.given(),
        events.given(),
        audit.given(),
        previews.given(),
    ];
    let given = given.into_iter().flatten().next();
    let origin = CatalogsOrigin::of(common, cluster, live, given)?;
    let bounds = limits.resolve()?;
    let threads = Limits::default().workers.get();
    let memory = limits.catalogs(&bounds, threads)?;
    let limits = bounds;
    scrapes.check(&origin, listen, ops_listen)?;
    log_start(configuration);
    files::make_room_for(limits.connections.get());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?;
    let metrics = Metrics::new();
    metrics.log.follow(log.dropped());
    let store = Arc::<PolicyStore>::default();
    let counts = Arc::clone(&metrics.guardrails);
    let guardrails = Guardrails::read(guardrails, counts, Arc::clone(&store))?;
    let plan = Plan {
        origin,
        memory,
        guardrails,
        policies,
        events,
        audit,
        previews,
        store,
        certs,
        webhook: webhook_configuration,
        listen,
        ops_listen,
        scrapes,
        limits,
        metrics,
        decisions,
        log_level: log.handle(),
        enforcement: Enforcement { mode, on_undecided },
        shutdown_delay,
    };
    let ended = runtime.block_on(plan.run());
    runtime.shutdown_background();
    ended
}

/// A server from its first certificate to its end.
struct Plan {
    origin: CatalogsOrigin,
    memory: Pool,
    guardrails: Guardrails,
    policies: PolicyArgs,
    events: EventArgs,
    audit: AuditArgs,
    previews: PreviewArgs,
    /// What administrators decide.
    store: Arc<PolicyStore>,
    certs: Certs,
    webhook: Configuration,
    listen: SocketAddr,
    ops_listen: SocketAddr,
    scrapes: ScrapeArgs,
    limits: Limits,
    metrics: Metrics,
    decisions: DecisionLog,
    log_level: LogHandle,
    enforcement: Enforcement,
    shutdown_delay: Duration,
}

impl Plan {
    async fn run(self) -> Result<ExitCode, ServeError> {
        // As process 1 there is no other way out than by signals that are listened for.
        let mut signals = Signals::new()?;
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
        // Before anything is asked of the cluster: without an API server it lives all the same.
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

/// Whoever started this waits for these lines; if nobody reads them, that is no failure.
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

impl ServeError {
    /// Wrong usage is told to whoever typed it, in the manner of every command.
    fn report(&self) {
        match self {
            Self::Usage(usage) => crate::cli::say(usage),
            Self::Cluster(_)
            | Self::Catalogd(_)
            | Self::Guardrails(_)
            | Self::Tls(_)
            | Self::Bind(_)
            | Self::System(_) => {
                error!(error = %self, "Failed to start the webhook, exiting");
            }
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Cluster(ConnectError::Interrupted(_)) | Self::System(_) => Exit::Internal,
            Self::Usage(_) | Self::Cluster(_) | Self::Bind(_) => Exit::Usage,
            Self::Catalogd(_) | Self::Guardrails(_) | Self::Tls(_) => Exit::BadInput,
        }
    }
}

fn addr(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "expected IP:PORT, such as 127.0.0.1:9443 or [::]:9443".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One asks to mend the command line, the other to report a fault.
    #[test]
    fn a_fault_of_ours_is_told_from_a_cluster_that_was_named_wrongly() {
        let interrupted = ConnectError::Interrupted("a thread was lost".to_owned());
        assert_eq!(ServeError::from(interrupted).exit(), Exit::Internal);
        let wrong = ConnectError::Kinds {
            files: "a, b".to_owned(),
        };
        assert_eq!(ServeError::from(wrong).exit(), Exit::Usage);
    }
}
