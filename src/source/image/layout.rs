//! Images on disk: a directory in the layout of the image spec, or a tar archive of one.
//!
//! Upstream: opencontainers/image-spec v1.1, `image-layout.md`; containers/image, `docs/containers-transports.5.md`
//! (`oci:`, `oci-archive:`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tar::EntryType;

use super::manifest::{Descriptor, MANIFEST_BYTES, Manifest, ManifestFault};
use super::registry::TakeBody;
use crate::foreign_text::one_line;
use crate::links::Root;
use crate::source::digest::{Sha256, Sha256Context};

/// The files of a layout.
#[derive(Debug)]
pub(super) enum ImageLayout {
    Folder(Root),
    /// An archive, with the position and the size of each of its files.
    Archive(PathBuf, HashMap<String, (u64, u64)>),
}

/// Why a layout cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LayoutFault {
    /// A file of the layout cannot be read.
    #[error("{name}: {source}")]
    File {
        /// The file, as the layout calls it.
        name: Box<str>,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a tar archive.
    #[error(
        "not a tar archive: {why}: expected what skopeo or podman writes as oci-archive, not compressed"
    )]
    Archive {
        /// The error of the reader.
        why: Box<str>,
    },
    /// The list of images cannot be used.
    #[error("index.json: {0}")]
    Index(ManifestFault),
    /// The layout has several images, or none with the requested name.
    #[error("index.json lists {found}: expected {expected}")]
    Which {
        /// The images in the layout.
        found: Box<str>,
        /// The image that was requested.
        expected: Box<str>,
    },
    /// The content of a blob does not match its name.
    #[error("blob {expected} has the digest {found}: the layout is damaged")]
    Damaged {
        /// The digest in the name.
        expected: Sha256,
        /// The digest of the content.
        found: Sha256,
    },
}

impl ImageLayout {
    /// Opens a directory. Symbolic links out of it are not followed, because it may come from elsewhere.
    pub(super) fn of_folder(folder: &Path) -> Result<Self, LayoutFault> {
        let root = Root::of(folder).map_err(|source| LayoutFault::File {
            name: one_line(&folder.to_string_lossy()).into(),
            source,
        })?;
        Ok(Self::Folder(root))
    }

    /// Opens an archive and reads its headers.
    pub(super) fn of_archive(path: &Path) -> Result<Self, LayoutFault> {
        let failed = |source| LayoutFault::File {
            name: one_line(&path.to_string_lossy()).into(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let mut archive = tar::Archive::new(file);
        let mut files = HashMap::new();
        for entry in archive
            .entries_with_seek()
            .map_err(|error| unreadable(&error))?
            .raw(true)
        {
            let entry = entry.map_err(|error| unreadable(&error))?;
            if entry.header().entry_type() == EntryType::Regular && files.len() < FILES {
                let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                let name = name.trim_start_matches("./").to_owned();
                files.insert(name, (entry.raw_file_position(), entry.size()));
            }
        }
        Ok(Self::Archive(path.to_owned(), files))
    }

    /// Returns the manifest of the image with this name, or of the only image.
    pub(super) fn top(&self, name: Option<&str>) -> Result<Descriptor, LayoutFault> {
        let bytes = self.bytes("index.json")?;
        let listed = match Manifest::parse(&bytes, "").map_err(LayoutFault::Index)? {
            Manifest::Index(listed) => listed,
            Manifest::Image(_) => return Err(which("one image itself", "a list of images")),
        };
        let names = names(&listed);
        if let Some(name) = name {
            let is_meant = |one: &Descriptor| one.name.as_deref() == Some(name);
            let expected = || format!("the image {:?}", one_line(name));
            let found = listed.into_iter().find(is_meant);
            return found.ok_or_else(|| which(&names, &expected()));
        }
        let [only] = <[_; 1]>::try_from(listed).map_err(|listed: Vec<_>| {
            let found = format!("{} images: {names}", listed.len());
            which(&found, "one image, or its name after the path and a colon")
        })?;
        Ok(only)
    }

    /// Reads a small file.
    fn bytes(&self, name: &str) -> Result<Vec<u8>, LayoutFault> {
        let failed = |source| LayoutFault::File {
            name: name.into(),
            source,
        };
        let mut bytes = Vec::new();
        let input = self.open(name).map_err(failed)?;
        let read = input.take(MANIFEST_BYTES).read_to_end(&mut bytes);
        read.map_err(failed)?;
        Ok(bytes)
    }

    /// Reads a blob of at most `limit` bytes to its end and compares its digest.
    pub(super) fn blob<T>(
        &self,
        digest: Sha256,
        limit: u64,
        take: &TakeBody<T>,
    ) -> Result<T, LayoutFault> {
        let name = format!("blobs/sha256/{}", digest.hex());
        let failed = |source| LayoutFault::File {
            name: name.as_str().into(),
            source,
        };
        let input = self.open(&name).map_err(failed)?;
        let input = input.take(limit.saturating_add(1));
        let context = Sha256Context::default();
        let mut input = DigestedRead { input, context };
        let value = take(&mut input);
        io::copy(&mut input, &mut io::sink()).map_err(failed)?;
        let found = input.context.finish();
        if found != digest {
            let expected = digest;
            return Err(LayoutFault::Damaged { expected, found });
        }
        Ok(value)
    }

    fn open(&self, name: &str) -> io::Result<io::Take<File>> {
        match self {
            Self::Folder(root) => {
                let target = root.target(&root.path().join(name))?;
                let target = target.ok_or_else(leads_out)?;
                // A pipe without a writer would block the opening.
                let metadata = target.metadata()?;
                if !metadata.is_file() {
                    return Err(leads_out());
                }
                Ok(File::open(target)?.take(metadata.len()))
            }
            Self::Archive(path, files) => {
                let found = files.get(name).copied();
                let (start, bytes) = found.ok_or(io::ErrorKind::NotFound)?;
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(start))?;
                Ok(file.take(bytes))
            }
        }
    }
}

fn leads_out() -> io::Error {
    io::Error::other("expected a file of the layout, found a link out of it, or no file")
}

/// A reader that computes the digest of what is read.
struct DigestedRead<R> {
    input: R,
    context: Sha256Context,
}

impl<R: Read> Read for DigestedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.context.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

fn names(listed: &[Descriptor]) -> String {
    let names: Vec<_> = listed
        .iter()
        .take(NAMES)
        .map(|one| {
            one.name
                .as_deref()
                .map_or_else(|| "one without a name".to_owned(), one_line)
        })
        .collect();
    let more = listed.len().saturating_sub(names.len());
    match more {
        _ if names.is_empty() => "nothing".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn which(found: &str, expected: &str) -> LayoutFault {
    LayoutFault::Which {
        found: found.into(),
        expected: expected.into(),
    }
}

fn unreadable(error: &io::Error) -> LayoutFault {
    LayoutFault::Archive {
        why: one_line(&error.to_string()).into(),
    }
}

/// The maximum number of files of an archive. Further ones are ignored.
const FILES: usize = 10_000;

/// The maximum number of names in a message.
const NAMES: usize = 5;
