//! Requests to the webhook without an API server: through the address of its Service, as an API server sends them, or
//! to a pod.
//!
//! Each review has its own connection, which trusts only the `caBundle` of the configuration. So the webhook can be
//! called while the API server is away.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::cluster::Cluster;
use crate::deployment::{self, Deployment};
use crate::extension::Extensions;
use crate::service::REVIEWS;
use crate::verdict::Verdict;

/// A client that sends edits of one extension.
#[derive(Clone)]
pub(crate) struct Reviewer {
    address: SocketAddr,
    tls: TlsConnector,
    /// The extension before the edit.
    old: Value,
}

/// An answer of the webhook.
#[derive(Debug)]
pub(crate) struct Reviewed {
    pub(crate) verdict: Verdict,
    /// The reason code.
    pub(crate) token: String,
}

impl Reviewer {
    /// Reads everything that it needs while there is an API server.
    pub(crate) async fn of(cluster: &Cluster, guard: &Deployment, name: &str) -> Result<Self> {
        let bundle = deployment::bundle(&cluster.client).await?;
        let old = Extensions::of(&cluster.client).api.get(name).await?;
        Ok(Self {
            address: guard.service.address,
            tls: Arc::new(trusting(&bundle)?).into(),
            old: serde_json::to_value(old)?,
        })
    }

    /// Returns a reviewer that calls one pod.
    pub(crate) fn of_pod(&self, pod: IpAddr) -> Self {
        Self {
            address: SocketAddr::new(pod, REVIEWS),
            ..self.clone()
        }
    }

    /// Returns the answer to an edit to this version.
    pub(crate) async fn ask(&self, version: &str) -> Result<Reviewed> {
        let reply: Reply = serde_json::from_slice(&self.send(&self.review(version)?).await?)?;
        let answer = reply.response;
        let verdict = if answer.allowed {
            Verdict::Passed(answer.warnings)
        } else {
            Verdict::Denied(answer.status.context("a denial has a status")?.message)
        };
        Ok(Reviewed {
            verdict,
            token: answer.audit_annotations.token,
        })
    }

    async fn send(&self, review: &Value) -> Result<Bytes> {
        let answer = self.post(serde_json::to_vec(review)?.into()).await?;
        let (status, body) = (answer.status(), answer.into_body());
        ensure!(
            status.is_success(),
            "{status}: {}",
            String::from_utf8_lossy(&body)
        );
        Ok(body)
    }

    async fn post(&self, body: Bytes) -> Result<Response<Bytes>> {
        let (mut sender, connection) = handshake(TokioIo::new(self.connect().await?)).await?;
        let mut connected = JoinSet::new();
        connected.spawn(connection);
        let request = Request::post("/validate?timeout=5s")
            .header(header::HOST, SERVER_NAME)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))?;
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Response::from_parts(head, body))
    }

    async fn connect(&self) -> Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from(SERVER_NAME)?;
        Ok(self.tls.connect(name, tcp).await?)
    }

    /// Opens a connection and sends only the start of a request.
    pub(crate) async fn begin(&self) -> Result<TlsStream<TcpStream>> {
        let mut stream = self.connect().await?;
        stream
            .write_all(b"POST /validate HTTP/1.1\r\nHost: ")
            .await?;
        Ok(stream)
    }

    /// Sends a body that is not a review, which the webhook must refuse.
    pub(crate) async fn send_nonsense(&self, bytes: usize) -> Result<()> {
        let answer = self.post(vec![b'['; bytes].into()).await?;
        ensure!(answer.status().is_client_error(), "{}", answer.status());
        Ok(())
    }

    fn review(&self, version: &str) -> Result<Value> {
        let mut new = self.old.clone();
        let asked = new.pointer_mut("/spec/source/catalog/version");
        *asked.context("an extension asks for a version")? = version.into();
        let kind = json!({ "group": "olm.operatorframework.io", "version": "v1", "kind": "ClusterExtension" });
        let resource = json!({ "group": "olm.operatorframework.io", "version": "v1", "resource": "clusterextensions" });
        Ok(json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "00000000-0000-4000-8000-000000000000",
                "kind": kind, "requestKind": kind,
                "resource": resource, "requestResource": resource,
                "name": self.old.pointer("/metadata/name"),
                "operation": "UPDATE",
                "userInfo": { "username": "e2e-admin", "groups": ["system:masters"] },
                "dryRun": true,
                "object": new,
                "oldObject": self.old,
            },
        }))
    }
}

const SERVER_NAME: &str = "olmguard.olmguard-system.svc";

/// Returns the TLS configuration of a client that trusts only these certificates.
pub(crate) fn trusting(bundle: &str) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(certificate?)?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    Ok(builder
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

#[derive(Debug, Deserialize)]
struct Reply {
    response: ReviewResponse,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewResponse {
    allowed: bool,
    status: Option<Status>,
    #[serde(default)]
    warnings: Vec<String>,
    audit_annotations: Annotations,
}

#[derive(Debug, Deserialize)]
struct Annotations {
    token: String,
}

#[derive(Debug, Deserialize)]
struct Status {
    message: String,
}
