//! `olmguard serve`: the webhook in front of a cluster.

mod certs;
mod cluster_tasks;
mod flags;
mod live;
mod olm;
mod origin;
mod plan;
mod policies;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use certs::CertsArgs;
use cluster_tasks::{TaskArgs, WatchedConfiguration};
use flags::LimitArgs;
use live::LiveArgs;
use origin::CatalogsOrigin;
use plan::{ServerPlan, ServerSettings};
use policies::PolicyArgs;
use tracing::error;

use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::cluster::ClusterArgs;
use crate::cli::args::olm::PREFLIGHT;
use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::args::{LogArgs, NamedValue, UNDECIDED, heading, one_of};
use crate::cli::commands::serve::flags::ListenArgs;
use crate::cli::{Exit, help};
use crate::cluster::ConnectError;
use crate::facts::GivenFilesError;
use crate::source::http::RootsError;
use olmguard_admission::{Enforcement, Mode, OnUndecided};
use olmguard_catalog::go_duration;
use olmguard_catalog::olm::PreflightMode;
use olmguard_server::telemetry::log::{Log, log_panics, log_start};
use olmguard_server::tls::TlsError;
use olmguard_server::{BindError, Limits};

/// Run the admission webhook
#[derive(clap::Args, Debug)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    listen: ListenArgs,

    #[command(flatten)]
    certs: CertsArgs,

    /// Deny changes, or only observe them
    #[arg(
        long,
        value_name = "MODE",
        value_parser = one_of(&MODES),
        default_value = "enforce",
        help_heading = heading::DECISIONS
    )]
    mode: Mode,

    /// What to do with an undecided change
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = one_of(&UNDECIDED),
        default_value = "warn",
        help_heading = heading::DECISIONS
    )]
    on_undecided: OnUndecided,

    /// What to do with a bundle that resolves and cannot be installed
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = one_of(&PREFLIGHT),
        default_value = "warn",
        help_heading = heading::DECISIONS
    )]
    preflight: PreflightMode,

    #[command(flatten)]
    common: CommonArgs,

    #[command(flatten)]
    guardrails: GuardrailsArgs,

    #[command(flatten)]
    policies: PolicyArgs,

    #[command(flatten)]
    tasks: TaskArgs,

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

const MODES: [NamedValue<Mode>; 2] = [
    ("enforce", Mode::Enforce, "Deny changes"),
    (
        "observe",
        Mode::Observe,
        "Allow every change, with a warning if it would be denied",
    ),
];

const EXAMPLES: &[&str] = &[
    "olmguard serve --self-signed --catalog hub=hub.yaml",
    "olmguard serve --tls-cert tls.crt --tls-key tls.key --catalogd-ca ca.crt",
    "olmguard serve --tls-cert tls.crt --tls-key tls.key --mode observe",
];

/// The reason why the server does not run.
#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error("{0}; or name the catalogs' files: --catalog NAME=PATH")]
    Cluster(#[from] ConnectError),
    #[error(transparent)]
    Catalogd(#[from] RootsError),
    #[error(transparent)]
    Files(#[from] GivenFilesError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// Serves until a signal ends the server.
///
/// `configuration` is the command line with the values of all flags in effect.
pub(crate) fn run(args: ServeArgs, configuration: &str) -> ExitCode {
    let log = args.log.install();
    log_panics();
    let code = serve(args, configuration, &log).unwrap_or_else(|error| {
        error.report();
        error.exit().into()
    });
    // Write the last lines of the log before the process ends.
    drop(log);
    code
}

fn serve(args: ServeArgs, configuration: &str, log: &Log) -> Result<ExitCode, ServeError> {
    let settings = args.resolve()?;
    log_start(configuration);
    flags::make_room_for(settings.limits.connections.get());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads())
        .enable_all()
        .build()?;
    let plan = ServerPlan::new(settings, log)?;
    let ended = runtime.block_on(plan.run());
    runtime.shutdown_background();
    ended
}

/// The number of threads of the server. Each may use the memory of one request.
fn threads() -> usize {
    Limits::default().workers.get()
}

impl ServeArgs {
    /// The combined settings of the flags, or an error if they contradict each other.
    fn resolve(self) -> Result<ServerSettings, UsageError> {
        let webhook = WatchedConfiguration::of(&self.certs);
        let certs = self.certs.resolve()?;
        self.tasks.check()?;
        let given = self.policies.given().or(self.tasks.given());
        let origin = CatalogsOrigin::of(
            &self.common,
            &self.cluster,
            self.live,
            self.preflight,
            given,
        )?;
        let limits = self.limits.resolve()?;
        let memory = self.limits.catalogs(&limits, threads())?;
        self.listen.check(origin.is_cluster())?;
        Ok(ServerSettings {
            origin,
            memory,
            guardrails: self.guardrails,
            policies: self.policies,
            tasks: self.tasks,
            certs,
            webhook,
            listen: self.listen,
            limits,
            decisions: self.log.decisions(),
            enforcement: Enforcement {
                mode: self.mode,
                on_undecided: self.on_undecided,
            },
            shutdown_delay: self.shutdown_delay,
        })
    }
}

impl ServeError {
    /// Reports the error. Wrong usage is printed as by every command, because a person typed it.
    fn report(&self) {
        match self {
            Self::Usage(usage) => crate::cli::say(usage),
            other => error!(error = %other, "Failed to start the webhook, exiting"),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Cluster(ConnectError::Interrupted(_)) | Self::System(_) => Exit::Internal,
            Self::Usage(_) | Self::Cluster(_) | Self::Bind(_) => Exit::Usage,
            Self::Catalogd(_) | Self::Files(_) | Self::Tls(_) => Exit::BadInput,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first kind needs a change of the command line, the second a bug report.
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
