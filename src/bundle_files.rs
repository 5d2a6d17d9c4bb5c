//! The files of a bundle: a directory with `manifests/` and `metadata/annotations.yaml`, or an image of one.
//!
//! Upstream: operator-controller, [`rukpak/bundle/source/source.go`].
//!
//! [`rukpak/bundle/source/source.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/bundle/source/source.go

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::manifest::{DocumentError, InputError, documents, read_file};
use crate::source::image::{ImageError, ImageKind};
use crate::source::{FilesPlace, Progress};
use olmguard_catalog::memory::{Account, Loan, TooLarge};
use olmguard_preflight::bundle::{NoCsv, RegistryBundle, WrongField};

/// Why a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleFilesError {
    #[error("{}: {source}", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error(
        "{}: found the directory {name:?}: expected files only, because OLM takes no directories there",
        .folder.display()
    )]
    Directory { folder: PathBuf, name: String },
    #[error(
        "{}: not there: expected the directory of a bundle, with manifests/ and metadata/annotations.yaml",
        .file.display()
    )]
    NoAnnotations { file: PathBuf },
    #[error("{}: more than {MOST_BYTES} bytes of manifests: expected a bundle that a Helm release has room for", .folder.display())]
    TooLarge { folder: PathBuf },
    #[error("{}: no room: {source}", .file.display())]
    Memory { file: PathBuf, source: TooLarge },
    #[error("{}: {source}", .file.display())]
    File { file: PathBuf, source: InputError },
    #[error("{}:{source}", .file.display())]
    Document {
        file: PathBuf,
        source: DocumentError,
    },
    #[error("{}: {found}: expected objects of Kubernetes, each with its kind", .file.display())]
    NoObject { file: PathBuf, found: &'static str },
    #[error("{}: {field}", .file.display())]
    Field { file: PathBuf, field: WrongField },
    #[error("{}: {source}: expected one with the kind ClusterServiceVersion", .folder.display())]
    NoCsv { folder: PathBuf, source: NoCsv },
    #[error(transparent)]
    Image(#[from] ImageError),
}

impl BundleFilesError {
    /// Whether operator-controller certainly reads no bundle there: what is missing, or where or as it must not be.
    pub(crate) fn is_of_format(&self) -> bool {
        match self {
            Self::Directory { .. }
            | Self::NoAnnotations { .. }
            | Self::NoObject { .. }
            | Self::Field { .. }
            | Self::NoCsv { .. } => true,
            Self::Folder { source, .. } => source.kind() == ErrorKind::NotFound,
            // The directory can be a link, which operator-controller follows.
            Self::Image(_)
            | Self::Memory { .. }
            | Self::File { .. }
            | Self::Document { .. }
            | Self::TooLarge { .. } => false,
        }
    }
}

/// The bundle at a place. It waits for a registry.
///
/// # Errors
/// If operator-controller could not read the bundle either, or the image cannot be had.
pub(crate) fn read(
    place: &FilesPlace,
    progress: &Progress,
) -> Result<RegistryBundle, BundleFilesError> {
    read_within(place, progress, &Account::default()).map(|(bundle, _)| bundle)
}

/// The same in memory of this account, which the bundle has until the loan is dropped.
pub(crate) fn read_within(
    place: &FilesPlace,
    progress: &Progress,
    memory: &Account,
) -> Result<(RegistryBundle, Loan), BundleFilesError> {
    let files = place.local(ImageKind::Bundle, progress)?;
    let folder = BundleFolder {
        root: files.path(),
        place,
    };
    folder.read(memory.loan())
}

/// The directory of a bundle. Links are followed: it is the user's own, or one without any.
struct BundleFolder<'a> {
    root: &'a Path,
    /// Where the user has it.
    place: &'a FilesPlace,
}

impl BundleFolder<'_> {
    fn read(&self, mut memory: Loan) -> Result<(RegistryBundle, Loan), BundleFilesError> {
        let annotations = self.root.join("metadata/annotations.yaml");
        if !annotations.exists() {
            let file = self.shown(&annotations);
            return Err(BundleFilesError::NoAnnotations { file });
        }
        let annotations = self.documents(&annotations)?.into_iter().next();
        let package = annotations
            .as_ref()
            .and_then(|it| it.pointer(PACKAGE)?.as_str());
        let manifests = self.root.join("manifests");
        let (mut all, mut room) = (Vec::new(), MOST_BYTES);
        for file in self.files(&manifests)? {
            let bytes = self.bytes(&file)?;
            room = room.checked_sub(bytes.len()).ok_or_else(|| {
                let folder = self.shown(&manifests);
                BundleFilesError::TooLarge { folder }
            })?;
            memory.more(room_for(&bytes)).map_err(|source| {
                let file = self.shown(&file);
                BundleFilesError::Memory { file, source }
            })?;
            all.extend(self.objects(&file, &bytes)?);
        }
        let bundle = RegistryBundle::of(package.unwrap_or_default(), all);
        let bundle = bundle.map_err(|source| BundleFilesError::NoCsv {
            folder: self.shown(&manifests),
            source,
        })?;
        Ok((bundle, memory))
    }

    /// The files of a directory, in byte order of their names.
    fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, BundleFilesError> {
        let failed = |source| BundleFilesError::Folder {
            folder: self.shown(folder),
            source,
        };
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                return Err(BundleFilesError::Directory {
                    folder: self.shown(folder),
                    name: name.into_owned(),
                });
            }
            files.push(path);
        }
        files.sort_unstable();
        Ok(files)
    }

    /// The objects of a file of manifests, lists unfolded.
    fn objects(&self, file: &Path, bytes: &[u8]) -> Result<Vec<Value>, BundleFilesError> {
        let mut all = Vec::new();
        for document in documents(bytes) {
            let document = document.map_err(|source| self.document_error(file, source))?;
            let is_map = document.value.is_object();
            let (objects, _) = document.into_objects();
            if !is_map || objects.iter().any(|object| object.kind.is_empty()) {
                return Err(BundleFilesError::NoObject {
                    file: self.shown(file),
                    found: if is_map {
                        "an object without a kind"
                    } else {
                        "a document that is no object"
                    },
                });
            }
            for object in objects {
                if let Some(field) = WrongField::of(&object.value) {
                    let file = self.shown(file);
                    return Err(BundleFilesError::Field { file, field });
                }
                all.push(object.value);
            }
        }
        Ok(all)
    }

    /// The documents of a file, whatever they are.
    fn documents(&self, file: &Path) -> Result<Vec<Value>, BundleFilesError> {
        let bytes = self.bytes(file)?;
        let all = documents(&bytes).map(|document| {
            let document = document.map_err(|source| self.document_error(file, source))?;
            Ok(document.value)
        });
        all.collect()
    }

    fn bytes(&self, file: &Path) -> Result<Vec<u8>, BundleFilesError> {
        read_file(file).map_err(|source| BundleFilesError::File {
            file: self.shown(file),
            source,
        })
    }

    fn document_error(&self, file: &Path, source: DocumentError) -> BundleFilesError {
        BundleFilesError::Document {
            file: self.shown(file),
            source,
        }
    }

    /// A path as the user knows it: in an image instead of in the directory that it is unpacked to.
    fn shown(&self, path: &Path) -> PathBuf {
        match (self.place, path.strip_prefix(self.root)) {
            (FilesPlace::Image(image), Ok(within)) => Path::new(&image.to_string()).join(within),
            _ => path.to_owned(),
        }
    }
}

/// The most memory that the objects of a file take while they are read: a map takes the most by far, and has a colon or a
/// question mark in it. An alias repeats what has an anchor, as often as the reader of manifests allows.
fn room_for(file: &[u8]) -> usize {
    let count = |bytes: &[u8]| file.iter().filter(|byte| bytes.contains(byte)).count();
    let mut nodes = file.windows(3);
    let has_anchors = nodes
        .any(|at| matches!(at, [b' ' | b'\n' | b'[' | b',', b'&', c] if c.is_ascii_alphanumeric()));
    if has_anchors {
        return MOST_OF_ALIASES;
    }
    count(b":?") * MAP + count(b",\n") * ITEM + file.len() * 2
}

/// A map of one member, or a member of a larger one, with a short text.
const MAP: usize = 768;

/// An entry of a list that has just grown, with a short text.
const ITEM: usize = 128;

/// What the reader of manifests allows for a document.
const MOST_OF_ALIASES: usize = 256 << 20;

/// Of all manifests together: a Helm release has room for 11 MB after compression.
const MOST_BYTES: usize = 64 << 20;

const PACKAGE: &str = "/annotations/operators.operatorframework.io.bundle.package.v1";
