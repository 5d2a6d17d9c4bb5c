//! Manifests as users write them: several documents per file, in YAML or JSON. Each value has its place in the source.
//!
//! ```text
//! paths --Inputs--> bytes --documents--> Document --into_objects--> ManifestObject, Positions
//! ```
//!
//! Mirrors how kubectl reads `-f`: the decoder of k8s.io/apimachinery ([`pkg/util/yaml/decoder.go`]), which splits a
//! stream at lines that start with `---` and recognizes JSON by its first letter, and sigs.k8s.io/yaml. This module is
//! stricter in one respect: a repeated key is an error, although Go accepts one of the two values.
//!
//! Invariants: a broken document affects only itself. Whatever the bytes are, memory use is at most a small multiple
//! of their number, and no value is nested deeper than [`MAX_DEPTH`].
//!
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

mod error;
mod field;
mod inputs;
mod object;
mod placeholder;
mod position;
#[cfg(test)]
mod tests;
mod tree;
mod yaml;

pub use error::{DocumentError, DocumentErrorKind, DocumentFormat};
pub(crate) use field::{DocumentField, FieldError};
pub use inputs::{Input, InputError, Inputs, MAX_BYTES};
pub(crate) use inputs::{has_manifest_name, kustomizations, manifest_files, read_file};
pub use object::ManifestObject;
pub(crate) use object::MeantKind;
pub(crate) use placeholder::{name, placeholder, placeholder_in};
pub use position::{Position, Positions, ValueStep};
pub use tree::{MAX_DEPTH, MAX_NODES, MAX_TEXT};

use serde_json::Value;

use error::{DocumentFault, explain};
use tree::{Aliases, DocumentRules, RepeatedKeys};
use yaml::{TextCursor, next_json};

// === The documents of a file, one at a time ===

/// One document of a file.
#[derive(Clone, Debug)]
pub struct Document {
    /// 0-based index in the file. Documents without content count, but do not appear.
    pub index: usize,
    /// The content, never null.
    pub value: Value,
    /// The place of each value in the file.
    pub positions: Positions,
}

/// Reads the documents of a file. A part that starts with a bracket followed by a quote or a bracket is JSON, one
/// value after another. Everything else is YAML, including `{kind: List}`. A broken document yields an error in its
/// place; reading continues after the next `---`.
pub fn documents(file: &[u8]) -> Documents<'_> {
    Documents {
        parts: FileParts::of(file),
        values: None,
        next_index: 0,
        rules: DocumentRules::default(),
    }
}

/// An iterator over the documents of a file. Only one document is in memory at a time.
#[derive(Clone, Debug)]
pub struct Documents<'a> {
    parts: FileParts<'a>,
    /// The rest of a JSON part.
    values: Option<TextCursor<'a>>,
    next_index: usize,
    rules: DocumentRules,
}

type Content = Result<(Value, Positions), DocumentFault>;

impl Iterator for Documents<'_> {
    type Item = Result<Document, DocumentError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let content = self.content()?;
            let index = self.next_index;
            self.next_index += 1;
            match content {
                Ok((Value::Null, _)) => {}
                Ok((value, positions)) => {
                    return Some(Ok(Document {
                        index,
                        value,
                        positions,
                    }));
                }
                Err(fault) => return Some(Err(fault.in_document(index))),
            }
        }
    }
}

impl<'a> Documents<'a> {
    /// Returns an error for each document that contains an alias. Then no document needs more memory than its text
    /// suggests.
    pub fn without_aliases(mut self) -> Self {
        self.rules.aliases = Aliases::Refused;
        self
    }

    /// Accepts repeated keys in a mapping; the last value counts. Upstream: sigs.k8s.io/yaml in its non-strict mode.
    pub fn with_repeated_keys(mut self) -> Self {
        self.rules.repeated_keys = RepeatedKeys::LastCounts;
        self
    }

    fn content(&mut self) -> Option<Content> {
        if let Some(content) = self.next_json() {
            if content.is_err() {
                self.values = None;
            }
            return Some(content);
        }
        let part = self.parts.next()?;
        Some(self.begin(part))
    }

    fn next_json(&mut self) -> Option<Content> {
        next_json(self.values.as_mut()?, self.rules)
    }

    fn begin(&mut self, part: DocumentPart<'a>) -> Content {
        self.values = None;
        if part.is_blank() {
            return Ok((Value::Null, Positions::new()));
        }
        let text =
            std::str::from_utf8(part.bytes).map_err(|error| not_utf8(part, error.valid_up_to()))?;
        let read = match json_start(text, part.at) {
            Some(cursor) => self.begin_json(cursor),
            None => yaml::read(text, part.at.line, self.rules),
        };
        read.map_err(|fault| explain(fault, text, part.at.line))
    }

    /// Reads the first value. The rest is kept for later calls, unless the first value is broken.
    fn begin_json(&mut self, mut cursor: TextCursor<'a>) -> Content {
        let first =
            next_json(&mut cursor, self.rules).unwrap_or(Ok((Value::Null, Positions::new())));
        self.values = first.is_ok().then_some(cursor);
        first
    }
}

/// Returns a cursor at the bracket that starts the part, if the part is JSON.
fn json_start(text: &str, at: Position) -> Option<TextCursor<'_>> {
    let mut cursor = TextCursor::starting_at(at, text);
    if text.starts_with("---") {
        cursor.advance("---".len());
        cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
        let bare = matches!(
            cursor.rest.bytes().next(),
            None | Some(b'\n' | b'\r' | b'#')
        );
        bare.then_some(())?;
        cursor.skip(|byte| !matches!(byte, b'\n' | b'\r'));
    }
    cursor.skip(|byte| byte.is_ascii_whitespace());
    is_json(cursor.rest).then_some(cursor)
}

fn is_json(text: &str) -> bool {
    let second = |text: &str| text.trim_ascii_start().bytes().next();
    if let Some(members) = text.strip_prefix('{') {
        matches!(second(members), None | Some(b'"' | b'}'))
    } else if let Some(items) = text.strip_prefix('[') {
        matches!(second(items), None | Some(b'"' | b'{' | b'[' | b']'))
    } else {
        false
    }
}

fn not_utf8(part: DocumentPart<'_>, valid_up_to: usize) -> DocumentFault {
    let valid = part
        .bytes
        .get(..valid_up_to)
        .and_then(|valid| std::str::from_utf8(valid).ok());
    let mut cursor = TextCursor::starting_at(part.at, valid.unwrap_or_default());
    cursor.advance(valid_up_to);
    DocumentFault::new(cursor.at, DocumentErrorKind::NotUtf8)
}

// === The parts of a file, split at each line that starts with `---`, before anything is parsed ===
//
// No value in YAML or JSON continues after such a line, so a broken document ends at the next one. Text before the
// first `---` is a part only if it contains more than comments and directives. These belong to the document that the
// `---` starts. YAML counts in the same way: `# licence` above `---` is not a document.

/// A part of a file, from its `---` to the next.
#[derive(Clone, Copy, Debug)]
struct DocumentPart<'a> {
    /// The start of the part in the file.
    at: Position,
    /// The bytes of the part, including `---`.
    bytes: &'a [u8],
}

impl DocumentPart<'_> {
    /// Whether the part contains only blank lines, comments and the separator.
    fn is_blank(&self) -> bool {
        let after_separator = |line: &'_ [u8]| line.strip_prefix(SEPARATOR).is_some_and(is_comment);
        lines(self.bytes).all(|line| is_comment(line) || after_separator(line))
    }
}

/// An iterator over the parts of a file.
#[derive(Clone, Debug)]
struct FileParts<'a> {
    rest: &'a [u8],
    line: u32,
    place: DocumentPlace,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DocumentPlace {
    Start,
    Inside,
}

impl<'a> FileParts<'a> {
    /// A byte order mark at the start of the file is not part of the text.
    fn of(file: &'a [u8]) -> Self {
        Self {
            rest: file.strip_prefix(BOM).unwrap_or(file),
            line: 1,
            place: DocumentPlace::Start,
        }
    }
}

impl<'a> Iterator for FileParts<'a> {
    type Item = DocumentPart<'a>;

    fn next(&mut self) -> Option<DocumentPart<'a>> {
        let place = std::mem::replace(&mut self.place, DocumentPlace::Inside);
        let mut before_separator = true;
        let within = |line: &&[u8]| {
            let separator = is_separator(line);
            let stays = !separator || before_separator;
            before_separator &= !separator && place == DocumentPlace::Start && is_prologue(line);
            stays
        };
        let (count, len) = lines(self.rest)
            .take_while(within)
            .fold((0_u32, 0), |(count, len), line| {
                (count.saturating_add(1), len + line.len())
            });
        let (bytes, rest) = self
            .rest
            .split_at_checked(len)
            .filter(|(bytes, _)| !bytes.is_empty())?;
        let at = Position {
            line: self.line,
            column: 1,
        };
        (self.rest, self.line) = (rest, self.line.saturating_add(count));
        Some(DocumentPart { at, bytes })
    }
}

/// Returns the lines including their ends: LF, CR LF, or CR alone.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let len = match memchr::memchr2(b'\n', b'\r', rest) {
            None => rest.len(),
            Some(end) if rest.get(end..end + 2) == Some(b"\r\n") => end + 2,
            Some(end) => end + 1,
        };
        let (line, after) = rest.split_at_checked(len)?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// Whether the line is `---`, alone or followed by white space.
fn is_separator(line: &[u8]) -> bool {
    match line.strip_prefix(SEPARATOR) {
        Some(after) => after.first().is_none_or(u8::is_ascii_whitespace),
        None => false,
    }
}

/// Whether the line is blank, a comment, or a directive.
fn is_prologue(line: &[u8]) -> bool {
    is_comment(line) || line.starts_with(b"%")
}

/// Whether the line is blank or a comment.
fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

const SEPARATOR: &[u8] = b"---";

const BOM: &[u8] = b"\xef\xbb\xbf";
