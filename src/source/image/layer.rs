//! One layer of an image: a tar archive, read once from its start to its end.
//!
//! ```text
//! bytes --> gzip, zstd or neither --> bounded --> members --> names (ImageTree), contents (files of their own)
//! ```
//!
//! Names are looked at as bytes, and only of what is kept anything is remembered. Long names come as members of
//! their own (GNU, pax); the `tar` crate would read such a member whole, however large, so they are read here.

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

/// How to read a layer.
#[derive(Debug)]
pub(super) struct LayerJob {
    /// What is kept.
    pub(super) kept: KeptFolders,
    /// A directory for the contents of files, each with a name of its own.
    pub(super) contents: PathBuf,
    /// Which layer of the image it is.
    pub(super) number: usize,
    /// What may still be read.
    pub(super) budget: Budget,
    /// How far the reading is.
    pub(super) progress: Progress,
    /// How often it was begun: contents of a try that was given up have other names.
    pub(super) attempts: AtomicUsize,
}

/// What an image may still take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Budget {
    /// Members of archives, kept or not.
    pub(super) members: usize,
    /// Bytes of archives, decompressed.
    pub(super) unpacked: u64,
    /// Bytes of files that are kept.
    pub(super) kept: u64,
    /// Bytes of names that are kept.
    pub(super) names: usize,
}

/// A layer that was read.
#[derive(Debug)]
pub(super) struct ReadLayer {
    pub(super) changes: LayerChanges,
    /// What is left for the layers above.
    pub(super) budget: Budget,
}

/// Why a layer cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LayerFault {
    /// It is not a tar archive, or its compression is damaged.
    #[error("not a valid tar archive: {why}")]
    Archive {
        /// What the reader says.
        why: Box<str>,
    },
    /// It ends early.
    #[error("cut off: it ends in the middle of a file or of its compressed data")]
    Truncated,
    /// The image is larger than any catalog.
    #[error("image has more than {limit} {what}: expected the image of a catalog or a bundle")]
    TooLarge {
        /// How many are read.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
    /// A name with `..` in it.
    #[error("{path:?} is a name outside the image")]
    LeadsOut {
        /// The name.
        path: Box<str>,
    },
    /// A name that no file can have here.
    #[error(
        "{path:?} is not a usable name: expected UTF-8, at most {PATH_BYTES} bytes in all, {NAME_BYTES} for each part"
    )]
    Name {
        /// The name, as far as it is text.
        path: Box<str>,
    },
    /// Neither a file nor a directory nor a link.
    #[error("{path:?} is {kind}: expected a file, a directory or a link")]
    Kind {
        /// The name.
        path: Box<str>,
        /// What it is.
        kind: &'static str,
    },
    /// The names do not fit together.
    #[error(transparent)]
    ImageTree(#[from] TreeFault),
    /// A content cannot be written.
    #[error("cannot write its files: {0}")]
    Write(io::Error),
}

impl LayerJob {
    /// Reads a layer. What it leaves in the directory of contents is of no use if this fails.
    pub(super) fn run(&self, input: &mut dyn Read) -> Result<ReadLayer, LayerFault> {
        let mut decoder = Decoder::default();
        let content = decoder
            .open(input, &self.progress)
            .map_err(|error| archive(&error))?;
        let mut bounded = content.take(self.budget.unpacked);
        let read = LayerReader::new(self).read(&mut bounded);
        // What follows the archive has to be whole, too: its compression says so at its end.
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

/// A layer as far as it is read.
struct LayerReader<'j> {
    job: &'j LayerJob,
    changes: LayerChanges,
    left: Budget,
    attempt: usize,
    /// How many contents were written.
    written: usize,
    /// Names of the next member.
    next: NextNames,
}

/// Names that are too long for a header.
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
            // What follows its header is not what the archive says.
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

    /// A member whose name is known.
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

    /// A name that is remembered. Each part of it may be a directory.
    fn kept_name(&mut self, name: &[u8]) -> Result<Box<str>, LayerFault> {
        let parts = name.split(|byte| *byte == b'/').count();
        if parts > DEPTH || name.len() > PATH_BYTES {
            return Err(LayerFault::Name { path: shown(name) });
        }
        let left = self.left.names.checked_sub(name.len() + NAME_COST * parts);
        self.left.names = left.ok_or_else(|| too_large(NAMES as u64, "bytes of names"))?;
        utf8(name)
    }

    /// The first name of a file that has two. One of a lower layer is looked for when both are put together.
    fn same_as(&self, target: Box<str>) -> TreeNode {
        match self.changes.added.get(&target) {
            Some(node @ (TreeNode::File(_) | TreeNode::Link(_) | TreeNode::SameAs(_))) => {
                node.clone()
            }
            _ => TreeNode::SameAs(target),
        }
    }

    /// `.wh.NAME` removes NAME of lower layers, `.wh..wh..opq` all that they had in the directory.
    fn whiteout(&mut self, path: &[u8], name: &[u8]) -> Result<(), LayerFault> {
        let parent = path.len().saturating_sub(WHITEOUT.len() + name.len());
        let parent = path.get(..parent).unwrap_or_default();
        let is_opaque = name == OPAQUE;
        if !is_opaque && name.starts_with(WHITEOUT) {
            // What AUFS keeps for itself.
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

    /// Writes the content of a member into a file of its own.
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

/// A fault of reading is one of the archive, a fault of writing one of the disk.
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
    /// What a pax header says of the next member. A size that its own header does not have would be one beyond 8 GiB.
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

/// The records of a pax header, `LENGTH KEY=VALUE` and a line feed. A value can have line feeds too, so only the length
/// tells its end.
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
    /// The first record, which is then passed.
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

/// A long name, which ends with a zero.
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

/// A path without what says nothing. One that goes up is refused: no builder of images writes it.
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

/// What follows the first `.wh.`.
const OPAQUE: &[u8] = b".wh..opq";

/// What Linux takes.
const PATH_BYTES: usize = 4096;
const NAME_BYTES: usize = 255;

/// How large the header of a file may be.
const EXTENSION: u64 = 64 << 10;

const BUFFER: usize = 64 << 10;

/// An image of a catalog has its base system and a server besides the catalog: tens of thousands.
const MEMBERS: usize = 500_000;

/// The names of a catalog's files take some kilobytes.
const NAMES: usize = 16 << 20;

/// How deep the directories of a catalog may be.
const DEPTH: usize = 64;

/// What a part of a name takes besides its text.
const NAME_COST: usize = 128;

/// Some gigabytes, which are read past in some ten seconds.
const UNPACKED: u64 = 8 << 30;

/// As much as is read of a catalog.
const KEPT: u64 = crate::source::stream::TOTAL_LIMIT;
