//! The second port: health, for probes, and metrics.

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::routing::get;

use crate::server::health::Health;
use crate::telemetry::Metrics;
use crate::telemetry::metrics::CONTENT_TYPE;

pub(super) fn routes(health: Health, metrics: Metrics) -> Router {
    let told = async |State(metrics): State<Metrics>| {
        ([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.render())
    };
    Router::new()
        .route(
            "/startupz",
            get(async |State(health): State<Health>| health.started()),
        )
        .route("/livez", get(async || Health::alive()))
        .route(
            "/readyz",
            get(async |State(health): State<Health>| health.ready()),
        )
        .with_state(health)
        .route("/metrics", get(told).with_state(metrics))
}
