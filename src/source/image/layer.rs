//! One layer of an image: a tar archive that is read once from start to end.
//!
//! ```text
//! bytes --> gzip, zstd or neither --> bounded --> members --> names (ImageTree), contents (one file each)
//! ```
//!
//! Names are handled as bytes, and only those of kept files are stored. Long names are separate members (GNU, pax).
//! They are parsed here because the `tar` crate would read such a member whole, however large it is.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tar::{Entry, EntryType};

use super::tree::{KeptFolders, LayerChanges, TreeFault, TreeNode};
use crate::foreign_text::one_line;
use crate::source::Progress;
use crate::source::decompress::Decoder;

/// The settings for reading a layer.
#[derive(Debug)]
pub(super) struct LayerJob {
    /// The directories to keep.
    pub(super) kept: KeptFolders,
    /// The directory for the contents of files, which have generated names.
    pub(super) contents: PathBuf,
    /// The number of the layer in the image.
    pub(super) number: usize,
    /// The remaining budget of the image.
    pub(super) budget: Budget,
    /// The progress of reading.
    pub(super) progress: Progress,
    /// The number of attempts so far. Each attempt gives the contents other names.
    pub(super) attempts: AtomicUsize,
}

/// The remaining budget of an image.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Budget {
    /// The members of archives, kept or not.
    pub(super) members: usize,
    /// The bytes of archives, decompressed.
    pub(super) unpacked: u64,
    /// The bytes of files that are kept.
    pub(super) kept: u64,
    /// The bytes of names that are kept.
    pub(super) names: usize,
}

/// The result of reading a layer.
#[derive(Debug)]
pub(super) struct ReadLayer {
    pub(super) changes: LayerChanges,
    /// The budget that remains for the layers above.
    pub(super) budget: Budget,
}

/// Why a layer cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LayerFault {
    /// The layer is not a tar archive, or its compression is damaged.
    #[error("not a valid tar archive: {why}")]
    Archive {
        /// The error of the reader.
        why: Box<str>,
    },
    /// The layer ends early.
    #[error("cut off: it ends in the middle of a file or of its compressed data")]
    Truncated,
    /// The image is larger than any catalog.
    #[error("image has more than {limit} {what}: expected the image of a catalog or a bundle")]
    TooLarge {
        /// The limit.
        limit: u64,
        /// The unit of the limit.
        what: &'static str,
    },
    /// A name contains `..`.
    #[error("{path:?} is a name outside the image")]
    LeadsOut {
        /// The name.
        path: Box<str>,
    },
    /// A name cannot be the name of a file.
    #[error(
        "{path:?} is not a usable name: expected UTF-8, at most {PATH_BYTES} bytes in all, {NAME_BYTES} for each part"
    )]
    Name {
        /// The name, with invalid UTF-8 replaced.
        path: Box<str>,
    },
    /// A kept member is neither a file nor a directory nor a link.
    #[error("{path:?} is {kind}: expected a file, a directory or a link")]
    Kind {
        /// The name.
        path: Box<str>,
        /// The kind of the member.
        kind: &'static str,
    },
    /// The names are not those of a file system.
    #[error(transparent)]
    ImageTree(#[from] TreeFault),
    /// The content of a file cannot be written.
    #[error("cannot write its files: {0}")]
    Write(io::Error),
}

impl LayerJob {
    /// Reads a layer. If this fails, the files that it left in the directory of contents are unused.
    pub(super) fn run(&self, input: &mut dyn Read) -> Result<ReadLayer, LayerFault> {
        let mut decoder = Decoder::default();
        let content = decoder
            .open(input, &self.progress)
            .map_err(|error| archive(&error))?;
        let mut bounded = content.take(self.budget.unpacked);
        let read = LayerReader::new(self).read(&mut bounded);
        // The data after the archive must be complete, too, because its compression has a checksum at the end.
        let read = read.and_then(|read| {
            io::copy(&mut bounded, &mut io::sink()).map_err(|error| archive(&error))?;
            Ok(read)
        });
        let unpacked = bounded.limit();
        if unpacked == 0 {
            return Err(too_large(UNPACKED, "bytes, decompressed"));
        }
        let LayerReader { changes, left, .. } = read?;
        let budget = Budget { unpacked, ..left };
        Ok(ReadLayer { changes, budget })
    }
}

/// A layer, as far as it has been read.
struct LayerReader<'j> {
    job: &'j LayerJob,
    changes: LayerChanges,
    left: Budget,
    attempt: usize,
    /// The number of contents written.
    written: usize,
    /// The long names of the next member.
    next: NextNames,
}

/// Names that are too long for the header of a member.
#[derive(Default)]
struct NextNames {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl<'j> LayerReader<'j> {
    fn new(job: &'j LayerJob) -> Self {
        Self {
            job,
            changes: LayerChanges::default(),
            left: job.budget,
            attempt: job.attempts.fetch_add(1, Ordering::Relaxed),
            written: 0,
            next: NextNames::default(),
        }
    }

    fn read(mut self, input: impl Read) -> Result<Self, LayerFault> {
        let mut tar = tar::Archive::new(input);
        for member in tar.entries().map_err(|error| archive(&error))?.raw(true) {
            let left = self.left.members.checked_sub(1);
            self.left.members =
                left.ok_or_else(|| too_large(MEMBERS as u64, "files and directories"))?;
            self.member(member.map_err(|error| archive(&error))?)?;
        }
        Ok(self)
    }

    fn member(&mut self, mut member: Entry<'_, impl Read>) -> Result<(), LayerFault> {
        match member.header().entry_type() {
            EntryType::GNULongName => self.next.path = Some(text(&mut member)?),
            EntryType::GNULongLink => self.next.link = Some(text(&mut member)?),
            EntryType::XHeader => self.next.extend(&mut member)?,
            EntryType::XGlobalHeader => {}
            // The data of a sparse file is not its content, so it is refused.
            EntryType::GNUSparse => {
                let path = shown(&member.path_bytes());
                let kind = word(EntryType::GNUSparse);
                return Err(LayerFault::Kind { path, kind });
            }
            kind => {
                let NextNames { path, link } = std::mem::take(&mut self.next);
                let path = path.unwrap_or_else(|| member.path_bytes().into_owned());
                self.named(&path, link, kind, &mut member)?;
            }
        }
        Ok(())
    }

    /// Handles a member whose name is complete.
    fn named(
        &mut self,
        path: &[u8],
        link: Option<Vec<u8>>,
        kind: EntryType,
        member: &mut Entry<'_, impl Read>,
    ) -> Result<(), LayerFault> {
        let path = cleaned(path)?;
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if let Some(name) = name.strip_prefix(WHITEOUT) {
            return self.whiteout(&path, name);
        }
        if !self.job.kept.contain(&path) {
            return Ok(());
        }
        let path = self.kept_name(&path)?;
        let link = || link.or_else(|| member.link_name_bytes().map(Cow::into_owned));
        let node = match kind {
            EntryType::Directory => TreeNode::Folder,
            EntryType::Symlink => TreeNode::Link(self.kept_name(&link().unwrap_or_default())?),
            EntryType::Link => {
                let target = self.kept_name(&cleaned(&link().unwrap_or_default())?)?;
                self.same_as(target)
            }
            EntryType::Regular | EntryType::Continuous => TreeNode::File(self.content(member)?),
            other => {
                return Err(LayerFault::Kind {
                    path,
                    kind: word(other),
                });
            }
        };
        Ok(self.changes.added.insert(path, node)?)
    }

    /// Returns a name to store, after taking it from the budget. Each part of it can become a directory.
    fn kept_name(&mut self, name: &[u8]) -> Result<Box<str>, LayerFault> {
        let parts = name.split(|byte| *byte == b'/').count();
        if parts > DEPTH || name.len() > PATH_BYTES {
            return Err(LayerFault::Name { path: shown(name) });
        }
        let left = self.left.names.checked_sub(name.len() + NAME_COST * parts);
        self.left.names = left.ok_or_else(|| too_large(NAMES as u64, "bytes of names"))?;
        utf8(name)
    }

    /// Returns the node of a hard link to `target`. If the target is in a lower layer, it is resolved when the layers
    /// are combined.
    fn same_as(&self, target: Box<str>) -> TreeNode {
        match self.changes.added.get(&target) {
            Some(node @ (TreeNode::File(_) | TreeNode::Link(_) | TreeNode::SameAs(_))) => {
                node.clone()
            }
            _ => TreeNode::SameAs(target),
        }
    }

    /// Handles a whiteout: `.wh.NAME` removes NAME of lower layers, and `.wh..wh..opq` everything that they have in the
    /// directory.
    fn whiteout(&mut self, path: &[u8], name: &[u8]) -> Result<(), LayerFault> {
        let parent = path.len().saturating_sub(WHITEOUT.len() + name.len());
        let parent = path.get(..parent).unwrap_or_default();
        let is_opaque = name == OPAQUE;
        if !is_opaque && name.starts_with(WHITEOUT) {
            // Metadata of AUFS.
            return Ok(());
        }
        let target = if is_opaque {
            parent.strip_suffix(b"/").unwrap_or(parent).to_owned()
        } else {
            [parent, name].concat()
        };
        let kept = &self.job.kept;
        if kept.contain(&target) || kept.are_below(&target) {
            let target = self.kept_name(&target)?;
            let changes = &mut self.changes;
            let set = if is_opaque {
                &mut changes.emptied
            } else {
                &mut changes.removed
            };
            set.insert(target);
        }
        Ok(())
    }

    /// Writes the content of a member into a new file.
    fn content(&mut self, member: &mut Entry<'_, impl Read>) -> Result<PathBuf, LayerFault> {
        let size = member.size();
        let left = self.left.kept.checked_sub(size);
        self.left.kept = left.ok_or_else(|| too_large(KEPT, "bytes in its files"))?;
        let name = format!("{}-{}-{}", self.job.number, self.attempt, self.written);
        let path = self.job.contents.join(name);
        self.written += 1;
        let written = write(&path, member)?;
        if written != size {
            return Err(LayerFault::Truncated);
        }
        Ok(path)
    }
}

/// Copies to a new file. A fault of reading is one of the archive, and a fault of writing is one of the disk.
fn write(path: &Path, from: &mut impl Read) -> Result<u64, LayerFault> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(LayerFault::Write)?;
    let (mut buffer, mut written) = (vec![0; BUFFER], 0);
    loop {
        let count = from.read(&mut buffer).map_err(|error| archive(&error))?;
        if count == 0 {
            return Ok(written);
        }
        let read = buffer.get(..count).unwrap_or_default();
        io::Write::write_all(&mut file, read).map_err(LayerFault::Write)?;
        written += count as u64;
    }
}

impl NextNames {
    /// Reads a pax header of the next member. Only files of more than 8 GiB need a size there.
    fn extend(&mut self, member: &mut Entry<'_, impl Read>) -> Result<(), LayerFault> {
        let bytes = extension(member)?;
        for record in PaxRecords(&bytes) {
            let PaxRecord { key, value } = record?;
            match key {
                b"path" => self.path = Some(value.to_owned()),
                b"linkpath" => self.link = Some(value.to_owned()),
                key if key == b"size" || key.starts_with(b"GNU.sparse") => {
                    let why = "sparse files and files of more than 8 GiB are not read".into();
                    return Err(LayerFault::Archive { why });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The records of a pax header: `LENGTH KEY=VALUE` and a line feed. A value can contain line feeds, so only the length
/// defines its end.
struct PaxRecords<'b>(&'b [u8]);

struct PaxRecord<'b> {
    key: &'b [u8],
    value: &'b [u8],
}

impl<'b> Iterator for PaxRecords<'b> {
    type Item = Result<PaxRecord<'b>, LayerFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let record = self.first();
        if record.is_none() {
            self.0 = &[];
        }
        Some(record.ok_or_else(|| {
            let why = "a pax header is not valid".into();
            LayerFault::Archive { why }
        }))
    }
}

impl<'b> PaxRecords<'b> {
    /// Parses and consumes the first record.
    fn first(&mut self) -> Option<PaxRecord<'b>> {
        let space = self.0.iter().position(|byte| *byte == b' ')?;
        let length = str::from_utf8(self.0.get(..space)?).ok()?;
        let (record, rest) = self.0.split_at_checked(length.parse().ok()?)?;
        let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
        let equals = record.iter().position(|byte| *byte == b'=')?;
        let (key, value) = record.split_at_checked(equals)?;
        self.0 = rest;
        let value = value.get(1..)?;
        Some(PaxRecord { key, value })
    }
}

/// Reads a long name, which ends with a zero byte.
fn text(member: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, LayerFault> {
    let mut bytes = extension(member)?;
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    Ok(bytes)
}

fn extension(member: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, LayerFault> {
    if member.size() > EXTENSION {
        return Err(too_large(EXTENSION, "bytes in the header of a file"));
    }
    let mut bytes = Vec::new();
    member
        .take(EXTENSION)
        .read_to_end(&mut bytes)
        .map_err(|error| archive(&error))?;
    Ok(bytes)
}

/// Removes empty parts and `.` from a path. A path with `..` is refused, because no image builder writes one.
fn cleaned(path: &[u8]) -> Result<Vec<u8>, LayerFault> {
    let parts = path.split(|byte| *byte == b'/');
    let parts: Vec<_> = parts
        .filter(|part| !part.is_empty() && *part != b".")
        .collect();
    if parts.contains(&&b".."[..]) {
        return Err(LayerFault::LeadsOut { path: shown(path) });
    }
    let is_long = path.len() > PATH_BYTES || parts.iter().any(|part| part.len() > NAME_BYTES);
    if is_long || path.contains(&0) {
        return Err(LayerFault::Name { path: shown(path) });
    }
    Ok(parts.join(&b'/'))
}

fn utf8(bytes: &[u8]) -> Result<Box<str>, LayerFault> {
    let text = str::from_utf8(bytes);
    text.map(Into::into)
        .map_err(|_| LayerFault::Name { path: shown(bytes) })
}

fn shown(bytes: &[u8]) -> Box<str> {
    one_line(&String::from_utf8_lossy(bytes)).into()
}

fn archive(error: &io::Error) -> LayerFault {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => LayerFault::Truncated,
        _ => LayerFault::Archive {
            why: one_line(&error.to_string()).into(),
        },
    }
}

fn too_large(limit: u64, what: &'static str) -> LayerFault {
    LayerFault::TooLarge { limit, what }
}

fn word(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Block | EntryType::Char => "a device",
        EntryType::Fifo => "a named pipe",
        EntryType::GNUSparse => "a sparse file",
        _ => "of an unknown kind",
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            members: MEMBERS,
            unpacked: UNPACKED,
            kept: KEPT,
            names: NAMES,
        }
    }
}

const WHITEOUT: &[u8] = b".wh.";

/// The name of an opaque whiteout, after the first `.wh.`.
const OPAQUE: &[u8] = b".wh..opq";

/// The limits of Linux.
const PATH_BYTES: usize = 4096;
const NAME_BYTES: usize = 255;

/// The maximum size of an extended header in bytes.
const EXTENSION: u64 = 64 << 10;

const BUFFER: usize = 64 << 10;

/// The maximum number of members. In addition to the catalog, its image has a base system and a server, with tens of
/// thousands of files.
const MEMBERS: usize = 500_000;

/// The maximum size of all names in bytes. The file names of a catalog have some kilobytes.
const NAMES: usize = 16 << 20;

/// The maximum depth of directories.
const DEPTH: usize = 64;

/// The memory for a part of a name, in addition to its text.
const NAME_COST: usize = 128;

/// The maximum size of all layers in bytes, decompressed. Real images have some gigabytes, which are read in about ten
/// seconds.
const UNPACKED: u64 = 8 << 30;

/// The maximum size of all kept files in bytes, which is that of a catalog.
const KEPT: u64 = crate::source::stream::TOTAL_LIMIT;
