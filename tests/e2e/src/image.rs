//! Images that the tests build: one layer, a configuration and a manifest.
//!
//! The layer of a catalog has `configs/`, the directory in its label. The layer of a bundle has
//! `manifests/` and `metadata/`, as in the format `registry+v1`. The same content has the same
//! digest.

pub(crate) mod bundle;

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use oci_spec::image::{
    Arch, ConfigBuilder, Descriptor, ImageConfigurationBuilder, ImageManifestBuilder, MediaType,
    Os, RootFsBuilder, SCHEMA_VERSION, Sha256Digest,
};
use sha2::{Digest, Sha256};

use bundle::BundleSource;

/// An image that is ready to be pushed.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) layer: Blob,
    pub(crate) config: Blob,
    pub(crate) manifest: Blob,
}

/// Bytes and their digest.
#[derive(Debug, Clone)]
pub(crate) struct Blob {
    /// The digest, for example `sha256:3b...`.
    pub(crate) digest: String,
    pub(crate) bytes: Vec<u8>,
}

impl Image {
    /// Returns a catalog of these JSON lines.
    pub(crate) fn catalog(fbc: &str) -> Result<Self> {
        let label = (
            "operators.operatorframework.io.index.configs.v1",
            "/configs",
        );
        Self::new(&[("configs/catalog.jsonl", fbc.as_bytes())], &[label])
    }

    /// Returns the smallest bundle that can be installed: a Deployment without pods.
    pub(crate) fn bundle(package: &str, name: &str, version: &str) -> Result<Self> {
        BundleSource::new(package, name, version).image()
    }

    fn new(files: &[(&str, &[u8])], labels: &[(&str, &str)]) -> Result<Self> {
        let content = archive(files)?;
        let layer = Blob::new(gzip(&content)?);
        let config = Blob::new(configuration(&sha256(&content), labels)?);
        let manifest = ImageManifestBuilder::default()
            .schema_version(SCHEMA_VERSION)
            .media_type(MediaType::ImageManifest)
            .config(config.descriptor(MediaType::ImageConfig)?)
            .layers(vec![layer.descriptor(MediaType::ImageLayerGzip)?])
            .build()?;
        Ok(Self {
            layer,
            config,
            manifest: Blob::new(serde_json::to_vec(&manifest)?),
        })
    }
}

impl Blob {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            digest: sha256(&bytes),
            bytes,
        }
    }

    fn descriptor(&self, media_type: MediaType) -> Result<Descriptor> {
        let hex = self.digest.trim_start_matches("sha256:");
        let digest: Sha256Digest = hex.parse()?;
        Ok(Descriptor::new(
            media_type,
            self.bytes.len().try_into()?,
            digest,
        ))
    }
}

fn configuration(content: &str, labels: &[(&str, &str)]) -> Result<Vec<u8>> {
    let labels: HashMap<String, String> = labels
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let root = RootFsBuilder::default()
        .typ("layers")
        .diff_ids(vec![content.to_owned()])
        .build()?;
    let configuration = ImageConfigurationBuilder::default()
        .architecture(Arch::Amd64)
        .os(Os::Linux)
        .config(ConfigBuilder::default().labels(labels).build()?)
        .rootfs(root)
        .build()?;
    // Serialized through a value, whose keys are sorted: a hash map has no order.
    Ok(serde_json::to_vec(&serde_json::to_value(configuration)?)?)
}

fn archive(files: &[(&str, &[u8])]) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(content.len().try_into()?);
        archive.append_data(&mut header, path, *content)?;
    }
    Ok(archive.into_inner()?)
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

fn sha256(bytes: &[u8]) -> String {
    let digest = base16ct::lower::encode_string(&Sha256::digest(bytes));
    format!("sha256:{digest}")
}
