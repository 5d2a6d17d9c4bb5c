//! The files below a path.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::error::InputError;

/// A file on the way, or what stood in its place.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) shown: String,
    pub(super) found: Result<PathBuf, InputError>,
}

/// Iterator over the files below one path. Folders are listed when they are reached.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// What is still to visit, the next one last.
    pending: Vec<Entry>,
    /// The folders listed, by their real paths.
    listed: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    shown: String,
    role: Role,
}

/// Why a path is looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    /// The user named it: it is read whatever it is.
    Named,
    /// It is in a folder: it is read if it looks like a manifest.
    Listed,
}

impl From<PathBuf> for Walk {
    fn from(path: PathBuf) -> Self {
        let shown = path.to_string_lossy().into_owned();
        Self {
            pending: vec![Entry {
                path,
                shown,
                role: Role::Named,
            }],
            listed: BTreeSet::new(),
        }
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let entry = self.pending.pop()?;
            match self.visit(&entry) {
                Ok(Visit::File) => {
                    return Some(Found {
                        shown: entry.shown,
                        found: Ok(entry.path),
                    });
                }
                Ok(Visit::Nothing) => {}
                Err(error) => {
                    return Some(Found {
                        shown: entry.shown,
                        found: Err(error),
                    });
                }
            }
        }
    }
}

/// What came of an entry.
enum Visit {
    File,
    Nothing,
}

impl Walk {
    fn visit(&mut self, entry: &Entry) -> Result<Visit, InputError> {
        let is_manifest = entry.role == Role::Named || has_manifest_name(&entry.path);
        match fs::metadata(&entry.path).map_err(InputError::from) {
            Err(InputError::NotFound) if !is_manifest => Ok(Visit::Nothing),
            Err(error) => Err(error),
            Ok(metadata) if metadata.is_dir() => self.list(entry),
            Ok(metadata) => file(entry.role, is_manifest, metadata.file_type()),
        }
    }

    fn list(&mut self, folder: &Entry) -> Result<Visit, InputError> {
        let real = fs::canonicalize(&folder.path)?;
        if self.listed.contains(&real) {
            return if leads_back(&folder.path, &real) {
                Err(InputError::Loop)
            } else {
                Ok(Visit::Nothing)
            };
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder.path)? {
            names.push(entry?.file_name());
        }
        names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
        names.sort_unstable_by(|a, b| b.cmp(a));
        self.pending
            .extend(names.iter().map(|name| folder.below(name)));
        self.listed.insert(real);
        Ok(Visit::Nothing)
    }
}

impl Entry {
    fn below(&self, name: &OsStr) -> Self {
        let shown = format!(
            "{}/{}",
            self.shown.trim_end_matches('/'),
            name.to_string_lossy()
        );
        Self {
            path: self.path.join(name),
            shown,
            role: Role::Listed,
        }
    }
}

fn file(role: Role, is_manifest: bool, kind: FileType) -> Result<Visit, InputError> {
    match role {
        Role::Listed if !is_manifest => Ok(Visit::Nothing),
        Role::Listed if !kind.is_file() => Err(InputError::NotAFile),
        _ => Ok(Visit::File),
    }
}

/// Whether the folder that the link leads to is one that the link is in.
fn leads_back(link: &Path, real: &Path) -> bool {
    let around = link
        .parent()
        .and_then(|parent| fs::canonicalize(parent).ok());
    around.is_some_and(|around| around.starts_with(real))
}

/// Whether a file in a folder is taken for a manifest, by how its name ends.
pub(crate) fn has_manifest_name(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}
