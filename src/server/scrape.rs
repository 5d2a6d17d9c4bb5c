//! `GET /metrics` for those who can read them: over TLS, with a bearer token.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::accept::bind;
use crate::server::accept::{BindError, Listener, ServerPort, Transport};
use crate::server::handshake::Handshake;
use crate::server::{ConnectionTable, OPS_CONNECTIONS, Patience, Server};
use crate::telemetry::metrics::CONTENT_TYPE;
use crate::telemetry::{Authorizer, Metrics, ScrapeDenied};
use crate::tls::Certificates;

/// Metrics on a port of their own.
#[derive(Debug)]
pub struct Scrapes {
    /// The address at which metrics are served; port 0 for any.
    pub listen: SocketAddr,
    /// The check of who can read metrics.
    pub authorizer: Arc<dyn Authorizer>,
}

/// The port for metrics, still shut.
#[derive(Debug)]
pub(super) struct Shut {
    listener: Listener,
    authorizer: Arc<dyn Authorizer>,
}

/// What a request is answered from.
#[derive(Clone)]
struct ScrapeState {
    metrics: Metrics,
    authorizer: Arc<dyn Authorizer>,
}

impl Scrapes {
    /// Binds the address: that it is taken is known before there is a certificate.
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

    /// The port of this server, with the certificate of the other one. A scraper proves who it is by
    /// its token, so it needs no certificate, also where API servers do.
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
            config: server.config(routes(guarded), patience),
            metrics: Arc::clone(&server.metrics.scrape_connections),
        }
    }
}

/// A review of a token holds a connection for as long as the API server takes: another address must find one.
const MOST_PER_PEER: NonZeroUsize =
    NonZeroUsize::new(OPS_CONNECTIONS.get() / 2).expect("more than one");

fn routes(guarded: ScrapeState) -> Router {
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

/// All metrics, as they are now.
pub(super) fn exposition(metrics: &Metrics) -> impl IntoResponse + use<> {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.render())
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

impl fmt::Debug for ScrapeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("authorizer", &self.authorizer)
            .finish_non_exhaustive()
    }
}

// === The bearer token of a request ===
//
// Upstream: RFC 6750, and Kubernetes, `apiserver/pkg/authentication/request/bearertoken`.

/// The token of the one `Authorization` header, if it is one that a cluster may have given.
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

/// `b64token` of RFC 6750. None of these is ever escaped, so a token is found where a text repeats it.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// The longest token, in bytes: those of service accounts have about a thousand.
const LONGEST: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

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
