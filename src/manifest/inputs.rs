//! The files that `-f` names: files, directories, and `-` for standard input.
//!
//! A directory stands for the manifests in it and below it, in byte order of their names as in
//! `filepath.Walk`. A manifest in a directory ends in .yaml, .yml or .json. Hidden entries (`.git`)
//! are skipped. Links are followed if their target is inside the directory (`crate::links`). Each
//! directory is read once per argument. A link to a directory that contains it, or out of the named
//! directory, is reported.
//!
//! Invariant: one file is in memory at a time, and no file larger than [`MAX_BYTES`].

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, File, FileType, Metadata};
use std::io;
use std::io::Read;
use std::mem;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::links::Root;

/// One file: its path as the user would write it, and its content.
#[derive(Debug)]
pub struct Input {
    /// The argument, with the path below it joined by `/`; `-` for standard input.
    pub path: String,
    /// The content, or the reason why there is none.
    pub bytes: Result<Vec<u8>, InputError>,
}

/// An iterator over the files, in the order of the arguments. Each file is read when it is
/// requested.
#[derive(Debug)]
pub struct Inputs<R> {
    arguments: VecDeque<PathBuf>,
    walk: FileWalk,
    stdin: Stdin<R>,
}

/// The meaning of `-`.
#[derive(Debug)]
enum Stdin<R> {
    Unread(R),
    Read,
    /// `-` is an error, because all arguments must be files.
    Closed,
}

/// Returns the names of the files that [`Inputs`] reads for these arguments, without standard
/// input.
pub(crate) fn manifest_files(arguments: &[PathBuf]) -> impl Iterator<Item = String> {
    let named = arguments.iter().filter(|path| path.as_os_str() != "-");
    named.flat_map(|path| FileWalk::from(path.clone()).map(|file| file.shown))
}

/// Returns the kustomizations in the directories that are arguments, and in the directories of
/// these files.
pub(crate) fn kustomizations(arguments: &[PathBuf], files: &[String]) -> Vec<String> {
    let named = arguments.iter().filter(|path| path.is_dir()).cloned();
    let around = files.iter().filter_map(|file| Path::new(file).parent());
    let directories: BTreeSet<_> = named.chain(around.map(Path::to_owned)).collect();
    let files = directories.into_iter().filter_map(|directory| {
        let mut candidates = KUSTOMIZATIONS.iter().map(|name| directory.join(name));
        candidates.find(|file| file.is_file())
    });
    files
        .map(|file| file.to_string_lossy().into_owned())
        .collect()
}

impl<R: Read> Inputs<R> {
    /// Creates an iterator over these arguments. `stdin` is read for `-`; a second `-` adds
    /// nothing.
    pub fn new(arguments: impl IntoIterator<Item = PathBuf>, stdin: R) -> Self {
        let arguments = arguments.into_iter().collect();
        Self {
            arguments,
            walk: FileWalk::default(),
            stdin: Stdin::Unread(stdin),
        }
    }
}

impl Inputs<io::Empty> {
    /// Creates an iterator over these arguments, of which `-` is an error.
    pub fn of_files(arguments: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            stdin: Stdin::Closed,
            ..Self::new(arguments, io::empty())
        }
    }
}

impl<R: Read> Iterator for Inputs<R> {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        loop {
            if let Some(file) = self.walk.next() {
                return Some(Input {
                    path: file.shown,
                    bytes: file.found.and_then(|path| read_file(&path)),
                });
            }
            let argument = self.arguments.pop_front()?;
            if argument.as_os_str() != "-" {
                self.walk = FileWalk::from(argument);
            } else if let Some(bytes) = self.stdin.bytes() {
                let path = "-".to_owned();
                return Some(Input { path, bytes });
            }
        }
    }
}

impl<R: Read> Stdin<R> {
    /// Returns the content of standard input; `None` if it was read before.
    fn bytes(&mut self) -> Option<Result<Vec<u8>, InputError>> {
        match mem::replace(self, Self::Read) {
            Self::Unread(stdin) => Some(read_bounded(stdin, 0)),
            Self::Read => None,
            Self::Closed => Some(Err(InputError::NoStdin)),
        }
    }
}

// === Reading a file or a pipe, up to a limit ===

/// The maximum size of one file in bytes. An object in the cluster has at most 1.5 MiB, so a larger
/// file is a list of many. The data of more bytes would not fit into the memory that a check may
/// use.
pub const MAX_BYTES: u64 = 32 << 20;

/// Reads a file that is no larger than [`MAX_BYTES`].
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, InputError> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    if len > MAX_BYTES {
        return Err(InputError::TooLarge);
    }
    read_bounded(file, len)
}

/// Reads to the end. `expected` is the probable size.
fn read_bounded(source: impl Read, expected: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes =
        Vec::with_capacity(usize::try_from(expected.min(MAX_BYTES) + 1).unwrap_or_default());
    let read = source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES) {
        Ok(bytes)
    } else {
        Err(InputError::TooLarge)
    }
}

// === The reasons why a file cannot be read. The texts omit the path, which [`Input`] has ===

/// The reason why there is no content for a path.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The path does not exist.
    #[error("does not exist: expected a file or a directory")]
    NotFound,
    /// The path is standard input, which is not read here.
    #[error("is standard input, which is not read here: expected a file or a directory")]
    NoStdin,
    /// The system refused access.
    #[error("cannot be read: {source}")]
    Io {
        /// The error of the system.
        source: io::Error,
    },
    /// The file is larger than a manifest may be.
    #[error(
        "is larger than {} MiB: expected a manifest, so split it, or omit it",
        MAX_BYTES >> 20
    )]
    TooLarge,
    /// A link points to a directory that contains it.
    #[error("is a link back to a directory that contains it: expected no loop, so remove the link")]
    Loop,
    /// The target of a link is outside the directory that was named.
    #[error(
        "is a link out of the directory: expected a target inside it, so copy the target there, or \
         name it on its own"
    )]
    LinkLeadsOut,
    /// A file in a directory is a pipe, a socket or a device.
    #[error("is not a regular file: expected a manifest, so name it on its own, or omit it")]
    NotAFile,
}

impl From<io::Error> for InputError {
    fn from(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::Io { source },
        }
    }
}

// === The files below a path ===

/// A file of the walk, or the reason why it cannot be read.
#[derive(Debug)]
struct WalkedFile {
    shown: String,
    found: Result<PathBuf, InputError>,
}

/// An iterator over the files below one path. Directories are listed when they are reached.
///
/// The number of file system calls per entry is bounded, however deep the entry is. Only links are
/// resolved from the root.
#[derive(Debug, Default)]
struct FileWalk {
    /// The entries still to visit, the next one last.
    pending: Vec<PendingPath>,
    /// The directories listed so far, by their paths without links.
    listed: HashSet<PathBuf>,
}

/// An entry to visit, by its origin.
#[derive(Debug)]
enum PendingPath {
    /// The user named the path, so it is read whatever it is.
    Named(PathBuf),
    /// The entry is in a directory, so it is read if it has the name of a manifest.
    Listed {
        within: Rc<Directory>,
        name: OsString,
        kind: FileType,
    },
}

/// A listed directory.
#[derive(Debug)]
struct Directory {
    /// The path as the user writes it.
    path: PathBuf,
    /// The path without links.
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
                Ok(VisitedEntry::File) => Ok(entry.path()),
                Ok(VisitedEntry::Nothing) => continue,
                Err(error) => Err(error),
            };
            let shown = entry.shown();
            return Some(WalkedFile { shown, found });
        }
    }
}

/// The result of a visit.
enum VisitedEntry {
    File,
    Nothing,
}

impl FileWalk {
    fn visit(&mut self, entry: &PendingPath) -> Result<VisitedEntry, InputError> {
        match entry {
            PendingPath::Named(path) if metadata(path)?.is_dir() => {
                self.list(Directory::named(path)?)
            }
            PendingPath::Named(_) => Ok(VisitedEntry::File),
            PendingPath::Listed { within, name, kind } if kind.is_symlink() => {
                self.follow(within, name)
            }
            PendingPath::Listed { within, name, kind } if kind.is_dir() => {
                self.list(within.below(name, within.real.join(name)))
            }
            PendingPath::Listed { name, kind, .. } => file(name, *kind),
        }
    }

    /// Lists a directory, unless it was listed before.
    fn list(&mut self, directory: Directory) -> Result<VisitedEntry, InputError> {
        if !self.listed.insert(directory.real.clone()) {
            return Ok(VisitedEntry::Nothing);
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
        Ok(VisitedEntry::Nothing)
    }

    fn follow(&mut self, within: &Directory, name: &OsStr) -> Result<VisitedEntry, InputError> {
        let link = within.path.join(name);
        let is_manifest = has_manifest_name(Path::new(name));
        let target = within.root.target(&link).map_err(InputError::from);
        let target = match target {
            Err(InputError::NotFound) if !is_manifest => return Ok(VisitedEntry::Nothing),
            target => target?,
        };
        let metadata = metadata(&link)?;
        match target {
            None if is_manifest || metadata.is_dir() => Err(InputError::LinkLeadsOut),
            None => Ok(VisitedEntry::Nothing),
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

fn file(name: &OsStr, kind: FileType) -> Result<VisitedEntry, InputError> {
    match has_manifest_name(Path::new(name)) {
        false => Ok(VisitedEntry::Nothing),
        true if kind.is_file() => Ok(VisitedEntry::File),
        true => Err(InputError::NotAFile),
    }
}

fn metadata(path: &Path) -> io::Result<Metadata> {
    #[cfg(test)]
    crate::links::lookups::add(1);
    fs::metadata(path)
}

/// Returns the entries of a directory. A link has the type of a link, whatever its target is.
fn entries(directory: &Path) -> io::Result<Vec<(OsString, FileType)>> {
    #[cfg(test)]
    crate::links::lookups::add(1);
    let named = |entry: DirEntry| Ok((entry.file_name(), entry.file_type()?));
    fs::read_dir(directory)?
        .map(|entry| entry.and_then(named))
        .collect()
}

/// Whether a file in a directory counts as a manifest, by its extension.
pub(crate) fn has_manifest_name(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

/// The file names of a kustomization, in the order in which kustomize looks for them.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
