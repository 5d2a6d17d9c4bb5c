//! `GET` and `PUT /debug/loglevel`: the level of the log, for whoever is on this machine.
//!
//! `kubectl port-forward` comes from there, too; nobody else has a say in what is written. Whoever
//! comes through a proxy beside this process has its address: those that say so are sent away, and
//! one that keeps it to itself must not forward this path.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{FORWARDED, HeaderName};
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
enum Refused {
    #[error("not from here: expected a peer on a loopback address, such as kubectl port-forward")]
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

async fn changed(handle: &LogHandle, request: Request) -> Result<LogLevel, Refused> {
    if !is_local(&request) {
        return Err(Refused::Peer);
    }
    if BY_PROXY
        .iter()
        .any(|name| request.headers().contains_key(name))
    {
        return Err(Refused::Proxy);
    }
    if request.method() == Method::PUT {
        let level = asked(request.into_body()).await?;
        handle.set(level);
        info!(target: ALWAYS, now = level.as_str(), "Changed the level of the log");
    }
    Ok(handle.level())
}

/// An IPv4 peer of an IPv6 socket has an address that maps its own.
fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback())
}

/// What is longer than any word, or breaks off, is no level either.
async fn asked(body: Body) -> Result<LogLevel, UnknownLevel> {
    let body = to_bytes(body, LONGEST).await.map_err(|_| UnknownLevel)?;
    let word = std::str::from_utf8(&body).map_err(|_| UnknownLevel)?;
    word.trim_ascii().parse()
}

impl Refused {
    fn status(&self) -> StatusCode {
        match self {
            Self::Peer | Self::Proxy => StatusCode::FORBIDDEN,
            Self::Level(UnknownLevel) => StatusCode::BAD_REQUEST,
        }
    }
}

/// What a proxy adds to a request, naming whom it asks for.
const BY_PROXY: [HeaderName; 2] = [FORWARDED, HeaderName::from_static("x-forwarded-for")];

/// The most bytes of a body.
const LONGEST: usize = 64;
