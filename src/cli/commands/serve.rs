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
mod plan;
mod policies;
mod scrapes;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tracing::error;

use crate::admission::{Enforcement, Mode, OnUndecided};
use crate::cli::Exit;
use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::cluster::ClusterArgs;
use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::args::heading;
use crate::cli::args::log::LogArgs;
use crate::cli::help;
use crate::cluster::ConnectError;
use crate::cluster::policies::PolicyStore;
use crate::guardrail_files::GuardrailsFault;
use crate::server::{BindError, Limits};
use crate::source::catalogd::CatalogdError;
use crate::telemetry::Metrics;
use crate::telemetry::log::{Log, log_panics, log_start};
use crate::tls::TlsError;
use audit::AuditArgs;
use catalog_preview::PreviewArgs;
use certs::CertsArgs;
use configuration::Configuration;
use events::EventArgs;
use guardrails::Guardrails;
use limits::LimitArgs;
use live::LiveArgs;
use olmguard_catalog::go_duration;
use origin::CatalogsOrigin;
use plan::Plan;
use policies::PolicyArgs;
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
