//! The documents of an image: configuration, manifest and index, as OCI 1.1 specifies them. Their text is
//! deterministic, because maps are in the order of their keys.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::ImageError;
use super::layer::Layer;
use super::layout::Blob;
use crate::build::Build;

/// An environment variable of the program. By default, mimalloc keeps freed memory for a second. A server under attack
/// frees much more per second than it uses at any time. A program cannot set the variable itself, because mimalloc
/// reads it first.
pub(crate) const ENVIRONMENT: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "0");

/// The metadata of an image.
pub(super) struct About {
    version: String,
    processor: &'static str,
    date: Option<String>,
    labels: BTreeMap<&'static str, String>,
}

impl About {
    pub(super) fn new(build: &Build) -> Result<Self, ImageError> {
        let Build {
            target, package, ..
        } = build;
        let processor = target.architecture();
        let processor = processor.ok_or_else(|| ImageError::Processor(target.triple()))?;
        let mut labels = BTreeMap::from([
            ("org.opencontainers.image.title", package.name.clone()),
            (
                "org.opencontainers.image.description",
                package.description.clone(),
            ),
            ("org.opencontainers.image.licenses", package.license.clone()),
            ("org.opencontainers.image.version", package.version.clone()),
        ]);
        let commit = build.commit.as_ref();
        let (revision, date) = commit
            .map(|commit| (commit.revision.clone(), commit.date.clone()))
            .unzip();
        labels.extend(revision.map(|revision| ("org.opencontainers.image.revision", revision)));
        labels.extend(
            date.clone()
                .map(|date| ("org.opencontainers.image.created", date)),
        );
        Ok(Self {
            version: package.version.clone(),
            processor,
            date,
            labels,
        })
    }

    /// The configuration that a runtime reads.
    pub(super) fn configuration(&self, layer: &Layer) -> Vec<u8> {
        text(&Configuration {
            architecture: self.processor,
            os: "linux",
            created: self.date.as_deref(),
            config: json!({
                "User": "65532:65532",
                "Entrypoint": ["/olmguard"],
                "Env": [format!("{}={}", ENVIRONMENT.0, ENVIRONMENT.1)],
                "WorkingDir": "/",
                "ExposedPorts": {"8080/tcp": {}, "9443/tcp": {}},
                "Labels": self.labels,
            }),
            rootfs: json!({"type": "layers", "diff_ids": [layer.diff_id]}),
        })
    }

    /// The manifest that a registry reads.
    pub(super) fn manifest(&self, configuration: &Blob, layer: &Blob) -> Vec<u8> {
        text(&json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor("application/vnd.oci.image.config.v1+json", configuration),
            "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", layer)],
            "annotations": self.labels,
        }))
    }

    /// The entry of an index for this image and its processor.
    pub(super) fn entry(&self, manifest: &Blob) -> Descriptor {
        let platform = json!({"architecture": self.processor, "os": "linux"});
        let mut entry = descriptor(MANIFEST, manifest);
        entry.insert("platform", platform);
        entry
    }

    /// The entry of the top-level index of a layout, with the version as its name.
    pub(super) fn named(&self, mut entry: Descriptor) -> Descriptor {
        let name = json!({"org.opencontainers.image.ref.name": self.version});
        entry.insert("annotations", name);
        entry
    }
}

/// The index of a layout, or a list of images for several processors.
pub(super) fn index(entries: &[Descriptor]) -> Vec<u8> {
    text(&json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}))
}

/// The entry of an index for a list.
pub(super) fn descriptor_of(list: &Blob) -> Descriptor {
    descriptor(INDEX, list)
}

/// A reference to content in a document.
pub(super) type Descriptor = BTreeMap<&'static str, Value>;

#[derive(Serialize)]
struct Configuration<'a> {
    architecture: &'static str,
    os: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<&'a str>,
    config: Value,
    rootfs: Value,
}

fn text(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("every key is a text")
}

fn descriptor(media_type: &str, blob: &Blob) -> Descriptor {
    BTreeMap::from([
        ("mediaType", json!(media_type)),
        ("digest", json!(blob.digest)),
        ("size", json!(blob.size)),
    ])
}

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
