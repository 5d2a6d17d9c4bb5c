//! Reads a file of blobs piece by piece, and determines its format.
//!
//! A file is JSON if its first visible character is `{`, otherwise YAML. If JSON fails before the
//! second object, the rest is tried as YAML, because `{a: b}`, and one JSON object before `---`,
//! look like JSON too. If YAML fails immediately as well, the JSON fault is reported.
//!
//! A file that starts with `null` lines and continues with `{` is JSON here, although upstream
//! treats it as YAML. catalogd produces such a file from a catalog whose first document is empty,
//! and such a catalog counts as loaded.
//!
//! The [`Intake`] determines how a blob is read: the index needs the facts that decide
//! ([`Decisive`](crate::fbc::Decisive)), `lint` needs the blob as written. The index stops at a
//! fault and `lint` continues, so a reader can [`recover`](Reader::recover).
//!
//! Upstream: apimachinery, [`pkg/util/yaml/decoder.go`], `YAMLOrJSONDecoder`.
//!
//! [`pkg/util/yaml/decoder.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/yaml/decoder.go

use super::json::{Cursor, CursorResult, Halt, skip_space};
use super::yaml::{self, YamlFault, YamlMarks, YamlPiece};
use crate::blob::Position;
use crate::fbc::shape::begins_with_brace;
use crate::fbc::{BlobPlace, FbcError, FbcErrorKind, Intake, Places, TextOrigin};
use crate::memory::{Account, Loan};

/// Reads one file.
#[derive(Debug)]
pub struct Reader {
    format: FileFormat,
    /// Number of blobs and documents returned.
    blobs: u32,
    /// Position of the reader. Unless positions are wanted, lines are counted only as long as the
    /// file could still be YAML.
    origin: TextOrigin,
    places: Places,
    /// Account that the memory for reading a blob is charged to.
    account: Account,
}

#[derive(Debug)]
enum FileFormat {
    Unknown,
    /// JSON; this many objects were read.
    Json(u32),
    /// YAML; with the JSON fault if the file was read as JSON before.
    Yaml(Option<FbcError>),
    /// JSON after a fault: the reader searches for the next line that starts with an object.
    Lost,
}

/// The next item of a file.
#[derive(Debug)]
pub enum NextItem<'a, B> {
    /// A blob.
    Blob {
        /// The blob.
        blob: B,
        /// Position of the blob.
        position: Position,
        /// Number of bytes consumed.
        consumed: usize,
        /// Memory of the blob, which must be kept as long as the blob.
        loan: Option<Loan>,
    },
    /// A YAML document.
    Document {
        /// The document.
        document: YamlDocument<&'a [u8]>,
        /// Number of bytes consumed.
        consumed: usize,
    },
    /// No item, but bytes that need not be read again.
    Skipped {
        /// Number of bytes consumed.
        consumed: usize,
    },
    /// More of the file is needed.
    Incomplete,
    /// The file has ended.
    End,
}

/// A YAML document within its file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct YamlDocument<T> {
    /// Text of the document.
    pub text: T,
    /// Position of the document in its file.
    pub origin: TextOrigin,
    /// The fault to report if the document is not YAML either.
    pub json_fault: Option<FbcError>,
}

impl Reader {
    /// Creates a reader at the start of a file. Reading is charged to `account`.
    pub fn new(places: Places, account: Account) -> Self {
        Self {
            format: FileFormat::Unknown,
            blobs: 0,
            origin: TextOrigin::default(),
            places,
            account,
        }
    }

    /// Position of the reader.
    pub fn origin(&self) -> TextOrigin {
        self.origin
    }

    /// Whether the following items are certainly JSON, because enough objects were read.
    pub fn is_among_objects(&self) -> bool {
        matches!(self.format, FileFormat::Json(2..))
    }

    /// Continues after a fault in `text`, behind the blob or the separator. Returns the number of
    /// bytes to skip; `None` if reading cannot continue.
    pub fn recover(&mut self, fault: &FbcError, text: &[u8]) -> Option<usize> {
        let is_limit = matches!(
            fault.malformed,
            FbcErrorKind::BlobTooLarge | FbcErrorKind::TooManyBlobs | FbcErrorKind::Memory(_)
        );
        let is_yaml = matches!(self.format, FileFormat::Yaml(_));
        let skipped = match yaml::split(text, true) {
            YamlPiece::Malformed { consumed, .. } if is_yaml => consumed,
            _ => {
                self.format = FileFormat::Lost;
                0
            }
        };
        self.pass(text.get(..skipped).unwrap_or_default());
        (!is_limit).then_some(skipped)
    }

    /// Returns the first item of `text`, which is the file from the reader's position on. `ended`
    /// means that the file ends with it. `read` reads one blob.
    pub fn next<'a, B>(
        &mut self,
        text: &'a [u8],
        ended: bool,
        read: impl FnOnce(&mut Cursor<'a>) -> CursorResult<B>,
    ) -> Result<NextItem<'a, B>, FbcError> {
        let next = match &self.format {
            FileFormat::Unknown => return Ok(self.detect(text, ended)),
            FileFormat::Json(objects) => self.next_json(*objects, text, ended, read)?,
            FileFormat::Yaml(_) => self.next_document(text, ended)?,
            FileFormat::Lost => self.find_object(text, ended),
        };
        if matches!(next, NextItem::Incomplete) && text.len() >= BLOB_LIMIT {
            return Err(self.fault(FbcErrorKind::BlobTooLarge));
        }
        if matches!(next, NextItem::Blob { .. } | NextItem::Document { .. }) {
            self.blobs += 1;
            if self.blobs > BLOB_COUNT_LIMIT {
                return Err(self.fault(FbcErrorKind::TooManyBlobs));
            }
        }
        if let NextItem::Blob { consumed, .. }
        | NextItem::Document { consumed, .. }
        | NextItem::Skipped { consumed } = &next
        {
            self.pass(text.get(..*consumed).unwrap_or_default());
        }
        Ok(next)
    }

    fn detect<'a, B>(&mut self, text: &[u8], ended: bool) -> NextItem<'a, B> {
        if text.len() < PEEKED && !ended {
            return NextItem::Incomplete;
        }
        let peeked = text.get(..PEEKED).unwrap_or(text);
        self.format = if begins_with_brace(after_nulls(peeked)) {
            FileFormat::Json(0)
        } else {
            FileFormat::Yaml(None)
        };
        NextItem::Skipped { consumed: 0 }
    }

    /// Skips the rest of a blob that cannot be read.
    fn find_object<'a, B>(&mut self, text: &[u8], ended: bool) -> NextItem<'a, B> {
        if let Some(newline) = memchr::memmem::find(text, b"\n{") {
            self.format = FileFormat::Json(u32::MAX);
            return NextItem::Skipped {
                consumed: newline + 1,
            };
        }
        // The last byte may be the line feed before an object.
        match (ended, text.len().saturating_sub(1)) {
            (true, _) => NextItem::End,
            (false, 0) => NextItem::Incomplete,
            (false, consumed) => NextItem::Skipped { consumed },
        }
    }

    fn next_json<'a, B>(
        &mut self,
        objects: u32,
        text: &'a [u8],
        ended: bool,
        read: impl FnOnce(&mut Cursor<'a>) -> CursorResult<B>,
    ) -> Result<NextItem<'a, B>, FbcError> {
        let space = skip_space(text);
        let rest = text.get(space..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(if ended {
                NextItem::End
            } else {
                NextItem::Incomplete
            });
        }
        let begin = self.origin.bytes + space as u64;
        let mut cursor = Cursor::counted(rest, self.account.loan());
        match read(&mut cursor) {
            Ok(blob) => {
                self.format = FileFormat::Json(objects.saturating_add(1));
                Ok(NextItem::Blob {
                    blob,
                    position: Position::Byte(begin),
                    consumed: space + cursor.at(),
                    loan: cursor.into_loan(),
                })
            }
            Err(Halt::Incomplete) if !ended => Ok(NextItem::Incomplete),
            Err(Halt::Incomplete) => {
                let at = begin + rest.len() as u64;
                self.read_as_yaml(objects, json_fault(at, FbcErrorKind::Truncated), text)
            }
            Err(Halt::Malformed { at, malformed }) => {
                self.read_as_yaml(objects, json_fault(begin + at as u64, malformed), text)
            }
        }
    }

    /// Switches to YAML if a text is not JSON, unless complete objects precede the fault.
    fn read_as_yaml<'a, B>(
        &mut self,
        objects: u32,
        fault: FbcError,
        text: &[u8],
    ) -> Result<NextItem<'a, B>, FbcError> {
        // Our own limits do not exist upstream. Reading as YAML would only exceed them again.
        let is_ours = matches!(
            fault.malformed,
            FbcErrorKind::TooManyItems | FbcErrorKind::Memory(_)
        );
        if objects > 1 || is_ours {
            return Err(fault);
        }
        self.format = FileFormat::Yaml(Some(fault));
        let consumed = blank_line(text);
        Ok(NextItem::Skipped { consumed })
    }

    fn next_document<'a, B>(
        &mut self,
        text: &'a [u8],
        ended: bool,
    ) -> Result<NextItem<'a, B>, FbcError> {
        match yaml::split(text, ended) {
            YamlPiece::Incomplete => Ok(NextItem::Incomplete),
            YamlPiece::End => Ok(NextItem::End),
            YamlPiece::Document { length, consumed } => {
                let document = YamlDocument {
                    text: text.get(..length).unwrap_or_default(),
                    origin: TextOrigin {
                        column: 0,
                        ..self.origin
                    },
                    json_fault: self.take_json_fault(),
                };
                Ok(NextItem::Document { document, consumed })
            }
            YamlPiece::Malformed { at, malformed, .. } => {
                let before = text.get(..at).unwrap_or_default();
                let line = self.origin.lines + lines(before) + 1;
                let fault = FbcError {
                    position: Position::Line { line, column: 1 },
                    malformed,
                };
                Err(self.take_json_fault().unwrap_or(fault))
            }
        }
    }

    fn take_json_fault(&mut self) -> Option<FbcError> {
        match &mut self.format {
            FileFormat::Yaml(fault) => fault.take(),
            FileFormat::Unknown | FileFormat::Json(_) | FileFormat::Lost => None,
        }
    }

    /// Moves behind a text.
    fn pass(&mut self, passed: &[u8]) {
        let origin = &mut self.origin;
        origin.bytes += passed.len() as u64;
        if self.places == Places::Wanted {
            origin.lines += lines(passed);
            origin.column = match memchr::memrchr(b'\n', passed) {
                Some(newline) => (passed.len() - newline - 1) as u64,
                None => origin.column + passed.len() as u64,
            };
        } else if matches!(self.format, FileFormat::Yaml(_) | FileFormat::Json(..=1)) {
            origin.lines += lines(passed);
        }
    }

    /// Creates a fault at the current position.
    fn fault(&self, malformed: FbcErrorKind) -> FbcError {
        let position = match self.format {
            FileFormat::Yaml(_) => Position::Line {
                line: self.origin.lines + 1,
                column: 1,
            },
            FileFormat::Unknown | FileFormat::Json(_) | FileFormat::Lost => {
                Position::Byte(self.origin.bytes)
            }
        };
        FbcError {
            position,
            malformed,
        }
    }
}

impl<T> YamlDocument<T> {
    /// Returns the document with its text in another form.
    pub fn with_text<U>(&self, text: U) -> YamlDocument<U> {
        YamlDocument {
            text,
            origin: self.origin,
            json_fault: self.json_fault.clone(),
        }
    }
}

impl<T: AsRef<[u8]>> YamlDocument<T> {
    /// Appends the JSON of the document to `json`. Returns the positions of its parts if `marks`
    /// are wanted.
    ///
    /// # Errors
    /// If the text is not YAML, has no equivalent in JSON, or has aliases that make more than
    /// `limit` bytes of it. Part of the JSON may have been appended then.
    pub fn append_json(
        &self,
        marks: Places,
        limit: usize,
        json: &mut Vec<u8>,
    ) -> Result<YamlMarks, FbcError> {
        yaml::append_json(self.text.as_ref(), marks == Places::Wanted, limit, json)
            .map_err(|fault| self.fault(fault))
    }

    fn fault(&self, fault: YamlFault) -> FbcError {
        let YamlFault {
            line,
            column,
            malformed,
        } = fault;
        let line = self.origin.lines + line;
        let fault = FbcError {
            position: Position::Line { line, column },
            malformed,
        };
        self.first_fault(fault)
    }

    /// The fault of the text as JSON, if it was read as JSON first, otherwise the fault of the
    /// document.
    fn first_fault(&self, fault: FbcError) -> FbcError {
        self.json_fault.clone().unwrap_or(fault)
    }
}

/// Passes the blob of a YAML document to an intake, given its JSON.
pub fn hand_over_document<T: AsRef<[u8]>, I: Intake>(
    document: &YamlDocument<T>,
    json: &[u8],
    marks: &YamlMarks,
    file: &str,
    intake: &mut I,
) -> Result<(), FbcError> {
    let line = document.origin.lines + 1 + leading_lines(document.text.as_ref());
    let position = Position::Line { line, column: 1 };
    let fault = |malformed| FbcError {
        position,
        malformed,
    };
    let account = intake.memory();
    let mut cursor = Cursor::counted(json, account.loan());
    let blob = I::read(&mut cursor).map_err(|halt| match halt {
        Halt::Malformed {
            malformed: FbcErrorKind::Memory(too_large),
            ..
        } => fault(too_large.into()),
        Halt::Malformed { malformed, .. } => document.first_fault(fault(malformed)),
        Halt::Incomplete => document.first_fault(fault(FbcErrorKind::Truncated)),
    })?;
    let place = BlobPlace {
        file,
        position,
        origin: document.origin,
        text: document.text.as_ref(),
        marks: Some(marks),
    };
    intake.take(blob, &place);
    let checked = account.check();
    checked.map_err(|too_large| fault(too_large.into()))
}

fn json_fault(at: u64, malformed: FbcErrorKind) -> FbcError {
    FbcError {
        position: Position::Byte(at),
        malformed,
    }
}

/// Skips the lines of `null` at the start of a text.
fn after_nulls(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.trim_ascii_start().strip_prefix(b"null")
        && rest.first().is_some_and(u8::is_ascii_whitespace)
    {
        text = rest;
    }
    text
}

/// Length of the white space at the start of a text, at most up to its first line feed.
fn blank_line(text: &[u8]) -> usize {
    let valid = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let blank = valid.len() - valid.trim_start().len();
    let line = text
        .get(..blank)
        .and_then(|blank| memchr::memchr(b'\n', blank));
    line.map_or(blank, |newline| newline + 1)
}

/// Number of empty lines, comment lines and separators at the start of a document.
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

/// Maximum size of a blob, in bytes. The largest bundles of real catalogs have a few megabytes.
/// Twice this much, for the text and its result, must fit a process of 256 MiB.
pub const BLOB_LIMIT: usize = 32 << 20;

/// Maximum number of blobs in one file. The largest known catalogs have tens of thousands.
pub(super) const BLOB_COUNT_LIMIT: u32 = 500_000;

/// Number of bytes of a file that decide on its format.
const PEEKED: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_after_a_bad_separator_are_read() {
        let mut rest = b"a: 1\n--- b\nc: 2\n---\nd: 3\n".as_slice();
        let mut reader = Reader::new(Places::Wanted, Account::default());
        let mut found = Vec::new();
        loop {
            let next = reader.next(rest, true, |_| -> CursorResult<()> {
                Err(Halt::Incomplete)
            });
            let consumed = match next {
                Ok(NextItem::Document { document, consumed }) => {
                    let text = String::from_utf8_lossy(document.text);
                    found.push(format!("{}: {text}", document.origin.lines));
                    consumed
                }
                Ok(NextItem::Skipped { consumed }) => consumed,
                Ok(_) => break,
                Err(fault) => {
                    found.push(fault.to_string());
                    reader.recover(&fault, rest).expect("more is read")
                }
            };
            rest = &rest[consumed..];
        }
        let fault = "2:1: invalid YAML document separator: expected only a comment after \"---\", \
                     found \"b\"";
        assert_eq!(found, [fault, "2: c: 2\n", "4: d: 3\n"]);
    }
}
