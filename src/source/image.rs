//! Images of catalogs and bundles: from a registry, or from a layout on disk.
//!
//! ```text
//! oci:HOST/REPOSITORY:TAG  --Registry--.                                       .--> layer --> ImageTree
//! oci-layout:DIRECTORY[:NAME] --Layout--+--> manifest, labels --> layers, each +--> digest   |
//! oci-archive:FILE[:NAME]  ----Layout--'                                      '             v
//!                                                  directory of the store, which is read as any other
//! ```
//!
//! No layer is held: it is unpacked as it comes, and only what is read of the image reaches the disk. Nothing counts
//! before its digest is the one that the manifest names. What was unpacked once is found by the digest of the
//! manifest; of a tag only that is asked for again.
//!
//! Upstream: operator-controller, [`internal/shared/util/image/pull.go`] and
//! [`internal/catalogd/storage/localdir.go`]; opencontainers/image-spec v1.1.
//!
//! [`internal/shared/util/image/pull.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/image/pull.go
//! [`internal/catalogd/storage/localdir.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/catalogd/storage/localdir.go

mod answer;
mod containers;
mod credentials;
mod layer;
mod layout;
mod manifest;
mod mirrors;
mod pull;
mod reference;
mod registry;
mod store;
#[cfg(test)]
mod tests;
mod tree;

pub use answer::RegistryFault;
pub use containers::ContainersFault;
pub use credentials::CredentialsFault;
pub use layer::LayerFault;
pub use layout::LayoutFault;
pub use manifest::ManifestFault;
pub use mirrors::{BlockedPlace, MirrorsFault, TableFault};
pub use reference::{ImagePlace, ImagePlaceError, ImageReference, ReferenceFault};
pub use store::UnpackedImage;
pub use tree::{TreeFault, WriteFault};

use std::collections::BTreeMap;
use std::io;
use std::thread;
use std::time::Duration;

use crate::foreign_text::one_line;
use crate::source::Progress;
use crate::source::digest::Sha256;
use manifest::MANIFEST_BYTES;
use pull::{ImageParts, SentManifest, is_expected};
use registry::RegistryAccess;
use store::ImageStore;
use tree::{ImageTree, KeptFolders};

/// What an image is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ImageKind {
    /// A file-based catalog.
    Catalog,
    /// A bundle of registry+v1.
    Bundle,
}

/// Why an image cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct ImageError {
    /// The image, as it was named.
    pub place: Box<ImagePlace>,
    /// What is wrong.
    pub fault: Box<UnpackFault>,
}

/// What is wrong with an image, or on the way to it.
#[derive(Debug, thiserror::Error)]
pub enum UnpackFault {
    /// The registry does not give it.
    #[error(transparent)]
    Registry(#[from] RegistryFault),
    /// Something is wrong at a place that `registries.conf` names instead of the reference.
    #[error("at {image}: {fault}")]
    Elsewhere {
        /// The image, as the place names it.
        image: Box<str>,
        /// What is wrong.
        fault: Box<Self>,
    },
    /// The layout does not have it.
    #[error(transparent)]
    Layout(#[from] LayoutFault),
    /// Its manifest, or its configuration.
    #[error(transparent)]
    Manifest(#[from] ManifestFault),
    /// One of its layers.
    #[error("layer {digest}: {fault}")]
    Layer {
        /// The layer.
        digest: Sha256,
        /// What is wrong with it.
        fault: LayerFault,
    },
    /// Something has other bytes than its digest says.
    #[error("{what} has the digest {found}, expected {expected}")]
    Digest {
        /// The manifest, the configuration, or a layer.
        what: &'static str,
        /// The digest of what came.
        found: Sha256,
        /// The digest that was asked for.
        expected: Sha256,
    },
    /// Its layers are larger than the layers of any catalog.
    #[error("layers have {bytes} bytes: expected at most {PULLED}")]
    TooLarge {
        /// What the manifest says.
        bytes: u64,
    },
    /// The configuration is larger than any.
    #[error("configuration has {bytes} bytes: expected at most {MANIFEST_BYTES}")]
    Config {
        /// What the manifest says.
        bytes: u64,
    },
    /// It is not the image of a catalog.
    #[error("has no label {CONFIGS}: expected the image of a file-based catalog")]
    NoCatalog,
    /// The label names something outside.
    #[error("label {CONFIGS} is {found:?}: expected a directory of the image")]
    Label {
        /// The value.
        found: Box<str>,
    },
    /// What is meant is not in it.
    #[error("has no directory /{folder}: expected one with {what}")]
    NoFolder {
        /// The directory.
        folder: Box<str>,
        /// What should be there.
        what: &'static str,
    },
    /// Its files cannot be written.
    #[error(transparent)]
    Write(#[from] WriteFault),
    /// The directory of images cannot be used.
    #[error("cannot keep it in the directory of images: {0}")]
    Store(io::Error),
    /// A fault of ours.
    #[error("internal fault: the thread that reads it was lost; please report this")]
    Lost,
}

impl ImagePlace {
    /// The image on disk, unpacked. It waits for a registry.
    ///
    /// # Errors
    /// Whatever is wrong with it. Nothing of it stays then.
    pub fn unpacked(
        &self,
        kind: ImageKind,
        progress: &Progress,
    ) -> Result<UnpackedImage, ImageError> {
        // On a thread of its own, since the caller's may belong to a runtime.
        let unpack = || ImageReader::of_user(kind)?.unpack(self, kind, progress);
        let unpacked = thread::scope(|scope| scope.spawn(unpack).join());
        let unpacked = unpacked.unwrap_or(Err(UnpackFault::Lost));
        unpacked.map_err(|fault| ImageError {
            place: Box::new(self.clone()),
            fault: Box::new(fault),
        })
    }
}

impl UnpackFault {
    /// The fault at a place, which is named if the reference names another.
    fn at(self, place: &ImageReference, named: &ImageReference) -> Self {
        if place == named {
            return self;
        }
        Self::Elsewhere {
            image: place.to_string().into(),
            fault: Box::new(self),
        }
    }
}

/// Reads images, into a store.
struct ImageReader {
    store: ImageStore,
    access: RegistryAccess,
}

impl ImageReader {
    fn of_user(kind: ImageKind) -> Result<Self, UnpackFault> {
        let store = ImageStore::of_user().map_err(UnpackFault::Store)?;
        let access = RegistryAccess::of_user(kind.longest());
        Ok(Self { store, access })
    }

    fn unpack(
        &self,
        place: &ImagePlace,
        kind: ImageKind,
        progress: &Progress,
    ) -> Result<UnpackedImage, UnpackFault> {
        let known = |digest: Sha256| self.store.find(&kind.name(digest));
        if let Some(image) = place.digest().and_then(known) {
            return Ok(image);
        }
        let (mut source, top) = ImageParts::open(place, &self.access)?;
        let expected = place.digest().unwrap_or(top.digest);
        let unpacked = is_expected("manifest", top.digest, expected).and_then(|()| {
            known(top.digest)
                .map_or_else(|| self.unpack_parts(&mut source, &top, kind, progress), Ok)
        });
        unpacked.map_err(|fault| source.located(place, fault))
    }

    /// The image with this manifest, from its parts.
    fn unpack_parts(
        &self,
        source: &mut ImageParts<'_>,
        top: &SentManifest,
        kind: ImageKind,
        progress: &Progress,
    ) -> Result<UnpackedImage, UnpackFault> {
        let image = source.image(top)?;
        let labels = manifest::labels(&source.config(&image.config)?)?;
        let kept = kind.kept(&labels)?;
        let partial = self.store.begin().map_err(UnpackFault::Store)?;
        let tree = source.tree(&image, &kept, &partial.pieces(), progress)?;
        kind.check(&tree, &kept)?;
        tree.write(&partial.content())?;
        let name = kind.name(top.digest);
        let image = self.store.finish(&partial, &name, kind.root(&kept));
        image.map_err(UnpackFault::Store)
    }
}

impl ImageKind {
    /// How long one part of an image may take. Stores of blobs send from files, over a network that may be far. A bundle is
    /// small, and others wait for it where images are read ahead.
    fn longest(self) -> Duration {
        Duration::from_mins(match self {
            Self::Catalog => 30,
            Self::Bundle => 2,
        })
    }

    /// The name of an image in the store.
    fn name(self, digest: Sha256) -> String {
        let kind = match self {
            Self::Catalog => "catalog",
            Self::Bundle => "bundle",
        };
        format!("{kind}-{}", digest.hex())
    }

    /// The directories that are read.
    fn kept(self, labels: &BTreeMap<String, String>) -> Result<KeptFolders, UnpackFault> {
        match self {
            Self::Bundle => Ok(KeptFolders(BUNDLE.map(Into::into).into())),
            Self::Catalog => {
                let label = labels.get(CONFIGS).ok_or(UnpackFault::NoCatalog)?;
                let parts = label.split('/');
                let parts: Vec<_> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
                if parts.contains(&"..") {
                    let found = one_line(label).into();
                    return Err(UnpackFault::Label { found });
                }
                Ok(KeptFolders(vec![parts.join("/").into()]))
            }
        }
    }

    /// Refuses an image without what it should be of. If nothing at all is there, that is an answer: the image has no
    /// bundle.
    fn check(self, tree: &ImageTree, kept: &KeptFolders) -> Result<(), UnpackFault> {
        let what = match self {
            Self::Catalog => "the files of the catalog, as its label says",
            Self::Bundle => "the files of a bundle",
        };
        let is_there = |folder: &str| match self {
            Self::Catalog => tree.is_folder(folder),
            Self::Bundle => tree.is_folder(folder) || !tree.has(folder),
        };
        let mut folders = kept.0.iter();
        let missing = folders.find(|folder| !is_there(folder));
        missing.map_or(Ok(()), |folder| {
            let folder = one_line(folder).into();
            Err(UnpackFault::NoFolder { folder, what })
        })
    }

    /// The directory that is meant, in the image.
    fn root(self, kept: &KeptFolders) -> &str {
        match (self, kept.0.first()) {
            (Self::Catalog, Some(folder)) => folder,
            _ => "",
        }
    }
}

/// The label with the directory of a catalog.
const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

/// What operator-controller reads of a bundle.
const BUNDLE: [&str; 2] = ["manifests", "metadata"];

/// How many bytes of layers are pulled at most.
const PULLED: u64 = 8 << 30;
