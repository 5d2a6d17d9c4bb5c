//! A file of blobs, read piece by piece: what comes next in it, and in which format.
//!
//! A file is JSON if its first visible character is `{`, else YAML. Where JSON fails before a
//! second object, the rest is tried as YAML, since `{a: b}` and one JSON object before `---` look
//! like JSON too; if YAML fails at once as well, the fault of JSON is the one reported.
//!
//! A file that begins with `null` lines and goes on with `{` is JSON here, though upstream takes
//! it for YAML: it is what catalogd makes of a catalog whose first document is empty, and such a
//! catalog counts as loaded.
//!
//! Upstream: apimachinery, `pkg/util/yaml/decoder.go`, `YAMLOrJSONDecoder`.

use super::error::{FbcError, Malformed};
use super::json::{Cursor, Halt, skip_space};
use super::meta::{self, Blob};
use super::object::begins_with_brace;
use super::yaml::{self, Piece, YamlFault};
use crate::catalog::blob::{BlobFault, Position, Sink};

/// Where the reading of one file stands.
#[derive(Debug)]
pub(crate) struct Reader {
    format: Format,
    /// Blobs and documents handed out.
    blobs: u32,
    /// Bytes consumed.
    at: u64,
    /// Line feeds among them; kept up only while the file may yet turn out to be YAML.
    lines: u64,
}

#[derive(Debug)]
enum Format {
    Unknown,
    /// JSON, of which so many objects were read.
    Json(u32),
    /// YAML; with the fault of JSON if that was tried before.
    Yaml(Option<FbcError>),
}

/// What comes next in a file.
#[derive(Debug)]
pub(crate) enum Next<'a> {
    /// A blob, and the bytes it took.
    Blob {
        blob: Option<Blob<'a>>,
        position: Position,
        consumed: usize,
    },
    /// A YAML document, and the bytes it took.
    Document {
        document: Document<&'a [u8]>,
        consumed: usize,
    },
    /// Nothing to hand over, but bytes that are done with.
    Skipped { consumed: usize },
    /// More of the file is needed to tell.
    Incomplete,
    /// The file has ended.
    End,
}

/// A YAML document as it stands in its file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Document<T> {
    pub(crate) text: T,
    /// How many lines come before it.
    pub(crate) lines_before: u64,
    /// The fault to report instead, if this is no YAML.
    pub(crate) json_fault: Option<FbcError>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self {
            format: Format::Unknown,
            blobs: 0,
            at: 0,
            lines: 0,
        }
    }

    /// What `text`, the file from where reading stands, begins with; `ended` tells that nothing
    /// follows it.
    pub(crate) fn next<'a>(&mut self, text: &'a [u8], ended: bool) -> Result<Next<'a>, FbcError> {
        let next = match &self.format {
            Format::Unknown => return Ok(self.detect(text, ended)),
            Format::Json(objects) => self.next_json(*objects, text, ended)?,
            Format::Yaml(_) => self.next_document(text, ended)?,
        };
        if matches!(next, Next::Incomplete) && text.len() >= BLOB_LIMIT {
            return Err(self.fault(Malformed::BlobTooLarge { limit: BLOB_LIMIT }));
        }
        if matches!(next, Next::Blob { .. } | Next::Document { .. }) {
            self.blobs += 1;
            if self.blobs > BLOB_COUNT_LIMIT {
                let limit = BLOB_COUNT_LIMIT;
                return Err(self.fault(Malformed::TooManyBlobs { limit }));
            }
        }
        self.consume(text, &next);
        Ok(next)
    }

    fn detect<'a>(&mut self, text: &[u8], ended: bool) -> Next<'a> {
        if text.len() < PEEKED && !ended {
            return Next::Incomplete;
        }
        let peeked = text.get(..PEEKED).unwrap_or(text);
        self.format = if begins_with_brace(after_nulls(peeked)) {
            Format::Json(0)
        } else {
            Format::Yaml(None)
        };
        Next::Skipped { consumed: 0 }
    }

    fn next_json<'a>(
        &mut self,
        objects: u32,
        text: &'a [u8],
        ended: bool,
    ) -> Result<Next<'a>, FbcError> {
        let space = skip_space(text);
        let rest = text.get(space..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(if ended { Next::End } else { Next::Incomplete });
        }
        let begin = self.at + space as u64;
        let mut cursor = Cursor::new(rest);
        let fault = match meta::read(&mut cursor) {
            Ok(blob) => {
                self.format = Format::Json(objects.saturating_add(1));
                let consumed = space + cursor.at();
                let position = Position::Byte(begin);
                return Ok(Next::Blob {
                    blob,
                    position,
                    consumed,
                });
            }
            Err(Halt::Incomplete) if !ended => return Ok(Next::Incomplete),
            Err(Halt::Incomplete) => json_fault(begin + rest.len() as u64, Malformed::Truncated),
            Err(Halt::Malformed { at, malformed }) => json_fault(begin + at as u64, malformed),
        };
        // A limit of ours is none of upstream's: YAML would only run into it again.
        let is_ours = matches!(fault.malformed, Malformed::TooManyItems { .. });
        if objects > 1 || is_ours {
            return Err(fault);
        }
        self.format = Format::Yaml(Some(fault));
        Ok(Next::Skipped {
            consumed: blank_line(text),
        })
    }

    fn next_document<'a>(&mut self, text: &'a [u8], ended: bool) -> Result<Next<'a>, FbcError> {
        match yaml::split(text, ended) {
            Piece::Incomplete => Ok(Next::Incomplete),
            Piece::End => Ok(Next::End),
            Piece::Document { length, consumed } => {
                let document = Document {
                    text: text.get(..length).unwrap_or_default(),
                    lines_before: self.lines,
                    json_fault: self.take_json_fault(),
                };
                Ok(Next::Document { document, consumed })
            }
            Piece::Malformed { at, malformed } => {
                let before = text.get(..at).unwrap_or_default();
                let line = self.lines + lines(before) + 1;
                let position = Position::Line { line, column: 1 };
                let fault = FbcError {
                    position,
                    malformed,
                };
                Err(self.take_json_fault().unwrap_or(fault))
            }
        }
    }

    fn take_json_fault(&mut self) -> Option<FbcError> {
        match &mut self.format {
            Format::Yaml(fault) => fault.take(),
            Format::Unknown | Format::Json(_) => None,
        }
    }

    fn consume(&mut self, text: &[u8], next: &Next<'_>) {
        let (Next::Blob { consumed, .. }
        | Next::Document { consumed, .. }
        | Next::Skipped { consumed }) = next
        else {
            return;
        };
        self.at += *consumed as u64;
        if matches!(self.format, Format::Yaml(_) | Format::Json(..=1)) {
            self.lines += lines(text.get(..*consumed).unwrap_or_default());
        }
    }

    /// A fault where reading stands.
    fn fault(&self, malformed: Malformed) -> FbcError {
        let position = match self.format {
            Format::Yaml(_) => Position::Line {
                line: self.lines + 1,
                column: 1,
            },
            Format::Unknown | Format::Json(_) => Position::Byte(self.at),
        };
        FbcError {
            position,
            malformed,
        }
    }
}

impl<T: AsRef<[u8]>> Document<T> {
    /// The JSON that the document stands for.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, FbcError> {
        yaml::to_json(self.text.as_ref()).map_err(|fault| self.fault(fault))
    }

    /// Where its first line of content stands.
    pub(crate) fn position(&self) -> Position {
        let line = self.lines_before + 1 + leading_lines(self.text.as_ref());
        Position::Line { line, column: 1 }
    }

    fn fault(&self, fault: YamlFault) -> FbcError {
        let YamlFault {
            line,
            column,
            malformed,
        } = fault;
        let line = self.lines_before + line;
        let fault = FbcError {
            position: Position::Line { line, column },
            malformed,
        };
        self.json_fault.clone().unwrap_or(fault)
    }
}

/// Hands over the blob that a YAML document stands for, given its JSON.
pub(crate) fn hand_over_document<T: AsRef<[u8]>>(
    document: &Document<T>,
    json: &[u8],
    file: &str,
    sink: &mut dyn Sink,
) -> Result<(), FbcError> {
    let position = document.position();
    match meta::read(&mut Cursor::new(json)) {
        Ok(blob) => hand_over(blob, position, file, sink),
        Err(halt) => {
            let malformed = match halt {
                Halt::Malformed { malformed, .. } => malformed,
                Halt::Incomplete => Malformed::Truncated,
            };
            let fault = FbcError {
                position,
                malformed,
            };
            return Err(document.json_fault.clone().unwrap_or(fault));
        }
    }
    Ok(())
}

/// Hands over a blob.
pub(crate) fn hand_over(
    blob: Option<Blob<'_>>,
    position: Position,
    file: &str,
    sink: &mut dyn Sink,
) {
    let Some(Blob { filed, content }) = blob else {
        return;
    };
    let content = content.map_err(|fault| BlobFault {
        file: file.into(),
        position,
        package: filed.key().folder().into(),
        schema: filed.schema.as_ref().into(),
        name: filed.name.as_ref().into(),
        fault,
    });
    sink.blob(filed.key(), content);
}

fn json_fault(at: u64, malformed: Malformed) -> FbcError {
    FbcError {
        position: Position::Byte(at),
        malformed,
    }
}

/// The text after the lines of `null` that it begins with.
fn after_nulls(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.trim_ascii_start().strip_prefix(b"null")
        && rest.first().is_some_and(u8::is_ascii_whitespace)
    {
        text = rest;
    }
    text
}

/// How many bytes of white space a text begins with, at most up to its first line feed.
fn blank_line(text: &[u8]) -> usize {
    let valid = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let blank = valid.len() - valid.trim_start().len();
    let line = text
        .get(..blank)
        .and_then(|blank| memchr::memchr(b'\n', blank));
    line.map_or(blank, |newline| newline + 1)
}

/// How many blank and comment lines, and separators, a document begins with.
fn leading_lines(document: &[u8]) -> u64 {
    let is_content = |line: &&[u8]| {
        let line = line.trim_ascii();
        !(line.is_empty() || line.starts_with(b"#") || line.starts_with(b"---"))
    };
    let before = document
        .split(|&byte| byte == b'\n')
        .take_while(|line| !is_content(line));
    before.count() as u64
}

fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// How large one blob may be. The largest bundles of real catalogs have a few megabytes; twice
/// this much (the text and what it is turned into) must fit a process of 256 MiB.
pub(crate) const BLOB_LIMIT: usize = 32 << 20;

/// How many blobs one file may have. The largest known catalogs have some tens of thousands.
const BLOB_COUNT_LIMIT: u32 = 500_000;

/// How much of a file decides on its format.
const PEEKED: usize = 4096;
