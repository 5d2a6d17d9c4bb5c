//! A client of the webhook, over TLS, as an API server is one.

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
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

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
