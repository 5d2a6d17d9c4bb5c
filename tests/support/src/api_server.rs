//! An API server and a catalogd on loopback, over plain HTTP. They serve stored answers by path, and only reads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// The server, which stops at the end of its test.
pub struct ApiServer {
    pub port: u16,
    shelf: Shelf,
    _ends: oneshot::Sender<()>,
}

/// The answers by path, and all requests.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Shelved>>);

#[derive(Default)]
struct Shelved {
    answers: BTreeMap<String, (StatusCode, String)>,
    warnings: BTreeMap<String, String>,
    asked: Vec<(String, String)>,
    queries: Vec<(String, String)>,
}

impl ApiServer {
    /// Starts a server of a cluster that has OLM in this release and nothing else.
    pub fn start(olm: &str) -> Self {
        let shelf = Shelf::default();
        let (ports, port) = std::sync::mpsc::channel();
        let (ends, end) = oneshot::channel::<()>();
        let router = Router::new().fallback(answer).with_state(shelf.clone());
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
                let listener = listener.expect("a port");
                let port = listener.local_addr().expect("an address").port();
                ports.send(port).expect("the test waits for it");
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.expect("it serves"),
                    _ = end => {}
                }
            });
        });
        let port = port.recv().expect("the server starts");
        let server = Self {
            port,
            shelf,
            _ends: ends,
        };
        server.put(OLM, &resources());
        server.put(CATALOGS, &list(&[]));
        server.put(EXTENSIONS, &list(&[]));
        server.put(DEPLOYMENT, &deployment(olm));
        server
    }

    /// Returns a kubeconfig whose only context is this cluster.
    pub fn kubeconfig(&self) -> String {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url("")}}],
            "users": [{"name": "test", "user": {}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        })
        .to_string()
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Sets the catalogs of the cluster.
    pub fn catalogs(&self, objects: &[Value]) {
        self.put(CATALOGS, &list(objects));
        for object in objects {
            let name = object["metadata"]["name"].as_str().expect("a name");
            self.put(&format!("{CATALOGS}/{name}"), object);
        }
    }

    /// Adds an extension with this status.
    pub fn extension(&self, name: &str, status: &Value) {
        let object = json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": name}, "status": status,
        });
        self.put(&format!("{EXTENSIONS}/{name}"), &object);
    }

    /// Sets the extensions of the cluster.
    pub fn extensions(&self, objects: &[Value]) {
        self.put(EXTENSIONS, &list(objects));
        for object in objects {
            let name = object["metadata"]["name"].as_str().expect("a name");
            self.put(&format!("{EXTENSIONS}/{name}"), object);
        }
    }

    /// Removes the kind `ClusterExtension` from the cluster.
    pub fn without_extensions(&self) {
        let mut resources = resources();
        let kinds = resources["resources"].as_array_mut().expect("a list");
        kinds.retain(|resource| resource["kind"] != "ClusterExtension");
        self.put(OLM, &resources);
        let (code, body) = none(EXTENSIONS);
        self.answer(EXTENSIONS, code, &body);
    }

    /// Answers a path with this JSON.
    pub fn put(&self, path: &str, value: &Value) {
        self.answer(path, StatusCode::OK, &value.to_string());
    }

    /// Answers a path with this status and body.
    pub fn answer(&self, path: &str, code: StatusCode, body: &str) {
        let mut held = self.shelf.0.lock().expect("no test panics with it");
        let answer = (code, body.to_owned());
        held.answers.insert(path.to_owned(), answer);
    }

    /// Returns the queries of all requests for a path so far.
    pub fn queries(&self, path: &str) -> Vec<String> {
        let held = self.shelf.0.lock().expect("no test panics with it");
        let queries = held.queries.iter().filter(|(asked, _)| asked == path);
        queries.map(|(_, query)| query.clone()).collect()
    }

    /// Adds a warning to the answer of a path.
    pub fn warn(&self, path: &str, text: &str) {
        let mut held = self.shelf.0.lock().expect("no test panics with it");
        held.warnings.insert(path.to_owned(), text.to_owned());
    }

    /// Returns the method and the path of all requests so far.
    pub fn asked(&self) -> Vec<(String, String)> {
        let held = self.shelf.0.lock().expect("no test panics with it");
        held.asked.clone()
    }
}

/// Returns a catalog that is served at `base`.
pub fn catalog(name: &str, base: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": name},
        "spec": {"priority": 0, "availabilityMode": "Available"},
        "status": {
            "conditions": [{"type": "Serving", "status": "True"}],
            "lastUnpacked": "2026-08-21T10:03:00Z",
            "resolvedSource": {"type": "Image", "image": {"ref": format!("example.com/{name}@sha256:1a2b")}},
            "urls": {"base": base},
        },
    })
}

async fn answer(State(shelf): State<Shelf>, request: Request) -> Response {
    let (method, path) = (
        request.method().to_string(),
        request.uri().path().to_owned(),
    );
    let mut shelf = shelf.0.lock().expect("no test panics with it");
    shelf.asked.push((method, path.clone()));
    let query = request.uri().query().unwrap_or_default().to_owned();
    shelf.queries.push((path.clone(), query));
    let found = shelf.answers.get(&path).cloned();
    let mut response = found.unwrap_or_else(|| none(&path)).into_response();
    if let Some(text) = shelf.warnings.get(&path) {
        let warning = format!("299 - {text:?}").parse().expect("a header");
        response.headers_mut().append(header::WARNING, warning);
    }
    response
}

/// Returns the answer for an unknown path. For an API path, it is the one of Kubernetes.
fn none(path: &str) -> (StatusCode, String) {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
        "message": format!("{path} not found"), "code": 404,
    });
    let body = if path.starts_with("/api") {
        status.to_string()
    } else {
        "404 page not found\n".to_owned()
    };
    (StatusCode::NOT_FOUND, body)
}

fn resources() -> Value {
    let kinds = [
        ("clustercatalogs", "ClusterCatalog"),
        ("clusterextensions", "ClusterExtension"),
    ];
    let resource = |(plural, kind)| {
        json!({
            "name": plural, "singularName": "", "namespaced": false, "kind": kind,
            "verbs": ["get", "list", "watch"],
        })
    };
    json!({
        "kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": "olm.operatorframework.io/v1",
        "resources": kinds.map(resource),
    })
}

fn list(objects: &[Value]) -> Value {
    json!({
        "kind": "List", "apiVersion": "olm.operatorframework.io/v1",
        "metadata": {"resourceVersion": "1"}, "items": objects,
    })
}

fn deployment(release: &str) -> Value {
    let container = json!({"name": "manager", "image": format!("example.com/operator-controller:v{release}.0")});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "operator-controller-controller-manager", "namespace": "olmv1-system"},
        "spec": {"selector": {}, "template": {"spec": {"containers": [container]}}},
    })
}

const OLM: &str = "/apis/olm.operatorframework.io/v1";
pub const CATALOGS: &str = "/apis/olm.operatorframework.io/v1/clustercatalogs";
pub const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";
const DEPLOYMENT: &str =
    "/apis/apps/v1/namespaces/olmv1-system/deployments/operator-controller-controller-manager";
