//! `olmguard serve`: the webhook in front of a cluster.

mod certs;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tracing::{error, info};

use crate::admission::OnUndecided;
use crate::cli::Exit;
use crate::cli::common::{CommonArgs, UsageError};
use crate::cli::log::LogArgs;
use crate::cli::serve::certs::CertsArgs;
use crate::cli::signals::Signals;
use crate::go_duration;
use crate::server::{Config, Guard, Server, StartError};
use crate::snapshot::{CatalogState, Content, Snapshot};
use crate::source;
use crate::telemetry::log::log_panics;
use crate::tls::TlsError;

/// Answers an API server: POST /validate over TLS, and health over plain HTTP.
#[derive(clap::Args, Debug)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// Where reviews are taken; [::] is every address, also where there is no IPv6
    #[arg(long, env = "OLMGUARD_LISTEN", value_name = "IP:PORT", default_value = "[::]:9443", value_parser = addr)]
    listen: SocketAddr,

    /// Where /livez and /readyz are told
    #[arg(long, env = "OLMGUARD_OPS_LISTEN", value_name = "IP:PORT", default_value = "[::]:8080", value_parser = addr)]
    ops_listen: SocketAddr,

    #[command(flatten)]
    certs: CertsArgs,

    /// What becomes of an edit that the catalogs held do not tell about
    #[arg(
        long,
        env = "OLMGUARD_ON_UNDECIDED",
        value_name = "WHAT",
        value_enum,
        default_value_t
    )]
    on_undecided: OnUndecided,

    /// How long to go on accepting after SIGTERM, while the news that it leaves gets around
    #[arg(long, env = "OLMGUARD_SHUTDOWN_DELAY", value_name = "DURATION", default_value = "10s", value_parser = go_duration::parse)]
    shutdown_delay: Duration,

    #[command(flatten)]
    log: LogArgs,
}

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// Serves until a signal ends it.
pub(crate) fn run(args: ServeArgs) -> ExitCode {
    let log = args.log.install();
    log_panics();
    let code = serve(args).unwrap_or_else(|error| {
        error.report();
        error.exit().into()
    });
    // What was logged last is written before the process ends.
    drop(log);
    code
}

fn serve(args: ServeArgs) -> Result<ExitCode, ServeError> {
    let ServeArgs {
        common,
        listen,
        ops_listen,
        certs,
        on_undecided,
        shutdown_delay,
        log: _,
    } = args;
    let certs = certs.resolve()?;
    let rules = common.rules()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let certificates = {
        let _within = runtime.enter();
        certs.start(Arc::new(()))?
    };
    let catalogs = common
        .catalog
        .iter()
        .map(|catalog| loaded(source::load(&catalog.name, &catalog.path, &rules)));
    let catalogs: Vec<_> = catalogs.collect();
    let config = Config {
        listen,
        ops_listen,
        certificates,
        guard: Guard {
            snapshot: Arc::new(Snapshot::new(rules, catalogs)),
            on_undecided,
        },
    };
    let ended = runtime.block_on(until_ended(config, shutdown_delay));
    runtime.shutdown_background();
    ended
}

/// Says what became of a catalog; one that cannot be read is no reason to judge nothing.
fn loaded(catalog: CatalogState) -> CatalogState {
    match &catalog.content {
        Content::Loaded(content) => {
            let counts = content.counts();
            info!(
                catalog = catalog.name,
                packages = counts.packages,
                bundles = counts.bundles,
                "Loaded catalog"
            );
        }
        Content::Unreadable(why) => {
            error!(catalog = catalog.name, error = why, "Cannot read catalog");
        }
        Content::Missing => {}
    }
    catalog
}

async fn until_ended(config: Config, delay: Duration) -> Result<ExitCode, ServeError> {
    let mut signals = Signals::new()?;
    let server = Server::start(config).await?;
    announce(&server);
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
            info!(signal = second.as_str(), "Exiting at once");
            Ok(second.exit_code())
        }
    }
}

/// Whoever started this waits for these lines; if nobody reads them, that is no failure.
fn announce(server: &Server) {
    let mut stdout = io::stdout().lock();
    let lines = format!(
        "listening on https://{}\nlistening on http://{}\n",
        server.addr(),
        server.ops_addr()
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
            Self::Usage(usage) => super::say(usage),
            Self::Tls(_) | Self::Start(_) | Self::System(_) => {
                error!(error = %self, "Cannot serve");
            }
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Start(StartError::Bind(_)) => Exit::Usage,
            Self::Tls(_) => Exit::BadInput,
            Self::System(_) => Exit::Internal,
        }
    }
}

fn addr(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "expected IP:PORT, such as 127.0.0.1:9443 or [::]:9443".to_owned())
}
