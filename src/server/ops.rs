//! The second port: health for probes, the certificate, the version, metrics, and the level of the log.

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::server::health::{Health, ProbeAnswer};
use crate::server::scrape;
use crate::telemetry::Metrics;
use crate::telemetry::log::{self, LogHandle};

/// The routes; metrics are `None` if they are served over TLS only.
pub(super) fn routes(
    health: Health,
    metrics: Option<Metrics>,
    log_level: Option<LogHandle>,
) -> Router {
    let router = Router::new()
        .route(
            "/startupz",
            get(async |State(health): State<Health>| health.started()),
        )
        .route("/livez", get(async || Health::alive()))
        .route("/readyz", get(ready))
        .route(
            "/certificate",
            get(async |State(health): State<Health>| health.certificate()),
        )
        .route("/version", get(async || VERSION))
        .with_state(health)
        .merge(metrics_route(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, NOT_FOUND));
    match log_level {
        Some(handle) => router.merge(log::routes(handle)),
        None => router,
    }
}

async fn ready(State(health): State<Health>, uri: Uri) -> Response {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    if parameters.any(|parameter| parameter == "format=json") {
        return json(health.ready_json());
    }
    health.ready().into_response()
}

fn json((status, body): ProbeAnswer) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn metrics_route(metrics: Option<Metrics>) -> Router {
    let route = match metrics {
        Some(metrics) => {
            let told = async |State(metrics): State<Metrics>| scrape::exposition(&metrics);
            get(told).with_state(metrics)
        }
        None => get(async || (StatusCode::NOT_FOUND, MOVED)),
    };
    Router::new().route("/metrics", route)
}

/// What the doctor knows olmguard by.
const VERSION: &str = concat!("olmguard ", env!("CARGO_PKG_VERSION"), "\n");
const MOVED: &str = "not found: metrics are served over TLS, on --metrics-listen\n";
const NOT_FOUND: &str =
    "not found: expected /startupz, /livez, /readyz, /certificate, /version or /metrics\n";
