//! The API server on a loopback port, for a program that finds it through a kubeconfig.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use kube::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::api::ApiServer;
use crate::apiserver::objects::KINDS;

/// A running server, which stops when it is dropped. Its objects are set through `api`.
pub struct Served {
    pub api: ApiServer,
    address: SocketAddr,
    _running: JoinSet<()>,
}

impl Served {
    /// Starts a server with the kinds that olmguard reads, and without objects.
    pub async fn start() -> Self {
        let api = ApiServer::start();
        for (group_version, plural, kind) in KINDS {
            api.serve(group_version, plural, kind);
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(pass).with_state(api.client());
        let mut running = JoinSet::new();
        running.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            api,
            address,
            _running: running,
        }
    }

    /// Returns a kubeconfig for this server, without credentials.
    pub fn kubeconfig(&self) -> String {
        let named = |kind: &str, what: Value| json!([{"name": "here", kind: what}]);
        let server = format!("http://{}", self.address);
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": named("cluster", json!({"server": server})),
            "contexts": named("context", json!({"cluster": "here", "user": "here"})),
            "users": named("user", json!({})),
        })
        .to_string()
    }
}

/// Forwards a request through the client, and returns its response.
async fn pass(State(client): State<Client>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.expect("a body in memory").to_bytes();
    let request = Request::from_parts(parts, kube::client::Body::from(body.to_vec()));
    match client.send(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}
