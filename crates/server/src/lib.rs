//! The webhook over HTTPS: connections, routes, limits, shutdown, certificates, metrics and the log.
//!
//! ```text
//! accept --handshake--> connection --POST /validate--> handler --queue--> worker --> Judge
//!    ^   (or no room)      ^   (or too slow)             '-- no time: onUndecided
//!    |                     |
//!    '------ Phase --------'   Starting -> Serving -> Leaving (connection: close) -> Closed
//! ```
//!
//! Health is answered over plain HTTP by a listener of its own, so that a probe needs neither a
//! certificate nor a way around the API server's. Metrics are there, too, or on a third port over TLS
//! for those who can read them.
//!
//! Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`]: the API
//! server speaks HTTP/1.1 where HTTP/2 is not offered, keeps connections alive, and takes any status
//! but 200 as a failure of the webhook.
//!
//! Invariant: nothing here words or decides anything about an edit.
//!
//! [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go

mod accept;
mod body;
mod catalog_preview;
mod connection;
mod handler;
mod judge;
mod limits;
pub mod live_facts;
mod ops;
mod pace;
pub mod pem_file;
pub mod telemetry;
#[cfg(test)]
mod tests;
pub mod tls;

pub use accept::BindError;
pub use catalog_preview::{CatalogPreviews, Installations, ListExtensions};
pub use judge::{Guard, Judge, Newer, PendingReview};
pub use limits::{Limits, Patience};
pub use ops::{ReadinessCheck, Scrapes};

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::telemetry::log::{DecisionLog, LogHandle};
use crate::telemetry::{EditEvents, Metrics};
use crate::tls::{Certificates, Observer, SystemClock};
use accept::{ConnectionTable, Listener, ServerPort, Transport, bind};
use connection::{ConnectionConfig, Handshake, Phase};
use handler::{Handler, Telemetry};
use olmguard_admission::Enforcement;
use ops::{CertificateInUse, Health};

/// What a server is started with.
#[derive(Debug)]
pub struct Config {
    /// Where reviews are taken; port 0 for any.
    pub listen: SocketAddr,
    /// Where health is told; port 0 for any.
    pub ops_listen: SocketAddr,
    /// How much it takes on at once, and how long it waits.
    pub limits: Limits,
    /// Where metrics are served over TLS, and who can read them; if none, everyone can, where health is
    /// told.
    pub scrapes: Option<Scrapes>,
    /// What must be well for it to be ready.
    pub checks: Vec<Arc<dyn ReadinessCheck>>,
    /// What counts, and is told at `/metrics`.
    pub metrics: Metrics,
    /// What writes a line about each answer.
    pub decisions: DecisionLog,
    /// What reports answers in the cluster, if anything does.
    pub events: EditEvents,
    /// What tells and changes the level of the log at `/debug/loglevel`, if anything does.
    pub log_level: Option<LogHandle>,
}

/// A server that tells its health, and holds the port for reviews: it has no certificate yet, which
/// may be long in coming.
#[derive(Debug)]
pub struct ListeningServer {
    server: Server,
    reviews: Reviews,
    scrapes: Option<ops::Shut>,
    certificate: Arc<CertificateInUse>,
}

/// A server that lacks nothing but who judges, and takes no reviews yet.
#[derive(Debug)]
pub struct StartingServer {
    server: Server,
    reviews: Reviews,
    handshake: Handshake,
    previews: Option<CatalogPreviews>,
}

/// The port for reviews, still shut.
#[derive(Debug)]
struct Reviews {
    decisions: DecisionLog,
    events: EditEvents,
    listener: Listener,
    limits: Limits,
}

/// A server whose sockets accept.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    ops_addr: SocketAddr,
    scrapes_addr: Option<SocketAddr>,
    phase: watch::Sender<Phase>,
    metrics: Metrics,
    ports: Vec<JoinHandle<()>>,
}

impl Server {
    /// Binds every address, and tells its health from now on. It must be called within a runtime.
    pub fn listen(config: Config) -> Result<ListeningServer, BindError> {
        let tls = Arc::clone(&config.metrics.tls);
        let certificate = Arc::new(CertificateInUse::new(tls, SystemClock));
        let mut checks = config.checks;
        checks.insert(0, Arc::clone(&certificate) as _);
        let listener = bind(config.listen)?;
        let ops_listener = bind(config.ops_listen)?;
        let scrapes = config.scrapes.map(Scrapes::bind).transpose()?;
        let (phase, watched) = watch::channel(Phase::Starting);
        let mut server = Self {
            addr: listener.addr,
            ops_addr: ops_listener.addr,
            scrapes_addr: scrapes.as_ref().map(ops::Shut::addr),
            phase,
            ports: Vec::new(),
            metrics: config.metrics,
        };
        let health = Health {
            phase: watched,
            certificate: Arc::clone(&certificate),
            checks: checks.into(),
        };
        let everyones = scrapes.is_none().then(|| server.metrics.clone());
        let patience = config.limits.patience;
        let routes = ops::routes(health, everyones, config.log_level);
        server.accept(ServerPort {
            listener: ops_listener.socket,
            transport: Transport::Plain,
            connections: ConnectionTable::new(OPS_CONNECTIONS, OPS_CONNECTIONS, patience),
            config: server.config(routes, patience),
            metrics: Arc::clone(&server.metrics.ops_connections),
        });
        let reviews = Reviews {
            decisions: config.decisions,
            events: config.events,
            listener,
            limits: config.limits,
        };
        Ok(ListeningServer {
            server,
            reviews,
            scrapes,
            certificate,
        })
    }

    fn config(&self, router: Router, patience: Patience) -> ConnectionConfig {
        ConnectionConfig {
            router,
            patience,
            phase: self.phase.subscribe(),
        }
    }

    fn accept(&mut self, port: ServerPort) {
        self.ports.push(tokio::spawn(port.run()));
    }

    /// Where reviews are taken, with the real port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where health is told, with the real port.
    pub fn ops_addr(&self) -> SocketAddr {
        self.ops_addr
    }

    /// Where metrics are served over TLS, with the real port.
    pub fn scrapes_addr(&self) -> Option<SocketAddr> {
        self.scrapes_addr
    }

    /// Not ready from now on; every connection ends with its next reply. New ones are still taken.
    pub fn leave(&self) {
        self.phase.send_replace(Phase::Leaving);
    }

    /// Stops accepting, and waits until every request that is under way is answered, but no longer
    /// than an API server would.
    pub async fn close(self) {
        self.phase.send_replace(Phase::Closed);
        let all = async {
            for port in self.ports {
                // A port that panicked has been reported by the panic hook.
                drop(port.await);
            }
        };
        if tokio::time::timeout(LONGEST_WEBHOOK_TIMEOUT, all)
            .await
            .is_err()
        {
            tracing::warn!("Shut down with unanswered requests");
        }
    }
}

impl ListeningServer {
    /// The server as far as it has come.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Who is to be told what becomes of the certificates, from the first try to get them on: it is
    /// counted, and why there are none yet is told to probes.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.certificate) as _
    }

    /// Has the certificate that is shown, as it is when a connection comes in. Metrics over TLS are
    /// served from now on.
    pub fn certify(self, certificates: Certificates) -> StartingServer {
        let Self {
            mut server,
            reviews,
            scrapes,
            certificate,
        } = self;
        certificate.came(certificates.clone());
        if let Some(shut) = scrapes {
            let port = shut.open(&server, &certificates, reviews.limits.patience);
            server.accept(port);
        }
        StartingServer {
            server,
            reviews,
            handshake: Handshake { certificates },
            previews: None,
        }
    }
}

impl StartingServer {
    /// Answers edits of catalogs, too, once it takes reviews, if there are previews of them.
    pub fn previewing(self, previews: Option<CatalogPreviews>) -> Self {
        Self { previews, ..self }
    }

    /// Takes reviews from now on.
    pub fn open(mut self, judge: Arc<dyn Judge>, enforcement: Enforcement) -> Server {
        let (decisions, events) = (self.reviews.decisions, self.reviews.events.clone());
        let telemetry = Telemetry::of(&self.server.metrics, decisions, events);
        let handler = Handler::new(judge, enforcement, &self.reviews.limits, telemetry)
            .with_previews(self.previews.take());
        self.open_with(handler::routes(Arc::new(handler)))
    }

    /// Serves these routes in place of reviews, under the same limits: for measuring what all but
    /// the judging costs.
    pub fn open_with(self, routes: Router) -> Server {
        let Self {
            mut server,
            reviews,
            handshake,
            previews: _,
        } = self;
        let Limits {
            connections,
            connections_per_peer,
            patience,
            ..
        } = reviews.limits;
        server.accept(ServerPort {
            listener: reviews.listener.socket,
            transport: Transport::Tls(handshake),
            connections: ConnectionTable::new(connections, connections_per_peer, patience),
            config: server.config(routes, patience),
            metrics: Arc::clone(&server.metrics.connections),
        });
        // One that was told to leave meanwhile is on its way out already.
        server.phase.send_if_modified(|phase| {
            let is_first = *phase == Phase::Starting;
            if is_first {
                *phase = Phase::Serving;
            }
            is_first
        });
        server
    }
}

/// The largest `timeoutSeconds` that a webhook configuration can have.
const LONGEST_WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// Probes, a scraper or two, and someone who looks.
const OPS_CONNECTIONS: NonZeroUsize = NonZeroUsize::new(64).expect("not zero");
