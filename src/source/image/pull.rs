//! The parts of an image: its manifest, configuration and layers. They come from a layout on disk, from the first
//! mirror that has the image, or from its registry.
//!
//! The first place that answers with a manifest serves the whole image, even if it fails later. A mirror gets one
//! attempt for the manifest, because there is another place. After that, it gets as many attempts as a registry.
//!
//! Upstream: go.podman.io/image v5.40.0, [`docker/docker_image_src.go`] (`newImageSource`).
//!
//! [`docker/docker_image_src.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/docker/docker_image_src.go

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::runtime::{Builder, Runtime};
use tracing::debug;

use super::answer::RegistryFault;
use super::layer::{Budget, LayerJob, ReadLayer};
use super::layout::ImageLayout;
use super::manifest::{
    Descriptor, ImageManifest, MANIFEST_BYTES, Manifest, ManifestFault, SentManifest, preferred,
};
use super::mirrors::{PullSource, RegistriesConf};
use super::reference::{ImagePlace, ImageReference, ImageVersion};
use super::registry::{Registry, RegistryAccess, TRIES, TakeBody};
use super::tree::{ImageTree, KeptFolders};
use super::{PULLED, UnpackFault};
use crate::source::Progress;
use crate::source::digest::Sha256;

/// Finds the place that serves an image. Returns it with the manifest.
async fn first<'a>(
    image: &ImageReference,
    access: &'a RegistryAccess,
) -> Result<(Registry<'a>, SentManifest), UnpackFault> {
    let sources = RegistriesConf::read(&access.containers).map_err(RegistryFault::from)?;
    let sources = sources.sources(image).map_err(RegistryFault::from)?;
    let mut failed = Vec::new();
    for mirror in sources.mirrors {
        let image = mirror.image.to_string();
        debug!(image, "Pulling from a mirror");
        match ask(mirror, access, 1).await {
            Ok(found) => return Ok(found),
            Err(fault) => {
                debug!(image, error = %fault, "Failed to pull from a mirror, trying the next place");
                failed.push(format!("[{image}: {fault}]"));
            }
        }
    }
    let place = sources.registry.image.clone();
    let asked = ask(sources.registry, access, TRIES).await;
    asked.map_err(|fault| {
        if failed.is_empty() {
            UnpackFault::from(fault).at(&place, image)
        } else {
            UnpackFault::from(RegistryFault::EveryPlace {
                mirrors: failed.join(", "),
                image: place.to_string().into(),
                fault: Box::new(fault),
            })
        }
    })
}

async fn ask(
    source: PullSource,
    access: &RegistryAccess,
    tries: u32,
) -> Result<(Registry<'_>, SentManifest), RegistryFault> {
    let version = source.image.version.clone();
    let mut registry = Registry::new(source, access)?;
    let manifest = registry.manifest(&version, tries).await?;
    Ok((registry, manifest))
}

// === The parts of an image, from a registry or a layout on disk ===

/// The source of the parts of an image.
pub(super) enum ImageParts<'a> {
    Registry(Box<Registry<'a>>, Runtime),
    Layout(ImageLayout),
}

impl<'a> ImageParts<'a> {
    /// Opens an image, and reads the manifest that its name refers to.
    pub(super) fn open(
        place: &ImagePlace,
        access: &'a RegistryAccess,
    ) -> Result<(Self, SentManifest), UnpackFault> {
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
    ) -> Result<(Self, SentManifest), UnpackFault> {
        let digest = layout.top(name)?.digest;
        let mut parts = Self::Layout(layout);
        let top = parts.manifest(digest)?;
        Ok((parts, top))
    }

    fn of_registry(
        image: &ImageReference,
        access: &'a RegistryAccess,
    ) -> Result<(Self, SentManifest), UnpackFault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(UnpackFault::Store)?;
        let (registry, top) = runtime.block_on(first(image, access))?;
        Ok((Self::Registry(Box::new(registry), runtime), top))
    }

    /// Adds the place that served the image to a fault, if it differs from the named place.
    pub(super) fn located(&self, place: &ImagePlace, fault: UnpackFault) -> UnpackFault {
        match (self, place) {
            (Self::Registry(registry, _), ImagePlace::Registry(named)) => {
                fault.at(&registry.source.image, named)
            }
            _ => fault,
        }
    }

    fn manifest(&mut self, digest: Sha256) -> Result<SentManifest, UnpackFault> {
        match self {
            Self::Layout(layout) => {
                let bytes = layout.blob(digest, MANIFEST_BYTES, &small())?;
                let bytes = bytes.map_err(UnpackFault::Store)?;
                Ok(SentManifest::new(bytes, String::new()))
            }
            Self::Registry(registry, runtime) => {
                let version = ImageVersion::Digest(digest);
                let sent = runtime.block_on(registry.manifest(&version, TRIES))?;
                is_expected("manifest", sent.digest, digest)?;
                Ok(sent)
            }
        }
    }

    /// Returns the manifest of the image, which an index may refer to.
    pub(super) fn image(&mut self, top: &SentManifest) -> Result<ImageManifest, UnpackFault> {
        match top.parse()? {
            Manifest::Image(image) => Ok(image),
            Manifest::Index(images) => {
                let preferred = preferred(images).ok_or(ManifestFault::Empty)?;
                let inner = self.manifest(preferred.digest)?;
                match inner.parse()? {
                    Manifest::Image(image) => Ok(image),
                    Manifest::Index(_) => Err(ManifestFault::Nested.into()),
                }
            }
        }
    }

    pub(super) fn config(&mut self, config: &Descriptor) -> Result<Vec<u8>, UnpackFault> {
        let bytes = config.size;
        if bytes > MANIFEST_BYTES {
            return Err(UnpackFault::Config { bytes });
        }
        self.blob("configuration", config, &small())?
            .map_err(UnpackFault::Store)
    }

    /// Reads the layers. Returns the names that are kept, and writes the contents of their files to a directory.
    pub(super) fn tree(
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

    /// Reads a blob with `take`, and checks its digest.
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

/// Reads a small blob into memory.
fn small() -> TakeBody<io::Result<Vec<u8>>> {
    Arc::new(|input: &mut dyn Read| {
        let mut bytes = Vec::new();
        input.take(MANIFEST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

pub(super) fn is_expected(
    what: &'static str,
    found: Sha256,
    expected: Sha256,
) -> Result<(), UnpackFault> {
    if found == expected {
        return Ok(());
    }
    Err(UnpackFault::Digest {
        what,
        found,
        expected,
    })
}
