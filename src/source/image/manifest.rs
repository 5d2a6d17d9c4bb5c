//! Manifests of images, in the formats of OCI and of Docker version 2: their contents, and the choice of an image in an
//! index.
//!
//! Upstream: opencontainers/image-spec v1.1, `manifest.md` and `image-index.md`; distribution, `docs/spec`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::foreign_text::one_line;
use crate::source::digest::{DigestError, Sha256};

/// A reference of a manifest to other content.
#[derive(Clone, Debug)]
pub(super) struct Descriptor {
    /// The media type, or empty if the registry omits it.
    media_type: Box<str>,
    /// The digest of the content.
    pub(super) digest: Sha256,
    /// The size in bytes.
    pub(super) size: u64,
    /// The platform of an image.
    platform: Option<Platform>,
    /// The name of an image in a layout.
    pub(super) name: Option<Box<str>>,
}

/// An operating system and an architecture.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
struct Platform {
    #[serde(default)]
    os: Box<str>,
    #[serde(default)]
    architecture: Box<str>,
}

/// The two kinds of a manifest.
#[derive(Clone, Debug)]
pub(super) enum Manifest {
    /// A list of manifests, usually one for each architecture.
    Index(Vec<Descriptor>),
    /// One image.
    Image(ImageManifest),
}

/// The parts of one image.
#[derive(Clone, Debug)]
pub(super) struct ImageManifest {
    /// The configuration, which has the labels.
    pub(super) config: Descriptor,
    /// The layers of its file system, the lowest first.
    pub(super) layers: Vec<Descriptor>,
}

/// Why a manifest cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ManifestFault {
    /// The bytes are not the JSON of a manifest.
    #[error("manifest is not valid: {0}")]
    Json(Box<str>),
    /// The manifest could be an index as well as an image.
    #[error("manifest has both manifests and layers: expected one of the two")]
    Both,
    /// The manifest in an index is another index.
    #[error("index refers to another index: expected images")]
    Nested,
    /// The index is empty.
    #[error("index lists no image: expected at least one")]
    Empty,
    /// The media type is not that of an image.
    #[error(
        "manifest has the media type {found:?}: expected an image or an image index of OCI or \
         Docker version 2"
    )]
    MediaType {
        /// The media type.
        found: Box<str>,
    },
    /// The configuration is not that of an image. The manifest is another artifact, such as a chart or a signature.
    #[error("not a container image: its configuration has the media type {found:?}")]
    Artifact {
        /// The media type of the configuration.
        found: Box<str>,
    },
    /// A layer has an unsupported media type.
    #[error(
        "layer {digest} has the media type {found:?}: expected a tar archive, perhaps with gzip or zstd"
    )]
    Layer {
        /// The digest of the layer.
        digest: Sha256,
        /// The media type of the layer.
        found: Box<str>,
    },
    /// The manifest lists more than any image has.
    #[error("manifest lists {found} {what}: expected at most {limit}")]
    TooMany {
        /// The items of the list.
        what: &'static str,
        /// The number of items.
        found: usize,
        /// The maximum number of items.
        limit: usize,
    },
    /// A digest is not a SHA-256.
    #[error(transparent)]
    Digest(#[from] DigestError),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawManifest {
    media_type: Option<Box<str>>,
    config: Option<RawDescriptor>,
    layers: Option<Vec<RawDescriptor>>,
    manifests: Option<Vec<RawDescriptor>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDescriptor {
    #[serde(default)]
    media_type: Box<str>,
    digest: Box<str>,
    size: u64,
    platform: Option<Platform>,
    #[serde(default)]
    annotations: BTreeMap<Box<str>, Box<str>>,
}

/// A manifest as it was sent.
pub(super) struct SentManifest {
    pub(super) digest: Sha256,
    bytes: Vec<u8>,
    /// The media type of the response, or empty.
    media_type: String,
}

impl SentManifest {
    pub(super) fn new(bytes: Vec<u8>, media_type: String) -> Self {
        Self {
            digest: Sha256::of(&bytes),
            bytes,
            media_type,
        }
    }

    pub(super) fn parse(&self) -> Result<Manifest, ManifestFault> {
        Manifest::parse(&self.bytes, &self.media_type)
    }
}

impl Manifest {
    /// Parses a manifest. `sent_as` is the media type of the response, which counts if the manifest itself has none.
    pub(super) fn parse(bytes: &[u8], sent_as: &str) -> Result<Self, ManifestFault> {
        let raw: RawManifest = serde_json::from_slice(bytes).map_err(|error| json(&error))?;
        let sent_as = sent_as.split(';').next().unwrap_or_default().trim();
        let media_type = raw.media_type.as_deref().unwrap_or(sent_as);
        let is_index = INDEXES.contains(&media_type);
        let is_untold = UNTOLD.contains(&media_type);
        match raw {
            // Readers differ in which of the two they choose.
            RawManifest {
                manifests: Some(_),
                layers: Some(_),
                ..
            } => Err(ManifestFault::Both),
            RawManifest {
                manifests: Some(manifests),
                ..
            } if is_index || is_untold => {
                bounded("manifests", manifests.len(), MANIFESTS)?;
                Ok(Self::Index(descriptors(manifests)?))
            }
            RawManifest {
                config: Some(config),
                layers: Some(layers),
                ..
            } if IMAGES.contains(&media_type) || is_untold => {
                ImageManifest::of(config, layers).map(Self::Image)
            }
            _ => Err(ManifestFault::MediaType {
                found: one_line(media_type).into(),
            }),
        }
    }
}

impl ImageManifest {
    /// The size of all layers in bytes, as they are pulled.
    pub(super) fn bytes(&self) -> u64 {
        let sizes = self.layers.iter().map(|layer| layer.size);
        sizes.fold(0, u64::saturating_add)
    }

    fn of(config: RawDescriptor, layers: Vec<RawDescriptor>) -> Result<Self, ManifestFault> {
        if !CONFIGS.contains(&&*config.media_type) {
            let found = one_line(&config.media_type).into();
            return Err(ManifestFault::Artifact { found });
        }
        bounded("layers", layers.len(), LAYERS)?;
        let config = Descriptor::try_from(config)?;
        let layers = descriptors(layers)?;
        match layers
            .iter()
            .find(|layer| !LAYER_TYPES.contains(&&*layer.media_type))
        {
            None => Ok(Self { config, layers }),
            Some(layer) => Err(ManifestFault::Layer {
                digest: layer.digest,
                found: one_line(&layer.media_type).into(),
            }),
        }
    }
}

impl TryFrom<RawDescriptor> for Descriptor {
    type Error = ManifestFault;

    fn try_from(raw: RawDescriptor) -> Result<Self, ManifestFault> {
        let RawDescriptor {
            media_type,
            digest,
            size,
            platform,
            mut annotations,
        } = raw;
        Ok(Self {
            media_type,
            digest: digest.parse()?,
            size,
            platform,
            name: annotations.remove(NAME),
        })
    }
}

impl Descriptor {
    /// Ranks the image: lower is better. The content of catalogs and bundles is the same for all architectures, so any
    /// image of an index will do, but all machines must choose the same one.
    fn distance(&self) -> u8 {
        let Some(Platform { os, architecture }) = &self.platform else {
            return 2;
        };
        match (&**os, &**architecture) {
            ("linux", "amd64") => 0,
            ("linux", _) => 1,
            // The attestations of a build have an unknown platform.
            ("unknown", _) => 4,
            _ => 3,
        }
    }
}

/// Returns the image of an index to read.
pub(super) fn preferred(images: Vec<Descriptor>) -> Option<Descriptor> {
    images.into_iter().min_by_key(Descriptor::distance)
}

/// Returns the labels of an image, from its configuration.
pub(super) fn labels(config: &[u8]) -> Result<BTreeMap<String, String>, ManifestFault> {
    #[derive(Deserialize)]
    struct ConfigFile {
        config: Option<ImageConfig>,
    }
    #[derive(Deserialize)]
    struct ImageConfig {
        #[serde(rename = "Labels")]
        labels: Option<BTreeMap<String, String>>,
    }
    let config: ConfigFile = serde_json::from_slice(config).map_err(|error| json(&error))?;
    Ok(config
        .config
        .and_then(|inner| inner.labels)
        .unwrap_or_default())
}

fn descriptors(raw: Vec<RawDescriptor>) -> Result<Vec<Descriptor>, ManifestFault> {
    raw.into_iter().map(Descriptor::try_from).collect()
}

fn bounded(what: &'static str, found: usize, limit: usize) -> Result<(), ManifestFault> {
    if found > limit {
        return Err(ManifestFault::TooMany { what, found, limit });
    }
    Ok(())
}

fn json(error: &serde_json::Error) -> ManifestFault {
    ManifestFault::Json(one_line(&error.to_string()).into())
}

/// The media types that a client accepts.
pub(super) const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, \
     application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, \
     application/vnd.docker.distribution.manifest.v2+json";

const INDEXES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];

const IMAGES: [&str; 2] = [
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// The media types of a server that does not know the kind of a file.
const UNTOLD: [&str; 3] = ["", "application/json", "application/octet-stream"];

const CONFIGS: [&str; 2] = [
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
];

const LAYER_TYPES: [&str; 6] = [
    "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
    "application/vnd.docker.image.rootfs.diff.tar.zstd",
];

/// The annotation with the name of an image in a layout.
const NAME: &str = "org.opencontainers.image.ref.name";

/// The largest manifest, which registries must accept according to the distribution spec.
pub(super) const MANIFEST_BYTES: u64 = 4 << 20;

/// The maximum number of layers. Overlay file systems support at most 500.
const LAYERS: usize = 500;

const MANIFESTS: usize = 1000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn descriptor(media_type: &str, platform: &str) -> Value {
        let (os, architecture) = platform.split_once('/').unwrap_or_default();
        json!({
            "mediaType": media_type, "size": 1, "digest": Sha256::of(platform.as_bytes()).to_string(),
            "platform": {"os": os, "architecture": architecture},
        })
    }

    fn image(config: &str, layer: &str, layers: usize) -> Value {
        json!({
            "mediaType": IMAGES[0], "config": descriptor(config, ""),
            "layers": vec![descriptor(layer, ""); layers],
        })
    }

    fn fault(manifest: &Value, sent_as: &str) -> String {
        let parsed = Manifest::parse(manifest.to_string().as_bytes(), sent_as);
        parsed.unwrap_err().to_string()
    }

    #[test]
    fn images_of_oci_and_docker_are_read() {
        for at in 0..2 {
            for layer in LAYER_TYPES {
                let mut manifest = image(CONFIGS[at], layer, 2);
                manifest["mediaType"] = IMAGES[at].into();
                let parsed = Manifest::parse(manifest.to_string().as_bytes(), "text/plain");
                assert!(matches!(parsed, Ok(Manifest::Image(image)) if image.layers.len() == 2));
            }
        }
    }

    #[test]
    fn the_type_of_the_answer_counts_where_the_manifest_has_none() {
        let mut manifest = image(CONFIGS[0], LAYER_TYPES[0], 1);
        manifest.as_object_mut().unwrap().remove("mediaType");
        for sent_as in ["", IMAGES[1], "application/json; charset=utf-8"] {
            assert!(
                Manifest::parse(manifest.to_string().as_bytes(), sent_as).is_ok(),
                "{sent_as}"
            );
        }
        assert!(fault(&manifest, "text/html").contains("media type \"text/html\""));
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let helm = "application/vnd.cncf.helm.config.v1+json";
        assert!(fault(&image(helm, LAYER_TYPES[0], 1), "").contains("not a container image"));
        assert!(fault(&image(CONFIGS[0], "text/plain", 1), "").contains("expected a tar archive"));
        assert!(fault(&image(CONFIGS[0], LAYER_TYPES[0], 10_000), "").contains("10000 layers"));
        assert!(fault(&json!([]), "").contains("manifest is not valid"));
        let mut both = image(CONFIGS[0], LAYER_TYPES[0], 1);
        both["manifests"] = json!([]);
        assert!(fault(&both, "").contains("both manifests and layers"));
        let schema1 = json!({"schemaVersion": 1, "fsLayers": []});
        let sent_as = "application/vnd.docker.distribution.manifest.v1+prettyjws";
        assert!(fault(&schema1, sent_as).contains("manifest.v1+prettyjws"));
    }

    #[test]
    fn linux_on_amd64_is_preferred_and_attestations_are_the_last() {
        let preferred_of = |platforms: &[&str]| {
            let manifests = platforms
                .iter()
                .map(|platform| descriptor(IMAGES[0], platform));
            let index =
                json!({"mediaType": INDEXES[0], "manifests": manifests.collect::<Vec<_>>()});
            let parsed = Manifest::parse(index.to_string().as_bytes(), "");
            let Ok(Manifest::Index(images)) = parsed else {
                panic!("{parsed:?}");
            };
            preferred(images).map(|image| image.digest)
        };
        let of = |platform: &str| Some(Sha256::of(platform.as_bytes()));
        let all = [
            "unknown/unknown",
            "linux/s390x",
            "windows/amd64",
            "linux/amd64",
        ];
        for most in [4, 3, 2, 1] {
            let expected = [
                "unknown/unknown",
                "linux/s390x",
                "linux/s390x",
                "linux/amd64",
            ];
            assert_eq!(preferred_of(&all[..most]), of(expected[most - 1]));
        }
        assert_eq!(preferred_of(&[]), None);
    }

    #[test]
    fn labels_may_be_missing() {
        for config in [
            "{}",
            r#"{"config": null}"#,
            r#"{"config": {"Labels": null}}"#,
        ] {
            assert_eq!(labels(config.as_bytes()), Ok(BTreeMap::new()));
        }
        let labels = labels(br#"{"config": {"Labels": {"a": "b"}}}"#).unwrap();
        assert_eq!(labels["a"], "b");
    }
}
