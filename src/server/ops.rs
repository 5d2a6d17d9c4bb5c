//! The second port: health for probes, the certificate, metrics, and the level of the log.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::routing::get;

use crate::server::health::Health;
use crate::telemetry::Metrics;
use crate::telemetry::log::{self, LogHandle};
use crate::telemetry::metrics::CONTENT_TYPE;

pub(super) fn routes(health: Health, metrics: Metrics, log_level: Option<LogHandle>) -> Router {
    let told = async |State(metrics): State<Metrics>| {
        ([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.render())
    };
    let router = Router::new()
        .route(
            "/startupz",
            get(async |State(health): State<Health>| health.started()),
        )
        .route("/livez", get(async || Health::alive()))
        .route(
            "/readyz",
            get(async |State(health): State<Health>| health.ready()),
        )
        .route(
            "/certificate",
            get(async |State(health): State<Health>| health.certificate()),
        )
        .with_state(health)
        .route("/metrics", get(told).with_state(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, NOT_FOUND));
    match log_level {
        Some(handle) => router.merge(log::routes(handle)),
        None => router,
    }
}

const NOT_FOUND: &str =
    "not found: expected /startupz, /livez, /readyz, /certificate or /metrics\n";
