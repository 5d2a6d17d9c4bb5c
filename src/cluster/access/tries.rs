//! A client that asks again what the API server is too busy to answer.
//!
//! kube would ask fifteen times, which takes longer than any answer may, so that nothing would be
//! known of it but its time; here the last answer is the one that counts.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use tokio::time::sleep;
use tower_service::Service;

/// A client that asks through this one.
pub(super) fn open(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    Client::new(Tries(client), namespace)
}

#[derive(Clone)]
struct Tries(Client);

impl Service<Request<Body>> for Tries {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, kube::Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move {
            // What changes something is not done twice.
            if request.method() != Method::GET {
                return client.send(request).await;
            }
            let (parts, _) = request.into_parts();
            let ask = || Request::from_parts(parts.clone(), Body::empty());
            for pause in PAUSES {
                let answer = client.send(ask()).await?;
                if !is_busy(answer.status()) {
                    return Ok(answer);
                }
                sleep(pause).await;
            }
            client.send(ask()).await
        })
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// Between two tries; the API server asks for one second where it asks for any.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::catalogs::list;
    use olmguard_support::api::{ApiServer, Trouble};

    #[tokio::test(start_paused = true)]
    async fn the_last_answer_of_a_busy_server_counts() {
        for (code, tries) in [(429, 3), (503, 3), (504, 3), (500, 1), (403, 1)] {
            let api = ApiServer::start();
            let code = StatusCode::from_u16(code).unwrap();
            api.trouble(Trouble::Status(code), |_| true);
            let error = list(open(api.client())).await.unwrap_err().to_string();
            let expected = format!(
                "cannot find out how catalogs are served: the API server answers {}: as the test says",
                code.as_u16()
            );
            assert_eq!(error, expected);
            assert_eq!(api.asked().len(), tries, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_was_busy_is_heard() {
        let api = ApiServer::start();
        api.serve(
            "olm.operatorframework.io/v1",
            "clustercatalogs",
            "ClusterCatalog",
        );
        api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |_| true);
        let healing = api.clone();
        tokio::spawn(async move {
            sleep(PAUSES[0] + PAUSES[1] / 2).await;
            healing.heal();
        });
        list(open(api.client())).await.unwrap();
    }
}
