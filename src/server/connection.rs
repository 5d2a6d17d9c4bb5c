//! One HTTP/1.1 connection, from its first request to its last.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tracing::debug;

use crate::server::phase::{Phase, reached};

/// Serves a connection until its peer or the server ends it.
///
/// When the server leaves, an idle connection is closed, and any other ends with its reply, which
/// says so. hyper counts a connection without a request yet as busy, so none is cut off before it.
pub(super) async fn serve<I>(io: I, router: Router, mut phase: watch::Receiver<Phase>)
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    let is_leaving = *phase.borrow() >= Phase::Leaving;
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER)
        .keep_alive(!is_leaving)
        .serve_connection(TokioIo::new(io), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = reached(&mut phase, Phase::Leaving) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!(%error, "Connection ended early");
    }
}

/// How long the head of a request may take, and how long a connection may be idle before it.
const HEADER: Duration = Duration::from_secs(5);
