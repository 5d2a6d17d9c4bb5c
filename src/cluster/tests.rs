//! Helpers that the tests of this module share.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use olmguard_server::telemetry::log::{Log, LogFormat, LogLevel};
use olmguard_server::tls::Clock;
use olmguard_support::api::ApiServer;

// === A catalogd inside the test, on loopback, without TLS ===

/// The server, for as long as this runtime exists.
pub(crate) struct Catalogd {
    port: u16,
    pub(crate) shelf: Shelf,
    serving: JoinHandle<()>,
}

/// The served content: a body for each catalog, and an action to run before one is sent.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<Shelved>>);

#[derive(Default)]
struct Shelved {
    bodies: BTreeMap<String, String>,
    asked: usize,
    before: Option<Box<dyn FnMut() + Send>>,
}

impl Catalogd {
    pub(crate) async fn start() -> Self {
        let shelf = Shelf::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(answer).with_state(shelf.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            port,
            shelf,
            serving,
        }
    }

    /// Returns the URL of a catalog.
    pub(crate) fn base(&self, catalog: &str) -> String {
        format!("http://127.0.0.1:{}/catalogs/{catalog}", self.port)
    }

    /// Stops answering from now on.
    pub(crate) fn end(&self) {
        self.serving.abort();
    }
}

impl Shelf {
    pub(crate) fn put(&self, catalog: &str, body: &str) {
        let path = format!("/catalogs/{catalog}/api/v1/all");
        self.0.lock().unwrap().bodies.insert(path, body.to_owned());
    }

    /// Returns how often it was requested.
    pub(crate) fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }

    /// Runs this once, at the next request, before it is answered.
    pub(crate) fn before(&self, work: impl FnOnce() + Send + 'static) {
        let mut work = Some(work);
        self.before_each(move || {
            if let Some(work) = work.take() {
                work();
            }
        });
    }

    /// Runs this at each request, before it is answered.
    pub(crate) fn before_each(&self, work: impl FnMut() + Send + 'static) {
        self.0.lock().unwrap().before = Some(Box::new(work));
    }
}

async fn answer(State(shelf): State<Shelf>, request: Request) -> Result<String, StatusCode> {
    let before = {
        let mut shelf = shelf.0.lock().unwrap();
        shelf.asked += 1;
        shelf.before.take()
    };
    if let Some(mut work) = before {
        work();
        shelf.0.lock().unwrap().before.get_or_insert(work);
    }
    let shelf = shelf.0.lock().unwrap();
    let body = shelf.bodies.get(request.uri().path()).cloned();
    body.ok_or(StatusCode::NOT_FOUND)
}

// === The API server of the tests behaves as a real one does ===

const SECRETS: &str = "/api/v1/namespaces/olmguard/secrets";

#[tokio::test]
async fn of_two_who_write_on_one_version_the_second_is_told_of_the_conflict() {
    let api = ApiServer::start();
    api.serve("v1", "secrets", "Secret");
    api.put(SECRETS, json!({"metadata": {"name": "ca"}}));
    let secrets: Api<Secret> = Api::namespaced(api.client(), "olmguard");
    let read = secrets.get("ca").await.unwrap();
    let params = PostParams::default();
    let write = || secrets.replace("ca", &params, &read);
    write().await.unwrap();
    let kube::Error::Api(status) = write().await.unwrap_err() else {
        panic!("no answer of the server");
    };
    assert!(status.is_conflict(), "{status:?}");
    let kube::Error::Api(status) = secrets
        .create(&PostParams::default(), &read)
        .await
        .unwrap_err()
    else {
        panic!("no answer of the server");
    };
    assert!(status.is_already_exists(), "{status:?}");
}

#[tokio::test]
async fn a_patch_changes_what_it_names() {
    let api = ApiServer::start();
    api.serve("v1", "secrets", "Secret");
    let labels = json!({"metadata": {"name": "ca", "labels": {"a": "1", "b": "2"}}});
    api.put(SECRETS, labels);
    let secrets: Api<Secret> = Api::namespaced(api.client(), "olmguard");
    let patch = json!({"metadata": {"labels": {"a": null, "c": "3"}}});
    let patched = secrets
        .patch("ca", &PatchParams::default(), &Patch::Merge(patch))
        .await;
    let labels = patched.unwrap().metadata.labels.unwrap();
    let stored = api.object(SECRETS, "ca").unwrap();
    assert_eq!(stored["metadata"]["labels"], json!(labels));
    assert_eq!(
        labels.into_iter().collect::<Vec<_>>(),
        [
            ("b".to_owned(), "2".to_owned()),
            ("c".to_owned(), "3".to_owned())
        ]
    );
}

// === A log that a test reads ===

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the lines that are logged while this runs in virtual time, at the most verbose level. No line has a token.
pub(crate) fn logged(act: impl AsyncFnOnce()) -> Vec<Value> {
    let lines = Lines::default();
    let (subscriber, log) = Log::on(lines.clone(), LogFormat::Json, LogLevel::Debug);
    // While only one subscriber exists, tracing disables a callsite permanently if a thread without a subscriber is the
    // first to reach it, such as the thread of another test.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(subscriber, || runtime.block_on(act()));
    drop(log);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(!text.contains("c4n4ry"), "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

// === A bug, as a clock ===

/// A clock whose first reading panics.
#[derive(Debug, Default)]
pub(crate) struct FaultyClock(AtomicBool);

impl Clock for FaultyClock {
    fn now(&self) -> SystemTime {
        assert!(self.0.swap(true, Ordering::Relaxed), "a bug");
        SystemTime::UNIX_EPOCH
    }
}
