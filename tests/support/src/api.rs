//! An API server inside the test: a sufficient part of the Kubernetes API, with scripted failures.
//!
//! ```text
//! ApiServer::client() --> kube::Client --request--> answer --> store --> watches
//!                                                     ^-- trouble: 403, no connection, silence
//! ```
//!
//! It serves discovery, paged lists, watches with bookmarks, get, create, update, merge patch and JSON patch with
//! optimistic concurrency, delete, and routes with fixed bodies. A status patch and an apply patch are treated as merge
//! patches, and an apply patch creates a missing object. It has no admission and no schemas. A collection is named by
//! its path, and an object by the path of its collection and its name:
//!
//! ```ignore
//! let api = ApiServer::start();
//! api.serve("v1", "secrets", "Secret");
//! api.put("/api/v1/namespaces/olmguard/secrets", json!({"metadata": {"name": "ca"}}));
//! let secrets: Api<Secret> = Api::namespaced(api.client(), "olmguard");
//! ```

mod answer;
mod store;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;
use hyper::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower_test::mock::{self, SendResponse};

use store::Store;

/// The server. Clones share its state. It lives as long as a client of it.
#[derive(Clone)]
pub struct ApiServer {
    client: Client,
    state: Arc<Mutex<State>>,
}

/// The way in which a request fails.
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    /// The request is answered with this status.
    Status(StatusCode),
    /// The connection is refused.
    Refused,
    /// The request is never answered.
    Silent,
    /// The request is answered with 200 and an empty body.
    Empty,
}

/// A request that the server has received.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Bytes,
    pub at: Instant,
}

#[derive(Default)]
struct State {
    kinds: Vec<Kind>,
    store: Store,
    asked: Vec<Asked>,
    troubles: Vec<(Condition, Trouble)>,
    routes: Vec<(String, StatusCode, Bytes)>,
    /// Replies that are never sent. They are kept, because dropping one would be an answer.
    silent: Vec<SendResponse<Answer>>,
}

/// A response whose body the test can continue to write.
type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;
type Condition = Box<dyn Fn(&Asked) -> bool + Send>;

/// A kind that the server serves.
struct Kind {
    group_version: String,
    plural: String,
    name: String,
    is_namespaced: bool,
}

impl ApiServer {
    /// Starts a server without kinds, which runs as long as this runtime.
    pub fn start() -> Self {
        let (service, mut requests) = mock::pair::<Request<Body>, Answer>();
        let state = Arc::new(Mutex::new(State::default()));
        let answering = Arc::clone(&state);
        tokio::spawn(async move {
            while let Some((request, reply)) = requests.next_request().await {
                answer::answer(&answering, request, reply).await;
            }
        });
        let client = Client::new(service, "default");
        Self { client, state }
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Serves a kind from now on. `group_version` is, for example, `v1` or `apps/v1`.
    pub fn serve(&self, group_version: &str, plural: &str, kind: &str) {
        self.serve_scoped(group_version, plural, kind, false);
    }

    /// Serves a kind whose objects have namespaces.
    pub fn serve_namespaced(&self, group_version: &str, plural: &str, kind: &str) {
        self.serve_scoped(group_version, plural, kind, true);
    }

    fn serve_scoped(&self, group_version: &str, plural: &str, kind: &str, is_namespaced: bool) {
        self.state().kinds.push(Kind {
            group_version: group_version.to_owned(),
            plural: plural.to_owned(),
            name: kind.to_owned(),
            is_namespaced,
        });
    }

    /// Stops serving a kind: its objects are removed, and its watches end.
    pub fn unserve(&self, group_version: &str, plural: &str) {
        let mut state = self.state();
        let gone = |kind: &Kind| kind.group_version == group_version && kind.plural == plural;
        state.kinds.retain(|kind| !gone(kind));
        state.store.forget(|collection| {
            collection.starts_with(&prefix(group_version)) && collection.ends_with(plural)
        });
    }

    /// Creates or replaces an object, whatever its version, and notifies the watches.
    pub fn put(&self, collection: &str, object: Value) -> Value {
        self.state().store.put(collection, object)
    }

    /// Deletes an object and notifies the watches.
    pub fn delete(&self, collection: &str, name: &str) {
        self.state().store.delete(collection, name);
    }

    /// Returns an object as it is stored.
    pub fn object(&self, collection: &str, name: &str) -> Option<Value> {
        self.state().store.get(collection, name).cloned()
    }

    /// Answers each `GET` of this path with these bytes from now on.
    pub fn route(&self, path: &str, status: StatusCode, body: impl Into<Bytes>) {
        let route = (path.to_owned(), status, body.into());
        self.state().routes.push(route);
    }

    /// Makes every request that meets the condition fail from now on. The last matching rule counts.
    pub fn trouble(&self, trouble: Trouble, when: impl Fn(&Asked) -> bool + Send + 'static) {
        self.state().troubles.push((Box::new(when), trouble));
    }

    /// Removes all failures.
    pub fn heal(&self) {
        let mut state = self.state();
        state.troubles.clear();
        state.silent.clear();
    }

    /// Ends the watches regularly, as the server does after their timeout.
    pub fn end_watches(&self) {
        self.state().store.end_watches();
    }

    /// Breaks the connections of the watches.
    pub fn break_watches(&self) {
        self.state().store.break_watches();
    }

    /// Sends a line to every watch, such as `{"type": "ERROR", "object": ...}`, or one that is not a valid event.
    pub fn send(&self, line: &str) {
        self.state().store.send(line);
    }

    /// Sends a bookmark to every watch.
    pub fn bookmark(&self) {
        self.state().store.bookmark();
    }

    /// Drops the history, so a watch from an earlier version fails with 410 Gone.
    pub fn compact(&self) {
        self.state().store.compact();
    }

    /// Returns the number of open watches.
    pub fn watches(&self) -> usize {
        self.state().store.watches()
    }

    /// Returns all requests so far, oldest first.
    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Asked {
    pub fn is_watch(&self) -> bool {
        self.param("watch").is_some()
    }

    /// Whether the request creates a missing object: only an apply patch can be forced.
    fn creates(&self) -> bool {
        self.param("force").is_some() && !self.path.ends_with("/status")
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Returns a line of a watch that reports an error.
pub fn error_line(code: StatusCode, message: &str) -> String {
    json!({"type": "ERROR", "object": status(code, message)}).to_string()
}

/// Returns a `metav1.Status`.
fn status(code: StatusCode, message: &str) -> Value {
    let reason = match code {
        StatusCode::NOT_FOUND => "NotFound",
        StatusCode::FORBIDDEN => "Forbidden",
        StatusCode::UNAUTHORIZED => "Unauthorized",
        StatusCode::GONE => "Expired",
        StatusCode::CONFLICT if message.ends_with("already exists") => "AlreadyExists",
        StatusCode::CONFLICT => "Conflict",
        StatusCode::TOO_MANY_REQUESTS => "TooManyRequests",
        _ => "InternalError",
    };
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    })
}

/// Returns the path prefix of a group and version: `/api/v1/` or `/apis/apps/v1/`.
fn prefix(group_version: &str) -> String {
    let root = if group_version.contains('/') {
        "apis"
    } else {
        "api"
    };
    format!("/{root}/{group_version}/")
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("no test panics while it holds this")
}
