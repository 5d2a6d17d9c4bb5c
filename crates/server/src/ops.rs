//! The endpoints for operators: health for probes, and metrics.
//!
//! Health has three endpoints. Each answers its own question in words.
//!
//! | endpoint | question | if not |
//! | --- | --- | --- |
//! | `/startupz` | Has the server started to accept reviews? | wait |
//! | `/livez` | Does the process answer at all? | restart it |
//! | `/readyz` | Should edits be sent to this replica? | send them to another replica |
//!
//! `/certificate` serves the certificate in use, so a probe that sends no review can check it.
//!
//! `/livez` depends only on the process: an unreachable cluster is no reason to restart it.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::header::{self, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::watch;

use crate::accept::{BindError, Listener, ServerPort, Transport, bind};
use crate::connection::{Handshake, Phase};
use crate::telemetry::log::{self, LogHandle};
use crate::telemetry::metrics::{CONTENT_TYPE as EXPOSITION, Reload, TlsMetrics};
use crate::telemetry::{Authorizer, Metrics, ScrapeDenied};
use crate::tls::{Certificates, Clock, Leaf, Observer, SystemClock, TlsError};
use crate::{ConnectionTable, OPS_CONNECTIONS, Patience, Server};
use olmguard_views::readiness::{CheckReadiness, Readiness};

/// A condition that must hold for a server to be ready.
pub trait ReadinessCheck: fmt::Debug + Send + Sync + 'static {
    /// Returns the current state, in words and as data, both of the same moment.
    fn readiness(&self) -> CheckReadiness;
}

/// The health of a server.
#[derive(Clone, Debug)]
pub(super) struct Health {
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) certificate: Arc<CertificateInUse>,
    pub(super) checks: Arc<[Arc<dyn ReadinessCheck>]>,
}

/// The answer to a probe.
pub(super) type ProbeAnswer = (StatusCode, String);

impl Health {
    pub(super) fn started(&self) -> ProbeAnswer {
        match *self.phase.borrow() {
            Phase::Starting => no(format!("not started: {}\n", self.lack())),
            Phase::Serving | Phase::Leaving | Phase::Closed => yes("started\n".to_owned()),
        }
    }

    pub(super) fn alive() -> ProbeAnswer {
        yes("alive\n".to_owned())
    }

    /// Returns the readiness as text: the first line is the result, and each later line is one check.
    pub(super) fn ready(&self) -> ProbeAnswer {
        let readiness = self.readiness();
        (status(&readiness), readiness.to_text())
    }

    /// Returns the readiness as JSON, for programs.
    pub(super) fn ready_json(&self) -> ProbeAnswer {
        let readiness = self.readiness();
        let body = serde_json::to_string(&readiness).expect("string keys only");
        (status(&readiness), body)
    }

    fn readiness(&self) -> Readiness {
        let checks = self.checks.iter().map(|check| check.readiness());
        Readiness::new(self.under_way(), checks.collect())
    }

    /// Returns the certificate in use. It is public, because every TLS handshake reveals it.
    pub(super) fn certificate(&self) -> ProbeAnswer {
        match self.certificate.chain_pem() {
            Ok(chain) => yes(chain),
            Err(awaited) => no(format!("no certificate: {awaited}\n")),
        }
    }

    fn under_way(&self) -> Result<(), String> {
        match *self.phase.borrow() {
            Phase::Serving => Ok(()),
            Phase::Starting => Err(self.lack()),
            Phase::Leaving | Phase::Closed => Err("shutting down".to_owned()),
        }
    }

    /// Returns the reason why the server has not started yet.
    fn lack(&self) -> String {
        let awaited = self.certificate.awaited();
        awaited.unwrap_or_else(|| "it takes no reviews yet".to_owned())
    }
}

fn status(readiness: &Readiness) -> StatusCode {
    if readiness.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

fn yes(words: String) -> ProbeAnswer {
    (StatusCode::OK, words)
}

fn no(words: String) -> ProbeAnswer {
    (StatusCode::SERVICE_UNAVAILABLE, words)
}

// The certificate of a server: whether one exists yet, whether clients can use it, and how often it was reloaded.

/// The certificate of a server, which can take long to arrive. Counts reloads and refusals.
#[derive(Debug)]
pub(super) struct CertificateInUse<C = SystemClock> {
    metrics: Arc<TlsMetrics>,
    clock: C,
    certificates: OnceLock<Certificates>,
    /// The last reason why there is no certificate yet, if one was reported.
    fault: Mutex<Option<String>>,
}

impl<C> CertificateInUse<C> {
    /// Creates the state without a certificate.
    pub(super) fn new(metrics: Arc<TlsMetrics>, clock: C) -> Self {
        Self {
            metrics,
            clock,
            certificates: OnceLock::new(),
            fault: Mutex::default(),
        }
    }

    /// Sets the certificates. If they were set before, the first ones stay.
    pub(super) fn came(&self, certificates: Certificates) {
        let leaf = certificates.leaf();
        self.metrics.serving(leaf.not_before, leaf.not_after);
        drop(self.certificates.set(certificates));
    }

    /// Returns what the server waits for, in one line, if it has no certificate yet.
    pub(super) fn awaited(&self) -> Option<String> {
        self.there().err()
    }

    /// Returns the certificate chain as PEM. The error is what the server waits for, if it has no certificate yet.
    pub(super) fn chain_pem(&self) -> Result<String, String> {
        Ok(self.there()?.chain_pem())
    }

    fn there(&self) -> Result<&Certificates, String> {
        self.certificates.get().ok_or_else(|| {
            let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            match &*fault {
                Some(fault) => format!("waits for a certificate: {fault}"),
                None => "waits for a certificate".to_owned(),
            }
        })
    }
}

impl<C: Clock + 'static> ReadinessCheck for CertificateInUse<C> {
    fn readiness(&self) -> CheckReadiness {
        let fit = self.there().and_then(|certificates| {
            let fitness = certificates.fitness(self.clock.now());
            fitness.map_err(|unfit| unfit.to_string())?;
            Ok(certificates.leaf().to_string())
        });
        CheckReadiness::new("certificate", fit)
    }
}

impl<C: Clock + 'static> Observer for CertificateInUse<C> {
    fn reloaded(&self, leaf: &Leaf) {
        self.metrics.reloaded(Reload::Ok);
        self.metrics.serving(leaf.not_before, leaf.not_after);
    }

    fn refused(&self, error: &TlsError) {
        self.metrics.reloaded(Reload::Refused);
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        *fault = Some(error.to_string());
    }
}

// === The second port: health, the certificate, the version, metrics, and the log level ===

/// Returns the routes. If `metrics` is `None`, they are served over TLS only.
pub(super) fn routes(
    health: Health,
    metrics: Option<Metrics>,
    log_level: Option<LogHandle>,
) -> Router {
    let router = Router::new()
        .route(
            "/startupz",
            get(async |State(health): State<Health>| health.started()),
        )
        .route("/livez", get(async || Health::alive()))
        .route("/readyz", get(ready))
        .route(
            "/certificate",
            get(async |State(health): State<Health>| health.certificate()),
        )
        .route("/version", get(async || VERSION))
        .with_state(health)
        .merge(metrics_route(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, NOT_FOUND));
    match log_level {
        Some(handle) => router.merge(log::routes(handle)),
        None => router,
    }
}

async fn ready(State(health): State<Health>, uri: Uri) -> Response {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    if parameters.any(|parameter| parameter == "format=json") {
        return json(health.ready_json());
    }
    health.ready().into_response()
}

fn json((status, body): ProbeAnswer) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn metrics_route(metrics: Option<Metrics>) -> Router {
    let route = match metrics {
        Some(metrics) => {
            let told = async |State(metrics): State<Metrics>| exposition(&metrics);
            get(told).with_state(metrics)
        }
        None => get(async || (StatusCode::NOT_FOUND, MOVED)),
    };
    Router::new().route("/metrics", route)
}

/// The version, by which `olmguard doctor` recognizes olmguard.
const VERSION: &str = concat!("olmguard ", env!("CARGO_PKG_VERSION"), "\n");
const MOVED: &str = "not found: metrics are served over TLS, on --metrics-listen\n";
const NOT_FOUND: &str =
    "not found: expected /startupz, /livez, /readyz, /certificate, /version or /metrics\n";

// === `GET /metrics` for authorized users: over TLS, with a bearer token ===

/// Metrics on a port of their own.
#[derive(Debug)]
pub struct Scrapes {
    /// The address at which metrics are served; port 0 for any.
    pub listen: SocketAddr,
    /// The check of who can read metrics.
    pub authorizer: Arc<dyn Authorizer>,
}

/// The port for metrics, bound but not yet served.
#[derive(Debug)]
pub(super) struct Shut {
    listener: Listener,
    authorizer: Arc<dyn Authorizer>,
}

/// The state that requests are answered from.
#[derive(Clone)]
struct ScrapeState {
    metrics: Metrics,
    authorizer: Arc<dyn Authorizer>,
}

impl Scrapes {
    /// Binds the address, so a taken address is reported before the certificate arrives.
    pub(super) fn bind(self) -> Result<Shut, BindError> {
        Ok(Shut {
            listener: bind(self.listen)?,
            authorizer: self.authorizer,
        })
    }
}

impl Shut {
    pub(super) fn addr(&self) -> SocketAddr {
        self.listener.addr
    }

    /// Opens the port, with the same certificate as the port for reviews. A scraper authenticates with a token, so it
    /// needs no client certificate, even if API servers do.
    pub(super) fn open(
        self,
        server: &Server,
        certificates: &Certificates,
        patience: Patience,
    ) -> ServerPort {
        let guarded = ScrapeState {
            metrics: server.metrics.clone(),
            authorizer: self.authorizer,
        };
        ServerPort {
            listener: self.listener.socket,
            transport: Transport::Tls(Handshake {
                certificates: certificates.for_any_client(),
            }),
            connections: ConnectionTable::new(OPS_CONNECTIONS, MOST_PER_PEER, patience),
            config: server.config(scrape_routes(guarded), patience),
            metrics: Arc::clone(&server.metrics.scrape_connections),
        }
    }
}

/// The limit for one address. A token review occupies a connection for as long as the API server takes, and other
/// addresses must still find a free one.
const MOST_PER_PEER: NonZeroUsize =
    NonZeroUsize::new(OPS_CONNECTIONS.get() / 2).expect("more than one");

fn scrape_routes(guarded: ScrapeState) -> Router {
    Router::new()
        .route("/metrics", get(answer).with_state(guarded))
        .fallback(async || (StatusCode::NOT_FOUND, "not found: expected /metrics\n"))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected GET\n"))
}

async fn answer(State(guarded): State<ScrapeState>, headers: HeaderMap) -> Response {
    let ruling = match bearer_token(&headers) {
        Some(token) => guarded.authorizer.authorize(token).await,
        None => Err(ScrapeDenied::Unauthenticated),
    };
    match ruling {
        Ok(()) => exposition(&guarded.metrics).into_response(),
        Err(denied) => refusal(&denied),
    }
}

/// Returns all metrics with their current values.
pub(super) fn exposition(metrics: &Metrics) -> impl IntoResponse + use<> {
    ([(CONTENT_TYPE, EXPOSITION)], metrics.render())
}

fn refusal(denied: &ScrapeDenied) -> Response {
    let status = match denied {
        ScrapeDenied::Unauthenticated => StatusCode::UNAUTHORIZED,
        ScrapeDenied::Forbidden { .. } => StatusCode::FORBIDDEN,
        ScrapeDenied::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = (status, format!("{denied}\n")).into_response();
    if status == StatusCode::UNAUTHORIZED {
        let scheme = header::HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

// === The bearer token of a request ===
//
// Upstream: RFC 6750, and Kubernetes, `apiserver/pkg/authentication/request/bearertoken`.

/// Returns the token of the only `Authorization` header, if its syntax is valid.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else {
        return None;
    };
    let (scheme, token) = only.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim_start();
    let is_token = (1..=LONGEST).contains(&token.len()) && token.bytes().all(is_of_token);
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then_some(token)
}

/// Whether the byte can be in a `b64token` of RFC 6750. No such byte is ever escaped, so a text that repeats the token
/// contains it literally.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// The longest token, in bytes. The tokens of service accounts have about a thousand bytes.
const LONGEST: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Metrics;
    use crate::tls::{SystemClock, TlsConfig, self_signed};
    use olmguard_views::readiness::CatalogCounts;

    #[derive(Debug)]
    struct Fixed(&'static str, Result<&'static str, &'static str>);

    impl ReadinessCheck for Fixed {
        fn readiness(&self) -> CheckReadiness {
            let state = self.1.map(str::to_owned).map_err(str::to_owned);
            CheckReadiness::new(self.0, state)
        }
    }

    fn health(phase: Phase, checks: Vec<Fixed>) -> Health {
        let (_sender, phase) = watch::channel(phase);
        let checks = checks.into_iter().map(|check| Arc::new(check) as _);
        let certificate = CertificateInUse::new(Metrics::new().tls, SystemClock);
        certificate.came(self_signed(&TlsConfig::default(), Vec::new()).unwrap());
        Health {
            phase,
            certificate: Arc::new(certificate),
            checks: checks.collect(),
        }
    }

    #[track_caller]
    fn says((status, words): ProbeAnswer, expected: (u16, &str)) {
        assert_eq!((status.as_u16(), words.as_str()), expected);
    }

    #[tokio::test]
    async fn ready_is_who_serves_and_is_well() {
        let checks = || vec![Fixed("a", Ok("fine")), Fixed("b", Ok("well"))];
        let lines = "[+] a: fine\n[+] b: well\n";
        for (phase, status, first) in [
            (Phase::Serving, 200, "ready"),
            (Phase::Starting, 503, "not ready: it takes no reviews yet"),
            (Phase::Leaving, 503, "not ready: shutting down"),
            (Phase::Closed, 503, "not ready: shutting down"),
        ] {
            let expected = format!("{first}\n{lines}");
            says(health(phase, checks()).ready(), (status, &expected));
        }
    }

    #[tokio::test]
    async fn who_is_not_ready_says_why() {
        let checks = vec![Fixed("a", Ok("fine")), Fixed("b", Err("ill"))];
        says(
            health(Phase::Serving, checks).ready(),
            (503, "not ready: b: ill\n[+] a: fine\n[-] b: ill\n"),
        );
    }

    /// A check that reports data as well as words.
    #[derive(Debug)]
    struct Counted;

    impl ReadinessCheck for Counted {
        fn readiness(&self) -> CheckReadiness {
            let counts = CatalogCounts {
                available: 2,
                loaded: 2,
                ..CatalogCounts::default()
            };
            CheckReadiness {
                catalogs: Some(counts),
                ..CheckReadiness::new("catalogs", Ok("2 of 2 loaded".to_owned()))
            }
        }
    }

    #[tokio::test]
    async fn programs_are_told_the_same_as_people() {
        let mut health = health(Phase::Serving, vec![Fixed("b", Err("ill"))]);
        let checks = health.checks.iter().cloned();
        health.checks = checks.chain([Arc::new(Counted) as _]).collect();
        let (status, body) = health.ready_json();
        let read = Readiness::from_json(&body).unwrap();
        assert_eq!((status, read.to_text()), health.ready());
        let counts = read.checks[1].catalogs.unwrap();
        assert_eq!((counts.available, counts.loaded), (2, 2));
    }

    #[tokio::test]
    async fn started_and_alive_are_other_questions() {
        let ill = || vec![Fixed("a", Err("ill"))];
        says(
            health(Phase::Starting, ill()).started(),
            (503, "not started: it takes no reviews yet\n"),
        );
        for phase in [Phase::Serving, Phase::Leaving, Phase::Closed] {
            says(health(phase, ill()).started(), (200, "started\n"));
        }
        says(Health::alive(), (200, "alive\n"));
    }

    #[test]
    fn a_token_is_what_follows_one_bearer() {
        let long = format!("Bearer {}", "a".repeat(LONGEST));
        let longer = format!("{long}a");
        for (values, expected) in [
            (&["Bearer a.b-c_d~e+f/g=="][..], Some("a.b-c_d~e+f/g==")),
            (&["bearer  x"], Some("x")),
            (&[&long], Some(&long[7..])),
            (&[&longer], None),
            (&[], None),
            (&["Bearer"], None),
            (&["Bearer "], None),
            (&["Bearer a b"], None),
            (&["Bearer a,b"], None),
            (&["Bearer \"a\""], None),
            (&["Basic eDp5"], None),
            (&["Bearer a", "Bearer b"], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            assert_eq!(bearer_token(&headers), expected, "{values:?}");
        }
    }
}
