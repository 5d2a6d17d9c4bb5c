//! `GET` and `PUT /debug/loglevel`: the level of the log, for users who can reach the pod itself.
//!
//! `kubectl port-forward` and `kubectl exec` connect from `127.0.0.1` or `::1`. A proxy in the pod may
//! connect from another loopback address (Istio's from 127.0.0.6), or mark what it forwards: both are
//! refused. A proxy that does neither must not forward this path.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{FORWARDED, HeaderName, VIA};
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
    BY_PROXY.contains(name) || BY_PROXIES.iter().any(begins)
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
            Self::Peer | Self::Proxy => StatusCode::FORBIDDEN,
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
const BY_PROXIES: [&str; 2] = ["x-envoy-", "x-forwarded-"];

/// The most bytes of a body.
const LONGEST: usize = 64;
