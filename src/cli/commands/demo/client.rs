//! A client of the webhook over TLS, as an API server is one, and what kubectl prints for a reply.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::cli::commands::demo::case::{DemoCase, GROUP};

/// A connection to the webhook.
#[derive(Debug)]
pub(super) struct Client {
    requests: SendRequest<Full<Bytes>>,
    addr: SocketAddr,
}

/// What came back.
#[derive(Clone, Debug)]
pub(super) struct ReceivedReply {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the webhook: {source}")]
pub(super) struct ClientError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Client {
    /// Connects, trusting this certificate and no other.
    pub(super) async fn connect(
        addr: SocketAddr,
        certificate: CertificateDer<'static>,
    ) -> Result<Self, ClientError> {
        let connector = TlsConnector::from(Arc::new(trusting(certificate)?));
        let tcp = TcpStream::connect(addr).await.map_err(failed)?;
        let name = ServerName::try_from("localhost").map_err(failed)?;
        let tls = connector.connect(name, tcp).await.map_err(failed)?;
        let (requests, connection) = handshake(TokioIo::new(tls)).await.map_err(failed)?;
        // What ends the connection early fails the request that waits on it.
        tokio::spawn(connection);
        Ok(Self { requests, addr })
    }

    /// Sends a body to `/validate`.
    pub(super) async fn post(&mut self, body: String) -> Result<ReceivedReply, ClientError> {
        let request = Request::post("/validate")
            .header(header::HOST, self.addr.to_string())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(failed)?;
        let exchange = async {
            self.requests.ready().await.map_err(failed)?;
            let response = self.requests.send_request(request).await.map_err(failed)?;
            let status = response.status();
            let body = Limited::new(response.into_body(), REPLY_LIMIT);
            let body = body
                .collect()
                .await
                .map_err(|source| ClientError { source })?;
            Ok(ReceivedReply {
                status,
                body: body.to_bytes(),
            })
        };
        tokio::time::timeout(DEADLINE, exchange)
            .await
            .map_err(failed)?
    }
}

fn trusting(certificate: CertificateDer<'static>) -> Result<ClientConfig, ClientError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(failed)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ClientError {
    ClientError {
        source: error.into(),
    }
}

/// An API server waits as long by default.
const DEADLINE: Duration = Duration::from_secs(10);

/// No reply is nearly as large.
const REPLY_LIMIT: usize = 1 << 20;

/// Why a reply is none that an API server would take.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplyError {
    #[error("the webhook answered {status}: {body}")]
    Status { status: StatusCode, body: String },
    #[error("the webhook's reply is not an AdmissionReview: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct RepliedReview {
    response: RepliedResponse,
}

#[derive(Deserialize)]
struct RepliedResponse {
    allowed: bool,
    #[serde(default)]
    status: RepliedStatus,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
struct RepliedStatus {
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
}

/// What kubectl prints for a reply, from its bytes alone: lines, each with its line break.
///
/// Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`] (the words
/// before the message) and kubectl, [`pkg/cmd/util/helpers.go`] (the words before those).
///
/// [`apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go
/// [`pkg/cmd/util/helpers.go`]: https://github.com/kubernetes/kubectl/blob/v0.36.1/pkg/cmd/util/helpers.go
pub(super) fn prints(case: &DemoCase, received: &ReceivedReply) -> Result<String, ReplyError> {
    if received.status != StatusCode::OK {
        return Err(ReplyError::Status {
            status: received.status,
            body: String::from_utf8_lossy(&received.body)
                .trim_end()
                .to_owned(),
        });
    }
    let review: RepliedReview = serde_json::from_slice(&received.body)?;
    Ok(lines(case, &review.response))
}

fn lines(case: &DemoCase, response: &RepliedResponse) -> String {
    let mut lines = String::new();
    for warning in &response.warnings {
        writeln!(lines, "Warning: {warning}").expect("a String takes everything");
    }
    let last = if response.allowed {
        format!(
            "clusterextension.{GROUP}/{} {}",
            case.extension,
            case.done()
        )
    } else {
        refusal(case, &response.status)
    };
    writeln!(lines, "{last}").expect("a String takes everything");
    lines
}

fn refusal(case: &DemoCase, status: &RepliedStatus) -> String {
    let reason = match status.reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!(
        "Error from server{reason}: {}admission webhook \"{WEBHOOK}\" denied the request: {}",
        case.context(),
        status.message
    )
}

/// The name of the webhook in its configuration.
const WEBHOOK: &str = "validate.olmguard.dev";
