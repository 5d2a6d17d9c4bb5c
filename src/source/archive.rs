//! The catalogs of a cluster in one file, for checks without access to the cluster.
//!
//! ```text
//! zstd { tar { snapshot.json, catalogs/hub.jsonl, catalogs/... } }
//! ```
//!
//! `tar -xf` opens it. `snapshot.json` has the facts of the cluster and of each catalog. The contents follow in the
//! order of the catalogs, as they were fetched. The same facts and contents give the same bytes. Reading keeps one blob
//! in memory in addition to the index that it builds.
//!
//! Invariant: a file that is cut, damaged or of another form is never used for a check. Loading succeeds only after the
//! file was read to its end.

mod facts;
#[cfg(test)]
mod tests;

pub use facts::{ArchiveFacts, OlmFacts, SavedExtensions, SavedPolicies, UnknownOlm};

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tar::{Builder, Entries, Entry, EntryType, Header};
use zstd::stream::write::Encoder;

use super::decompress::{Tee, WINDOW_LOG, ZstdFrame, compress};
use super::{Progress, SourceError, finished, io_error, read_fetched, read_from};
use facts::{CatalogFacts, ContentFacts, MOST_BYTES, SnapshotFacts, check_size};
use olmguard_catalog::CatalogBuilder;
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey, Sink};
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content};

/// An archive whose facts have been read.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    file: File,
    facts: SnapshotFacts,
}

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}; save it again with olmguard snapshot save", .path.display())]
pub struct ArchiveError {
    /// The file.
    pub path: PathBuf,
    /// The fault.
    pub reason: ArchiveFault,
}

/// The faults of an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveFault {
    /// The archive cannot be read, or is cut or damaged.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file does not start as an archive does.
    #[error(
        "not a snapshot: expected a tar archive, compressed with zstd, that starts with {FACTS}"
    )]
    Form,
    /// Another program compressed the archive, with a window that takes more memory to read.
    #[error(
        "another program compressed it with a larger window: expected the file as it was written, or compressed with \
         zstd --zstd=wlog={WINDOW_LOG}"
    )]
    Window,
    /// The facts of the cluster and its catalogs are larger than those of any real cluster.
    #[error("{FACTS} is larger than {} MiB", MOST_BYTES >> 20)]
    Size,
    /// The facts of the cluster and its catalogs cannot be parsed.
    #[error("{}", place_of(.0))]
    Facts(#[from] serde_json::Error),
    /// The facts have another schema.
    #[error("{FACTS}: its schema is {found:?}: expected {expected:?}, which this olmguard writes")]
    Schema {
        /// The schema of the facts.
        found: Box<str>,
        /// The schema that this program reads.
        expected: &'static str,
    },
    /// The archive has an unexpected member, or ends too early.
    #[error("{found}: expected {expected}")]
    Member {
        /// The name of the member that was found.
        found: Box<str>,
        /// The name of the member that was expected.
        expected: Box<str>,
    },
    /// The content of a catalog cannot be read.
    #[error("catalog {0}")]
    Content(SourceError),
}

/// Returns the message of a fault after its position. A fault without a position concerns the whole file.
fn place_of(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    match text.strip_suffix(&format!(" at line {line} column {column}")) {
        Some(fault) => format!("{FACTS}:{line}:{column}: {fault}"),
        None => format!("{FACTS}: {text}"),
    }
}

/// Writes an archive of these catalogs, with the content of each catalog that has one.
///
/// If a catalog has no content, the archive keeps the reason in its state: the content is missing or unavailable.
pub fn write<'s, W: Write>(
    to: W,
    facts: &ArchiveFacts,
    catalogs: impl IntoIterator<Item = (&'s CatalogState, Option<&'s FetchedContent>)>,
) -> io::Result<W> {
    let catalogs: Vec<_> = catalogs.into_iter().collect();
    let mut tar = Builder::new(compress(to)?);
    let json = SnapshotFacts::of(facts, &catalogs).to_json()?;
    check_size(&json).map_err(io::Error::other)?;
    append(&mut tar, FACTS, json.len() as u64, &*json)?;
    for (number, (state, content)) in catalogs.iter().enumerate() {
        if let Some(content) = content {
            let name = facts::member(number, &state.name);
            append(&mut tar, &name, content.length, content.read()?)?;
        }
    }
    tar.into_inner()?.finish()
}

fn append(
    tar: &mut Builder<impl Write>,
    name: &str,
    length: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_size(length);
    header.set_mode(AS_ANY_FILE);
    header.set_mtime(0);
    header.set_cksum();
    tar.append(&header, content)
}

impl Archive {
    /// Opens an archive and reads its facts.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let opened = File::open(path).map_err(ArchiveFault::Io).and_then(|file| {
            let facts = read_facts(&file)?;
            Ok((file, facts))
        });
        let path = path.to_owned();
        match opened {
            Ok((file, facts)) => Ok(Self { path, file, facts }),
            Err(reason) => Err(ArchiveError { path, reason }),
        }
    }

    /// The facts of the cluster.
    pub fn facts(&self) -> &ArchiveFacts {
        &self.facts.cluster
    }

    /// Reads every catalog by these rules, in the order in which they were written. The catalogs take their memory from
    /// the pool. A catalog that is too large for the pool has no content, and the others are still read.
    pub fn load(self, rules: &Rules, memory: &Pool) -> Result<Vec<CatalogState>, ArchiveError> {
        let Self { path, file, facts } = self;
        let states = states(&path, file, facts.catalogs, rules, memory);
        states.map_err(|reason| ArchiveError { path, reason })
    }
}

fn read_facts(file: &File) -> Result<SnapshotFacts, ArchiveFault> {
    let mut tar = tar::Archive::new(ZstdFrame::open(file)?);
    let mut members = tar.entries()?.raw(true);
    let first = match members.next() {
        Some(Ok(first)) if is_member(&first, FACTS) => first,
        Some(Err(error)) if is_of_input(&error) => return Err(error.into()),
        Some(Err(error)) if error.to_string() == TOO_LARGE => return Err(ArchiveFault::Window),
        _ => return Err(ArchiveFault::Form),
    };
    let mut json = Vec::new();
    first.take(MOST_BYTES + 1).read_to_end(&mut json)?;
    SnapshotFacts::parse(&json)
}

/// The error of zstd about a window of more than [`WINDOW_LOG`].
const TOO_LARGE: &str = "Frame requires too much memory for decoding";

/// Whether the input failed or is cut, rather than of another form.
fn is_of_input(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof || error.raw_os_error().is_some()
}

fn states(
    path: &Path,
    mut file: File,
    catalogs: Vec<CatalogFacts>,
    rules: &Rules,
    memory: &Pool,
) -> Result<Vec<CatalogState>, ArchiveFault> {
    file.rewind()?;
    let mut tar = tar::Archive::new(ZstdFrame::open(file)?);
    let mut members = tar.entries()?.raw(true);
    next(&mut members, FACTS)?;
    let mut states = Vec::new();
    for facts in catalogs {
        let content = match &facts.content {
            ContentFacts::Missing => Content::Missing,
            ContentFacts::Unfetched(why) => Content::Unfetched(why.clone()),
            ContentFacts::Unreadable(why) => Content::Unreadable(why.clone()),
            ContentFacts::File(name) => {
                let member = next(&mut members, name)?;
                let read = read(&facts.name, member, rules, memory);
                read.or_else(|error| too_large(path, &facts.name, error))?
            }
        };
        states.push(facts.into_state(content));
    }
    expect_end(&mut members)?;
    end(tar.into_inner())?;
    Ok(states)
}

/// Returns the next member, which must have this name.
fn next<'m, R: Read>(
    members: &mut Entries<'m, R>,
    name: &str,
) -> Result<Entry<'m, R>, ArchiveFault> {
    match members.next().transpose()? {
        Some(member) if is_member(&member, name) => Ok(member),
        other => Err(unexpected(other.as_ref(), name)),
    }
}

fn expect_end(members: &mut Entries<'_, impl Read>) -> Result<(), ArchiveFault> {
    match members.next().transpose()? {
        None => Ok(()),
        other => Err(unexpected(other.as_ref(), END)),
    }
}

fn unexpected(found: Option<&Entry<'_, impl Read>>, expected: &str) -> ArchiveFault {
    let found = found.map(|member| String::from_utf8_lossy(&member.path_bytes()).into_owned());
    ArchiveFault::Member {
        found: found.as_deref().unwrap_or(END).into(),
        expected: expected.into(),
    }
}

fn is_member(member: &Entry<'_, impl Read>, name: &str) -> bool {
    let is_file = member.header().entry_type() == EntryType::Regular;
    is_file && member.path_bytes() == name.as_bytes()
}

fn read(
    name: &str,
    member: impl Read,
    rules: &Rules,
    memory: &Pool,
) -> Result<Content, SourceError> {
    let mut builder = CatalogBuilder::within(rules, memory.account());
    read_from(name, member, &Progress::default(), &mut builder)?;
    Ok(Content::Loaded(Arc::new(finished(name, builder)?)))
}

/// Turns a catalog that is too large into an unreadable one, so that the others can still be read.
fn too_large(file: &Path, name: &str, error: SourceError) -> Result<Content, ArchiveFault> {
    match error {
        SourceError::Memory { source, .. } => Ok(Content::Unreadable(format!(
            "{}: catalog {name:?}: {source}",
            file.display()
        ))),
        other => Err(ArchiveFault::Content(other)),
    }
}

/// Reads what follows the last member: the zeros that fill the last block, and the checksum of the zstd frame.
fn end(rest: impl Read) -> Result<(), ArchiveFault> {
    let read = io::copy(&mut rest.take(PADDING), &mut io::sink())?;
    if read == PADDING {
        let (found, expected) = ("more bytes".into(), END.into());
        return Err(ArchiveFault::Member { found, expected });
    }
    Ok(())
}

/// The name of the first member.
const FACTS: &str = "snapshot.json";

/// The end of the archive, as messages call it.
const END: &str = "the end";

const AS_ANY_FILE: u32 = 0o644;

/// A bound of the padding in bytes. `tar` fills blocks of 10 KiB.
const PADDING: u64 = 1 << 20;

// === A fetched content to archive ===

/// Content as it was fetched, compressed, in a file without a name.
#[derive(Debug)]
pub struct FetchedContent {
    file: File,
    /// The length in bytes, decompressed.
    length: u64,
}

impl FetchedContent {
    /// Reads the content of the catalog `name`. There is no digest to compare it with.
    ///
    /// # Errors
    /// See [`read_fetched`]. Also fails if the temporary file cannot be written.
    pub fn read_from(
        name: &str,
        body: &mut dyn Read,
        progress: &Progress,
    ) -> Result<Self, SourceError> {
        let failed = |source| io_error(name, "write a copy", source);
        let frame = tempfile::tempfile().and_then(compress);
        let mut spool = Spool {
            frame: frame.map_err(failed)?,
            length: 0,
        };
        let tee = Tee {
            from: body,
            to: &mut spool,
        };
        read_fetched(name, tee, progress, &mut DiscardingSink)?;
        let Spool { frame, length } = spool;
        let file = frame.finish().map_err(failed)?;
        Ok(Self { file, length })
    }

    /// Returns a reader of the content, decompressed.
    fn read(&self) -> io::Result<impl Read + use<'_>> {
        let mut file = &self.file;
        file.rewind()?;
        ZstdFrame::open(file)
    }
}

/// A [`FetchedContent`] that is being written.
struct Spool {
    frame: Encoder<'static, File>,
    length: u64,
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.frame.write(bytes)?;
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.frame.flush()
    }
}

/// A sink that discards its blobs, for content that is read only to check that it is readable.
struct DiscardingSink;

impl Sink for DiscardingSink {
    fn blob(&mut self, _: BlobKey<'_>, _: Result<BlobContent<'_>, BlobFault>) {}
}
