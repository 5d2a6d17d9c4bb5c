//! The files of a fleet, one for each cluster.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file of one cluster.
pub(super) struct ClusterFile {
    /// The name of the cluster: that of the file, without its ending.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// What a file has.
pub(super) enum Content {
    /// A file of "olmguard snapshot save", which is read where it is.
    Snapshot,
    /// Anything other, in full.
    Audit(Vec<u8>),
}

/// A file, or the files of a directory by name. Hidden files and directories in it are not of the fleet.
pub(super) fn cluster_files(path: &Path) -> io::Result<Vec<ClusterFile>> {
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
