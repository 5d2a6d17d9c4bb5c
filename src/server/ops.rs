//! Health, for probes.
//!
//! `/livez` says that the process answers, whatever else is wrong. `/readyz` says whether edits
//! should be sent here.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::sync::watch;

use crate::server::phase::Phase;

pub(super) fn routes(phase: watch::Receiver<Phase>) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .with_state(phase)
}

async fn readyz(State(phase): State<watch::Receiver<Phase>>) -> (StatusCode, &'static str) {
    match *phase.borrow() {
        Phase::Serving => (StatusCode::OK, "ok\n"),
        Phase::Leaving | Phase::Closed => (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n"),
    }
}
