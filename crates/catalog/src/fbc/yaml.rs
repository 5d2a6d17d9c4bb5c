//! Reads YAML as catalogd does: splits it at `---` lines, and converts each document to JSON.
//!
//! The result is the JSON that sigs.k8s.io/yaml would produce, except for the order of keys and for
//! repeated keys, which [`json`](super::json) treats as Go's maps do. Only the first document of a
//! piece counts (`...` ends it), as in go.yaml.in/yaml/v2. The limits of that library apply too:
//! allowed characters, depth, and the use of aliases.

mod transcode;

pub(super) use transcode::ANCHOR_LIMIT;

use std::io::Write as _;
use std::ops::Range;

use granit_parser::{ScanError, Tag};

use crate::fbc::FbcErrorKind;
use crate::fbc::json::plain_run;
use crate::fbc::yaml::transcode::Transcoder;
use crate::yaml_scalar::{Scalar, ScalarError, is_printable};

/// Converts one document to JSON.
pub fn to_json(document: &[u8]) -> Result<Vec<u8>, YamlFault> {
    let mut json = Vec::new();
    append_json(document, false, JSON_LIMIT, &mut json)?;
    Ok(json)
}

/// Does the same as [`to_json`], but appends to `json`, and aliases can make at most `limit` bytes of
/// it. Returns the positions of the parts if they are wanted, relative to the start of the document's
/// JSON.
pub(crate) fn append_json(
    document: &[u8],
    marked: bool,
    limit: usize,
    json: &mut Vec<u8>,
) -> Result<YamlMarks, YamlFault> {
    let text = readable(document)?;
    Transcoder::new(text, YamlMarks::new(marked), limit, json).run()
}

/// Maximum size of the JSON of one document, in bytes. No real document without aliases comes near.
pub const JSON_LIMIT: usize = 32 << 20;

/// Returns the document as text without byte order mark, if YAML allows all of its characters.
fn readable(document: &[u8]) -> Result<&str, YamlFault> {
    let text = str::from_utf8(document).map_err(|fault| {
        let valid = document.get(..fault.valid_up_to()).unwrap_or_default();
        fault_after(valid, "invalid UTF-8")
    })?;
    if let Some(at) = first_unprintable(text) {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        return Err(fault_after(before, "control characters are not allowed"));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Creates a fault right after valid text.
fn fault_after(before: &[u8], reason: &str) -> YamlFault {
    let text = String::from_utf8_lossy(before);
    let line = text.rsplit('\n').next().unwrap_or_default();
    YamlFault {
        line: 1 + memchr::memchr_iter(b'\n', before).count() as u64,
        column: 1 + line.chars().count() as u64,
        malformed: invalid(reason),
    }
}

/// Position of the first character that YAML does not allow.
fn first_unprintable(text: &str) -> Option<usize> {
    let (blocks, tail) = text.as_bytes().as_chunks::<64>();
    if blocks.iter().all(|block| is_plain(block)) && is_plain(tail) {
        return None;
    }
    text.char_indices()
        .find(|&(_, c)| !is_printable(c))
        .map(|(at, _)| at)
}

/// Whether all bytes are printable ASCII or line feeds; computed without a branch per byte.
fn is_plain(block: &[u8]) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'\n' | b' '..=b'~');
    block.iter().fold(true, |all, &byte| all & is_plain(byte))
}

// === The boundaries of YAML documents ===
//
// Upstream searches for lines that start with `---`, whatever surrounds them, and allows only a
// comment after it. Separators are not part of documents, with one exception: a separator that
// would make an empty document becomes the first line of the next one (apimachinery,
// [`pkg/util/yaml/decoder.go`], `YAMLReader`).
//
// [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

/// The first piece of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum YamlPiece {
    /// A document of `length` bytes; the next one starts after `consumed` bytes.
    Document { length: usize, consumed: usize },
    /// The start of a document; more text is needed to find its end.
    Incomplete,
    /// No piece, because the text is empty and has ended.
    End,
    /// A separator line, `at` bytes from here, with text after the `---`. The next line starts
    /// after `consumed` bytes.
    Malformed {
        at: usize,
        consumed: usize,
        malformed: FbcErrorKind,
    },
}

/// Finds the first document of `text`. `ended` means that no more text follows.
pub(crate) fn split(text: &[u8], ended: bool) -> YamlPiece {
    if text.starts_with(MARK)
        && let Err(piece) = separator(text, 0, ended)
    {
        return piece;
    }
    if let Some(newline) = memchr::memmem::find(text, b"\n---") {
        let at = newline + 1;
        return match separator(text, at, ended) {
            Ok(consumed) => YamlPiece::Document {
                length: at,
                consumed,
            },
            Err(piece) => piece,
        };
    }
    match (ended, text.len()) {
        (false, _) => YamlPiece::Incomplete,
        (true, 0) => YamlPiece::End,
        (true, length) => YamlPiece::Document {
            length,
            consumed: length,
        },
    }
}

/// Returns the end of the separator that starts at `at`.
fn separator(text: &[u8], at: usize, ended: bool) -> Result<usize, YamlPiece> {
    let line = text.get(at..).unwrap_or_default();
    let end = match memchr::memchr(b'\n', line) {
        Some(end) => end + 1,
        None if ended => line.len(),
        None => return Err(YamlPiece::Incomplete),
    };
    let after = line.get(MARK.len()..end).unwrap_or_default();
    let after = String::from_utf8_lossy(after);
    let found = after.trim();
    if found.is_empty() || found.starts_with('#') {
        return Ok(at + end);
    }
    let found = found.chars().take(SHOWN).collect::<String>().into();
    let malformed = FbcErrorKind::Separator { found };
    Err(YamlPiece::Malformed {
        at,
        consumed: at + end,
        malformed,
    })
}

const MARK: &[u8] = b"---";

/// Maximum number of characters of a line in an error.
const SHOWN: usize = 64;

/// Returns a tag such as `!word` as written. A local tag has no meaning in a catalog.
fn local_tag(tag: &Tag) -> Option<String> {
    let is_local = tag.handle() == "!" && !tag.suffix().is_empty();
    is_local.then(|| format!("!{}", tag.suffix()))
}

/// The reason why a document cannot be read, and the position in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct YamlFault {
    /// Line, counted from 1 at the start of the document.
    pub(crate) line: u64,
    /// Column in characters, counted from 1.
    pub(crate) column: u64,
    pub(crate) malformed: FbcErrorKind,
}

fn scan_fault(fault: &ScanError) -> YamlFault {
    YamlFault {
        line: fault.marker().line() as u64,
        column: fault.marker().col() as u64 + 1,
        malformed: invalid(&fault.info()),
    }
}

fn unreadable(fault: &ScalarError) -> FbcErrorKind {
    invalid(&fault.to_string())
}

fn not_mergeable() -> FbcErrorKind {
    invalid("map merge requires map or sequence of maps as the value")
}

fn invalid(reason: &str) -> FbcErrorKind {
    FbcErrorKind::Yaml {
        reason: reason.into(),
    }
}

/// The positions of the parts of a document that was converted to JSON. Parts that an alias repeats
/// have the position of the alias.
///
/// Invariant: `kept` is in the order of the JSON. Each item is a byte in the JSON, and a line and a
/// column in the document, both counted from 1.
#[derive(Clone, Debug, Default)]
pub struct YamlMarks {
    wanted: bool,
    kept: Vec<(usize, u32, u32)>,
    tags: Vec<TaggedScalar>,
}

/// A scalar after a tag without meaning, such as an unquoted `!=1.5.0`.
#[derive(Clone, Debug)]
pub struct TaggedScalar {
    /// Line of the scalar.
    pub line: u32,
    /// Column of the scalar.
    pub column: u32,
    /// The tag as written.
    pub tag: Box<str>,
    /// The remaining value.
    pub value: Box<str>,
}

impl YamlMarks {
    fn new(wanted: bool) -> Self {
        Self {
            wanted,
            kept: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Records that the JSON from `at` on is at this line and column.
    fn note(&mut self, at: usize, line: usize, column: usize) {
        if self.wanted {
            self.kept.push((at, narrow(line), narrow(column + 1)));
        }
    }

    /// Records a scalar after a tag.
    fn note_tag(&mut self, tag: &str, value: &str, line: usize, column: usize) {
        if self.wanted {
            self.tags.push(TaggedScalar {
                line: narrow(line),
                column: narrow(column + 1),
                tag: tag.into(),
                value: value.into(),
            });
        }
    }

    /// The scalars after tags without meaning.
    pub fn tags(&self) -> &[TaggedScalar] {
        &self.tags
    }

    /// Line and column of the JSON at `at`.
    pub fn find(&self, at: usize) -> (u32, u32) {
        let after = self.kept.partition_point(|(mark, ..)| *mark <= at);
        let mark = after.checked_sub(1).and_then(|last| self.kept.get(last));
        mark.map_or((1, 1), |(_, line, column)| (*line, *column))
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;

// === JSON being written, bounded in size ===

/// JSON text under construction, appended to earlier output.
#[derive(Debug)]
struct JsonText<'o> {
    all: &'o mut Vec<u8>,
    /// Start of the text.
    start: usize,
}

impl<'o> JsonText<'o> {
    /// Creates an empty text at the end of `all`, with room for `bytes` bytes.
    fn after(all: &'o mut Vec<u8>, bytes: usize) -> Self {
        all.reserve(bytes);
        let start = all.len();
        Self { all, start }
    }

    fn len(&self) -> usize {
        self.all.len() - self.start
    }

    fn push(&mut self, byte: u8) {
        self.all.push(byte);
    }

    /// Writes a comma, unless this is the first item or the value of a key.
    fn separate(&mut self) {
        let is_first = self.len() == 0;
        if !is_first && !matches!(self.all.last(), Some(b'{' | b'[' | b':')) {
            self.all.push(b',');
        }
    }

    fn string(&mut self, text: &str) {
        self.all.push(b'"');
        let mut rest = text.as_bytes();
        loop {
            let (plain, breaking) = rest.split_at(plain_run(rest));
            self.all.extend_from_slice(plain);
            let Some((&byte, after)) = breaking.split_first() else {
                break;
            };
            self.escape(byte);
            rest = after;
        }
        self.all.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.all.extend([b'\\', byte]),
            b'\n' => self.all.extend_from_slice(b"\\n"),
            _ => self.format(format_args!("\\u{byte:04x}")),
        }
    }

    /// Writes a scalar as a value.
    fn scalar(&mut self, scalar: &Scalar<'_>) -> Result<(), FbcErrorKind> {
        match scalar {
            Scalar::Str(text) => self.string(text),
            other => {
                let value = other.clone().into_json();
                let value = value.map_err(|fault| unreadable(&fault))?;
                self.format(format_args!("{value}"));
            }
        }
        Ok(())
    }

    /// Writes a part of the text again.
    fn repeat(&mut self, written: Range<usize>) {
        let (start, end) = (self.start + written.start, self.start + written.end);
        self.all.extend_from_within(start..end);
    }

    /// Writes JSON that was stored elsewhere.
    fn raw(&mut self, json: &[u8]) {
        self.all.extend_from_slice(json);
    }

    fn written(&self, range: Range<usize>) -> &[u8] {
        let mine = self.all.get(self.start..).unwrap_or_default();
        mine.get(range).unwrap_or_default()
    }

    fn format(&mut self, text: std::fmt::Arguments<'_>) {
        self.all.write_fmt(text).expect("a Vec takes every write");
    }
}
