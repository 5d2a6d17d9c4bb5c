//! Through the API server's proxy.

use http_body_util::{BodyExt, Limited};
use hyper::{Request, StatusCode};
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use tokio::time::timeout;

use super::{LARGEST, PATIENCE, ReplicaResponse};
use crate::cluster::fault;
use crate::foreign_text;

/// The answer of whoever is behind the proxy; else whether the proxy itself is forbidden, and why there
/// is no answer.
pub(super) async fn get(client: &Client, path: &str) -> Result<ReplicaResponse, (bool, String)> {
    let request = Request::get(path).body(Body::empty());
    let request = request.map_err(|error| (false, error.to_string()))?;
    let exchange = async {
        let answer = client.send(request).await;
        let answer = answer.map_err(|error| fault::words(&error))?;
        let (parts, body) = answer.into_parts();
        let whole = Limited::new(body, LARGEST).collect().await;
        let whole = whole.map_err(|error| foreign_text::one_line(&error.to_string()))?;
        Ok((parts.status, whole.to_bytes()))
    };
    let (code, bytes) = timeout(PATIENCE, exchange)
        .await
        .map_err(|_| (false, format!("no answer within {} s", PATIENCE.as_secs())))?
        .map_err(|why: String| (false, why))?;
    match status(&bytes) {
        Some(status) if code != StatusCode::OK => {
            let words = fault::words(&kube::Error::Api(Box::new(status)));
            Err((code == StatusCode::FORBIDDEN, words))
        }
        _ => Ok((code, String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// The answer of the API server itself, if it is one: any other object is of whoever is behind it.
fn status(bytes: &[u8]) -> Option<Status> {
    let kind: ObjectKind = serde_json::from_slice(bytes).ok()?;
    let is_status = kind.kind == "Status";
    is_status.then(|| serde_json::from_slice(bytes).ok())?
}

/// What an object of an API server says that it is.
#[derive(serde::Deserialize)]
struct ObjectKind {
    kind: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_of_a_replica_is_no_status() {
        for (body, is_status) in [
            (
                r#"{"kind": "Status", "apiVersion": "v1", "code": 403}"#,
                true,
            ),
            (
                r#"{"schema": "olmguard.readiness/v1", "ready": false}"#,
                false,
            ),
            ("not ready\n", false),
        ] {
            assert_eq!(status(body.as_bytes()).is_some(), is_status, "{body}");
        }
    }
}
