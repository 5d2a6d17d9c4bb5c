//! The image of olmguard as `cargo xtask image` built it: an OCI layout, read as a node reads it.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use oci_spec::image::{Descriptor, ImageConfiguration, ImageIndex, ImageManifest};

/// The parts of an image that a node uses.
pub(crate) struct Layout {
    /// The user of its program, as `USER:GROUP`.
    pub(crate) user: String,
    /// The path of its program.
    pub(crate) entrypoint: String,
    /// The size of the download in bytes.
    pub(crate) size: u64,
    layer: PathBuf,
}

impl Layout {
    /// Reads the only image in the directory.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let index = ImageIndex::from_file(folder.join("index.json"))?;
        let image = only(index.manifests())?;
        let manifest = ImageManifest::from_file(blob(folder, image)?)?;
        let layer = only(manifest.layers())?;
        let configuration = ImageConfiguration::from_file(blob(folder, manifest.config())?)?;
        let config = configuration
            .config()
            .as_ref()
            .context("it says nothing of running")?;
        Ok(Self {
            user: config.user().clone().context("it names no user")?,
            entrypoint: only(config.entrypoint().as_deref().unwrap_or_default())?.clone(),
            size: image.size() + manifest.config().size() + layer.size(),
            layer: blob(folder, layer)?,
        })
    }

    /// Unpacks its files into a directory with their permissions, and returns their names.
    pub(crate) fn unpack(&self, folder: &Path) -> Result<Vec<String>> {
        let mut archive = tar::Archive::new(GzDecoder::new(File::open(&self.layer)?));
        archive.set_preserve_permissions(true);
        let mut names = Vec::new();
        for entry in archive.entries()? {
            let mut entry = entry?;
            names.push(entry.path()?.display().to_string());
            entry.unpack_in(folder)?;
        }
        Ok(names)
    }
}

fn only<T>(list: &[T]) -> Result<&T> {
    let [one] = list else {
        bail!("one was expected, there are {}", list.len());
    };
    Ok(one)
}

fn blob(folder: &Path, content: &Descriptor) -> Result<PathBuf> {
    let digest = content
        .as_digest_sha256()
        .context("it is named by its SHA-256")?;
    Ok(folder.join("blobs/sha256").join(digest))
}
