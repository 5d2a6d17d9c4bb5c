//! What an image says about itself: configuration, manifest and index, by the image specification
//! of OCI 1.1. Their texts are always the same: maps are in the order of their keys.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::ImageError;
use super::layer::Layer;
use super::layout::Blob;
use crate::build::{Package, Target};
use crate::commit::Commit;

/// Whose image it is, and of what.
pub(super) struct About {
    version: String,
    processor: &'static str,
    date: Option<String>,
    labels: BTreeMap<&'static str, String>,
}

impl About {
    pub(super) fn new(
        package: &Package,
        commit: Option<&Commit>,
        target: Target,
    ) -> Result<Self, ImageError> {
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

    /// What a runtime goes by.
    pub(super) fn configuration(&self, layer: &Layer) -> Vec<u8> {
        text(&Configuration {
            architecture: self.processor,
            os: "linux",
            created: self.date.as_deref(),
            config: json!({
                "User": "65532:65532",
                "Entrypoint": ["/olmguard"],
                "WorkingDir": "/",
                "ExposedPorts": {"8080/tcp": {}, "9443/tcp": {}},
                "Labels": self.labels,
            }),
            rootfs: json!({"type": "layers", "diff_ids": [layer.diff_id]}),
        })
    }

    /// What a registry goes by.
    pub(super) fn manifest(&self, configuration: &Blob, layer: &Blob) -> Vec<u8> {
        text(&json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor("application/vnd.oci.image.config.v1+json", configuration),
            "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", layer)],
            "annotations": self.labels,
        }))
    }

    /// What the layout holds: this one image, named by its version.
    pub(super) fn index(&self, manifest: &Blob) -> Vec<u8> {
        text(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [{
                "mediaType": MANIFEST,
                "digest": manifest.digest,
                "size": manifest.size,
                "platform": {"architecture": self.processor, "os": "linux"},
                "annotations": {"org.opencontainers.image.ref.name": self.version},
            }],
        }))
    }
}

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

fn descriptor(media_type: &str, blob: &Blob) -> Value {
    json!({"mediaType": media_type, "digest": blob.digest, "size": blob.size})
}

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
