//! One HTTP/1.1 connection, from its first request to its last.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tracing::debug;

use crate::server::phase::{Phase, reached};

/// Serves a connection until its peer or the server ends it.
///
/// When the server leaves, an idle connection is closed, and any other ends with its reply, which
/// says so. hyper counts a connection as idle also before its first request, and would cut that
/// off: so it is told only once there was one.
pub(super) async fn serve<I>(io: I, router: Router, mut phase: watch::Receiver<Phase>)
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    let is_leaving = *phase.borrow() >= Phase::Leaving;
    let asked = Notify::new();
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request| {
        asked.notify_one();
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER)
        .keep_alive(!is_leaving)
        .serve_connection(TokioIo::new(io), service);
    let mut connection = pin!(connection);
    let is_to_end = async {
        reached(&mut phase, Phase::Leaving).await;
        asked.notified().await;
    };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = is_to_end => {
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
