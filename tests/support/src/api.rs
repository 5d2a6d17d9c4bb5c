//! An API server inside the test: enough of Kubernetes' API, and told how to misbehave.
//!
//! ```text
//! ApiServer::client() --> kube::Client --request--> answer --> store --> watches
//!                                                     ^-- trouble: 403, no connection, silence
//! ```
//!
//! It serves discovery, lists in pages, watches with bookmarks, get, create, update, merge patch and
//! JSON patch with optimistic concurrency, delete, and routes of fixed bodies. A patch of a status, and one that
//! applies, is a merge patch here; one that applies creates what is missing. It has no admission and no
//! schemas. A collection is named by its path, an object by that of its collection and its name:
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

/// The server; clones are the same one. It lives as long as a client of it.
#[derive(Clone)]
pub struct ApiServer {
    client: Client,
    state: Arc<Mutex<State>>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    /// It is answered with this status.
    Status(StatusCode),
    /// There is no connection.
    Refused,
    /// It is never answered.
    Silent,
    /// It is answered with 200 and no byte.
    Empty,
}

/// A request that was seen.
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
    /// Replies that are never given: to drop one would be an answer.
    silent: Vec<SendResponse<Answer>>,
}

/// An answer whose body the test may go on writing.
type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;
type Condition = Box<dyn Fn(&Asked) -> bool + Send>;

/// A kind that is served.
struct Kind {
    group_version: String,
    plural: String,
    name: String,
    is_namespaced: bool,
}

impl ApiServer {
    /// A server that serves nothing yet, for as long as this runtime runs.
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

    /// Serves a kind from now on; `group_version` is `v1` or `apps/v1`.
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

    /// Serves a kind no longer: its objects are gone, its watches end.
    pub fn unserve(&self, group_version: &str, plural: &str) {
        let mut state = self.state();
        let gone = |kind: &Kind| kind.group_version == group_version && kind.plural == plural;
        state.kinds.retain(|kind| !gone(kind));
        state.store.forget(|collection| {
            collection.starts_with(&prefix(group_version)) && collection.ends_with(plural)
        });
    }

    /// Creates or replaces an object, whatever its version, and tells the watches.
    pub fn put(&self, collection: &str, object: Value) -> Value {
        self.state().store.put(collection, object)
    }

    /// Deletes an object and tells the watches.
    pub fn delete(&self, collection: &str, name: &str) {
        self.state().store.delete(collection, name);
    }

    /// An object as it is stored.
    pub fn object(&self, collection: &str, name: &str) -> Option<Value> {
        self.state().store.get(collection, name).cloned()
    }

    /// From now on, answers a `GET` of this path with these bytes.
    pub fn route(&self, path: &str, status: StatusCode, body: impl Into<Bytes>) {
        let route = (path.to_owned(), status, body.into());
        self.state().routes.push(route);
    }

    /// From now on, does this to every request that it is asked about; the last such rule decides.
    pub fn trouble(&self, trouble: Trouble, when: impl Fn(&Asked) -> bool + Send + 'static) {
        self.state().troubles.push((Box::new(when), trouble));
    }

    /// Ends every trouble.
    pub fn heal(&self) {
        let mut state = self.state();
        state.troubles.clear();
        state.silent.clear();
    }

    /// Ends the watches in good order, as the server does after their time.
    pub fn end_watches(&self) {
        self.state().store.end_watches();
    }

    /// Breaks the connections of the watches.
    pub fn break_watches(&self) {
        self.state().store.break_watches();
    }

    /// Sends a line to every watch: `{"type": "ERROR", "object": ...}`, or what is no event at all.
    pub fn send(&self, line: &str) {
        self.state().store.send(line);
    }

    /// Sends every watch a bookmark.
    pub fn bookmark(&self) {
        self.state().store.bookmark();
    }

    /// Forgets the history, so that a watch that begins before now is told 410 Gone.
    pub fn compact(&self) {
        self.state().store.compact();
    }

    /// How many watches are open.
    pub fn watches(&self) -> usize {
        self.state().store.watches()
    }

    /// Every request up to now, oldest first.
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

    /// Whether it creates the object if there is none: only a patch that applies can be forced.
    fn creates(&self) -> bool {
        self.param("force").is_some() && !self.path.ends_with("/status")
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A line of a watch that tells of a fault.
pub fn error_line(code: StatusCode, message: &str) -> String {
    json!({"type": "ERROR", "object": status(code, message)}).to_string()
}

/// `metav1.Status`.
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

/// Where the API of a group and version begins: `/api/v1/` or `/apis/apps/v1/`.
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
