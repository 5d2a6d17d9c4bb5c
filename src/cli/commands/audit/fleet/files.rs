//! The files of a fleet, one for each cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file of one cluster.
pub(super) struct ClusterFile {
    /// The name of the cluster: the name of the file without its ending, or the whole path if another cluster has
    /// that name.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// A PATH that cannot be read, and why.
pub(super) struct UnreadPath {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

/// Why the files of a fleet cannot be reported together.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli::commands::audit) enum FilesError {
    #[error(
        "--fleet: {}: no file is there: expected snapshots, or JSON of \"olmguard audit -o json\"",
        .0.display()
    )]
    Empty(PathBuf),
    #[error("--fleet: {}: is given twice; give each file once", .0.display())]
    Twice(PathBuf),
}

/// The files of all paths in their order, each with a name that no other cluster has. `taken` are the names of
/// clusters that are no files.
///
/// # Errors
/// If a directory has no file, or a file comes twice.
pub(super) fn fleet_files(
    paths: &[PathBuf],
    taken: &[String],
) -> Result<Vec<Result<ClusterFile, UnreadPath>>, FilesError> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        match cluster_files(path) {
            Ok(files) if files.is_empty() => return Err(FilesError::Empty(path.clone())),
            Ok(files) => {
                for file in files {
                    if !seen.insert(file.canonical()) {
                        return Err(FilesError::Twice(file.path));
                    }
                    all.push(Ok(file));
                }
            }
            Err(error) => all.push(Err(UnreadPath {
                path: path.clone(),
                error,
            })),
        }
    }
    name_apart(all.iter_mut().flatten().collect(), taken);
    Ok(all)
}

/// Names files of one name by their paths. A path can be the name of another file in turn.
fn name_apart(mut files: Vec<&mut ClusterFile>, taken: &[String]) {
    loop {
        let mut counts = BTreeMap::<String, usize>::new();
        let names = files.iter().map(|file| &file.name).chain(taken);
        for name in names {
            *counts.entry(name.clone()).or_default() += 1;
        }
        let is_shared = |file: &ClusterFile| counts.get(&file.name).is_some_and(|count| *count > 1);
        let mut is_done = true;
        for file in &mut files {
            let path = file.path.to_string_lossy();
            if is_shared(file) && file.name != path {
                file.name = path.into_owned();
                is_done = false;
            }
        }
        if is_done {
            return;
        }
    }
}

/// What a file has.
pub(super) enum Content {
    /// A file of "olmguard snapshot save", which is read where it is.
    Snapshot,
    /// Anything other, in full.
    Audit(Vec<u8>),
}

/// A file, or the files of a directory by name. Hidden files and directories in it are not of the fleet.
fn cluster_files(path: &Path) -> io::Result<Vec<ClusterFile>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![ClusterFile::at(path.to_owned())]);
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path)?.collect();
    let paths = entries?.into_iter().map(|entry| entry.path());
    let is_hidden = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(b".")
    };
    let mut paths: Vec<_> = paths
        .filter(|path| path.is_file() && !is_hidden(path))
        .collect();
    paths.sort_unstable();
    Ok(paths.into_iter().map(ClusterFile::at).collect())
}

impl ClusterFile {
    fn at(path: PathBuf) -> Self {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        Self {
            name: name.to_string_lossy().into_owned(),
            path,
        }
    }

    /// By this a file is known again that two paths name.
    fn canonical(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }
}

impl Content {
    /// What a file has, up to the size of an audit.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut file = File::open(path)?.take(MOST + 1);
        file.by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut bytes)?;
        if bytes == MAGIC {
            return Ok(Self::Snapshot);
        }
        file.read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST {
            let why = format!("is larger than {MOST} bytes: expected the audit of one cluster");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(Self::Audit(bytes))
    }
}

/// How a zstd frame begins.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The most bytes of an audit. An extension has about one thousand.
const MOST: u64 = 64 << 20;
