//! The proxy to the API server, if its cluster in the kubeconfig names none. Also repeats requests to a busy server.
//!
//! The environment is read as in client-go, through `golang.org/x/net/http/httpproxy`: `HTTPS_PROXY` or `HTTP_PROXY` by
//! the scheme of the API server, upper case first. `NO_PROXY` lists hosts, domains, addresses and CIDRs, each for one
//! port or for all, and is compared with the API server. kube compares it with the proxy, and does not support
//! suffixes.

use std::env;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::http::uri::InvalidUri;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use kube::Client;
use kube::client::Body;
use tokio::time::sleep;
use tower_service::Service;

/// The proxy settings of the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    pub(super) https: String,
    pub(super) http: String,
    /// The hosts that are accessed without a proxy.
    pub(super) none: String,
}

impl Proxies {
    pub(super) fn here() -> Self {
        Self {
            https: variable("HTTPS_PROXY"),
            http: variable("HTTP_PROXY"),
            none: variable("NO_PROXY"),
        }
    }

    /// Returns the proxy for this API server, if any.
    pub(super) fn to(&self, server: &Uri) -> Result<Option<Uri>, InvalidUri> {
        let proxy = match server.scheme_str() {
            Some("http") => &self.http,
            _ => &self.https,
        };
        if proxy.is_empty() || self.is_left_out(server) {
            return Ok(None);
        }
        let has_scheme = proxy.contains("://");
        let proxy = if has_scheme {
            proxy.parse()
        } else {
            format!("http://{proxy}").parse()
        };
        proxy.map(Some)
    }

    fn is_left_out(&self, server: &Uri) -> bool {
        let host = server.host().unwrap_or_default().to_ascii_lowercase();
        let port = server.port_u16().unwrap_or(match server.scheme_str() {
            Some("http") => 80,
            _ => 443,
        });
        let entries = self.none.split(',').map(str::trim);
        let matches = |list: &str| {
            let matcher = Matcher::builder().all("http://proxy").no(list).build();
            matcher.intercept(server).is_none()
        };
        let names = |entry: &str| match of_port(entry, port).map(str::to_ascii_lowercase) {
            None => false,
            // A leading dot matches only subdomains.
            Some(name) if name.strip_prefix('.') == Some(&host) => false,
            Some(name) => matches(&name),
        };
        host == "localhost" || matches(LOOPBACK) || entries.into_iter().any(names)
    }
}

/// Returns an entry without its port and without a star before a dot; none if it is for another port.
fn of_port(entry: &str, port: u16) -> Option<&str> {
    let host = match entry.rsplit_once(':') {
        Some((host, own)) if !host.contains(':') || host.ends_with(']') => {
            (own.parse() == Ok(port)).then_some(host)?
        }
        _ => entry,
    };
    let host = host.strip_prefix('[').unwrap_or(host);
    let host = host.strip_suffix(']').unwrap_or(host);
    let suffix = host.strip_prefix('*').filter(|rest| rest.starts_with('.'));
    Some(suffix.unwrap_or(host))
}

fn variable(name: &str) -> String {
    let names = [name.to_owned(), name.to_ascii_lowercase()];
    let mut set = names.iter().filter_map(|name| env::var(name).ok());
    set.find(|value| !value.is_empty()).unwrap_or_default()
}

const LOOPBACK: &str = "127.0.0.0/8,::1";

// === Requests that are repeated while the API server is too busy to answer ===
//
// kube would repeat a request fifteen times. That takes longer than the time limit of an answer, so the final error
// would only be a timeout. Here the last answer is returned.

/// Wraps a client to repeat its requests.
pub(super) fn retrying_client(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    Client::new(Tries(client), namespace)
}

#[derive(Clone)]
struct Tries(Client);

impl Service<Request<Body>> for Tries {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, kube::Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move {
            // A request that changes something is not sent twice.
            if request.method() != Method::GET {
                return client.send(request).await;
            }
            let (parts, _) = request.into_parts();
            let ask = || Request::from_parts(parts.clone(), Body::empty());
            for pause in PAUSES {
                let answer = client.send(ask()).await?;
                if !is_busy(answer.status()) {
                    return Ok(answer);
                }
                sleep(pause).await;
            }
            client.send(ask()).await
        })
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// The pauses between attempts. If the API server asks for a pause, it asks for one second.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::catalogs::list;
    use olmguard_support::api::{ApiServer, Trouble};

    fn through(server: &str, none: &str) -> Option<String> {
        let proxies = Proxies {
            https: "http://me:x@secure:1".to_owned(),
            http: "plain:2".to_owned(),
            none: none.to_owned(),
        };
        let proxy = proxies.to(&server.parse().unwrap()).unwrap();
        proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn the_scheme_of_the_server_says_which_proxy() {
        let secure = through("https://api.example.com:6443", "");
        assert_eq!(secure.as_deref(), Some("http://me:x@secure:1/"));
        let plain = through("http://api.example.com", "");
        assert_eq!(plain.as_deref(), Some("http://plain:2/"));
        let server = "https://a.b".parse().unwrap();
        assert_eq!(Proxies::default().to(&server).unwrap(), None);
    }

    #[test]
    fn no_proxy_is_about_the_server() {
        for (server, none) in [
            ("https://api.example.com:6443", "*"),
            ("https://api.example.com:6443", "x, example.com ,"),
            ("https://api.example.com:6443", "API.example.com"),
            ("https://api.example.com:6443", ".example.com"),
            ("https://api.example.com:6443", "*.example.com"),
            ("https://api.example.com:6443", "example.com:6443"),
            ("https://10.1.2.3:6443", "10.0.0.0/8"),
            ("https://10.1.2.3:6443", "10.1.2.3"),
            ("https://10.1.2.3:6443", "10.1.2.3:6443"),
            ("https://[fd00::1]:6443", "fd00::/8"),
            ("https://[fd00::1]:6443", "[fd00::1]:6443"),
            ("https://localhost:6443", ""),
            ("https://127.0.0.1:6443", ""),
            ("https://[::1]:6443", ""),
        ] {
            assert_eq!(through(server, none), None, "{server}, {none}");
        }
        for (server, none) in [
            ("https://api.example.com:6443", "secure,plain"),
            ("https://example.com:6443", ".example.com"),
            ("https://notexample.com:6443", "example.com"),
            ("https://api.example.com:6443", "example.com:443"),
            ("https://api.example.com:6443", "10.0.0.0/8,,"),
            ("https://11.1.2.3:6443", "10.0.0.0/8"),
            ("https://[fd00::1]:6443", "[fd00::1]:443"),
        ] {
            assert!(through(server, none).is_some(), "{server}, {none}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_answer_of_a_busy_server_counts() {
        for (code, tries) in [(429, 3), (503, 3), (504, 3), (500, 1), (403, 1)] {
            let api = ApiServer::start();
            let code = StatusCode::from_u16(code).unwrap();
            api.trouble(Trouble::Status(code), |_| true);
            let error = list(retrying_client(api.client()))
                .await
                .unwrap_err()
                .to_string();
            let expected = format!(
                "cannot find out how catalogs are served: the API server answers {}: as the test says",
                code.as_u16()
            );
            assert_eq!(error, expected);
            assert_eq!(api.asked().len(), tries, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_was_busy_is_heard() {
        let api = ApiServer::start();
        api.serve(
            "olm.operatorframework.io/v1",
            "clustercatalogs",
            "ClusterCatalog",
        );
        api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |_| true);
        let healing = api.clone();
        tokio::spawn(async move {
            sleep(PAUSES[0] + PAUSES[1] / 2).await;
            healing.heal();
        });
        list(retrying_client(api.client())).await.unwrap();
    }
}
