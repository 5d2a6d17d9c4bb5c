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
mod challenge;
mod containers;
mod credentials;
mod layer;
mod layout;
mod manifest;
mod mirrors;
mod place;
mod pull;
mod reference;
mod registry;
mod store;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;

use tokio::runtime::{Builder, Runtime};

pub use containers::ContainersFault;
pub use credentials::CredentialsFault;
pub use layer::LayerFault;
pub use layout::LayoutFault;
pub use manifest::ManifestFault;
pub use mirrors::{BlockedPlace, MirrorsFault, TableFault};
pub use place::{ImagePlace, ImagePlaceError};
pub use pull::{FailedMirror, FailedMirrors};
pub use reference::{ImageReference, ReferenceFault};
pub use registry::RegistryFault;
pub use store::UnpackedImage;
pub use tree::{TreeFault, WriteFault};

use crate::foreign_text::one_line;
use crate::source::Progress;
use crate::source::digest::Sha256;
use layer::{Budget, LayerJob, ReadLayer};
use layout::ImageLayout;
use manifest::{Descriptor, ImageManifest, MANIFEST_BYTES, Manifest};
use reference::ImageVersion;
use registry::{Registry, RegistryAccess, TakeBody};
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
#[non_exhaustive]
pub enum UnpackFault {
    /// The registry does not give it.
    #[error(transparent)]
    Registry(#[from] RegistryFault),
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
        let unpack = || ImageReader::of_user()?.unpack(self, kind, progress);
        let unpacked = thread::scope(|scope| scope.spawn(unpack).join());
        let unpacked = unpacked.unwrap_or(Err(UnpackFault::Lost));
        unpacked.map_err(|fault| ImageError {
            place: Box::new(self.clone()),
            fault: Box::new(fault),
        })
    }
}

/// Reads images, into a store.
struct ImageReader {
    store: ImageStore,
    access: RegistryAccess,
}

impl ImageReader {
    fn of_user() -> Result<Self, UnpackFault> {
        let store = ImageStore::of_user().map_err(UnpackFault::Store)?;
        let access = RegistryAccess::of_user();
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
        let (mut source, digest, top) = ImageParts::open(place, &self.access)?;
        if let Some(image) = known(digest) {
            return Ok(image);
        }
        let image = source.image(&top)?;
        let labels = manifest::labels(&source.config(&image.config)?)?;
        let kept = kind.kept(&labels)?;
        let partial = self.store.begin().map_err(UnpackFault::Store)?;
        let tree = source.tree(&image, &kept, &partial.pieces(), progress)?;
        kind.check(&tree, &kept)?;
        tree.write(&partial.content())?;
        let name = kind.name(digest);
        let image = self.store.finish(&partial, &name, kind.root(&kept));
        image.map_err(UnpackFault::Store)
    }
}

impl ImageKind {
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

/// Where the parts of an image come from.
enum ImageParts<'a> {
    Registry(Box<Registry<'a>>, Runtime),
    Layout(ImageLayout),
}

/// A manifest, and the media type that it was sent as.
struct SentManifest {
    bytes: Vec<u8>,
    media_type: String,
}

impl<'a> ImageParts<'a> {
    /// The parts of an image, with the manifest that is named and its digest.
    fn open(
        place: &ImagePlace,
        access: &'a RegistryAccess,
    ) -> Result<(Self, Sha256, SentManifest), UnpackFault> {
        match place {
            ImagePlace::Layout(path, name) => {
                Self::of_layout(ImageLayout::of_folder(path)?, name.as_deref())
            }
            ImagePlace::Archive(path, name) => {
                Self::of_layout(ImageLayout::of_archive(path)?, name.as_deref())
            }
            ImagePlace::Registry(image) => Self::of_registry(image, access),
        }
    }

    fn of_layout(
        layout: ImageLayout,
        name: Option<&str>,
    ) -> Result<(Self, Sha256, SentManifest), UnpackFault> {
        let digest = layout.top(name)?.digest;
        let mut parts = Self::Layout(layout);
        let top = parts.manifest(digest)?;
        Ok((parts, digest, top))
    }

    fn of_registry(
        image: &ImageReference,
        access: &'a RegistryAccess,
    ) -> Result<(Self, Sha256, SentManifest), UnpackFault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(UnpackFault::Store)?;
        let first = runtime.block_on(pull::first(image, access));
        let (registry, bytes, media_type) = first?;
        let found = Sha256::of(&bytes);
        is_expected("manifest", found, image.version.digest().unwrap_or(found))?;
        let parts = Self::Registry(Box::new(registry), runtime);
        Ok((parts, found, SentManifest { bytes, media_type }))
    }

    fn manifest(&mut self, digest: Sha256) -> Result<SentManifest, UnpackFault> {
        match self {
            Self::Layout(layout) => {
                let bytes = layout
                    .blob(digest, MANIFEST_BYTES, &small())?
                    .map_err(UnpackFault::Store)?;
                let media_type = String::new();
                Ok(SentManifest { bytes, media_type })
            }
            Self::Registry(registry, runtime) => {
                let version = ImageVersion::Digest(digest);
                let (bytes, media_type) = runtime.block_on(registry.manifest(&version))?;
                is_expected("manifest", Sha256::of(&bytes), digest)?;
                Ok(SentManifest { bytes, media_type })
            }
        }
    }

    /// The image itself, where a manifest may be an index of several.
    fn image(&mut self, top: &SentManifest) -> Result<ImageManifest, UnpackFault> {
        match Manifest::parse(&top.bytes, &top.media_type)? {
            Manifest::Image(image) => Ok(image),
            Manifest::Index(images) => {
                let preferred = manifest::preferred(images).ok_or(ManifestFault::Empty)?;
                let inner = self.manifest(preferred.digest)?;
                match Manifest::parse(&inner.bytes, &inner.media_type)? {
                    Manifest::Image(image) => Ok(image),
                    Manifest::Index(_) => Err(ManifestFault::Nested.into()),
                }
            }
        }
    }

    fn config(&mut self, config: &Descriptor) -> Result<Vec<u8>, UnpackFault> {
        let bytes = config.size;
        if bytes > MANIFEST_BYTES {
            return Err(UnpackFault::Config { bytes });
        }
        self.blob("configuration", config, &small())?
            .map_err(UnpackFault::Store)
    }

    /// What is kept of the file system, with the contents of its files in a directory.
    fn tree(
        &mut self,
        image: &ImageManifest,
        kept: &KeptFolders,
        contents: &Path,
        progress: &Progress,
    ) -> Result<ImageTree, UnpackFault> {
        let bytes = image.bytes();
        if bytes > PULLED {
            return Err(UnpackFault::TooLarge { bytes });
        }
        progress.expect(bytes);
        let (mut tree, mut budget) = (ImageTree::default(), Budget::default());
        for (number, layer) in image.layers.iter().enumerate() {
            let job = LayerJob {
                kept: kept.clone(),
                contents: contents.to_owned(),
                number,
                budget,
                progress: progress.clone(),
                attempts: AtomicUsize::new(0),
            };
            let take: TakeBody<_> = Arc::new(move |input: &mut dyn Read| job.run(input));
            let of_layer = |fault| UnpackFault::Layer {
                digest: layer.digest,
                fault,
            };
            let read = self.blob("layer", layer, &take)?;
            let ReadLayer {
                changes,
                budget: left,
            } = read.map_err(of_layer)?;
            tree.apply(changes)
                .map_err(|fault| of_layer(fault.into()))?;
            budget = left;
        }
        Ok(tree)
    }

    /// What is made of a blob that has its digest.
    fn blob<T: Send + 'static>(
        &mut self,
        what: &'static str,
        listed: &Descriptor,
        take: &TakeBody<T>,
    ) -> Result<T, UnpackFault> {
        match self {
            Self::Layout(layout) => Ok(layout.blob(listed.digest, listed.size, take)?),
            Self::Registry(registry, runtime) => {
                let blob = registry.blob(listed.digest, listed.size, take);
                let fetched = runtime.block_on(blob)?;
                is_expected(what, fetched.sha256, listed.digest)?;
                Ok(fetched.value)
            }
        }
    }
}

/// Reads something small.
fn small() -> TakeBody<io::Result<Vec<u8>>> {
    Arc::new(|input: &mut dyn Read| {
        let mut bytes = Vec::new();
        input.take(MANIFEST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

fn is_expected(what: &'static str, found: Sha256, expected: Sha256) -> Result<(), UnpackFault> {
    if found == expected {
        return Ok(());
    }
    Err(UnpackFault::Digest {
        what,
        found,
        expected,
    })
}

/// The label with the directory of a catalog.
const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

/// What operator-controller reads of a bundle.
const BUNDLE: [&str; 2] = ["manifests", "metadata"];

/// How many bytes of layers are pulled at most.
const PULLED: u64 = 8 << 30;
