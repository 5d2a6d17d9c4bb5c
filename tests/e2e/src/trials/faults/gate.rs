//! A gate in front of catalogd, which forwards its content or breaks it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_rustls::TlsConnector;

use crate::pki::Pki;
use crate::registry::TlsListener;
use crate::review::trusting;

/// The behaviour of the gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GateMode {
    /// Forwards the response.
    Open,
    /// Closes the connection.
    Closed,
    /// Sends one byte at a time.
    Slow,
    /// Closes the connection in the middle of the body.
    Truncating,
    /// Answers 404.
    NotFound,
    /// Answers 200 with content that is not a catalog.
    Lying,
}

/// A gate that is open at first. It ends when this is dropped.
pub(super) struct Gate {
    pub(super) port: u16,
    mode: watch::Sender<GateMode>,
    _serving: JoinSet<()>,
}

#[derive(Clone)]
struct Behind {
    mode: watch::Receiver<GateMode>,
    /// The port of catalogd.
    content: watch::Receiver<Option<u16>>,
    tls: TlsConnector,
}

/// A sender for the port of catalogd, once it is known.
pub(super) type ContentPort = watch::Sender<Option<u16>>;

impl Gate {
    pub(super) async fn open(pki: &Pki) -> Result<(Self, ContentPort)> {
        let listener = TlsListener::bind(&pki.server("gate", &["localhost", "127.0.0.1"])?).await?;
        let port = listener.address()?.port();
        let (mode, at_mode) = watch::channel(GateMode::Open);
        let (content, at_content) = watch::channel(None);
        let authority = std::fs::read_to_string(pki.ca())?;
        let behind = Behind {
            mode: at_mode,
            content: at_content,
            tls: Arc::new(trusting(&authority)?).into(),
        };
        let router = Router::new().fallback(pass).with_state(behind);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // The server never ends by itself.
            let _ended = axum::serve(listener, router).await;
        });
        let gate = Self {
            port,
            mode,
            _serving: serving,
        };
        Ok((gate, content))
    }

    pub(super) fn is(&self, mode: GateMode) {
        self.mode.send_replace(mode);
    }
}

async fn pass(State(behind): State<Behind>, uri: Uri) -> Response {
    let mode = *behind.mode.borrow();
    if mode == GateMode::NotFound {
        return StatusCode::NOT_FOUND.into_response();
    }
    match behind.fetch(&uri).await {
        Ok(body) => answer(mode, body),
        Err(error) => (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response(),
    }
}

fn answer(mode: GateMode, body: Bytes) -> Response {
    let length = body.len();
    let part = |to: usize| Ok::<_, std::io::Error>(body.slice(..to));
    let ended = || Err(std::io::Error::other("as the trial says"));
    let broken = |parts: Vec<_>| {
        let body = Body::from_stream(stream::iter(parts));
        ([(header::CONTENT_LENGTH, length)], body).into_response()
    };
    match mode {
        GateMode::Open | GateMode::NotFound => body.into_response(),
        GateMode::Closed => broken(vec![ended()]),
        GateMode::Truncating => broken(vec![part(length / 2), ended()]),
        GateMode::Lying => r#"{"error": "upstream connect error"}"#.into_response(),
        GateMode::Slow => {
            let bytes = stream::unfold(0, move |at| {
                let byte = body.get(at..=at).map(Bytes::copy_from_slice);
                async move {
                    sleep(PAUSE).await;
                    byte.map(|byte| (Ok::<_, std::io::Error>(byte), at + 1))
                }
            });
            ([(header::CONTENT_LENGTH, length)], Body::from_stream(bytes)).into_response()
        }
    }
}

impl Behind {
    /// Returns the content that catalogd serves there.
    async fn fetch(&self, uri: &Uri) -> Result<Bytes> {
        let port = self.content.borrow().context("catalogd has not started")?;
        let tcp = TcpStream::connect(("127.0.0.1", port)).await?;
        let tls = self
            .tls
            .connect(ServerName::try_from("localhost")?, tcp)
            .await?;
        let (mut sender, connection) = handshake(TokioIo::new(tls)).await?;
        let mut connected = JoinSet::new();
        connected.spawn(connection);
        let path = uri.path_and_query().context("a path")?.as_str();
        let request = Request::get(path).header(header::HOST, "localhost");
        let answer = sender
            .send_request(request.body(Empty::<Bytes>::new())?)
            .await?;
        ensure!(answer.status().is_success(), "{}", answer.status());
        Ok(answer.into_body().collect().await?.to_bytes())
    }
}

/// The pause between two bytes of a slow body.
const PAUSE: Duration = Duration::from_millis(5);
