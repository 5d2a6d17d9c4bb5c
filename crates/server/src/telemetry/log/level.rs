//! The level of the log, and its change while the program runs.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{FORWARDED, HOST, HeaderName, HeaderValue, ORIGIN, VIA};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::routing::get;
use olmguard_catalog::word_set;
use tracing::info;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Registry, reload};

word_set! {
    /// What of this program is logged, the least first.
    #[derive(Default, clap::ValueEnum)]
    pub enum LogLevel {
        /// Problems that someone must fix
        Error => "error",
        /// Also undecided changes and problems that olmguard works around
        Warn => "warn",
        /// Also denials and changes of state
        #[default]
        Info => "info",
        /// Also allowed changes and failed connections
        Debug => "debug",
    }
}

/// The word does not name a level.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown level: expected error, warn, info or debug")]
pub struct UnknownLevel;

/// A handle that reads and changes the level of a log.
#[derive(Clone, Debug)]
pub struct LogHandle {
    level: Arc<Mutex<LogLevel>>,
    filter: reload::Handle<Targets, Registry>,
}

impl LogHandle {
    /// Returns the current level.
    pub fn level(&self) -> LogLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level.
    pub fn set(&self, level: LogLevel) {
        let mut held = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        *held = level;
        // Fails only if the log has ended, and then no lines need a filter.
        let _ = self.filter.reload(targets(level));
    }
}

/// Creates a filter for this level, and the handle that changes it.
pub(super) fn filter(level: LogLevel) -> (reload::Layer<Targets, Registry>, LogHandle) {
    let (filter, handle) = reload::Layer::new(targets(level));
    let handle = LogHandle {
        level: Arc::new(Mutex::new(level)),
        filter: handle,
    };
    (filter, handle)
}

/// Returns the targets for a level. Libraries log only errors and warnings, because their other messages may quote
/// requests.
///
/// kube logs a line for each failed attempt, which olmguard reports once. It also logs an answer that it cannot decode
/// in full, and that answer may be a Secret.
fn targets(level: LogLevel) -> Targets {
    let own = level.filter();
    Targets::new()
        .with_default(LevelFilter::WARN.min(own))
        .with_target("kube_client::client", LevelFilter::OFF)
        .with_target("kube_client::client::tls", LevelFilter::WARN.min(own))
        .with_target("kube_runtime::watcher", LevelFilter::OFF)
        .with_target(OWN, own)
        .with_target(ALWAYS, LevelFilter::INFO.max(own))
}

impl LogLevel {
    fn filter(self) -> LevelFilter {
        match self {
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        let known = Self::ALL.into_iter().find(|level| level.as_str() == word);
        known.ok_or(UnknownLevel)
    }
}

/// The target of every event of this program.
const OWN: &str = "olmguard";

/// The target of events that are logged at every level, because the other lines make no sense without them.
pub(super) const ALWAYS: &str = "olmguard::always";

// === `GET` and `PUT /debug/loglevel`: the log level, for users who can connect to the pod itself ===
//
// `kubectl port-forward` and `kubectl exec` connect from `127.0.0.1` or `::1`. A proxy in the pod may connect from
// another loopback address (Istio uses 127.0.0.6), or add headers to forwarded requests; both are rejected. A proxy
// that does neither must not forward this path. A web page can reach a forwarded port too, but its requests name
// another host or another origin.

/// Returns the routes of the level. Requests carry a [`ConnectInfo`] with the [`SocketAddr`] of the client. A request
/// without it counts as remote.
pub fn routes(handle: LogHandle) -> Router {
    Router::new()
        .route(
            "/debug/loglevel",
            get(answer)
                .put(answer)
                .fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected GET or PUT\n")),
        )
        .with_state(handle)
}

/// The reason why the level is neither returned nor changed.
#[derive(Debug, thiserror::Error)]
enum LevelError {
    #[error("not from here: expected a peer at 127.0.0.1 or ::1, such as kubectl port-forward")]
    Peer,
    #[error("through a proxy: expected to be asked directly, such as by kubectl port-forward")]
    Proxy,
    #[error("for another host: expected the host localhost, 127.0.0.1 or ::1")]
    Host,
    #[error(
        "from a page of another host: expected to be asked directly, such as by kubectl port-forward"
    )]
    Origin,
    #[error(transparent)]
    Level(#[from] UnknownLevel),
}

async fn answer(State(handle): State<LogHandle>, request: Request) -> (StatusCode, String) {
    match changed(&handle, request).await {
        Ok(level) => (StatusCode::OK, format!("{level}\n")),
        Err(refused) => (refused.status(), format!("{refused}\n")),
    }
}

async fn changed(handle: &LogHandle, request: Request) -> Result<LogLevel, LevelError> {
    if !is_local(&request) {
        return Err(LevelError::Peer);
    }
    if request.headers().keys().any(is_of_proxy) {
        return Err(LevelError::Proxy);
    }
    if !hosts(&request).all(|host| host.is_some_and(|host| is_here(&host))) {
        return Err(LevelError::Host);
    }
    if !is_same_origin(&request) {
        return Err(LevelError::Origin);
    }
    if request.method() == Method::PUT {
        let level = asked(request.into_body()).await?;
        handle.set(level);
        info!(target: ALWAYS, now = level.as_str(), "Changed the log level");
    }
    Ok(handle.level())
}

/// Whether the client is on this machine. An IPv4 client of an IPv6 socket has a mapped address.
fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.is_some_and(|ConnectInfo(peer)| HERE.contains(&peer.ip().to_canonical()))
}

/// Whether a proxy adds this header to what it forwards.
fn is_of_proxy(name: &HeaderName) -> bool {
    let begins = |start: &&str| name.as_str().starts_with(*start);
    BY_PROXY.contains(name) || BY_PROXIES.iter().any(begins) || name.as_str().ends_with(OF_CLIENT)
}

/// Returns the hosts that a request names, in its target and in its headers; `None` for an invalid host.
fn hosts(request: &Request) -> impl Iterator<Item = Option<Authority>> {
    let named = request.headers().get_all(HOST).iter();
    let named = named.map(|host| Authority::try_from(host.as_bytes()).ok());
    let target = request.uri().authority().cloned();
    named.chain(target.map(Some))
}

fn is_here(host: &Authority) -> bool {
    let host = host.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| HERE.contains(&address))
}

/// Whether no web page of another origin sends the request. Clients other than browsers send no origin.
fn is_same_origin(request: &Request) -> bool {
    let host = request.headers().get(HOST).map(HeaderValue::as_bytes);
    let mut origins = request.headers().get_all(ORIGIN).iter();
    origins.all(|origin| origin.as_bytes().strip_prefix(b"http://") == host && host.is_some())
}

/// Reads the requested level. A body that is too long or incomplete is not a level.
async fn asked(body: Body) -> Result<LogLevel, UnknownLevel> {
    let body = to_bytes(body, LONGEST).await.map_err(|_| UnknownLevel)?;
    let word = std::str::from_utf8(&body).map_err(|_| UnknownLevel)?;
    word.trim_ascii().parse()
}

impl LevelError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Peer | Self::Proxy | Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Level(UnknownLevel) => StatusCode::BAD_REQUEST,
        }
    }
}

const HERE: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// Headers that proxies add to a request.
const BY_PROXY: [HeaderName; 3] = [FORWARDED, VIA, HeaderName::from_static("x-request-id")];

/// Prefixes of other such headers.
const BY_PROXIES: [&str; 5] = ["cf-", "l5d-", "x-amzn-", "x-envoy-", "x-forwarded"];

/// The suffix of headers in which proxies name the client, such as `X-Real-IP`.
const OF_CLIENT: &str = "-ip";

/// The most bytes of a body.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn words_and_levels_go_both_ways() {
        for level in LogLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("trace".parse::<LogLevel>(), Err(UnknownLevel));
        assert_eq!("".parse::<LogLevel>(), Err(UnknownLevel));
    }

    #[test]
    fn what_the_api_server_answers_is_never_written_by_a_library() {
        for level in LogLevel::ALL {
            let targets = targets(level);
            for target in [
                "kube_client::client",
                "kube_client::client::builder",
                "kube_runtime::watcher",
            ] {
                assert!(
                    !targets.would_enable(target, &Level::ERROR),
                    "{level} {target}"
                );
            }
            let reloads = targets.would_enable("kube_client::client::tls", &Level::WARN);
            assert_eq!(reloads, level != LogLevel::Error);
        }
    }

    #[test]
    fn libraries_say_at_most_what_is_wrong() {
        for (level, own, library) in [
            (LogLevel::Error, Level::ERROR, Level::ERROR),
            (LogLevel::Warn, Level::WARN, Level::WARN),
            (LogLevel::Info, Level::INFO, Level::WARN),
            (LogLevel::Debug, Level::DEBUG, Level::WARN),
        ] {
            let targets = targets(level);
            for (target, most) in [
                ("olmguard_server", own),
                (ALWAYS, own.max(Level::INFO)),
                ("hyper::proto", library),
            ] {
                for asked in [
                    Level::ERROR,
                    Level::WARN,
                    Level::INFO,
                    Level::DEBUG,
                    Level::TRACE,
                ] {
                    let enabled = targets.would_enable(target, &asked);
                    assert_eq!(enabled, asked <= most, "{level} {target} {asked}");
                }
            }
        }
    }
}
