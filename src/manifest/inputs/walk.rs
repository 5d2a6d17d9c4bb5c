//! The files below a path.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::error::InputError;
use crate::links::Root;

/// A file on the way, or what stood in its place.
#[derive(Debug)]
pub(super) struct WalkedFile {
    pub(super) shown: String,
    pub(super) found: Result<PathBuf, InputError>,
}

/// Iterator over the files below one path. Directories are listed when they are reached.
///
/// For each entry the file system is asked a bounded number of times, however deep it is; only a
/// link is resolved from the root on.
#[derive(Debug, Default)]
pub(super) struct FileWalk {
    /// What is still to visit, the next one last.
    pending: Vec<PendingPath>,
    /// The directories listed, by their real paths.
    listed: HashSet<PathBuf>,
}

/// Something to visit, and why.
#[derive(Debug)]
enum PendingPath {
    /// The user named it: it is read whatever it is.
    Named(PathBuf),
    /// It is in a directory: it is read if it looks like a manifest.
    Listed {
        within: Rc<Directory>,
        name: OsString,
        kind: FileType,
    },
}

/// A directory that was listed.
#[derive(Debug)]
struct Directory {
    /// As the user writes it.
    path: PathBuf,
    /// Without links.
    real: PathBuf,
    shown: String,
    root: Rc<Root>,
}

impl From<PathBuf> for FileWalk {
    fn from(path: PathBuf) -> Self {
        Self {
            pending: vec![PendingPath::Named(path)],
            listed: HashSet::new(),
        }
    }
}

impl Iterator for FileWalk {
    type Item = WalkedFile;

    fn next(&mut self) -> Option<WalkedFile> {
        loop {
            let entry = self.pending.pop()?;
            let found = match self.visit(&entry) {
                Ok(Visit::File) => Ok(entry.path()),
                Ok(Visit::Nothing) => continue,
                Err(error) => Err(error),
            };
            let shown = entry.shown();
            return Some(WalkedFile { shown, found });
        }
    }
}

/// What came of an entry.
enum Visit {
    File,
    Nothing,
}

impl FileWalk {
    fn visit(&mut self, entry: &PendingPath) -> Result<Visit, InputError> {
        match entry {
            PendingPath::Named(path) if metadata(path)?.is_dir() => {
                self.list(Directory::named(path)?)
            }
            PendingPath::Named(_) => Ok(Visit::File),
            PendingPath::Listed { within, name, kind } if kind.is_symlink() => {
                self.follow(within, name)
            }
            PendingPath::Listed { within, name, kind } if kind.is_dir() => {
                self.list(within.below(name, within.real.join(name)))
            }
            PendingPath::Listed { name, kind, .. } => file(name, *kind),
        }
    }

    /// Lists a directory, unless that was done before.
    fn list(&mut self, directory: Directory) -> Result<Visit, InputError> {
        if !self.listed.insert(directory.real.clone()) {
            return Ok(Visit::Nothing);
        }
        let mut entries = entries(&directory.path)?;
        entries.retain(|(name, _)| !name.as_encoded_bytes().starts_with(b"."));
        entries.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        let directory = Rc::new(directory);
        let entries = entries.into_iter().map(|(name, kind)| PendingPath::Listed {
            within: Rc::clone(&directory),
            name,
            kind,
        });
        self.pending.extend(entries);
        Ok(Visit::Nothing)
    }

    fn follow(&mut self, within: &Directory, name: &OsStr) -> Result<Visit, InputError> {
        let link = within.path.join(name);
        let is_manifest = has_manifest_name(Path::new(name));
        let target = within.root.target(&link).map_err(InputError::from);
        let target = match target {
            Err(InputError::NotFound) if !is_manifest => return Ok(Visit::Nothing),
            target => target?,
        };
        let metadata = metadata(&link)?;
        match target {
            None if is_manifest || metadata.is_dir() => Err(InputError::LinkLeadsOut),
            None => Ok(Visit::Nothing),
            Some(real) if metadata.is_dir() => {
                if within.real.starts_with(&real) {
                    return Err(InputError::Loop);
                }
                self.list(within.below(name, real))
            }
            Some(_) => file(name, metadata.file_type()),
        }
    }
}

impl PendingPath {
    fn path(&self) -> PathBuf {
        match self {
            Self::Named(path) => path.clone(),
            Self::Listed { within, name, .. } => within.path.join(name),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Named(path) => path.to_string_lossy().into_owned(),
            Self::Listed { within, name, .. } => within.shown(name),
        }
    }
}

impl Directory {
    fn named(path: &Path) -> Result<Self, InputError> {
        let root = Root::of(path)?;
        Ok(Self {
            path: path.to_owned(),
            real: root.path().to_owned(),
            shown: path.to_string_lossy().into_owned(),
            root: Rc::new(root),
        })
    }

    fn below(&self, name: &OsStr, real: PathBuf) -> Self {
        Self {
            path: self.path.join(name),
            real,
            shown: self.shown(name),
            root: Rc::clone(&self.root),
        }
    }

    fn shown(&self, name: &OsStr) -> String {
        let around = self.shown.trim_end_matches('/');
        format!("{around}/{}", name.to_string_lossy())
    }
}

fn file(name: &OsStr, kind: FileType) -> Result<Visit, InputError> {
    match has_manifest_name(Path::new(name)) {
        false => Ok(Visit::Nothing),
        true if kind.is_file() => Ok(Visit::File),
        true => Err(InputError::NotAFile),
    }
}

fn metadata(path: &Path) -> io::Result<Metadata> {
    #[cfg(test)]
    crate::links::lookups::add(1);
    fs::metadata(path)
}

/// What is in a directory; a link is one, whatever it leads to.
fn entries(directory: &Path) -> io::Result<Vec<(OsString, FileType)>> {
    #[cfg(test)]
    crate::links::lookups::add(1);
    let named = |entry: DirEntry| Ok((entry.file_name(), entry.file_type()?));
    fs::read_dir(directory)?
        .map(|entry| entry.and_then(named))
        .collect()
}

/// Whether a file in a directory is taken for a manifest, by how its name ends.
pub(crate) fn has_manifest_name(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

/// The names by which kustomize finds a kustomization in its directory.
pub(super) const KUSTOMIZATIONS: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];
