//! `POST /validate`: from a request to bytes of a review, and from its reply to a response.
//!
//! Whatever is no review gets a status of 400 or more and one line of text; an API server takes that
//! as a failure of the webhook, never as a verdict.

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use http_body_util::LengthLimitError;
use tracing::{debug, error};

use crate::admission::ReviewError;
use crate::server::admit::Guard;
use crate::server::media_type::is_json;

/// Why a request gets no review back.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("{NOT_JSON}")]
    MediaType,
    #[error("body larger than {BODY_LIMIT} bytes")]
    TooLarge,
    #[error("body cannot be read: {0}")]
    Body(axum::Error),
    #[error(transparent)]
    Review(ReviewError),
    #[error("internal fault: the judge was lost; please report this")]
    Lost,
}

pub(super) fn routes(guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/validate", post(validate))
        .fallback(async || (StatusCode::NOT_FOUND, "not found: expected /validate\n"))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "expected POST\n"))
        .with_state(guard)
}

async fn validate(State(guard): State<Arc<Guard>>, request: Request) -> Response {
    match admit(guard, request).await {
        Ok(reply) => ([(header::CONTENT_TYPE, "application/json")], reply).into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// Judging takes as long as a body is large, so it never runs where connections are served.
async fn admit(guard: Arc<Guard>, request: Request) -> Result<Vec<u8>, Refused> {
    if !is_json(request.headers()) {
        return Err(Refused::MediaType);
    }
    let body = read(request.into_body()).await?;
    let judged = tokio::task::spawn_blocking(move || guard.admit(&body)).await;
    match judged {
        Ok(reply) => reply.map_err(Refused::Review),
        Err(_) => Err(Refused::Lost),
    }
}

async fn read(body: Body) -> Result<Bytes, Refused> {
    to_bytes(body, BODY_LIMIT).await.map_err(|error| {
        let is_limit = error
            .source()
            .is_some_and(<dyn Error>::is::<LengthLimitError>);
        if is_limit {
            Refused::TooLarge
        } else {
            Refused::Body(error)
        }
    })
}

impl Refused {
    fn status(&self) -> StatusCode {
        match self {
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(_) | Self::Review(_) => StatusCode::BAD_REQUEST,
            Self::Lost => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = self.status();
        if status.is_server_error() {
            error!(error = %self, "Cannot answer");
        } else {
            debug!(error = %self, "Refused a request");
        }
        (status, format!("{self}\n")).into_response()
    }
}

const NOT_JSON: &str = "content-type is not JSON: expected application/json";

/// An API server sends at most two objects of 3 MiB, and what surrounds them.
const BODY_LIMIT: usize = 7 << 20;
