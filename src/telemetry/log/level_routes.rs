//! `GET` and `PUT /debug/loglevel`: the level of the log, for users who can reach the pod itself.
//!
//! `kubectl port-forward` and `kubectl exec` connect from `127.0.0.1` or `::1`. A proxy in the pod may
//! connect from another loopback address (Istio's from 127.0.0.6), or mark what it forwards: both are
//! refused. A proxy that does neither must not forward this path. A page in a browser reaches a forwarded port, too:
//! its requests name another host, or another origin.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{FORWARDED, HOST, HeaderName, HeaderValue, ORIGIN, VIA};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::routing::get;
use tracing::info;

use crate::telemetry::log::level::{ALWAYS, LogHandle, LogLevel, UnknownLevel};

/// The routes of the level. Requests carry a [`ConnectInfo`] of their peer's [`SocketAddr`];
/// without one they are taken as coming from elsewhere.
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

/// Why the level is neither told nor changed.
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

/// An IPv4 peer of an IPv6 socket has an address that maps its own.
fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.is_some_and(|ConnectInfo(peer)| HERE.contains(&peer.ip().to_canonical()))
}

/// Whether a proxy adds this header to what it forwards.
fn is_of_proxy(name: &HeaderName) -> bool {
    let begins = |start: &&str| name.as_str().starts_with(*start);
    BY_PROXY.contains(name) || BY_PROXIES.iter().any(begins) || name.as_str().ends_with(OF_CLIENT)
}

/// The hosts that a request names: in its target, and in its head; none for what is not a host.
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

/// Whether no page of another origin asks. Clients that are no browsers send none.
fn is_same_origin(request: &Request) -> bool {
    let host = request.headers().get(HOST).map(HeaderValue::as_bytes);
    let mut origins = request.headers().get_all(ORIGIN).iter();
    origins.all(|origin| origin.as_bytes().strip_prefix(b"http://") == host && host.is_some())
}

/// What is longer than any word, or breaks off, is no level either.
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

/// What proxies add to a request.
const BY_PROXY: [HeaderName; 3] = [FORWARDED, VIA, HeaderName::from_static("x-request-id")];
/// How other headers of theirs begin.
const BY_PROXIES: [&str; 5] = ["cf-", "l5d-", "x-amzn-", "x-envoy-", "x-forwarded"];
/// How the headers end in which they name the client, such as `X-Real-IP`.
const OF_CLIENT: &str = "-ip";

/// The most bytes of a body.
const LONGEST: usize = 64;
