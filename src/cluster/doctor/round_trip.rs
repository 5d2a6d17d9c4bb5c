//! A creation that must be denied, as a dry run, with the warnings that come beside the answer.

use std::time::Instant;

use http_body_util::BodyExt;
use hyper::header::{HeaderMap, WARNING};
use hyper::{Request, StatusCode};
use kube::Client;
use kube::client::Body;
use kube::core::Status;

use crate::cluster::doctor::unasked;
use crate::foreign_text;
use olmguard_views::doctor::{ApiAnswer, Names, RoundTrip, probe};

/// Sends the probe. Nothing is ever created: it is a dry run, which the API server ends before that.
pub(super) async fn ask(client: &Client, names: &Names) -> RoundTrip {
    match send(client, names).await {
        Ok(answered) => RoundTrip::Answered(answered),
        Err(error) => RoundTrip::Unasked(unasked(probe::need(), &error)),
    }
}

async fn send(client: &Client, names: &Names) -> Result<ApiAnswer, kube::Error> {
    let body = probe::object(&names.namespace).to_string();
    let request = Request::post(PATH)
        .header(hyper::header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.into_bytes()))
        .map_err(kube::Error::HttpError)?;
    let began = Instant::now();
    let answer = client.send(request).await?;
    let took = began.elapsed();
    let (parts, body) = answer.into_parts();
    let bytes = body.collect().await?.to_bytes();
    let status = status(parts.status, &bytes);
    Ok(ApiAnswer {
        code: parts.status.as_u16(),
        reason: status.reason,
        message: foreign_text::lines(&status.message),
        warnings: warnings(&parts.headers),
        took,
    })
}

/// Of an object that comes back, nothing.
fn status(code: StatusCode, body: &[u8]) -> Status {
    if code.is_success() {
        return Status::default();
    }
    serde_json::from_slice(body).unwrap_or_else(|_| Status {
        message: String::from_utf8_lossy(body).into_owned(),
        ..Status::default()
    })
}

/// `299 - "text"`, quotes and backslashes in it escaped by backslashes.
///
/// Upstream: apimachinery, `pkg/util/net/http.go`, `NewWarningHeader`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(WARNING).into_iter();
    values
        .filter_map(|value| warning(&String::from_utf8_lossy(value.as_bytes())))
        .collect()
}

fn warning(value: &str) -> Option<String> {
    let (_, quoted) = value.split_once('"')?;
    let mut text = String::new();
    let mut rest = quoted.chars();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(rest.next()?),
            other => text.push(other),
        }
    }
}

const PATH: &str = "/apis/olm.operatorframework.io/v1/clusterextensions?dryRun=All";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_what_stands_between_its_quotes() {
        for (value, expected) in [
            (r#"299 - "plain""#, Some("plain")),
            (
                r#"299 - "a \"b\" \\ c" "Wed, 21 Oct 2026 07:28:00 GMT""#,
                Some(r#"a "b" \ c"#),
            ),
            ("299 - plain", None),
            (r#"299 - "no end"#, None),
            (r#"299 - "no end\"#, None),
        ] {
            assert_eq!(warning(value).as_deref(), expected, "{value}");
        }
    }
}
