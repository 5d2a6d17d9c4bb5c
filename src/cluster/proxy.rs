//! The content of a catalog through the API server, for readers outside of the cluster.
//!
//! `https://catalogd-service.olmv1-system.svc/catalogs/x` is asked for as
//! `/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy/catalogs/x`; whoever
//! asks needs the verb `get` on `services/proxy`. Upstream: Kubernetes,
//! [`pkg/registry/core/service/storage/storage.go`] (it does not verify the certificate of the service).
//!
//! [`pkg/registry/core/service/storage/storage.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/pkg/registry/core/service/storage/storage.go

use http_body_util::{BodyExt, Limited};
use hyper::{Request, StatusCode, Uri};
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use crate::cluster::fault::{self, Silent};
use crate::cluster::line::ANSWER;
use crate::foreign_text;

/// Why nothing came through.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProxyError {
    /// What was asked for is no service of the cluster.
    #[error("{url}: not a service of the cluster: expected a host NAME.NAMESPACE.svc")]
    NoService {
        /// The URL.
        url: String,
    },
    /// Another answer than the content.
    #[error("{url}, through the API server: {code}: {message}")]
    Answer {
        /// The URL.
        url: String,
        /// The status of the answer.
        code: u16,
        /// What came with it, or its beginning.
        message: String,
    },
    /// No answer.
    #[error("{url}, through the API server: {why}")]
    Failed {
        /// The URL.
        url: String,
        /// What became of it.
        why: String,
    },
}

/// Begins to read the content at a URL inside of the cluster; the body is as the service sends it,
/// decompressed, and has no bounds of its own.
pub async fn get(client: &Client, url: &str) -> Result<Body, ProxyError> {
    let failed = |why| ProxyError::Failed {
        url: url.to_owned(),
        why,
    };
    let path = path(url).ok_or_else(|| ProxyError::NoService {
        url: url.to_owned(),
    })?;
    let request = Request::get(path).body(Body::empty());
    let request = request.map_err(|error| failed(error.to_string()))?;
    let answer = timeout(ANSWER, client.send(request)).await;
    let answer = answer.map_err(|_| failed(Silent(ANSWER).to_string()))?;
    let response = answer.map_err(|error| failed(fault::words(&error)))?;
    if response.status() == StatusCode::OK {
        return Ok(response.into_body());
    }
    let code = response.status().as_u16();
    Err(ProxyError::Answer {
        url: url.to_owned(),
        code,
        message: message(response.into_body()).await,
    })
}

/// The path of the API server that leads to it.
fn path(url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    let scheme = url
        .scheme_str()
        .filter(|s| matches!(*s, "http" | "https"))?;
    let mut names = url.host()?.split('.');
    let (name, namespace) = (names.next()?, names.next()?);
    if names.next() != Some("svc") || !is_name(name) || !is_name(namespace) {
        return None;
    }
    let port = url
        .port_u16()
        .unwrap_or(if scheme == "https" { 443 } else { 80 });
    let target = url.path_and_query().map_or("/", |target| target.as_str());
    Some(format!(
        "/api/v1/namespaces/{namespace}/services/{scheme}:{name}:{port}/proxy{target}"
    ))
}

/// Nothing else may be part of the path.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && text.chars().all(is_part)
}

/// What an answer says that is not the content, in one line.
async fn message(body: Body) -> String {
    let whole = timeout(ANSWER, Limited::new(body, LONGEST).collect()).await;
    let Ok(Ok(whole)) = whole else {
        return "(an answer that cannot be read)".to_owned();
    };
    let bytes = whole.to_bytes();
    let status: Option<kube::core::Status> = serde_json::from_slice(&bytes).ok();
    match status {
        Some(status) if !status.message.is_empty() => foreign_text::one_line(&status.message),
        _ => foreign_text::one_line(&String::from_utf8_lossy(&bytes)),
    }
}

/// The most bytes that are read of such an answer.
const LONGEST: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    const URL: &str = "https://catalogd-service.olmv1-system.svc/catalogs/a/api/v1/all";
    const PATH: &str = "/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy/\
                        catalogs/a/api/v1/all";

    #[test]
    fn a_service_is_reached_by_its_name_namespace_scheme_and_port() {
        for (url, expected) in [
            (URL, PATH),
            (
                "http://a.b.svc.cluster.local:8080/x?y=z",
                "/api/v1/namespaces/b/services/http:a:8080/proxy/x?y=z",
            ),
            (
                "http://a.b.svc",
                "/api/v1/namespaces/b/services/http:a:80/proxy/",
            ),
        ] {
            assert_eq!(path(url).as_deref(), Some(expected), "{url}");
        }
        for url in [
            "https://localhost:8443/catalogs/a",
            "https://10.0.0.1/catalogs/a",
            "https://a.b.example.com/x",
            "https://a.svc/x",
            "https://a%2f.b.svc/x",
            "ftp://a.b.svc/x",
            "a.b.svc",
            "",
        ] {
            assert_eq!(path(url), None, "{url}");
        }
    }

    #[tokio::test]
    async fn the_content_comes_through() {
        let api = ApiServer::start();
        api.route(PATH, StatusCode::OK, "{}\n{}\n");
        let body = get(&api.client(), URL).await.unwrap();
        assert_eq!(body.collect_bytes().await.unwrap(), "{}\n{}\n");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_the_content_is_said() {
        let api = ApiServer::start();
        let said = async |url| get(&api.client(), url).await.unwrap_err().to_string();
        assert_eq!(
            said("https://localhost/x").await,
            "https://localhost/x: not a service of the cluster: expected a host NAME.NAMESPACE.svc"
        );
        api.route(PATH, StatusCode::NOT_FOUND, "404 Not\nFound\n");
        let with_url = |rest: &str| format!("{URL}, through the API server: {rest}");
        assert_eq!(said(URL).await, with_url("404: 404 Not Found"));
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
        assert_eq!(said(URL).await, with_url("403: as the test says"));
        api.trouble(Trouble::Silent, |_| true);
        assert_eq!(said(URL).await, with_url("no answer within 30 s"));
    }
}
