//! A whole catalog, read and indexed, for a snapshot, and the place of one outside of a cluster.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::source::image::{ImageError, ImageKind, ImagePlace, ImagePlaceError, UnpackedImage};
use crate::source::pinned::{PinnedUrl, PinnedUrlError};
use crate::source::{Decoder, Progress, SourceError, read_from, read_from_with, read_with};
use olmguard_catalog::blob::{self, BlobFault, BlobKey, Sink, UnfiledObject};
use olmguard_catalog::fbc::Decisive;
use olmguard_catalog::memory::{Account, Pool};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::snapshot::{CatalogState, Content};

/// Loads catalogs, one after another, with one decoder.
#[derive(Debug)]
pub struct Loader<'a> {
    rules: &'a Rules,
    progress: &'a Progress,
    memory: &'a Pool,
    decoder: Decoder,
}

impl<'a> Loader<'a> {
    /// Loads by these rules, with a view of how far the reading is. The catalogs take their memory from the pool.
    pub fn new(rules: &'a Rules, progress: &'a Progress, memory: &'a Pool) -> Self {
        Self {
            rules,
            progress,
            memory,
            decoder: Decoder::default(),
        }
    }

    /// The content at `path`, a file or a folder. Unlike what catalogd serves, it may be another file by mistake.
    pub fn load(&mut self, path: &Path) -> Content {
        let mut builder = CatalogBuilder::within(self.rules, self.memory.account());
        let mut seen = ObservedSink::new(&mut builder);
        let intake = &mut Decisive(&mut seen);
        let read = read_with(&mut self.decoder, path, self.progress, intake);
        let name = path.to_string_lossy();
        let read = read.and_then(|()| seen.check(&name));
        content(&name, read, builder)
    }

    /// The content from anywhere, as a file of this name.
    pub(super) fn load_from(&mut self, name: &str, input: impl Read) -> Content {
        let mut builder = CatalogBuilder::within(self.rules, self.memory.account());
        let mut seen = ObservedSink::new(&mut builder);
        let read = read_from_with(&mut self.decoder, name, input, self.progress, &mut seen);
        let read = read.and_then(|()| seen.check(name));
        content(name, read, builder)
    }
}

/// Looks at what it hands on: whether it is of a catalog.
struct ObservedSink<'s> {
    to: &'s mut dyn Sink,
    is_of_olm: bool,
    /// The first value.
    first: Option<UnfiledObject>,
}

impl<'s> ObservedSink<'s> {
    fn new(to: &'s mut dyn Sink) -> Self {
        Self {
            to,
            is_of_olm: false,
            first: None,
        }
    }

    /// What has no blob of OLM is not a catalog, unless it has nothing at all. OLM needs no `olm.package`.
    fn check(&self, file: &str) -> Result<(), SourceError> {
        let first = self.first.filter(|_| !self.is_of_olm);
        first.map_or(Ok(()), |first| {
            Err(SourceError::NoCatalog {
                file: file.into(),
                found: match first {
                    UnfiledObject::Kubernetes => "contains Kubernetes objects and is not a catalog",
                    UnfiledObject::Blob => "has no blob of OLM, so it is not a catalog",
                    UnfiledObject::Other => "is not a catalog: its first value has no schema",
                },
            })
        })
    }
}

impl Sink for ObservedSink<'_> {
    fn memory(&self) -> Account {
        self.to.memory()
    }

    fn blob(&mut self, key: BlobKey<'_>, content: Result<blob::BlobContent<'_>, BlobFault>) {
        self.is_of_olm |= key.schema.starts_with("olm.");
        self.first.get_or_insert(UnfiledObject::Blob);
        self.to.blob(key, content);
    }

    fn unfiled(&mut self, object: UnfiledObject) {
        self.first.get_or_insert(object);
        self.to.unfiled(object);
    }
}

/// The catalog `name`, whose content lies at `path`, a file or a folder.
///
/// A catalog that cannot be read is one all the same: what needs it is undecided, the rest is judged.
pub fn load(name: &str, path: &Path, rules: &Rules) -> CatalogState {
    let (progress, memory) = (Progress::default(), Pool::unbounded());
    let content = Loader::new(rules, &progress, &memory).load(path);
    CatalogState::named(name, content)
}

/// The catalog `name` from bytes that are already in memory, as a file of its name.
pub fn load_bytes(name: &str, bytes: &[u8], rules: &Rules) -> CatalogState {
    let mut builder = CatalogBuilder::new(rules);
    let read = read_from(name, bytes, &Progress::default(), &mut builder);
    CatalogState::named(name, content(name, read, builder))
}

fn content(name: &str, read: Result<(), SourceError>, builder: CatalogBuilder<'_>) -> Content {
    match read.and_then(|()| finished(name, builder)) {
        Ok(catalog) => Content::Loaded(Arc::new(catalog)),
        Err(error) => Content::Unreadable(error.to_string()),
    }
}

/// The index of what was read from a file or address of this name.
///
/// # Errors
/// If it needs more memory than it can use.
pub fn finished(name: &str, builder: CatalogBuilder<'_>) -> Result<Catalog, SourceError> {
    let file = name.into();
    builder
        .finish()
        .map_err(|source| SourceError::Memory { file, source })
}

// === The place of a catalog outside of a cluster ===

/// Where the content of a catalog is: on this machine, at a URL with the digest of what is there, or in an image.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub enum CatalogPlace {
    /// Files on this machine, or in an image.
    Files(FilesPlace),
    /// A file that is fetched.
    Pinned(Box<PinnedUrl>),
}

/// Why a text names no place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CatalogPlaceError {
    /// Of a URL.
    #[error(transparent)]
    Url(#[from] PinnedUrlError),
    /// Of an image.
    #[error(transparent)]
    Image(#[from] ImagePlaceError),
}

/// A catalog by its name, and where its content is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogSource {
    /// Its name.
    pub name: String,
    /// Where its content is.
    pub place: CatalogPlace,
}

impl CatalogSource {
    /// The catalog of this name at a place as it is written in a file of this directory.
    pub(crate) fn within(
        folder: &Path,
        name: &str,
        place: &str,
    ) -> Result<Self, CatalogPlaceError> {
        let place = place.parse::<CatalogPlace>()?.within(folder);
        let name = name.to_owned();
        Ok(Self { name, place })
    }
}

impl CatalogPlace {
    /// The same place, where a path begins in this folder.
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Files(files) => Self::Files(files.within(folder)),
            Self::Pinned(url) => Self::Pinned(url),
        }
    }

    /// The path, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Files(files) => files.path(),
            Self::Pinned(_) => None,
        }
    }

    /// The content, or why there is none.
    pub fn load(&self, loader: &mut Loader<'_>) -> Content {
        match self {
            Self::Files(files) => files.load(loader),
            Self::Pinned(url) => url.load(loader),
        }
    }
}

impl FromStr for CatalogPlace {
    type Err = CatalogPlaceError;

    fn from_str(text: &str) -> Result<Self, CatalogPlaceError> {
        if PinnedUrl::is_meant_by(text) && !ImagePlace::is_meant_by(text) {
            Ok(Self::Pinned(Box::new(text.parse()?)))
        } else {
            Ok(Self::Files(text.parse()?))
        }
    }
}

/// Where files are that are read as such: on this machine, or in an image.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub enum FilesPlace {
    /// A file, a folder, or `-` for standard input.
    #[display("{}", _0.display())]
    Path(PathBuf),
    /// An image, which is unpacked first.
    Image(ImagePlace),
}

/// Files on this machine, which stay there as long as this lives.
#[derive(Debug)]
pub struct LocalFiles {
    path: PathBuf,
    _image: Option<UnpackedImage>,
}

impl FilesPlace {
    /// The path, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Image(_) => None,
        }
    }

    fn within(self, folder: &Path) -> Self {
        match self {
            Self::Path(path) => Self::Path(folder.join(path)),
            Self::Image(image) => Self::Image(image.within(folder)),
        }
    }

    /// The content of a catalog. A fault in an image names the image, and the file in it.
    fn load(&self, loader: &mut Loader<'_>) -> Content {
        let files = match self.local(ImageKind::Catalog, loader.progress) {
            Ok(files) => files,
            Err(error) => return Content::Unreadable(error.to_string()),
        };
        match (self, loader.load(files.path())) {
            (Self::Image(image), Content::Unreadable(why)) => {
                Content::Unreadable(format!("{image}: {why}"))
            }
            (_, content) => content,
        }
    }

    /// The files. It waits for a registry.
    ///
    /// # Errors
    /// Whatever is wrong with an image. A path is not looked at.
    pub fn local(&self, kind: ImageKind, progress: &Progress) -> Result<LocalFiles, ImageError> {
        match self {
            Self::Path(path) => Ok(LocalFiles {
                path: path.clone(),
                _image: None,
            }),
            Self::Image(image) => {
                let image = image.unpacked(kind, progress)?;
                Ok(LocalFiles {
                    path: image.root().to_owned(),
                    _image: Some(image),
                })
            }
        }
    }
}

impl LocalFiles {
    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl FromStr for FilesPlace {
    type Err = ImagePlaceError;

    fn from_str(text: &str) -> Result<Self, ImagePlaceError> {
        if ImagePlace::is_meant_by(text) {
            text.parse().map(Self::Image)
        } else {
            Ok(Self::Path(text.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_is_loaded() {
        let catalog = "schema: olm.package\nname: p\n";
        let state = load_bytes("c", catalog.as_bytes(), &Rules::default());
        let names: Vec<_> = state.loaded().unwrap().package_names().collect();
        assert_eq!(names, ["p"]);
    }

    #[test]
    fn what_has_no_blob_of_olm_is_not_a_catalog() {
        let (rules, progress, memory) = (Rules::default(), Progress::default(), Pool::unbounded());
        let load = |text: &str| {
            let mut loader = Loader::new(&rules, &progress, &memory);
            match loader.load_from("c.yaml", text.as_bytes()) {
                Content::Unreadable(why) => Some(why),
                _ => None,
            }
        };
        for (text, expected) in [
            ("", None),
            (
                "{apiVersion: v1, kind: List}\n---\nschema: olm.package\nname: p\n",
                None,
            ),
            (
                "{apiVersion: v1, kind: Secret}\n",
                Some("contains Kubernetes objects and is not a catalog"),
            ),
            ("{schema: olm.channel, package: p, name: a}\n", None),
            (
                "{schema: olmguard.guardrails.v1alpha1, package: p}\n",
                Some("has no blob of OLM, so it is not a catalog"),
            ),
            (
                "{title: x}\n",
                Some("is not a catalog: its first value has no schema"),
            ),
        ] {
            let why = load(text);
            assert_eq!(why.is_some(), expected.is_some(), "{text}");
            assert!(
                why.unwrap_or_default()
                    .contains(expected.unwrap_or_default()),
                "{text}"
            );
        }
    }

    #[test]
    fn a_name_of_an_image_says_what_to_do() {
        for (path, is_image) in [
            ("quay.example/x/catalog:latest", true),
            ("localhost:5000/catalog", true),
            ("registry.example/catalog", true),
            ("docker://registry.example/catalog:v1", true),
            ("../catalogs:old/hub", false),
            ("v1.2/catalog.yaml", false),
            ("catalogs/hub", false),
        ] {
            let state = load("c", Path::new(path), &Rules::default());
            let Content::Unreadable(why) = &state.content else {
                panic!("{state:?}");
            };
            let image = path.trim_start_matches("docker://");
            assert_eq!(
                why.contains(&format!("for an image, write oci:{image}")),
                is_image,
                "{why}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let state = load("c", Path::new("no/such/catalog"), &Rules::default());
        let Content::Unreadable(why) = &state.content else {
            panic!("{state:?}");
        };
        assert!(why.starts_with("no/such/catalog: cannot open: "), "{why}");
        let state = load_bytes("c", b"schema: [", &Rules::default());
        assert!(matches!(state.content, Content::Unreadable(_)), "{state:?}");
    }
}
