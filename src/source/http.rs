//! One request over HTTP/1.1, with a streamed response: the client for catalogd, pinned URLs and registries.
//!
//! ```text
//! Roots (CA, read again) ------> connection --> response --> frames ==queue==> thread of low priority
//!                                  (or proxy)                                    gzip, digest, `consume`
//! ```
//!
//! Each request has its own connection, which is closed after it. Behind a Service, a replica without content answers
//! 404, and the next connection may reach another replica.
//!
//! Invariants:
//!
//! - The body of a [`FetchedBody`] was complete, according to HTTP and to gzip.
//! - The data queued for `consume` is bounded, whatever the server sends.
//! - Nothing outlives the future except a thread that ends at its next read.

mod error;
mod pieces;
mod roots;

pub use error::{AwaitedPart, BodyEnd, BodySize, FetchClass, FetchError, ResponseFault, TlsFault};
pub use pieces::{Encoding, consume};
pub use roots::{HostCertsError, RootsError};

use std::error::Error;
use std::future::{self, Future};
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Empty;
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT_ENCODING, HOST, HeaderValue, TRANSFER_ENCODING, USER_AGENT};
use hyper::http::uri::{PathAndQuery, Scheme};
use hyper::service::Service;
use hyper::{HeaderMap, Request, Response, StatusCode, Uri, rt};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::service::TowerToHyperService;
use tokio::time::timeout;

use crate::source::digest::Sha256;
use crate::source::{SourceError, stream};
use error::{FailedLayer, innermost};
use roots::Roots;

/// A client whose requests are bounded by its limits.
#[derive(Debug)]
pub struct HttpClient {
    roots: Arc<Roots>,
    limits: FetchLimits,
    /// The proxies to use, if any.
    proxies: Option<Matcher>,
}

/// The result of a body that was read to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FetchedBody<T> {
    /// The value that `consume` returned.
    pub value: T,
    /// The size of the body in bytes as it was sent, compressed if it was.
    pub bytes: u64,
    /// SHA-256 of the body, decompressed.
    pub sha256: Sha256,
}

impl HttpClient {
    /// Trusts the certificates of `ca` and no others. `ca` is PEM with one or more certificates, or a directory of such
    /// files. Without `ca`, the certificates of the system are trusted, which may be none.
    ///
    /// `ca` is read again before each request. If it can no longer be used, that is logged once, and the last good
    /// certificates stay in use.
    ///
    /// # Errors
    /// Fails if `ca` has no certificates, or some that cannot be used.
    pub fn new(ca: Option<&Path>, limits: FetchLimits) -> Result<Self, RootsError> {
        Ok(Self::trusting(Roots::new(ca)?, limits))
    }

    /// Trusts the certificates of the system, and those in the directory of a host in `certs.d`.
    ///
    /// # Errors
    /// Fails if that directory has a certificate or key that cannot be used.
    pub(crate) fn of_host(folder: &Path, limits: FetchLimits) -> Result<Self, HostCertsError> {
        Ok(Self::trusting(Roots::of_host(folder)?, limits))
    }

    fn trusting(roots: Roots, limits: FetchLimits) -> Self {
        Self {
            roots: Arc::new(roots),
            limits,
            proxies: None,
        }
    }

    /// Uses the proxies of `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` for `https` requests to other machines.
    pub fn with_proxies_of_environment(self) -> Self {
        Self {
            proxies: Some(Matcher::from_env()),
            ..self
        }
    }

    /// The bounds of each request.
    pub fn limits(&self) -> &FetchLimits {
        &self.limits
    }

    /// Fetches the content at an address. With [`Encoding::Gzip`], the server may compress it. With
    /// [`Encoding::Identity`], it is a file as it is stored, and a `Content-Encoding` is a part of it: servers announce
    /// one for `.gz` files, and `sha256sum` is that of the compressed bytes.
    ///
    /// `consume` runs on its own thread with the lowest priority. It reads the body while it arrives. If
    /// `consume` fails, the fetch fails immediately. The body is not known to be complete before its end, so the result
    /// of `consume` counts only if this returns `Ok`.
    ///
    /// # Errors
    /// Returns the reason why the body was not read completely. The same fault always has the same message.
    pub(super) async fn fetch<T, F>(
        &self,
        address: &Address,
        accepted: Encoding,
        consume: F,
    ) -> Result<FetchedBody<T>, FetchError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Read) -> Result<T, SourceError> + Send + 'static,
    {
        let accept = HeaderValue::from_static(match accepted {
            Encoding::Identity => "identity",
            Encoding::Gzip => "gzip",
        });
        let read = async |answer: Response<Incoming>| {
            is_acceptable(&answer)?;
            let encoding = match accepted {
                Encoding::Identity => Encoding::Identity,
                Encoding::Gzip => Encoding::of(answer.headers())?,
            };
            pieces::consume(answer.into_body(), encoding, &self.limits, consume).await
        };
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, accept)]);
        self.get(address, headers, read).await
    }

    /// Requests an address with these headers, and reads the response, whatever its status.
    pub(crate) async fn get<T, R, F>(
        &self,
        address: &Address,
        headers: HeaderMap,
        read: R,
    ) -> Result<T, FetchError>
    where
        R: FnOnce(Response<Incoming>) -> F,
        F: Future<Output = Result<T, FetchError>>,
    {
        // The future is large, and would otherwise be a part of every future that awaits this one.
        let exchange = Box::pin(self.exchange(address, headers, read));
        within(self.limits.total, AwaitedPart::Whole, exchange).await
    }

    /// Makes one request, without the limit on its total time.
    async fn exchange<T, R, F>(
        &self,
        address: &Address,
        headers: HeaderMap,
        read: R,
    ) -> Result<T, FetchError>
    where
        R: FnOnce(Response<Incoming>) -> F,
        F: Future<Output = Result<T, FetchError>>,
    {
        let limits = &self.limits;
        let connected = self.connect(address);
        let io = within(limits.connect, AwaitedPart::Connection, connected).await?;
        let handshake = http1::Builder::new().max_buf_size(READ_AHEAD).handshake(io);
        let (sender, connection) = handshake
            .await
            .map_err(|error| no_answer(&error, address))?;
        let exchange = async {
            let answer = ask(sender, address, headers);
            let answer = within(limits.silence, AwaitedPart::Answer, answer).await?;
            read(answer).await
        };
        alongside(connection, exchange).await
    }

    async fn connect(
        &self,
        address: &Address,
    ) -> Result<impl rt::Read + rt::Write + Send + Unpin, FetchError> {
        let looked = Arc::clone(&self.roots);
        let config = tokio::task::spawn_blocking(move || looked.config()).await;
        let config = config.map_err(|_| FetchError::Lost)?;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        let proxy = self.proxies.as_ref();
        let is_far = address.uri.scheme() == Some(&Scheme::HTTPS) && !address.is_loopback();
        let proxy = proxy.filter(|_| is_far);
        let stream = match proxy.and_then(|proxies| proxies.intercept(&address.uri)) {
            None => call(HttpsConnector::from((http, config)), address).await,
            Some(proxy) if proxy.uri().scheme() != Some(&Scheme::HTTP) => {
                let host = address.host.clone();
                let why = "the proxy is not one of HTTP: expected http://HOST:PORT".into();
                return Err(FetchError::Connect { host, why });
            }
            Some(proxy) => {
                let tunnel = Tunnel::new(proxy.uri().clone(), http);
                let tunnel = match proxy.basic_auth() {
                    Some(login) => tunnel.with_auth(login.clone()),
                    None => tunnel,
                };
                call(HttpsConnector::from((tunnel, config)), address).await
            }
        };
        stream.map_err(|error| no_connection(&*error, &self.roots, address))
    }
}

// === One connection, one request, one response ===

/// Connects to an address.
async fn call<C>(connector: C, address: &Address) -> Result<C::Response, C::Error>
where
    C: tower_service::Service<Uri> + Clone,
{
    let service = TowerToHyperService::new(connector);
    service.call(address.uri.clone()).await
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

/// Classifies an error of the connector. TLS errors are `io::Error`s. Errors of the socket and of name resolution have
/// a type of the connector.
fn no_connection(error: &(dyn Error + 'static), roots: &Roots, address: &Address) -> FetchError {
    let host = address.host.clone();
    if !error.is::<io::Error>() {
        let why = innermost(error);
        return FetchError::Connect { host, why };
    }
    let fault = match FailedLayer::of(error) {
        FailedLayer::Tls(error) => TlsFault::of(error, &roots.trusted),
        FailedLayer::Ended => TlsFault::Closed,
        FailedLayer::NotHttp(why) | FailedLayer::Other(why) => TlsFault::Other { why },
    };
    FetchError::Tls { host, fault }
}

async fn ask(
    mut sender: SendRequest<Empty<Bytes>>,
    address: &Address,
    headers: HeaderMap,
) -> Result<Response<Incoming>, FetchError> {
    let request = Request::get(address.path.as_str())
        .header(HOST, &*address.host)
        .header(USER_AGENT, concat!("olmguard/", env!("CARGO_PKG_VERSION")))
        .body(Empty::new());
    let mut request = request.expect("path and host are parts of a URL");
    request.headers_mut().extend(headers);
    let answer = sender.send_request(request).await;
    answer.map_err(|error| no_answer(&error, address))
}

fn no_answer(error: &(dyn Error + 'static), address: &Address) -> FetchError {
    let fault = match FailedLayer::of(error) {
        FailedLayer::Tls(error) => {
            let (host, fault) = (address.host.clone(), TlsFault::of(error, ""));
            return FetchError::Tls { host, fault };
        }
        FailedLayer::Ended => ResponseFault::None,
        FailedLayer::NotHttp(why) => ResponseFault::NotHttp { why },
        FailedLayer::Other(why) => ResponseFault::Broken { why },
    };
    fault.into()
}

/// Checks that the status and the headers of a response allow reading it.
///
/// The `Content-Type` is ignored: catalogd sends `application/jsonl`, but older versions guess it from the content.
/// Only reading shows whether the content is a catalog.
fn is_acceptable(answer: &Response<Incoming>) -> Result<(), FetchError> {
    let found = answer.status();
    if found != StatusCode::OK {
        return Err(FetchError::Status { found });
    }
    if answer.body().size_hint().exact().is_none() && !is_chunked(answer.headers()) {
        return Err(ResponseFault::Endless.into());
    }
    Ok(())
}

/// Whether the transfer coding is chunked, the only one that is supported.
fn is_chunked(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let coding = codings.next().and_then(|coding| coding.to_str().ok());
    coding.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
        && codings.next().is_none()
}

/// Drives a connection while `work` runs. The connection is closed when `work` ends.
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

/// The maximum number of bytes that are buffered from a connection, and so the maximum size of a frame.
const READ_AHEAD: usize = 64 << 10;

// === Limits of a fetch: time and size ===

/// Bounds of one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FetchLimits {
    /// The time to establish a connection, including name resolution and TLS.
    pub connect: Duration,
    /// The time without a byte of the head or the body. The time spent in `consume` does not count.
    pub silence: Duration,
    /// The total time.
    pub total: Duration,
    /// The size of the body in bytes as it is sent.
    pub wire: u64,
    /// The size of the body in bytes, decompressed.
    pub content: u64,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            connect: CONNECT,
            silence: SILENCE,
            total: TOTAL,
            wire: stream::TOTAL_LIMIT,
            content: stream::TOTAL_LIMIT,
        }
    }
}

/// Enough for two lost SYNs (sent again after 1 s and 2 s) in a nearby network.
const CONNECT: Duration = Duration::from_secs(5);

/// Servers send from files, so half a minute without a byte means a fault and not a slow server.
const SILENCE: Duration = Duration::from_secs(30);

/// The write timeout of catalogd, after which it ends the response.
const TOTAL: Duration = Duration::from_mins(5);

// === The time of the next attempt ===

/// The pauses between attempts. Each is twice as long as the one before, up to a limit, with jitter, so replicas that
/// failed together do not retry together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retry {
    /// The longest pause after the first attempt.
    pub base: Duration,
    /// The longest pause of all.
    pub cap: Duration,
}

impl Retry {
    /// Returns the pause after this many failed attempts, which is at least half of the longest.
    pub fn delay(&self, failed: u32) -> Duration {
        let longest = self.longest(failed);
        // Rounding of floats must not exceed the limit.
        (longest / 2 + (longest / 2).mul_f64(fastrand::f64())).min(longest)
    }

    fn longest(&self, failed: u32) -> Duration {
        let doublings = failed.saturating_sub(1).min(u32::BITS - 1);
        self.base.saturating_mul(1 << doublings).min(self.cap)
    }
}

// === HTTP URLs, in the parts that a request needs ===

/// Why a base URL cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL, or a URL of another scheme.
    #[error("base {base:?}: expected a URL that starts with https:// or http://")]
    NotHttp {
        /// The text given as the base.
        base: Box<str>,
    },
    /// The URL names a user. A password can follow, so the URL is not shown.
    #[error("base contains a user name: expected a URL without one")]
    User,
}

impl AddressError {
    /// The fault of a base that cannot be parsed. A base that can contain a password is not shown.
    fn of(base: &str) -> Self {
        if base.contains('@') {
            return Self::User;
        }
        let base = base.chars().take(SHOWN).collect::<String>().into();
        Self::NotHttp { base }
    }
}

/// A URL, in the parts that a request needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Address {
    /// The whole URL.
    pub(crate) uri: Uri,
    /// The path and the query of the request line.
    pub(crate) path: PathAndQuery,
    /// The host, with the port if the URL has one.
    pub(crate) host: Box<str>,
}

impl Address {
    /// Parses a URL.
    pub(crate) fn of(url: &str) -> Result<Self, AddressError> {
        Self::with(url, |uri| match uri.query() {
            Some(query) => format!("{}?{query}", uri.path()),
            None => uri.path().to_owned(),
        })
    }

    /// Parses the URL `base` and replaces its path.
    pub(crate) fn with(base: &str, path: impl Fn(&Uri) -> String) -> Result<Self, AddressError> {
        let not_http = || AddressError::of(base);
        let uri: Uri = base.parse().map_err(|_| not_http())?;
        let scheme = uri.scheme().filter(|scheme| is_http(scheme));
        let (Some(scheme), Some(authority)) = (scheme, uri.authority()) else {
            return Err(not_http());
        };
        if authority.as_str().contains('@') {
            return Err(AddressError::User);
        }
        let path: PathAndQuery = path(&uri).parse().map_err(|_| not_http())?;
        let whole = Uri::builder()
            .scheme(scheme.clone())
            .authority(authority.clone())
            .path_and_query(path.clone());
        Ok(Self {
            uri: whole.build().map_err(|_| not_http())?,
            path,
            host: authority.as_str().into(),
        })
    }

    /// Returns the URL without its query, which can contain a key.
    pub(crate) fn without_query(&self) -> String {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        format!("{scheme}://{}{}", self.host, self.path.path())
    }

    /// Whether the host is this machine, according to its name or address.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let address = host.parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

fn is_http(scheme: &Scheme) -> bool {
    *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS
}

/// The maximum number of characters of a base that are shown.
const SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RETRY: Retry = Retry {
        base: Duration::from_secs(1),
        cap: Duration::from_secs(30),
    };

    #[test]
    fn pauses_grow_up_to_their_limit() {
        let longest = |failed| RETRY.longest(failed).as_secs();
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(longest), [1, 2, 4, 8, 16, 30, 30]);
    }

    proptest! {
        #[test]
        fn a_pause_keeps_its_bounds(failed: u32, base: u64, cap: u64) {
            let (base, cap) = (Duration::from_millis(base), Duration::from_millis(cap));
            let retry = Retry { base, cap };
            let (delay, longest) = (retry.delay(failed), retry.longest(failed));
            prop_assert!(delay <= longest && delay >= longest / 2);
            prop_assert!(delay <= cap);
            prop_assert!(failed > 1 || delay <= base);
            prop_assert!(delay >= base.min(cap) / 2);
        }
    }
}
