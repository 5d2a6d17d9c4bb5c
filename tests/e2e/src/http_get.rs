//! Plain HTTP on loopback: health and metrics.

use anyhow::Result;
use axum::body::{Body, to_bytes};
use http::StatusCode;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

/// Asks once, on a connection of its own; the status and the body.
pub(crate) async fn http_get(url: &str) -> Result<(StatusCode, String)> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let (head, body) = client.get(url.parse()?).await?.into_parts();
    let body = to_bytes(Body::new(body), MAX_BODY).await?;
    Ok((head.status, String::from_utf8(body.to_vec())?))
}

const MAX_BODY: usize = 16 << 20;
