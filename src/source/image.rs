//! Images of catalogs and bundles, from a registry or from a layout on disk.
//!
//! ```text
//! oci:HOST/REPOSITORY:TAG  --Registry--.                                       .--> layer --> ImageTree
//! oci-layout:DIRECTORY[:NAME] --Layout--+--> manifest, labels --> layers, each +--> digest   |
//! oci-archive:FILE[:NAME]  ----Layout--'                                      '             v
//!                                                  directory of the store, which is read as any other
//! ```
//!
//! Layers are never kept: they are unpacked as they arrive, and only the directories that are needed reach the disk.
//! Content is used only after its digest has been compared with the one in the manifest. Unpacked images are cached by
//! the digest of their manifest, so for a tag only the manifest is requested again.
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
use manifest::{MANIFEST_BYTES, SentManifest};
use pull::{ImageParts, is_expected};
use registry::RegistryAccess;
use store::ImageStore;
use tree::{ImageTree, KeptFolders};

/// The kind of content of an image.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ImageKind {
    /// A file-based catalog.
    Catalog,
    /// A registry+v1 bundle.
    Bundle,
}

/// Why an image cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct ImageError {
    /// The image, as the user named it.
    pub place: Box<ImagePlace>,
    /// The fault.
    pub fault: Box<UnpackFault>,
}

/// The faults of an image, or of reaching it.
#[derive(Debug, thiserror::Error)]
pub enum UnpackFault {
    /// The registry does not serve it.
    #[error(transparent)]
    Registry(#[from] RegistryFault),
    /// A fault at a place that `registries.conf` uses instead of the reference.
    #[error("at {image}: {fault}")]
    Elsewhere {
        /// The image, as the place names it.
        image: Box<str>,
        /// The fault.
        fault: Box<Self>,
    },
    /// The layout does not have the image, or cannot be read.
    #[error(transparent)]
    Layout(#[from] LayoutFault),
    /// A fault of the manifest or of the configuration.
    #[error(transparent)]
    Manifest(#[from] ManifestFault),
    /// A fault of a layer.
    #[error("layer {digest}: {fault}")]
    Layer {
        /// The digest of the layer.
        digest: Sha256,
        /// The fault.
        fault: LayerFault,
    },
    /// The content of a part does not match its digest.
    #[error("{what} has the digest {found}, expected {expected}")]
    Digest {
        /// The manifest, the configuration, or a layer.
        what: &'static str,
        /// The digest of the content.
        found: Sha256,
        /// The digest that was requested.
        expected: Sha256,
    },
    /// The layers are larger than those of any catalog.
    #[error("layers have {bytes} bytes: expected at most {PULLED}")]
    TooLarge {
        /// The size in the manifest.
        bytes: u64,
    },
    /// The configuration is larger than the limit.
    #[error("configuration has {bytes} bytes: expected at most {MANIFEST_BYTES}")]
    Config {
        /// The size in the manifest.
        bytes: u64,
    },
    /// The image is not that of a catalog.
    #[error("has no label {CONFIGS}: expected the image of a file-based catalog")]
    NoCatalog,
    /// The label names a directory outside the image.
    #[error("label {CONFIGS} is {found:?}: expected a directory of the image")]
    Label {
        /// The value of the label.
        found: Box<str>,
    },
    /// The image does not have the directory to read.
    #[error("has no directory /{folder}: expected one with {what}")]
    NoFolder {
        /// The directory.
        folder: Box<str>,
        /// The expected content of the directory.
        what: &'static str,
    },
    /// The files cannot be written.
    #[error(transparent)]
    Write(#[from] WriteFault),
    /// The directory of cached images cannot be used.
    #[error("cannot keep it in the directory of images: {0}")]
    Store(io::Error),
    /// A thread ended before its work was done, which is a bug.
    #[error("internal fault: the thread that reads it was lost; please report this")]
    Lost,
}

impl ImagePlace {
    /// Unpacks the image, or finds it in the cache. Blocks while it is pulled from a registry.
    ///
    /// # Errors
    /// Fails if the image cannot be read. Nothing of it is kept then.
    pub fn unpacked(
        &self,
        kind: ImageKind,
        progress: &Progress,
    ) -> Result<UnpackedImage, ImageError> {
        // On a separate thread, because the caller's thread may belong to a runtime.
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
    /// Returns the fault with its place, if that differs from the reference.
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

/// A reader of images, which unpacks them into a store.
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

    /// Unpacks the image with this manifest from its parts.
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
    /// Returns the time limit of each request and of the whole image. Registries send blobs from files, perhaps over a
    /// slow network. A bundle is small, and other work waits for it when images are read ahead.
    fn longest(self) -> Duration {
        Duration::from_mins(match self {
            Self::Catalog => 30,
            Self::Bundle => 2,
        })
    }

    /// Returns the name of an image in the store.
    fn name(self, digest: Sha256) -> String {
        let kind = match self {
            Self::Catalog => "catalog",
            Self::Bundle => "bundle",
        };
        format!("{kind}-{}", digest.hex())
    }

    /// Returns the directories to read.
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

    /// Refuses an image without the expected content. A bundle may have neither directory: that means that the image
    /// has no bundle.
    fn check(self, tree: &ImageTree, kept: &KeptFolders) -> Result<(), UnpackFault> {
        let what = match self {
            Self::Catalog => "the files of the catalog, as its label says",
            Self::Bundle => "the files of a bundle",
        };
        let is_there = |folder: &str| match self {
            Self::Catalog => tree.is_folder(folder),
            Self::Bundle => tree.is_folder(folder) || tree.get(folder).is_none(),
        };
        let mut folders = kept.0.iter();
        let missing = folders.find(|folder| !is_there(folder));
        missing.map_or(Ok(()), |folder| {
            let folder = one_line(folder).into();
            Err(UnpackFault::NoFolder { folder, what })
        })
    }

    /// Returns the directory to read, relative to the image.
    fn root(self, kept: &KeptFolders) -> &str {
        match (self, kept.0.first()) {
            (Self::Catalog, Some(folder)) => folder,
            _ => "",
        }
    }
}

/// The label that names the directory of a catalog.
const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

/// The directories that operator-controller reads in a bundle.
const BUNDLE: [&str; 2] = ["manifests", "metadata"];

/// The maximum size in bytes of the layers that are pulled.
const PULLED: u64 = 8 << 30;
