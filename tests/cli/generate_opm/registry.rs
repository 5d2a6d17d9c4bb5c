//! A registry on loopback with bundle images, sufficient for opm to pull from.
//!
//! An image is a configuration with the labels of a bundle and one layer, a tar archive of its manifests. The paths are
//! those of the OCI distribution specification. Every request is answered by digest or tag.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::oneshot;

/// The registry, which stops at the end of its test.
pub(crate) struct Registry {
    port: u16,
    _ends: oneshot::Sender<()>,
}

/// The content by the last element of a path.
type Shelf = Arc<BTreeMap<String, (&'static str, Vec<u8>)>>;

impl Registry {
    /// Starts a registry with a bundle of package `lantern` for each of these versions.
    pub(crate) fn start(versions: &[&str]) -> Self {
        let mut shelf = BTreeMap::new();
        for (n, version) in versions.iter().enumerate() {
            put_image(&mut shelf, &format!("b{n}"), version);
        }
        let router = Router::new().fallback(answer).with_state(Arc::new(shelf));
        let (ports, port) = std::sync::mpsc::channel();
        let (ends, end) = oneshot::channel::<()>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
                let listener = listener.expect("a port");
                let port = listener.local_addr().expect("an address").port();
                ports.send(port).expect("the test waits for it");
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.expect("it serves"),
                    _ = end => {}
                }
            });
        });
        Self {
            port: port.recv().expect("the registry starts"),
            _ends: ends,
        }
    }

    /// Returns the image of the n-th version.
    pub(crate) fn image(&self, n: usize) -> String {
        format!("127.0.0.1:{}/lantern:b{n}", self.port)
    }
}

async fn answer(State(shelf): State<Shelf>, request: Request) -> Response {
    let path = request.uri().path();
    if path == "/v2/" {
        return StatusCode::OK.into_response();
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    match shelf.get(last) {
        None => StatusCode::NOT_FOUND.into_response(),
        Some((media_type, bytes)) => {
            let headers = [(header::CONTENT_TYPE, *media_type)];
            (headers, bytes.clone()).into_response()
        }
    }
}

fn put_image(shelf: &mut BTreeMap<String, (&'static str, Vec<u8>)>, tag: &str, version: &str) {
    let layer = layer(version);
    let labels = |kind: &str, value: &str| {
        (
            format!("operators.operatorframework.io.bundle.{kind}.v1"),
            json!(value),
        )
    };
    let labels: serde_json::Map<_, _> = [
        labels("package", "lantern"),
        labels("mediatype", "registry+v1"),
        labels("manifests", "manifests/"),
        labels("metadata", "metadata/"),
        labels("channels", "stable"),
    ]
    .into_iter()
    .collect();
    let config = json!({
        "architecture": "amd64", "os": "linux", "config": {"Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [digest(&layer)]},
    })
    .to_string()
    .into_bytes();
    let described = |media_type: &str, bytes: &[u8]| json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()});
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": described(CONFIG, &config), "layers": [described(LAYER, &layer)],
    })
    .to_string()
    .into_bytes();
    shelf.insert(digest(&config), (CONFIG, config));
    shelf.insert(digest(&layer), (LAYER, layer));
    shelf.insert(digest(&manifest), (MANIFEST, manifest.clone()));
    shelf.insert(tag.to_owned(), (MANIFEST, manifest));
}

/// Returns the manifests of a bundle.
fn layer(version: &str) -> Vec<u8> {
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": format!("lantern.v{version}"), "annotations": {}},
        "spec": {
            "version": version, "displayName": "Lantern", "description": format!("Lights, {version}"),
            "icon": [{"base64data": "aWNvbg==", "mediatype": "image/png"}],
            "install": {"strategy": "deployment", "spec": {"deployments": []}},
        },
    });
    let annotations = json!({"annotations": {
        "operators.operatorframework.io.bundle.package.v1": "lantern",
        "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
        "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
        "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
        "operators.operatorframework.io.bundle.channels.v1": "stable",
    }});
    let mut tar = tar::Builder::new(Vec::new());
    for (path, text) in [
        ("manifests/csv.yaml", csv.to_string()),
        ("metadata/annotations.yaml", annotations.to_string()),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes())
            .expect("memory takes it");
    }
    tar.into_inner().expect("memory takes it")
}

fn digest(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", hex.collect::<String>())
}

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
