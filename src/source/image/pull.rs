//! The place that serves an image: the first of its mirrors that has it, or its registry.
//!
//! The first that answers with a manifest serves all of the image, even if it fails later. A mirror gets one try for the
//! manifest, because there is another place. For the rest, it gets as many tries as a registry.
//!
//! Upstream: go.podman.io/image v5.40.0, [`docker/docker_image_src.go`] (`newImageSource`).
//!
//! [`docker/docker_image_src.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/docker/docker_image_src.go

use std::num::NonZero;

use tracing::debug;

use super::UnpackFault;
use super::answer::{FailedMirror, FailedMirrors, RegistryFault};
use super::mirrors::{PullSource, RegistriesConf};
use super::reference::ImageReference;
use super::registry::{Registry, RegistryAccess};

/// The place that serves an image, and the manifest that it gives with its media type.
pub(super) async fn first<'a>(
    image: &ImageReference,
    access: &'a RegistryAccess,
) -> Result<(Registry<'a>, Vec<u8>, String), UnpackFault> {
    let sources = RegistriesConf::read(&access.containers).map_err(RegistryFault::from)?;
    let sources = sources.sources(image).map_err(RegistryFault::from)?;
    let mut failed = Vec::new();
    for mirror in sources.mirrors {
        let image = mirror.image.to_string().into();
        debug!(image, "Pulling from a mirror");
        match ask(mirror, access, ONCE).await {
            Ok(found) => return Ok(found),
            Err(fault) => {
                debug!(image, error = %fault, "Failed to pull from a mirror, trying the next place");
                let fault = Box::new(fault);
                failed.push(FailedMirror { image, fault });
            }
        }
    }
    let place = sources.registry.image.clone();
    let asked = ask(sources.registry, access, access.retry.tries).await;
    asked.map_err(|fault| {
        if failed.is_empty() {
            UnpackFault::from(fault).at(&place, image)
        } else {
            UnpackFault::from(RegistryFault::EveryPlace {
                mirrors: FailedMirrors(failed),
                image: place.to_string().into(),
                fault: Box::new(fault),
            })
        }
    })
}

async fn ask(
    source: PullSource,
    access: &RegistryAccess,
    tries: NonZero<u32>,
) -> Result<(Registry<'_>, Vec<u8>, String), RegistryFault> {
    let version = source.image.version.clone();
    let mut registry = Registry::new(source, access)?;
    registry.tries = tries;
    let (manifest, media_type) = registry.manifest(&version).await?;
    registry.tries = access.retry.tries;
    Ok((registry, manifest, media_type))
}

const ONCE: NonZero<u32> = NonZero::new(1).unwrap();
