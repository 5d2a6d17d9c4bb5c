//! Readers of catalogs from files, directories and standard input.
//!
//! A directory is read as catalogd reads it: every file below it, whatever its name, in the order of Go's `WalkDir`,
//! except the files that an `.indexignore` excludes. A single file can be compressed with gzip or zstd.
//!
//! ```text
//! walk --> file --> decompress --> stream (bounded buffer) --> JSON lines (cores) --> Sink
//!                                                     `--> YAML --> pipeline (cores) --^
//! ```
//!
//! Nothing is kept after it is handed over. Memory holds one blob, or a few YAML documents, of bounded size, whatever
//! the input.
//!
//! Upstream: operator-registry, [`alpha/declcfg/load.go`], `WalkMetasFS`.
//!
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go

pub mod archive;
pub mod cache;
pub mod catalogd;
pub(crate) mod decompress;
pub mod digest;
mod glob;
pub mod http;
pub mod image;
mod indexignore;
mod load;
pub mod pinned;
mod pipeline;
mod stream;
#[cfg(test)]
mod tests;
mod walk;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::thread;

use decompress::Decoder;
use pipeline::Pipeline;

use olmguard_catalog::blob::Sink;
use olmguard_catalog::fbc::{Decisive, FbcError, Intake, NotAFile};
use olmguard_catalog::memory::TooLarge;
use olmguard_catalog::{Doubt, Glance};

pub use decompress::Progress;
pub use load::{
    CatalogPlace, CatalogPlaceError, CatalogSource, FilesPlace, Loader, LocalFiles, finished, load,
    load_bytes,
};

/// Reads the catalog at `path` and hands its blobs to an intake in the catalog's order. `path` is a file, a directory,
/// or `-` for standard input.
///
/// # Errors
/// Returns the first fault that the intake does not take, and any failure to read. For [`Decisive`], that is the first
/// for which catalogd or operator-controller would refuse the whole catalog. The blobs handed over before the error must
/// be discarded.
pub fn read<I: Intake>(
    path: &Path,
    progress: &Progress,
    intake: &mut I,
) -> Result<(), SourceError> {
    read_with(&mut Decoder::default(), path, progress, intake)
}

/// Like [`read`], with a decoder that can be reused from other files.
fn read_with<I: Intake>(
    decoder: &mut Decoder,
    path: &Path,
    progress: &Progress,
    intake: &mut I,
) -> Result<(), SourceError> {
    let read = thread::scope(|scope| {
        let mut pipeline = Pipeline::new(scope, intake);
        if path == Path::new("-") {
            let input = decoder.open(io::stdin().lock(), progress);
            stream::read("-", input, &mut pipeline)?;
        } else if path.is_dir() {
            read_folder(path, progress, &mut pipeline)?;
        } else {
            let (file, name) = open(path, progress)?;
            stream::read(&name, decoder.open(file, progress), &mut pipeline)?;
        }
        pipeline.finish()
    });
    read.map_err(|error| match &error {
        SourceError::Fbc { file, .. } if **file != *display(path) => {
            SourceError::InDirectory(Box::new(error))
        }
        _ => error,
    })
}

/// Reads a catalog from any input, as if it were a file called `name`. The input can be compressed.
///
/// # Errors
/// See [`read`].
pub fn read_from(
    name: &str,
    input: impl Read,
    progress: &Progress,
    sink: &mut dyn Sink,
) -> Result<(), SourceError> {
    read_from_with(&mut Decoder::default(), name, input, progress, sink)
}

/// Like [`read_from`], with a decoder that can be reused from other files.
fn read_from_with(
    decoder: &mut Decoder,
    name: &str,
    input: impl Read,
    progress: &Progress,
    sink: &mut dyn Sink,
) -> Result<(), SourceError> {
    let mut intake = Decisive(sink);
    thread::scope(|scope| {
        let mut pipeline = Pipeline::new(scope, &mut intake);
        stream::read(name, decoder.open(input, progress), &mut pipeline)?;
        pipeline.finish()
    })
}

/// Like [`read_from`], for content that was fetched once from catalogd and has no digest to compare it with. Such a
/// response can be complete and still not be a catalog.
///
/// # Errors
/// See [`read`]. Also fails if the content has no bundle, or if its first value has no schema.
pub fn read_fetched(
    name: &str,
    input: impl Read,
    progress: &Progress,
    sink: &mut dyn Sink,
) -> Result<(), SourceError> {
    let mut glance = Glance::new(sink);
    read_from(name, input, progress, &mut glance)?;
    match glance.doubt() {
        None => Ok(()),
        Some(doubt) => Err(SourceError::Implausible {
            file: name.into(),
            doubt,
        }),
    }
}

fn read_folder<I: Intake>(
    root: &Path,
    progress: &Progress,
    pipeline: &mut Pipeline<'_, '_, '_, I>,
) -> Result<(), SourceError> {
    let mut total = 0;
    for found in walk::files(root)? {
        let path = match found.confine() {
            Ok(path) => path,
            Err(SourceError::NotAFile { path, fault }) => {
                pipeline.not_a_file(path, fault)?;
                continue;
            }
            Err(other) => return Err(other),
        };
        let (file, name) = open_below(root, &path, progress, &mut total)?;
        stream::read(&name, Ok(decompress::plain(file, progress)), pipeline)?;
    }
    Ok(())
}

/// Opens a file of a directory, which has at most as many bytes as a single file.
fn open_below(
    root: &Path,
    path: &Path,
    progress: &Progress,
    total: &mut u64,
) -> Result<(File, Box<str>), SourceError> {
    let (file, name) = open(path, progress)?;
    *total += file.metadata().map_or(0, |metadata| metadata.len());
    if *total > stream::TOTAL_LIMIT {
        let (file, limit) = (display(root), stream::TOTAL_LIMIT);
        return Err(SourceError::TooLarge { file, limit });
    }
    Ok((file, name))
}

/// Opens a file and adds its length to the expected total of `progress`.
fn open(path: &Path, progress: &Progress) -> Result<(File, Box<str>), SourceError> {
    let failed = |action| move |source| io_error(path, action, source);
    let file = File::open(path).map_err(|source| {
        let image = image_of(path).filter(|_| source.kind() == io::ErrorKind::NotFound);
        match image {
            Some(image) => SourceError::Image { image },
            None => io_error(path, "open", source),
        }
    })?;
    let metadata = file.metadata().map_err(failed("read"))?;
    let name = display(path);
    if metadata.is_file() {
        progress.expect(metadata.len());
        if metadata.len() > stream::TOTAL_LIMIT {
            let limit = stream::TOTAL_LIMIT;
            return Err(SourceError::TooLarge { file: name, limit });
        }
    }
    Ok((file, name))
}

/// Returns the image that a path looks like: `HOST/REPOSITORY:TAG`, optionally without the tag or with the prefix
/// `docker://`. The host must contain a dot or a port, or be `localhost`. A last component with an extension and no tag
/// or digest is taken for a file name.
pub(crate) fn image_of(path: &Path) -> Option<Box<str>> {
    let text = display(path);
    let text = text.strip_prefix("docker://").unwrap_or(&text);
    let (host, repository) = text.split_once('/')?;
    let is_host = host.trim_matches('.').contains(['.', ':']) || host == "localhost";
    let last = repository.rsplit('/').next().unwrap_or_default();
    let is_image = is_host && (last.contains([':', '@']) || !last.contains('.'));
    is_image.then(|| text.into())
}

/// Hands over each file of the catalog at `path`, whole and decompressed, with its name. `path` is a file, a directory,
/// or `-` for standard input. Only one file is in memory at a time.
///
/// # Errors
/// Fails if a file cannot be read or is larger than a catalog may be.
pub fn each_file(path: &Path, take: &mut dyn FnMut(&str, &[u8])) -> Result<(), SourceError> {
    let (progress, mut decoder) = (Progress::default(), Decoder::default());
    if path == Path::new("-") {
        let input = decoder.open(io::stdin().lock(), &progress);
        take("-", &whole("-", input)?);
    } else if path.is_dir() {
        let mut total = 0;
        for found in walk::files(path)? {
            let (file, name) = open_below(path, &found.confine()?, &progress, &mut total)?;
            let content = decompress::plain(file, &progress);
            take(&name, &whole(&name, Ok(content))?);
        }
    } else {
        let (file, name) = open(path, &progress)?;
        take(&name, &whole(&name, decoder.open(file, &progress))?);
    }
    Ok(())
}

/// Reads one file to its end.
fn whole(name: &str, content: io::Result<impl Read>) -> Result<Vec<u8>, SourceError> {
    let failed = |source| io_error(name, "read", source);
    let mut bytes = Vec::new();
    let limit = stream::TOTAL_LIMIT;
    let mut content = content.map_err(failed)?.take(limit + 1);
    content.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        let file = name.into();
        return Err(SourceError::TooLarge { file, limit });
    }
    Ok(bytes)
}

// === Reasons why a catalog cannot be read ===

/// Why a catalog cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// An error of the operating system.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// The file or directory.
        path: Box<str>,
        /// The operation that failed.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The content of the file is not a valid catalog.
    #[error("{}: {}", source.position.in_file(file), source.malformed)]
    Fbc {
        /// The file.
        file: Box<str>,
        /// The fault and its position.
        source: FbcError,
    },
    /// The file is readable, but has no blob of OLM.
    #[error("{file}: {found}; expected a file-based catalog, as opm render prints it")]
    NoCatalog {
        /// The file.
        file: Box<str>,
        /// A description of the content.
        found: &'static str,
    },
    /// The file does not exist, and its name looks like that of an image.
    #[error("{image}: no such file or directory; for an image, write oci:{image}")]
    Image {
        /// The name.
        image: Box<str>,
    },
    /// A fault of a file in a directory, which may not belong to the catalog.
    #[error("{0}; if the file is not part of the catalog, list it in .indexignore")]
    InDirectory(Box<Self>),
    /// The content is readable, but can hardly be a whole catalog.
    #[error(
        "{file}: {doubt}; check what catalogd serves at status.urls.base of the ClusterCatalog, \
         and try again"
    )]
    Implausible {
        /// The file.
        file: Box<str>,
        /// The reason for the doubt.
        doubt: Doubt,
    },
    /// The content exceeds the size limit.
    #[error(
        "{file}: larger than {limit} bytes, decompressed; a catalog has tens to hundreds of \
         megabytes"
    )]
    TooLarge {
        /// The file.
        file: Box<str>,
        /// The limit in bytes.
        limit: u64,
    },
    /// The catalog needs more memory than is available for it.
    #[error("{file}: {source}")]
    Memory {
        /// The file.
        file: Box<str>,
        /// The bound that it exceeds.
        source: TooLarge,
    },
    /// A directory contains more entries than are read.
    #[error(
        "{folder}: more than {limit} files and directories: expected the directory of a catalog"
    )]
    TooManyFiles {
        /// The directory.
        folder: Box<str>,
        /// The limit of files and directories.
        limit: usize,
    },
    /// A symbolic link points outside the directory.
    #[error(
        "{link}: symbolic link points outside the directory of the catalog; copy the file into it"
    )]
    LinkLeadsOut {
        /// The link.
        link: Box<str>,
    },
    /// An entry of a directory that is neither a file nor a directory.
    #[error("{path}: {fault}")]
    NotAFile {
        /// The path of the entry.
        path: Box<str>,
        /// The kind of the entry.
        fault: NotAFile,
    },
    /// A thread that turns YAML into JSON ended before its work was done, which is a bug.
    #[error("internal fault: a thread that reads YAML was lost; please report this")]
    WorkerLost,
    /// The `.indexignore` files have more patterns than any real catalog.
    #[error(
        "{file}: with this file, the .indexignore files of the directory have more than {} KiB or {patterns} patterns",
        bytes >> 10
    )]
    TooManyPatterns {
        /// The file.
        file: Box<str>,
        /// The limit of their bytes.
        bytes: u64,
        /// The limit of their patterns.
        patterns: usize,
    },
    /// The patterns of the `.indexignore` files take too long to compare with all files.
    #[error(
        "{folder}: its .indexignore files have too many patterns for so many files: expected fewer or simpler patterns"
    )]
    CostlyPatterns {
        /// The directory.
        folder: Box<str>,
    },
    /// A line of an `.indexignore` that upstream cannot read.
    #[error("{file}: line {line} is longer than {limit} bytes")]
    IgnoreLine {
        /// The file.
        file: Box<str>,
        /// The line, counted from 1.
        line: usize,
        /// The maximum number of bytes that a line may have.
        limit: usize,
    },
}

pub(crate) fn io_error(
    path: impl AsRef<Path>,
    action: &'static str,
    source: io::Error,
) -> SourceError {
    let path = display(path.as_ref());
    SourceError::Io {
        path,
        action,
        source,
    }
}

/// Returns a path as it appears in messages.
fn display(path: &Path) -> Box<str> {
    path.to_string_lossy().into()
}
