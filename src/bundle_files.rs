//! The files of a bundle: a directory with `manifests/` and `metadata/annotations.yaml`, or an image with this
//! content.
//!
//! Upstream: operator-controller, [`rukpak/bundle/source/source.go`].
//!
//! [`rukpak/bundle/source/source.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/bundle/source/source.go

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::manifest::{
    DocumentError, Documents, InputError, ManifestObject, Position, documents, read_file,
};
use crate::source::image::{ImageError, ImageKind};
use crate::source::{FilesPlace, Progress, SourceError, image_of};
use olmguard_catalog::DependencyKind;
use olmguard_catalog::memory::{Account, Heap, Loan};
use olmguard_preflight::bundle::{
    NoBundle, RegistryBundle, WrongField, dependencies_of, is_properties_file, package_of,
};

/// The reason why a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleFilesError {
    #[error(transparent)]
    Meant(SourceError),
    #[error("{}: {fault}", .path.display())]
    At { path: PathBuf, fault: BundleFault },
    #[error("{}:{source}", .file.display())]
    Document {
        file: PathBuf,
        source: DocumentError,
    },
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// The problem of a file or a directory in a bundle.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleFault {
    #[error("{0}")]
    Folder(io::Error),
    #[error(
        "found the directory {0:?}: expected files only, because OLM takes no directories there"
    )]
    Directory(String),
    #[error(
        "not there: expected the directory of a bundle, with manifests/ and metadata/annotations.yaml"
    )]
    NoAnnotations,
    #[error(
        "more than {MOST_BYTES} bytes of manifests: expected a bundle that a Helm release has room for"
    )]
    TooLarge,
    #[error("no room: expected manifests for which the memory of images is enough")]
    Memory,
    #[error("{0}")]
    File(InputError),
    #[error("{0}: expected objects of Kubernetes, each with its kind")]
    NoObject(&'static str),
    #[error("{0}")]
    Field(Box<WrongField>),
    #[error(
        "OLM cannot read the annotations: expected the member annotations, with a text for each"
    )]
    Annotations,
    #[error(
        "OLM cannot read the properties: expected the member properties, a list of objects with type and value"
    )]
    Properties,
    #[error("{0}")]
    NoBundle(NoBundle),
}

impl BundleFilesError {
    /// Whether operator-controller certainly cannot read a bundle there: a part is missing, or in the wrong place or
    /// form.
    pub(crate) fn is_of_format(&self) -> bool {
        let Self::At { fault, .. } = self else {
            return false;
        };
        match fault {
            BundleFault::Folder(source) => source.kind() == ErrorKind::NotFound,
            // The directory can be a link, which operator-controller follows.
            BundleFault::Memory | BundleFault::File(_) | BundleFault::TooLarge => false,
            BundleFault::Directory(_)
            | BundleFault::NoAnnotations
            | BundleFault::NoObject(_)
            | BundleFault::Field(_)
            | BundleFault::Annotations
            | BundleFault::Properties
            | BundleFault::NoBundle(_) => true,
        }
    }
}

/// Reads the bundle at a place. Blocks while a registry is contacted.
///
/// # Errors
/// If operator-controller could not read the bundle either, or the image is unavailable.
pub(crate) fn read(
    place: &FilesPlace,
    progress: &Progress,
) -> Result<(RegistryBundle, BundleObjects), BundleFilesError> {
    let mut objects = BundleObjects::default();
    in_folder(place, progress, ManifestMemory::Unbounded, |folder| {
        let on_object = &mut |file: &Path, at, object: &_| objects.add(file, at, object);
        let (bundle, mut loan) = folder.read(on_object)?;
        objects.dependencies = folder.dependencies(&mut loan)?;
        objects.dependencies.extend(bundle.dependencies());
        Ok((bundle, objects))
    })
}

/// The places of a bundle's objects that findings refer to, and its dependencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct BundleObjects {
    /// The `ClusterServiceVersion`. If there are several, the last one.
    csv: Option<ManifestPlace>,
    /// The CRDs by name. If a name occurs several times, the first one.
    crds: BTreeMap<String, ManifestPlace>,
    /// The dependencies that any part of the bundle declares.
    pub(crate) dependencies: BTreeSet<DependencyKind>,
}

/// The start of an object in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ManifestPlace {
    pub(crate) file: PathBuf,
    pub(crate) at: Position,
}

impl BundleObjects {
    /// Returns the place of a CRD, or of the `ClusterServiceVersion` if there is no such CRD.
    pub(crate) fn of(&self, crd: Option<&str>) -> Option<&ManifestPlace> {
        let crd = crd.and_then(|name| self.crds.get(name));
        crd.or(self.csv.as_ref())
    }

    fn add(&mut self, file: &Path, at: Position, object: &ManifestObject) {
        let file = file.to_owned();
        let place = ManifestPlace { file, at };
        match (&*object.kind, &object.name) {
            ("ClusterServiceVersion", _) => self.csv = Some(place),
            ("CustomResourceDefinition", Some(name)) => {
                self.crds.entry(name.clone()).or_insert(place);
            }
            _ => {}
        }
    }
}

/// A function that is called for each object with its file and its position.
type OnObject<'s> = &'s mut dyn FnMut(&Path, Position, &ManifestObject);

/// Like [`read`], but in bounded memory, which the bundle uses until the loan is dropped.
pub(crate) fn read_within(
    place: &FilesPlace,
    progress: &Progress,
    memory: ManifestMemory<'_>,
) -> Result<(RegistryBundle, Loan), BundleFilesError> {
    in_folder(place, progress, memory, |folder| {
        folder.read(&mut |_, _, _| ())
    })
}

fn in_folder<T>(
    place: &FilesPlace,
    progress: &Progress,
    memory: ManifestMemory<'_>,
    read: impl FnOnce(&BundleFolder<'_>) -> Result<T, BundleFilesError>,
) -> Result<T, BundleFilesError> {
    let files = place.local(ImageKind::Bundle, progress)?;
    let root = files.path();
    read(&BundleFolder {
        root,
        place,
        memory,
    })
}

/// The memory for manifests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ManifestMemory<'a> {
    /// As much as the manifests need: a command reads a bundle and ends.
    Unbounded,
    /// At most the memory of an account. Aliases are refused, because the text of such a document does not show its
    /// size.
    Of(&'a Account),
}

/// The directory of a bundle. Links are followed: the directory is the user's own, or has none.
struct BundleFolder<'a> {
    root: &'a Path,
    /// The place as the user gave it.
    place: &'a FilesPlace,
    memory: ManifestMemory<'a>,
}

impl BundleFolder<'_> {
    fn read(&self, on_object: OnObject<'_>) -> Result<(RegistryBundle, Loan), BundleFilesError> {
        let mut memory = match self.memory {
            ManifestMemory::Unbounded => Account::default().loan(),
            ManifestMemory::Of(account) => account.loan(),
        };
        if let Some(image) = image_of(self.root).filter(|_| !self.root.exists()) {
            return Err(BundleFilesError::Meant(SourceError::Image { image }));
        }
        let annotations = self.root.join("metadata/annotations.yaml");
        if !annotations.exists() {
            return Err(self.at(&annotations, BundleFault::NoAnnotations));
        }
        let package = self.package(&annotations, &mut memory)?;
        let manifests = self.root.join("manifests");
        let (mut all, mut room) = (Vec::new(), MOST_BYTES);
        for file in self.files(&manifests)? {
            let bytes = self.bytes(&file)?;
            let left = room.checked_sub(bytes.len());
            room = left.ok_or_else(|| self.at(&manifests, BundleFault::TooLarge))?;
            let most = self.take(&file, &bytes, &mut memory)?;
            let objects = self.objects(&file, &bytes, on_object)?;
            let kept: usize = objects.iter().map(Heap::heap_bytes).sum();
            memory.less(most.saturating_sub(kept));
            all.extend(objects);
        }
        let bundle = RegistryBundle::of(&package, all);
        let bundle = bundle.map_err(|fault| self.at(&manifests, BundleFault::NoBundle(fault)))?;
        self.check_properties(&mut memory)?;
        Ok((bundle, memory))
    }

    /// Returns the package that the annotations name.
    fn package(&self, file: &Path, memory: &mut Loan) -> Result<String, BundleFilesError> {
        let document = self.first_document(file, memory)?;
        package_of(&document).ok_or_else(|| self.at(file, BundleFault::Annotations))
    }

    /// Checks the file with properties, which is optional.
    fn check_properties(&self, memory: &mut Loan) -> Result<(), BundleFilesError> {
        let file = self.root.join("metadata/properties.yaml");
        if !file.exists() || is_properties_file(&self.first_document(&file, memory)?) {
            return Ok(());
        }
        Err(self.at(&file, BundleFault::Properties))
    }

    /// Returns the dependencies in the optional files of `metadata/`. operator-controller reads neither file for
    /// dependencies.
    fn dependencies(
        &self,
        memory: &mut Loan,
    ) -> Result<BTreeSet<DependencyKind>, BundleFilesError> {
        let mut all = BTreeSet::new();
        for name in ["metadata/properties.yaml", "metadata/dependencies.yaml"] {
            let file = self.root.join(name);
            if file.exists() {
                all.extend(dependencies_of(&self.first_document(&file, memory)?));
            }
        }
        Ok(all)
    }

    /// Returns the first document of a file in `metadata/`, as Go reads it; null for an empty file.
    fn first_document(&self, file: &Path, memory: &mut Loan) -> Result<Value, BundleFilesError> {
        let bytes = self.bytes(file)?;
        let most = self.take(file, &bytes, memory)?;
        let first = self.documents(&bytes).next().transpose();
        let first = first.map_err(|source| self.document_error(file, source))?;
        memory.less(most);
        Ok(first.map_or(Value::Null, |document| document.value))
    }

    /// Reserves the maximum memory that the documents of a file can need.
    fn take(
        &self,
        file: &Path,
        bytes: &[u8],
        memory: &mut Loan,
    ) -> Result<usize, BundleFilesError> {
        let most = room_for(bytes);
        let taken = memory.more(most);
        taken.map_err(|_| self.at(file, BundleFault::Memory))?;
        Ok(most)
    }

    fn documents<'b>(&self, bytes: &'b [u8]) -> Documents<'b> {
        let documents = documents(bytes).with_repeated_keys();
        match self.memory {
            ManifestMemory::Unbounded => documents,
            ManifestMemory::Of(_) => documents.without_aliases(),
        }
    }

    /// Returns the files of a directory, in byte order of their names.
    fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, BundleFilesError> {
        let failed = |source| self.at(folder, BundleFault::Folder(source));
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                return Err(self.at(folder, BundleFault::Directory(name.into_owned())));
            }
            files.push(path);
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Returns the objects of a manifest file, with lists unfolded.
    fn objects(
        &self,
        file: &Path,
        bytes: &[u8],
        on_object: OnObject<'_>,
    ) -> Result<Vec<Value>, BundleFilesError> {
        let mut all = Vec::new();
        for document in self.documents(bytes) {
            let document = document.map_err(|source| self.document_error(file, source))?;
            let is_map = document.value.is_object();
            if let Some(field) = WrongField::of_head(&document.value) {
                return Err(self.at(file, BundleFault::Field(Box::new(field))));
            }
            let (objects, positions) = document.into_objects();
            if !is_map || objects.iter().any(|object| object.kind.is_empty()) {
                let found = if is_map {
                    "an object without a kind"
                } else {
                    "a document that is no object"
                };
                return Err(self.at(file, BundleFault::NoObject(found)));
            }
            for object in objects {
                if let Some(field) = WrongField::of(&object.value) {
                    return Err(self.at(file, BundleFault::Field(Box::new(field))));
                }
                on_object(file, object.position(&positions, &[]), &object);
                all.push(object.value);
            }
        }
        Ok(all)
    }

    fn at(&self, path: &Path, fault: BundleFault) -> BundleFilesError {
        BundleFilesError::At {
            path: self.shown(path),
            fault,
        }
    }

    fn bytes(&self, file: &Path) -> Result<Vec<u8>, BundleFilesError> {
        read_file(file).map_err(|source| self.at(file, BundleFault::File(source)))
    }

    fn document_error(&self, file: &Path, source: DocumentError) -> BundleFilesError {
        BundleFilesError::Document {
            file: self.shown(file),
            source,
        }
    }

    /// Returns a path as the user knows it: inside the image instead of the directory where the image is unpacked.
    fn shown(&self, path: &Path) -> PathBuf {
        match (self.place, path.strip_prefix(self.root)) {
            (FilesPlace::Image(image), Ok(within)) => Path::new(&image.to_string()).join(within),
            _ => path.to_owned(),
        }
    }
}

/// Returns an upper bound on the memory for the documents of a file without aliases while they are read.
///
/// Maps need by far the most memory. A map starts at a brace or a question mark, at the first key of a line that is
/// indented more than the line before, or after a dash.
fn room_for(file: &[u8]) -> usize {
    let count = |bytes: &[u8]| file.iter().filter(|byte| bytes.contains(byte)).count();
    let mut indented = 0;
    let mut before = None;
    for line in file.split(|byte| *byte == b'\n') {
        let indent = line.iter().position(|byte| !byte.is_ascii_whitespace());
        if indent.is_some() {
            indented += usize::from(indent > before);
            before = indent;
        }
    }
    (count(b"{?-") + indented) * MAP + count(b":,\n[") * ENTRY + file.len() * 2
}

/// The memory of a map, with room for some members.
const MAP: usize = 768;

/// The memory of a member or an entry, with its position and the texts of both.
const ENTRY: usize = 256;

/// The maximum size of all manifests together. A Helm release has room for 11 MB after compression.
const MOST_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use olmguard_catalog::memory::Pool;

    use super::*;

    /// Small texts of large values, each repeated many times.
    #[test]
    fn no_file_takes_more_than_the_room_for_it() {
        let many = |text: &str| text.repeat(2000);
        let members: Vec<_> = (0..2000).map(|at| format!("k{at}: v\n")).collect();
        for text in [
            format!("a: [{}]", many("{a},")),
            format!("a: [{}]", many("{},")),
            format!("a: [{}]", many("[],")),
            format!("a: [{}]", many("1,")),
            format!("a:\n{}", many("- - - b\n")),
            format!("a:\n{}", many("- b: c\n")),
            format!("a:\n{}", many("- ? b\n")),
            format!("a:\n{}", many("-\n  b\n")),
            format!("a:\n{}", many("- b:\n    c:\n      d: e\n")),
            format!("{{\"a\": [{}1]}}", many("{\"a\":{\"b\":[0]}},")),
            members.concat(),
        ] {
            let read = documents(text.as_bytes()).without_aliases();
            let taken: usize = read
                .map(|document| document.unwrap().value.heap_bytes())
                .sum();
            assert!(taken > 0, "{text:.40}");
            assert!(taken <= room_for(text.as_bytes()), "{text:.40}: {taken}");
        }
    }

    #[test]
    fn an_anchor_is_copied_only_for_aliases() {
        let text = format!("a: &x [{}]", "1,".repeat(600_000));
        let read = |all: Documents<'_>| all.map(|document| document.is_ok()).collect::<Vec<_>>();
        assert_eq!(read(documents(text.as_bytes())), [false]);
        assert_eq!(read(documents(text.as_bytes()).without_aliases()), [true]);
    }

    fn folder(csv: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("metadata/annotations.yaml", "annotations: {}\n"),
            ("manifests/csv.yaml", csv),
        ] {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_bundle_is_read_in_the_memory_that_there_is() {
        let read = |csv: &str, room: usize| {
            let folder = folder(csv);
            let place = FilesPlace::Path(folder.path().to_owned());
            let (pool, progress) = (Pool::new(room, room), Progress::default());
            let account = pool.account();
            let read = read_within(&place, &progress, ManifestMemory::Of(&account));
            let read = read.map(|(bundle, loan)| (bundle.heap_bytes(), loan.bytes()));
            read.map_err(|error| {
                let error = error.to_string();
                error.replace(&folder.path().display().to_string(), "")
            })
        };
        let csv = "kind: ClusterServiceVersion\nmetadata: {name: p}\n";
        let (heap, taken) = read(csv, 1 << 20).unwrap();
        assert!(read(&format!("{csv}kind: ClusterServiceVersion\n"), 1 << 20).is_ok());
        assert!(heap <= taken && taken < 1 << 14, "{heap} {taken}");
        assert_eq!(
            read(&format!("{csv}spec: {{labels: {{a: b}}, icon: []}}\n"), 3000),
            Err("/manifests/csv.yaml: no room: expected manifests for which the memory of images is enough".to_owned())
        );
        assert_eq!(
            read("kind: ClusterServiceVersion\nspec: {a: &x 1, b: *x}\n", 1 << 20),
            Err("/manifests/csv.yaml:2:20: found an alias: expected the value itself, so write it out".to_owned())
        );
    }
}
