//! A catalogd inside the test, on loopback, without TLS.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The server, for as long as this runtime runs.
pub(crate) struct Catalogd {
    port: u16,
    pub(crate) shelf: Shelf,
    serving: JoinHandle<()>,
}

/// What it serves: a body for each catalog, and something that happens before one is sent.
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

    /// Where it serves a catalog.
    pub(crate) fn base(&self, catalog: &str) -> String {
        format!("http://127.0.0.1:{}/catalogs/{catalog}", self.port)
    }

    /// From now on nobody answers.
    pub(crate) fn end(&self) {
        self.serving.abort();
    }
}

impl Shelf {
    pub(crate) fn put(&self, catalog: &str, body: &str) {
        let path = format!("/catalogs/{catalog}/api/v1/all");
        self.0.lock().unwrap().bodies.insert(path, body.to_owned());
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }

    /// Does this once, when it is asked the next time, before it answers.
    pub(crate) fn before(&self, work: impl FnOnce() + Send + 'static) {
        let mut work = Some(work);
        self.before_each(move || {
            if let Some(work) = work.take() {
                work();
            }
        });
    }

    /// Does this each time that it is asked, before it answers.
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
