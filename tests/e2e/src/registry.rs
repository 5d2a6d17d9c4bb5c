//! A registry of images over TLS on loopback, in this process and in memory.
//!
//! The protocol is that of ferro-oci-server, which passes the conformance tests of the distribution
//! specification. Images are pushed with the requests of a client, but without a network.

mod tls;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::{Body, to_bytes};
use ferro_blob_store::InMemoryBlobStore;
use ferro_oci_server::{AppState, InMemoryRegistryMeta, router};
use http::{Method, Request, header};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::image::{Blob, Image};
use crate::pki::Pki;
pub(crate) use tls::TlsListener;

/// A running registry, which stops when this is dropped.
#[derive(Debug)]
pub(crate) struct Registry {
    /// The address, for example `127.0.0.1:40123`.
    address: String,
    router: Router,
    _serving: JoinSet<()>,
}

impl Registry {
    /// Starts a registry with a certificate of `pki`.
    pub(crate) async fn start(pki: &Pki) -> Result<Self> {
        let listener = TlsListener::bind(&pki.server("registry", &["127.0.0.1"])?).await?;
        let router = router(AppState::new(
            Arc::new(InMemoryBlobStore::new()),
            Arc::new(InMemoryRegistryMeta::new()),
        ));
        let address = listener.address()?.to_string();
        let mut serving = JoinSet::new();
        let served = router.clone();
        serving.spawn(async move {
            // The server never ends by itself.
            let _ended = axum::serve(listener, served).await;
        });
        Ok(Self {
            address,
            router,
            _serving: serving,
        })
    }

    /// Pushes an image under a name such as `catalogs/hub`. Returns its reference with the digest.
    pub(crate) async fn push(&self, name: &str, image: &Image) -> Result<String> {
        for blob in [&image.layer, &image.config] {
            self.push_blob(name, blob).await?;
        }
        let digest = &image.manifest.digest;
        self.push_manifest(name, digest, image).await?;
        Ok(format!("{}/{name}@{digest}", self.address))
    }

    /// Tags an image that was pushed, and returns its reference.
    pub(crate) async fn tag(&self, name: &str, tag: &str, image: &Image) -> Result<String> {
        self.push_manifest(name, tag, image).await?;
        Ok(format!("{}/{name}:{tag}", self.address))
    }

    async fn push_manifest(&self, name: &str, under: &str, image: &Image) -> Result<()> {
        let request = Request::builder()
            .method(Method::PUT)
            .uri(format!("/v2/{name}/manifests/{under}"))
            .header(
                header::CONTENT_TYPE,
                "application/vnd.oci.image.manifest.v1+json",
            )
            .body(Body::from(image.manifest.bytes.clone()))?;
        self.send(request).await
    }

    async fn push_blob(&self, name: &str, blob: &Blob) -> Result<()> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("/v2/{name}/blobs/uploads/?digest={}", blob.digest))
            .header(header::CONTENT_TYPE, "application/octet-stream")
            .body(Body::from(blob.bytes.clone()))?;
        self.send(request).await
    }

    async fn send(&self, request: Request<Body>) -> Result<()> {
        let what = format!("{} {}", request.method(), request.uri());
        let answer = self.router.clone().oneshot(request).await?;
        let status = answer.status();
        let body = to_bytes(answer.into_body(), MAX_ANSWER)
            .await
            .context(what.clone())?;
        ensure!(
            status.is_success(),
            "{what}: {status}: {}",
            String::from_utf8_lossy(&body)
        );
        Ok(())
    }
}

const MAX_ANSWER: usize = 1 << 16;
