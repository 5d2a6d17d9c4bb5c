//! `cargo xtask image`: olmguard as an image, made without an engine: a folder in the layout of OCI.
//!
//! ```text
//! index.json -> blobs/sha256/<manifest> -> <configuration>, <layer>
//! ```
//!
//! Invariant: the same commit and the same program make the same bytes, and so the same digest: no
//! clock, no owner, no order of a hash map enters. The layout takes its place whole.

mod documents;
mod layer;
mod layout;

use std::fs;
use std::io;
use std::path::{self, PathBuf};

use self::documents::About;
use self::layout::{Blob, Blobs, Layout};
use crate::build::{Build, BuildError};
use crate::report::say;

/// An image in a folder.
pub(crate) struct Image {
    pub(crate) folder: PathBuf,
    /// Of its manifest: what a registry knows it by.
    digest: String,
    /// Of all that a registry holds of it, in bytes.
    size: usize,
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "{path} is there and is no image layout: remove it, or name another with --output",
        path = .0.display()
    )]
    NotALayout(PathBuf),
    #[error("images have no name for the processor of {0}; expected x86_64 or aarch64")]
    Processor(String),
}

/// Builds olmguard and writes its image, by default beside what cargo builds.
pub(crate) fn run(output: Option<&str>) -> Result<(), ImageError> {
    let build = Build::here()?;
    let output = output.map_or_else(|| build.target_folder.join("image"), PathBuf::from);
    let image = write(&build, output)?;
    let Image {
        folder,
        digest,
        size,
    } = image;
    say(format_args!("{digest}, {size} bytes: {}", folder.display()));
    Ok(())
}

/// Writes the image of a program that is built.
pub(crate) fn write(build: &Build, folder: PathBuf) -> Result<Image, ImageError> {
    let folder = path::absolute(&folder).unwrap_or(folder);
    let program = &build.program;
    let program = fs::read(program).map_err(|source| ImageError::File {
        path: program.clone(),
        source,
    })?;
    let about = About::new(&build.package, build.commit.as_ref(), build.target)?;
    let (layout, manifest) = assemble(&about, &program);
    layout.write(&folder)?;
    Ok(Image {
        folder,
        digest: manifest.digest,
        size: layout.blobs.size(),
    })
}

fn assemble(about: &About, program: &[u8]) -> (Layout, Blob) {
    let layer = layer::of(program);
    let mut blobs = Blobs::default();
    let configuration = blobs.add(about.configuration(&layer));
    let layer = blobs.add(layer.content);
    let manifest = blobs.add(about.manifest(&configuration, &layer));
    let index = about.index(&manifest);
    (Layout { index, blobs }, manifest)
}

#[cfg(test)]
mod tests;
