//! Loading of whole catalogs for a snapshot, and their places outside a cluster.

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

/// A loader of catalogs, one after another, with one decoder.
#[derive(Debug)]
pub struct Loader<'a> {
    rules: &'a Rules,
    progress: &'a Progress,
    memory: &'a Pool,
    decoder: Decoder,
}

impl<'a> Loader<'a> {
    /// Creates a loader with these rules. It reports to `progress`, and the catalogs take their memory from the pool.
    pub fn new(rules: &'a Rules, progress: &'a Progress, memory: &'a Pool) -> Self {
        Self {
            rules,
            progress,
            memory,
            decoder: Decoder::default(),
        }
    }

    /// Loads the content at `path`, a file or a directory. Unlike what catalogd serves, it can be another file by
    /// mistake.
    pub fn load(&mut self, path: &Path) -> Content {
        let mut builder = CatalogBuilder::within(self.rules, self.memory.account());
        let mut seen = ObservedSink::new(&mut builder);
        let intake = &mut Decisive(&mut seen);
        let read = read_with(&mut self.decoder, path, self.progress, intake);
        let name = path.to_string_lossy();
        let read = read.and_then(|()| seen.check(&name));
        content(&name, read, builder)
    }

    /// Loads the content from any input, as if it were a file called `name`.
    pub(super) fn load_from(&mut self, name: &str, input: impl Read) -> Content {
        let mut builder = CatalogBuilder::within(self.rules, self.memory.account());
        let mut seen = ObservedSink::new(&mut builder);
        let read = read_from_with(&mut self.decoder, name, input, self.progress, &mut seen);
        let read = read.and_then(|()| seen.check(name));
        content(name, read, builder)
    }
}

/// A sink that also notes whether the content is that of a catalog.
struct ObservedSink<'s> {
    to: &'s mut dyn Sink,
    is_of_olm: bool,
    /// The kind of the first value.
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

    /// Refuses content that has values but no blob of OLM. Empty content is a catalog, and OLM needs no `olm.package`.
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

/// Loads the catalog `name` from `path`, a file or a directory.
///
/// A catalog that cannot be read is still returned: checks that need it are undecided, and all others are done.
pub fn load(name: &str, path: &Path, rules: &Rules) -> CatalogState {
    let (progress, memory) = (Progress::default(), Pool::unbounded());
    let content = Loader::new(rules, &progress, &memory).load(path);
    CatalogState::named(name, content)
}

/// Loads the catalog `name` from bytes in memory, as if they were a file of that name.
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

/// Builds the index of the content of the file or address `name`.
///
/// # Errors
/// Fails if the index needs more memory than is available for it.
pub fn finished(name: &str, builder: CatalogBuilder<'_>) -> Result<Catalog, SourceError> {
    let file = name.into();
    builder
        .finish()
        .map_err(|source| SourceError::Memory { file, source })
}

// === The place of a catalog outside a cluster ===

/// The place of a catalog's content: this machine, a URL with a digest, or an image.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub enum CatalogPlace {
    /// Files on this machine, or in an image.
    Files(FilesPlace),
    /// A file at a URL, with its digest.
    Pinned(Box<PinnedUrl>),
}

/// Why a text is not a valid place.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CatalogPlaceError {
    /// A fault of a URL.
    #[error(transparent)]
    Url(#[from] PinnedUrlError),
    /// A fault of the name of an image.
    #[error(transparent)]
    Image(#[from] ImagePlaceError),
}

/// A catalog by its name, and the place of its content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogSource {
    /// The name of the catalog.
    pub name: String,
    /// The place of its content.
    pub place: CatalogPlace,
}

impl CatalogSource {
    /// The catalog `name` at `place`, as written in a file of the directory `folder`.
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
    /// Returns the place with a relative path resolved against this directory.
    pub fn within(self, folder: &Path) -> Self {
        match self {
            Self::Files(files) => Self::Files(files.within(folder)),
            Self::Pinned(url) => Self::Pinned(url),
        }
    }

    /// The path, if the place is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Files(files) => files.path(),
            Self::Pinned(_) => None,
        }
    }

    /// Loads the content, or returns the reason why that failed.
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

/// The place of files that are read as they are: on this machine, or in an image.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
pub enum FilesPlace {
    /// A file, a directory, or `-` for standard input.
    #[display("{}", _0.display())]
    Path(PathBuf),
    /// An image, which is unpacked first.
    Image(ImagePlace),
}

/// Files on this machine, which stay there at least until this is dropped.
#[derive(Debug)]
pub struct LocalFiles {
    path: PathBuf,
    _image: Option<UnpackedImage>,
}

impl FilesPlace {
    /// The path, if the place is one.
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

    /// Loads the content of a catalog. A fault in an image names the image and the file in it.
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

    /// Returns the files on this machine. Blocks while an image is pulled from a registry.
    ///
    /// # Errors
    /// Fails if the image cannot be unpacked. A path is not checked.
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
    /// The path of the files.
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
