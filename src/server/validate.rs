//! `POST /validate`, `/validate-policy` and `/validate-catalog`: from a request to its handler, and from there to a
//! response.
//!
//! Whatever is no review gets a status of 400 or more and one line of text; an API server takes that
//! as a failure of the webhook, never as a verdict. Whatever is one gets a verdict, in time.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use crate::server::handler::Handler;
use crate::server::rejection::Rejection;

pub(super) fn routes(handler: Arc<Handler>) -> Router {
    let routes = Router::new()
        .route(PATH, post(validate))
        .route(POLICY_PATH, post(validate_policy));
    let (routes, expected) = if handler.has_previews() {
        let routes = routes.route(CATALOG_PATH, post(validate_catalog));
        (routes, ALL_PATHS)
    } else {
        (routes, USUAL_PATHS)
    };
    routes
        .fallback(async move || (StatusCode::NOT_FOUND, expected))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected POST\n"))
        .with_state(handler)
}

async fn validate(State(handler): State<Arc<Handler>>, request: Request) -> Response {
    response(handler.admit(request).await)
}

async fn validate_policy(State(handler): State<Arc<Handler>>, request: Request) -> Response {
    response(handler.admit_object(request).await)
}

async fn validate_catalog(State(handler): State<Arc<Handler>>, request: Request) -> Response {
    response(handler.admit_catalog(request).await)
}

fn response(reply: Result<Vec<u8>, Rejection>) -> Response {
    match reply {
        Ok(reply) => {
            let mut response = Response::new(reply.into());
            response.headers_mut().insert(header::CONTENT_TYPE, JSON);
            response
        }
        Err(refused) => refused.into_response(),
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const PATH: &str = "/validate";

const POLICY_PATH: &str = "/validate-policy";

const CATALOG_PATH: &str = "/validate-catalog";

const USUAL_PATHS: &str = "not found: expected /validate or /validate-policy\n";

const ALL_PATHS: &str = "not found: expected /validate, /validate-policy or /validate-catalog\n";
