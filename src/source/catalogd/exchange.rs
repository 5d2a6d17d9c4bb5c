//! One connection, one request, one answer.

use std::error::Error;
use std::future::{self, Future};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Empty;
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT_ENCODING, HOST, TRANSFER_ENCODING, USER_AGENT};
use hyper::service::Service;
use hyper::{HeaderMap, Request, Response, StatusCode, rt};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::service::TowerToHyperService;
use tokio::time::timeout;

use super::address::Address;
use super::cause::{Cause, innermost};
use super::consume::{Encoding, consume};
use super::roots::Roots;
use super::{AwaitedPart, FetchError, FetchLimits, FetchedBody, ResponseFault, TlsFault};
use crate::source::SourceError;

/// One try, but for the limit on all of it.
pub(super) async fn fetch<T, F>(
    roots: &Arc<Roots>,
    limits: &FetchLimits,
    address: &Address,
    f: F,
) -> Result<FetchedBody<T>, FetchError>
where
    T: Send + 'static,
    F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
{
    let io = within(
        limits.connect,
        AwaitedPart::Connection,
        connect(roots, address),
    )
    .await?;
    let handshake = http1::Builder::new().max_buf_size(READ_AHEAD).handshake(io);
    let (sender, connection) = handshake
        .await
        .map_err(|error| no_answer(&error, address))?;
    let exchange = async {
        let answer = ask(sender, address);
        let answer = within(limits.silence, AwaitedPart::Answer, answer).await?;
        let encoding = acceptable(&answer)?;
        consume(answer.into_body(), encoding, limits, f).await
    };
    alongside(connection, exchange).await
}

async fn within<T>(
    limit: Duration,
    awaited: AwaitedPart,
    work: impl Future<Output = Result<T, FetchError>>,
) -> Result<T, FetchError> {
    match timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => Err(FetchError::Timeout { awaited, limit }),
    }
}

async fn connect(
    roots: &Arc<Roots>,
    address: &Address,
) -> Result<impl rt::Read + rt::Write + Send + Unpin, FetchError> {
    let looked = Arc::clone(roots);
    let config = tokio::task::spawn_blocking(move || looked.config()).await;
    let config = config.map_err(|_| FetchError::Lost)?;
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    let connector = HttpsConnector::from((http, config));
    let stream = TowerToHyperService::new(connector).call(address.uri.clone());
    let stream = stream.await;
    stream.map_err(|error| no_connection(&*error, roots, address))
}

/// The connector gives an error of TLS as an `io::Error`, one of the socket or of looking up the
/// name as one of its own.
fn no_connection(error: &(dyn Error + 'static), roots: &Roots, address: &Address) -> FetchError {
    let host = address.host.clone();
    if !error.is::<io::Error>() {
        let why = innermost(error);
        return FetchError::Connect { host, why };
    }
    let fault = match Cause::of(error) {
        Cause::Tls(error) => TlsFault::of(error, &roots.trusted()),
        Cause::Ended => TlsFault::Closed,
        Cause::NotHttp(why) | Cause::Other(why) => TlsFault::Other { why },
    };
    FetchError::Tls { host, fault }
}

async fn ask(
    mut sender: SendRequest<Empty<Bytes>>,
    address: &Address,
) -> Result<Response<Incoming>, FetchError> {
    let request = Request::get(address.path.as_str())
        .header(HOST, &*address.host)
        .header(ACCEPT_ENCODING, "gzip")
        .header(USER_AGENT, concat!("olmguard/", env!("CARGO_PKG_VERSION")))
        .body(Empty::new());
    let request = request.expect("path and host are parts of a URL");
    let answer = sender.send_request(request).await;
    answer.map_err(|error| no_answer(&error, address))
}

fn no_answer(error: &(dyn Error + 'static), address: &Address) -> FetchError {
    let fault = match Cause::of(error) {
        Cause::Tls(error) => {
            let (host, fault) = (address.host.clone(), TlsFault::of(error, ""));
            return FetchError::Tls { host, fault };
        }
        Cause::Ended => ResponseFault::None,
        Cause::NotHttp(why) => ResponseFault::NotHttp { why },
        Cause::Other(why) => ResponseFault::Broken { why },
    };
    fault.into()
}

/// How the body of an answer is compressed, if its head says what is needed to read it.
///
/// Its `Content-Type` is not asked: catalogd says `application/jsonl`, older ones guess from the
/// content, and whether it is a catalog is seen by reading it.
fn acceptable(answer: &Response<Incoming>) -> Result<Encoding, FetchError> {
    let found = answer.status();
    if found != StatusCode::OK {
        return Err(FetchError::Status { found });
    }
    if answer.body().size_hint().exact().is_none() && !is_chunked(answer.headers()) {
        return Err(ResponseFault::Endless.into());
    }
    Ok(Encoding::of(answer.headers())?)
}

/// Chunks are the only coding of a transfer that is read.
fn is_chunked(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next().and_then(|coding| coding.to_str().ok());
    coding.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
        && codings.next().is_none()
}

/// Drives a connection while `work` goes on. When that has ended the connection is closed.
async fn alongside<T>(connection: impl Future, work: impl Future<Output = T>) -> T {
    let driven = async {
        connection.await;
        future::pending().await
    };
    tokio::select! {
        done = work => done,
        never = driven => never,
    }
}

/// How much is read from a connection before it is taken: a frame is no larger.
const READ_AHEAD: usize = 64 << 10;
