//! The documents of a file, one at a time.

use serde_json::Value;

use super::cursor::Cursor;
use super::error::{DocumentError, DocumentErrorKind, Fault};
use super::position::{Position, Positions};
use super::split::{Part, Parts};
use super::{json, reason, yaml};

/// One document.
#[derive(Clone, Debug)]
pub struct Document {
    /// 0-based index in the file. Documents without content count, but do not appear.
    pub index: usize,
    /// Its content, never null.
    pub value: Value,
    /// Where in the file each value stands.
    pub positions: Positions,
}

/// Reads the documents of a file. A part that begins with a bracket and then a quote or a bracket
/// is JSON, one value after another; anything else is YAML, `{kind: List}` too. A broken document
/// is an error in its place, and those after the next `---` follow.
pub fn documents(file: &[u8]) -> Documents<'_> {
    Documents {
        parts: Parts::of(file),
        values: None,
        next_index: 0,
    }
}

/// Iterator over the documents of a file. One document is held at a time.
#[derive(Clone, Debug)]
pub struct Documents<'a> {
    parts: Parts<'a>,
    /// What is left of a part in JSON.
    values: Option<Cursor<'a>>,
    next_index: usize,
}

type Content = Result<(Value, Positions), Fault>;

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
    fn content(&mut self) -> Option<Content> {
        if let Some(content) = self.values.as_mut().and_then(json::next) {
            if content.is_err() {
                self.values = None;
            }
            return Some(content);
        }
        let part = self.parts.next()?;
        Some(self.begin(part))
    }

    fn begin(&mut self, part: Part<'a>) -> Content {
        self.values = None;
        if part.is_blank() {
            return Ok((Value::Null, Positions::new()));
        }
        let text =
            std::str::from_utf8(part.bytes).map_err(|error| not_utf8(part, error.valid_up_to()))?;
        let read = match json_start(text, part.at) {
            Some(cursor) => self.begin_json(cursor),
            None => yaml::read(text, part.at.line),
        };
        read.map_err(|fault| reason::explain(fault, text, part.at.line))
    }

    /// What follows the first value is left for later, unless that one is broken.
    fn begin_json(&mut self, mut cursor: Cursor<'a>) -> Content {
        let first = json::next(&mut cursor).unwrap_or(Ok((Value::Null, Positions::new())));
        self.values = first.is_ok().then_some(cursor);
        first
    }
}

/// A cursor at the bracket that begins the part, if the part is JSON.
fn json_start(text: &str, at: Position) -> Option<Cursor<'_>> {
    let mut cursor = Cursor::starting_at(at, text);
    if text.starts_with("---") {
        cursor.advance("---".len());
        cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
        let bare = matches!(
            cursor.rest().bytes().next(),
            None | Some(b'\n' | b'\r' | b'#')
        );
        bare.then_some(())?;
        cursor.skip(|byte| !matches!(byte, b'\n' | b'\r'));
    }
    cursor.skip(|byte| byte.is_ascii_whitespace());
    is_json(cursor.rest()).then_some(cursor)
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

fn not_utf8(part: Part<'_>, valid_up_to: usize) -> Fault {
    let valid = part
        .bytes
        .get(..valid_up_to)
        .and_then(|valid| std::str::from_utf8(valid).ok());
    let mut cursor = Cursor::starting_at(part.at, valid.unwrap_or_default());
    cursor.advance(valid_up_to);
    Fault::new(cursor.position(), DocumentErrorKind::NotUtf8)
}
