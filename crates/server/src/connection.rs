//! One connection: TLS, if the port uses it, then HTTP/1.1 from its first request to its last.

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use futures_util::FutureExt;
use hyper::Request;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::debug;

use crate::limits::Patience;
use crate::pace::{PacedStream, PeerWait, WaitingFor, heard};
use crate::telemetry::metrics::{ConnectionMetrics, Eviction, HandshakeFailure};
use crate::tls::Certificates;

/// The configuration that all connections of a port share.
#[derive(Clone, Debug)]
pub(super) struct ConnectionConfig {
    pub(super) router: Router,
    pub(super) patience: Patience,
    pub(super) phase: watch::Receiver<Phase>,
}

/// Serves a connection until the peer or the server ends it, or until the peer keeps the server waiting too long.
///
/// When the server leaves, each connection ends with its next reply, which carries `connection: close`. An idle
/// connection stays open until the server closes. A request can be on its way at that moment, and its client cannot
/// send it again; the longer a connection is idle, the less likely that is. hyper would also close a connection before
/// its first request, so a graceful shutdown starts only after one.
///
/// A connection that reaches its maximum age also ends with its next reply, and is never closed between two requests.
/// So an API server spreads its connections over the replicas again, and no request is lost.
///
/// Requests carry the address of their peer, as [`ConnectInfo`].
pub(super) async fn serve<I>(
    io: I,
    peer: SocketAddr,
    pace: &Arc<PeerWait>,
    config: ConnectionConfig,
    metrics: &ConnectionMetrics,
) where
    I: AsyncRead + AsyncWrite + Unpin,
{
    let ConnectionConfig {
        router,
        patience,
        mut phase,
    } = config;
    pace.change(WaitingFor::Fresh);
    let asked = Notify::new();
    let router = TowerToHyperService::new(router);
    let (watched, old_at) = (phase.clone(), patience.old_at());
    let is_last = || {
        let is_old = old_at.is_some_and(|at| at <= Instant::now());
        is_old || *watched.borrow() >= Phase::Leaving
    };
    let service = service_fn(|request: Request<Incoming>| {
        pace.change(WaitingFor::Body);
        asked.notify_one();
        let reply = router.call(observed(request, peer, pace));
        async {
            let mut reply = reply.await;
            pace.change(WaitingFor::Write);
            if let (Ok(reply), true) = (&mut reply, is_last()) {
                reply.headers_mut().insert(CONNECTION, CLOSE);
            }
            reply
        }
    });
    let io = TokioIo::new(PacedStream::new(io, Arc::clone(pace)));
    let mut connection = pin!(http().serve_connection(io, service));
    let mut overdue = pin!(overdue(pace, &patience, metrics));
    let mut last_call = pin!(last_call(pace, &asked, &mut phase).fuse());
    let ended = loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => break ended,
            () = overdue.as_mut() => return,
            call = last_call.as_mut() => match call {
                LastCall::Asked => connection.as_mut().graceful_shutdown(),
                LastCall::NeverAsked => return,
            },
        }
    };
    if let Err(error) = ended {
        debug!(%error, "Connection closed with an error");
    }
}

fn http() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.max_buf_size(HEAD_LIMIT).max_header_size(HEAD_LIMIT);
    http
}

/// Adds the address of the peer to a request, and records when its body ends.
fn observed(
    request: Request<Incoming>,
    peer: SocketAddr,
    pace: &Arc<PeerWait>,
) -> Request<ObservedBody> {
    let mut request = request.map(|body| ObservedBody::new(body, Arc::clone(pace)));
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

/// The state of a connection when the server wants to end it.
enum LastCall {
    Asked,
    NeverAsked,
}

/// Waits until the server is closed and the connection is not expected to send another request.
async fn last_call(
    pace: &PeerWait,
    asked: &Notify,
    phase: &mut watch::Receiver<Phase>,
) -> LastCall {
    reached(phase, Phase::Closed).await;
    let is_quiet = async {
        asked.notified().await;
        quiet(pace).await;
    };
    let is_hopeless = async {
        // The first request may be on its way, or already in the socket.
        sleep(LAST_CHANCE).await;
        if pace.waiting() != WaitingFor::Fresh {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        () = is_quiet => LastCall::Asked,
        () = is_hopeless => LastCall::NeverAsked,
    }
}

/// Waits until the connection has been idle for [`QUIET`].
async fn quiet(pace: &PeerWait) {
    loop {
        match pace.state() {
            (WaitingFor::Idle, since) if since.elapsed() >= QUIET => return,
            (WaitingFor::Idle, since) => sleep_until(since + QUIET).await,
            _ => sleep(QUIET).await,
        }
    }
}

/// Waits until the connection has kept the server waiting too long.
///
/// The state changes only while the connection itself is polled, which happens in the same task and before this future
/// is polled. So this future sees every change. A timer that fires early is set again.
async fn overdue(pace: &PeerWait, patience: &Patience, metrics: &ConnectionMetrics) {
    let mut timer = pin!(sleep_until(pace.state().1 + patience.idle));
    poll_fn(|context| {
        loop {
            if let Some(at) = pace.overdue(patience).filter(|at| *at < timer.deadline()) {
                timer.as_mut().reset(at);
            }
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            match pace.overdue(patience) {
                Some(at) if at <= now => return Poll::Ready(()),
                later => timer.as_mut().reset(later.unwrap_or(now + patience.idle)),
            }
        }
    })
    .await;
    if let Some(eviction) = eviction(pace.waiting()) {
        metrics.evicted(eviction);
    }
}

fn eviction(waiting: WaitingFor) -> Option<Eviction> {
    match waiting {
        WaitingFor::Fresh | WaitingFor::Idle => Some(Eviction::Idle),
        WaitingFor::Head => Some(Eviction::SlowHeader),
        WaitingFor::Body => Some(Eviction::SlowBody),
        WaitingFor::Write => Some(Eviction::SlowReader),
        WaitingFor::Handshake | WaitingFor::Answer | WaitingFor::Close => None,
    }
}

/// The time for which a connection without any request can still send one after the server closes.
const LAST_CHANCE: Duration = Duration::from_millis(500);

/// The time for which a connection must be idle before it is closed with the server.
const QUIET: Duration = Duration::from_secs(1);

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The most bytes of the head of a request, and of read-ahead. An API server sends heads of less than one kibibyte.
const HEAD_LIMIT: usize = 16 << 10;

// === The phase of a server. It never goes back ===

/// The lifecycle phase of a server.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Phase {
    /// The server listens, but accepts no reviews yet.
    Starting,
    /// The server accepts reviews.
    Serving,
    /// The server is no longer ready, but accepts connections until API servers know.
    Leaving,
    /// The server accepts nothing more.
    Closed,
}

/// Waits until the phase is this one or a later one. A server that was dropped counts as closed.
pub(super) async fn reached(watched: &mut watch::Receiver<Phase>, phase: Phase) {
    drop(watched.wait_for(|now| *now >= phase).await);
}

// === The body of a request. When it ends, the peer starts to wait for the server ===

/// A request body that records its end.
#[derive(Debug)]
pub(super) struct ObservedBody {
    body: Incoming,
    pace: Arc<PeerWait>,
}

impl ObservedBody {
    pub(super) fn new(body: Incoming, pace: Arc<PeerWait>) -> Self {
        let awaited = Self { body, pace };
        if awaited.body.is_end_stream() {
            awaited.end();
        }
        awaited
    }

    fn end(&self) {
        if self.pace.waiting() == WaitingFor::Body {
            self.pace.change(WaitingFor::Answer);
        }
    }
}

impl Body for ObservedBody {
    type Data = <Incoming as Body>::Data;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) || self.body.is_end_stream() {
            self.end();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that is dropped before its end is no longer waited for.
impl Drop for ObservedBody {
    fn drop(&mut self) {
        self.end();
    }
}

// === From a socket to TLS, or to an error in plain HTTP ===

/// Starts TLS on sockets.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    pub(super) certificates: Certificates,
}

/// The reason why TLS was not established on a socket.
#[derive(Debug, thiserror::Error)]
pub(super) enum HandshakeError {
    #[error("the peer speaks plain HTTP")]
    PlainHttp,
    #[error("the peer closed before it began")]
    Closed,
    #[error("it took too long")]
    TooSlow,
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl Handshake {
    /// Starts TLS, or gives up after `most`. The stream is boxed: otherwise each future around it would reserve a
    /// kibibyte for the TLS state for as long as the connection is open.
    pub(super) async fn within(
        &self,
        most: Duration,
        stream: TcpStream,
        pace: &Arc<PeerWait>,
    ) -> Result<Box<TlsStream<impl AsyncRead + AsyncWrite + Unpin + use<>>>, HandshakeError> {
        let begun = timeout(most, self.begin(stream, pace)).await;
        begun.unwrap_or(Err(HandshakeError::TooSlow))
    }

    async fn begin(
        &self,
        stream: TcpStream,
        pace: &Arc<PeerWait>,
    ) -> Result<Box<TlsStream<impl AsyncRead + AsyncWrite + Unpin + use<>>>, HandshakeError> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Err(HandshakeError::Closed);
        }
        // An HTTP method starts with a letter, a TLS handshake never does.
        if first[0].is_ascii_alphabetic() {
            return Err(explain(stream).await);
        }
        let acceptor = TlsAcceptor::from(self.certificates.server_config());
        Ok(Box::new(acceptor.accept(heard(stream, pace)).await?))
    }
}

impl HandshakeError {
    /// Returns the kind of failure, for metrics.
    pub(super) fn class(&self) -> HandshakeFailure {
        match self {
            Self::PlainHttp => HandshakeFailure::NotTls,
            Self::Closed => HandshakeFailure::Closed,
            Self::TooSlow => HandshakeFailure::Timeout,
            Self::Failed(error) => {
                let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
                tls.map_or(HandshakeFailure::Closed, class)
            }
        }
    }
}

fn class(error: &rustls::Error) -> HandshakeFailure {
    match error {
        rustls::Error::InvalidMessage(_) => HandshakeFailure::NotTls,
        rustls::Error::PeerIncompatible(_) | rustls::Error::NoApplicationProtocol => {
            HandshakeFailure::NothingInCommon
        }
        rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_) => {
            HandshakeFailure::ClientCertificate
        }
        rustls::Error::AlertReceived(_) => HandshakeFailure::RefusedByPeer,
        _ => HandshakeFailure::Other,
    }
}

/// Answers a peer that speaks plain HTTP, and then reads what it still sends for a moment. A socket that is closed with
/// unread bytes is reset, and the peer can lose the answer.
async fn explain(mut stream: TcpStream) -> HandshakeError {
    let said = async {
        stream.write_all(PLAIN_HTTP.as_bytes()).await?;
        stream.shutdown().await?;
        let mut rest = stream.take(MOST_DROPPED);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // If the answer cannot be written, the error is the same.
    drop(timeout(A_MOMENT, said).await);
    HandshakeError::PlainHttp
}

const PLAIN_HTTP: &str = "HTTP/1.1 400 Bad Request\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    connection: close\r\n\
    content-length: 48\r\n\r\n\
    plain HTTP on a port that speaks TLS: use https\n";

const A_MOMENT: Duration = Duration::from_secs(1);
const MOST_DROPPED: u64 = 16 << 20;
