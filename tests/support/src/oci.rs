//! Images for tests, in a layout on disk or in a scripted registry on loopback.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use ring::digest::{SHA256, digest};
use rustls::ServerConfig;
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};
use tokio::runtime::Runtime;

use crate::catalogd::answer::{Answer, gzip};
use crate::catalogd::scripted::{Asked, Scripted};

/// A complete image.
#[derive(Clone, Debug, Default)]
pub struct TestImage {
    /// The blobs, including manifests, by their digests.
    pub blobs: BTreeMap<String, Vec<u8>>,
    /// The digest of the top manifest.
    pub top: String,
}

/// A tar archive that is being built.
pub struct Layer(Builder<Vec<u8>>);

impl Layer {
    /// Creates a layer with these files.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut layer = Self(Builder::new(Vec::new()));
        for (path, content) in files {
            layer.add(path, EntryType::Regular, "", content.as_bytes());
        }
        layer
    }

    /// Adds a link.
    pub fn link(mut self, path: &str, kind: EntryType, target: &str) -> Self {
        self.add(path, kind, target, b"");
        self
    }

    /// Adds a file with any name.
    pub fn file(mut self, path: &str, content: &[u8]) -> Self {
        self.add(path, EntryType::Regular, "", content);
        self
    }

    fn add(&mut self, path: &str, kind: EntryType, target: &str, content: &[u8]) {
        let mut header = Header::new_gnu();
        // The name is set directly, because the library refuses the names that some tests need.
        let name = &mut header.as_gnu_mut().expect("it is GNU").name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        let link = &mut header.as_gnu_mut().expect("it is GNU").linkname;
        link[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        self.0.append(&header, content).expect("memory takes it");
    }

    /// Returns the layer as it is sent.
    pub fn gzip(self) -> Vec<u8> {
        gzip(&self.tar())
    }

    pub fn tar(self) -> Vec<u8> {
        self.0.into_inner().expect("memory takes it")
    }
}

impl TestImage {
    /// An image with these labels and layers.
    pub fn new(labels: &Value, layers: &[Vec<u8>]) -> Self {
        let mut image = Self::default();
        let config = json!({"config": {"Labels": labels}}).to_string();
        let config = image.listed("application/vnd.oci.image.config.v1+json", config.into());
        let kind = "application/vnd.oci.image.layer.v1.tar+gzip";
        let layers = layers.iter().map(|layer| image.listed(kind, layer.clone()));
        let layers: Vec<_> = layers.collect();
        image.set(&json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers,
        }));
        image
    }

    /// Creates the image of a catalog, with its files in `/configs`.
    pub fn catalog(layers: &[Vec<u8>]) -> Self {
        Self::new(&json!({CONFIGS: "/configs"}), layers)
    }

    /// Puts an index on top of this image.
    pub fn index(mut self) -> Self {
        let size = self.blobs[&self.top].len();
        let listed = json!({
            "mediaType": MANIFEST, "digest": self.top, "size": size,
            "platform": {"os": "linux", "architecture": "amd64"},
        });
        self.set(&json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [listed]}));
        self
    }

    /// Sets the manifest on top.
    pub fn set(&mut self, manifest: &Value) {
        self.top = self.put(manifest.to_string().into());
    }

    /// Returns the manifest on top.
    pub fn manifest(&self) -> Value {
        serde_json::from_slice(&self.blobs[&self.top]).expect("it is JSON")
    }

    fn listed(&mut self, media_type: &str, bytes: Vec<u8>) -> Value {
        let size = bytes.len();
        json!({"mediaType": media_type, "digest": self.put(bytes), "size": size})
    }

    fn put(&mut self, bytes: Vec<u8>) -> String {
        let name = name(&bytes);
        self.blobs.insert(name.clone(), bytes);
        name
    }

    /// Writes a layout with this image under a name.
    pub fn write(&self, folder: &Path, tag: &str) {
        let blobs = folder.join("blobs/sha256");
        fs::create_dir_all(&blobs).expect("a directory");
        for (name, bytes) in &self.blobs {
            let name = name.trim_start_matches("sha256:");
            fs::write(blobs.join(name), bytes).expect("a file");
        }
        let listed = json!({
            "mediaType": MANIFEST, "digest": self.top, "size": self.blobs[&self.top].len(),
            "annotations": {"org.opencontainers.image.ref.name": tag},
        });
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [listed]});
        fs::write(folder.join("index.json"), index.to_string()).expect("a file");
        fs::write(
            folder.join("oci-layout"),
            r#"{"imageLayoutVersion": "1.0.0"}"#,
        )
        .expect("a file");
    }

    /// Returns the answer of a registry that has this image under the tag `v1`.
    pub fn answer(&self, asked: &Asked) -> Answer {
        let path = asked.head.split(' ').nth(1).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let name = if name == "v1" { &self.top } else { name };
        match self.blobs.get(name) {
            Some(bytes) if path.contains("/manifests/") => {
                let manifest: Value = serde_json::from_slice(bytes).unwrap_or_default();
                let kind = manifest["mediaType"].as_str().unwrap_or(MANIFEST);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                    bytes.len()
                );
                Answer::raw(&[head.as_bytes(), bytes].concat())
            }
            Some(bytes) => Answer::ok(bytes),
            None => Answer::status("404 Not Found"),
        }
    }
}

/// A running registry, which stops when it is dropped.
pub struct TestRegistry {
    server: Scripted,
    _runtime: Runtime,
}

impl TestRegistry {
    /// Starts a registry that has this image under the tag `v1` in every repository.
    pub fn of(image: TestImage) -> Self {
        Self::scripted(move |asked| image.answer(asked))
    }

    /// Starts a registry with this script.
    pub fn scripted(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::on(Scripted::plain(script))
    }

    /// Starts a registry that has this image, with this TLS configuration.
    pub fn tls(config: ServerConfig, image: TestImage) -> Self {
        Self::on(Scripted::tls(config, move |asked| image.answer(asked)))
    }

    fn on(server: impl Future<Output = Scripted>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let server = runtime.block_on(server);
        Self {
            server,
            _runtime: runtime,
        }
    }

    /// Returns the name of an image in this registry.
    pub fn image(&self, rest: &str) -> String {
        format!("localhost:{}/{rest}", self.server.port())
    }

    /// Returns the requested paths in order.
    pub fn paths(&self) -> Vec<String> {
        let asked = self.server.asked().into_iter();
        let path = |one: Asked| one.head.split(' ').nth(1).unwrap_or_default().to_owned();
        asked.map(path).collect()
    }

    /// Measures the download of a blob that is not kept.
    pub fn download(&self, blob: &[u8]) -> Duration {
        let began = Instant::now();
        let mut stream =
            TcpStream::connect(self.image("").trim_end_matches('/')).expect("it listens");
        write!(stream, "GET /v2/a/blobs/{} HTTP/1.1\r\n\r\n", name(blob)).expect("it reads");
        let mut input = BufReader::new(stream);
        let mut line = String::from(" ");
        while !line.trim().is_empty() {
            line.clear();
            input.read_line(&mut line).expect("a head");
        }
        let size = blob.len() as u64;
        let read = io::copy(&mut input.take(size), &mut io::sink());
        assert_eq!(read.expect("a body"), size);
        began.elapsed()
    }

    /// Returns all requests.
    pub fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }
}

/// Returns the digest of these bytes.
pub fn name(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    let hex: Vec<_> = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{}", hex.concat())
}

/// The label with the directory of a catalog's files.
pub const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
