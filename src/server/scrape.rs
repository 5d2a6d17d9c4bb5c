//! `GET /metrics` for those who can read them: over TLS, with a bearer token.

mod bearer;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::server::accept::{Port, Transport};
use crate::server::handshake::Handshake;
use crate::server::listen::{self, BindError, Listener};
use crate::server::{ConnectionTable, OPS_CONNECTIONS, Patience, Server};
use crate::telemetry::metrics::CONTENT_TYPE;
use crate::telemetry::{Authorizer, Metrics, ScrapeDenied};
use crate::tls::Certificates;

/// Metrics on a port of their own.
#[derive(Debug)]
pub struct Scrapes {
    /// Where they are served; port 0 for any.
    pub listen: SocketAddr,
    /// Who can read them.
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
            listener: listen::bind(self.listen)?,
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
    ) -> Port {
        let guarded = ScrapeState {
            metrics: server.metrics.clone(),
            authorizer: self.authorizer,
        };
        Port {
            listener: self.listener.socket,
            transport: Transport::Tls(Handshake {
                certificates: certificates.for_any_client(),
            }),
            connections: ConnectionTable::new(OPS_CONNECTIONS, OPS_CONNECTIONS, patience),
            config: server.config(routes(guarded), patience),
            metrics: Arc::clone(&server.metrics.scrape_connections),
        }
    }
}

fn routes(guarded: ScrapeState) -> Router {
    Router::new()
        .route("/metrics", get(answer).with_state(guarded))
        .fallback(async || (StatusCode::NOT_FOUND, "not found: expected /metrics\n"))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected GET\n"))
}

async fn answer(State(guarded): State<ScrapeState>, headers: HeaderMap) -> Response {
    let ruling = match bearer::token(&headers) {
        Some(token) => guarded.authorizer.authorize(token).await,
        None => Err(ScrapeDenied::Unauthenticated),
    };
    match ruling {
        Ok(()) => told(&guarded.metrics).into_response(),
        Err(denied) => refusal(&denied),
    }
}

/// All metrics, as they are now.
pub(super) fn told(metrics: &Metrics) -> impl IntoResponse + use<> {
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
