//! `cargo xtask image`: olmguard as an image, built without a container engine: a directory in OCI layout.
//!
//! ```text
//! index.json -> blobs/sha256/<manifest> -> <configuration>, <layer>
//! ```
//!
//! In a release, a list with a manifest for each processor is between the index and the manifests.
//!
//! Invariant: the same commit and the same program produce the same bytes, and so the same digest. No clock, owner or
//! hash map order has an effect. The layout replaces an earlier one as a whole.

mod documents;
mod layer;
mod layout;

use std::path::{self, PathBuf};
use std::{fs, io};

pub(crate) use self::documents::ENVIRONMENT;
use self::documents::{About, descriptor_of, index};
use self::layout::{Blob, Layout, MARK};
use crate::build::{Build, BuildError};
use crate::output::{Files, OutputError, replace};
use crate::report::say;

/// An image in a directory.
pub(crate) struct Image {
    pub(crate) folder: PathBuf,
    /// The digest of the manifest, which identifies the image in a registry.
    digest: String,
    /// The size of everything that a registry stores of the image, in bytes.
    size: usize,
}

/// The reason why there is no image.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("images have no name for the processor of {0}; expected x86_64 or aarch64")]
    Processor(String),
}

/// Builds olmguard and writes its image, by default next to cargo's outputs.
pub(crate) fn run(output: Option<&str>) -> Result<(), ImageError> {
    let build = Build::here()?;
    let output = output.map_or_else(|| build.target_folder.join("image"), PathBuf::from);
    let Image {
        folder,
        digest,
        size,
    } = write(&build, output)?;
    say(format_args!("{digest}, {size} bytes: {}", folder.display()));
    Ok(())
}

/// Writes the image of a program that is already built.
pub(crate) fn write(build: &Build, folder: PathBuf) -> Result<Image, ImageError> {
    let folder = path::absolute(&folder).unwrap_or(folder);
    let (about, mut layout) = (About::new(build)?, Layout::default());
    let manifest = add(&mut layout, &about, &program(build)?);
    let size = layout.size();
    let entry = about.named(about.entry(&manifest));
    replace(&folder, MARK, &layout.finish(index(&[entry])))?;
    Ok(Image {
        folder,
        digest: manifest.digest,
        size,
    })
}

/// The files of one image for several processors, and the digest that identifies the image in a registry.
pub(crate) fn of_all(builds: &[Build]) -> Result<(Files, String), ImageError> {
    let (mut layout, mut entries, mut name) = (Layout::default(), Vec::new(), None);
    for build in builds {
        let about = About::new(build)?;
        let manifest = add(&mut layout, &about, &program(build)?);
        entries.push(about.entry(&manifest));
        name = Some(about);
    }
    let list = layout.add(index(&entries));
    let entry = descriptor_of(&list);
    let entry = name.map(|about| about.named(entry));
    Ok((layout.finish(index(entry.as_slice())), list.digest))
}

fn program(build: &Build) -> Result<Vec<u8>, ImageError> {
    fs::read(&build.program).map_err(|source| ImageError::File {
        path: build.program.clone(),
        source,
    })
}

fn add(layout: &mut Layout, about: &About, program: &[u8]) -> Blob {
    let layer = layer::of(program);
    let configuration = layout.add(about.configuration(&layer));
    let layer = layout.add(layer.content);
    layout.add(about.manifest(&configuration, &layer))
}

#[cfg(test)]
mod tests;
