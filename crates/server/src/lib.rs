//! The webhook over HTTPS: connections, routes, limits, shutdown, certificates, metrics and the log.
//!
//! ```text
//! accept --handshake--> connection --POST /validate--> handler --queue--> worker --> Judge
//!    ^   (or no room)      ^   (or too slow)             '-- no time: onUndecided
//!    |                     |
//!    '------ Phase --------'   Starting -> Serving -> Leaving (connection: close) -> Closed
//! ```
//!
//! A separate listener answers health requests over plain HTTP, so a probe needs neither a certificate nor the API
//! server's route. It also serves metrics, unless they have a third port over TLS for authorized scrapers.
//!
//! Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`]: the API server uses
//! HTTP/1.1 if HTTP/2 is not offered, keeps connections alive, and treats any status other than 200 as a failure of the
//! webhook.
//!
//! Invariant: this crate never words a message about an edit or decides one.
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
pub mod restart;
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

/// The configuration of a server.
#[derive(Debug)]
pub struct Config {
    /// The address that accepts reviews; port 0 for any.
    pub listen: SocketAddr,
    /// The address that answers health requests; port 0 for any.
    pub ops_listen: SocketAddr,
    /// The limits on concurrent work, memory and waiting time.
    pub limits: Limits,
    /// The TLS port for metrics, with its authorization. If `None`, the health port serves metrics to everyone.
    pub scrapes: Option<Scrapes>,
    /// The checks that must pass before the server is ready.
    pub checks: Vec<Arc<dyn ReadinessCheck>>,
    /// The metrics that the server updates and serves at `/metrics`.
    pub metrics: Metrics,
    /// The log that gets one line for each answer.
    pub decisions: DecisionLog,
    /// The reporter of answers as Events in the cluster, if configured.
    pub events: EditEvents,
    /// The handle that reads and changes the log level at `/debug/loglevel`, if configured.
    pub log_level: Option<LogHandle>,
}

/// A server that answers health requests and has bound the port for reviews. It has no certificate yet, and obtaining
/// one can take long.
#[derive(Debug)]
pub struct ListeningServer {
    server: Server,
    reviews: Reviews,
    scrapes: Option<ops::Shut>,
    certificate: Arc<CertificateInUse>,
}

/// A server that has a certificate but no judge yet, so it accepts no reviews.
#[derive(Debug)]
pub struct StartingServer {
    server: Server,
    reviews: Reviews,
    handshake: Handshake,
    previews: Option<CatalogPreviews>,
}

/// The port for reviews, bound but not yet served.
#[derive(Debug)]
struct Reviews {
    decisions: DecisionLog,
    events: EditEvents,
    listener: Listener,
    limits: Limits,
}

/// A server that accepts connections on its sockets.
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
    /// Binds every address and starts to answer health requests. Must be called within a runtime.
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

    /// Returns the address that accepts reviews, with the actual port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the address that answers health requests, with the actual port.
    pub fn ops_addr(&self) -> SocketAddr {
        self.ops_addr
    }

    /// Returns the address that serves metrics over TLS, with the actual port.
    pub fn scrapes_addr(&self) -> Option<SocketAddr> {
        self.scrapes_addr
    }

    /// Makes the server not ready. Each connection closes after its next reply; new connections are still accepted.
    pub fn leave(&self) {
        self.phase.send_replace(Phase::Leaving);
    }

    /// Stops accepting, and waits until every request in progress is answered, but no longer than an API server would
    /// wait.
    pub async fn close(self) {
        self.phase.send_replace(Phase::Closed);
        let all = async {
            for port in self.ports {
                // The panic hook has already reported a port that panicked.
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
    /// Returns the server in its current state.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the observer of the certificates, which must see every attempt to obtain them, from the first on. It
    /// counts the attempts, and probes report why no certificate exists yet.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.certificate) as _
    }

    /// Adds the certificate to serve, which each connection reads when it opens, and starts to serve metrics over TLS.
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
    /// Also answers edits of catalogs once the server accepts reviews, if `previews` is given.
    pub fn previewing(self, previews: Option<CatalogPreviews>) -> Self {
        Self { previews, ..self }
    }

    /// Starts to accept reviews.
    pub fn open(mut self, judge: Arc<dyn Judge>, enforcement: Enforcement) -> Server {
        let (decisions, events) = (self.reviews.decisions, self.reviews.events.clone());
        let telemetry = Telemetry::of(&self.server.metrics, decisions, events);
        let handler = Handler::new(judge, enforcement, &self.reviews.limits, telemetry)
            .with_previews(self.previews.take());
        self.open_with(handler::routes(Arc::new(handler)))
    }

    /// Serves `routes` in place of reviews under the same limits, to measure the cost of everything except judging.
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
        // A server that was asked to leave in the meantime stays in that phase.
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

/// Enough for probes, a scraper or two, and a person with curl.
const OPS_CONNECTIONS: NonZeroUsize = NonZeroUsize::new(64).expect("not zero");
