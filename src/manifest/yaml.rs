//! Builds one YAML document from the events of granit-parser, or one JSON document.

use std::num::NonZeroUsize;

use granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScanError, StrInput};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::error::{DocumentErrorKind, DocumentFault, DocumentFormat};
use super::position::{Position, Positions};
use super::tree::{Builder, CollectedItems, DocumentRules, MAX_DEPTH, number_scalar};
use olmguard_catalog::yaml_scalar::{Scalar, is_merge_key, is_printable, resolve};

/// Reads the only document of `text`, which starts at line `first_line` of the file. Returns null
/// if there is none.
pub(super) fn read(
    text: &str,
    first_line: u32,
    rules: DocumentRules,
) -> Result<(Value, Positions), DocumentFault> {
    let lines = LinesBefore(first_line.saturating_sub(1));
    if let Some(fault) = control_character(text, lines) {
        return Err(fault);
    }
    let mut builder = Builder::new(rules);
    let mut parser = Parser::new_from_str_with_options(text, options());
    let mut reached = lines.place(Marker::default());
    for event in &mut parser {
        let read = event.map_err(|error| syntax(&error, lines));
        let (event, span) = read.map_err(|fault| fault.after(reached))?;
        if event == Event::DocumentEnd {
            break;
        }
        take(&mut builder, event, lines.place(span.start)).map_err(|fault| fault.after(reached))?;
        reached = lines.place(span.end);
    }
    nothing_follows(&mut parser, lines).map_err(|fault| fault.after(reached))?;
    Ok(builder.finish())
}

fn options() -> Options {
    let mut options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    options
}

fn take(builder: &mut Builder, event: Event<'_>, at: Position) -> Result<(), DocumentFault> {
    match event {
        Event::Scalar(text, style, anchor, tag) => {
            let tag = tag.as_deref();
            if is_merge_key(&text, style, tag) && builder.expects_key() {
                builder.merge_key();
                return Ok(());
            }
            let scalar = resolve(&text, style, tag);
            let scalar = scalar.map_err(|error| DocumentFault::new(at, error))?;
            builder.scalar(scalar, &text, NonZeroUsize::new(anchor), at)
        }
        Event::SequenceStart(_, anchor, _) => {
            builder.begin(CollectedItems::LIST, NonZeroUsize::new(anchor), at)
        }
        Event::MappingStart(_, anchor, _) => {
            builder.begin(CollectedItems::mapping(), NonZeroUsize::new(anchor), at)
        }
        Event::SequenceEnd | Event::MappingEnd => builder.end(at),
        Event::Alias(anchor) => match NonZeroUsize::new(anchor) {
            Some(anchor) => builder.alias(anchor, at),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Checks that no second document follows. A directive after `...` belongs to the document that the
/// next `---` starts.
fn nothing_follows<'a>(
    parser: &mut Parser<'a, StrInput<'a>>,
    lines: LinesBefore,
) -> Result<(), DocumentFault> {
    match parser.next_event() {
        Some(Ok((Event::DocumentStart(..), span))) => {
            let at = lines.place(span.start);
            Err(DocumentFault::new(at, DocumentErrorKind::SecondDocument))
        }
        Some(Err(error)) if *error.kind() != ErrorKind::ExpectedDocumentStart => {
            Err(syntax(&error, lines))
        }
        _ => Ok(()),
    }
}

/// Finds a character that YAML forbids. The parser would accept some of these as text.
fn control_character(text: &str, lines: LinesBefore) -> Option<DocumentFault> {
    let (before, found) = text.char_indices().find(|(_, c)| !is_printable(*c))?;
    let start = Position {
        line: lines.0.saturating_add(1),
        column: 1,
    };
    let mut cursor = TextCursor::starting_at(start, text);
    cursor.advance(before);
    Some(DocumentFault::new(
        cursor.at,
        DocumentErrorKind::ControlCharacter { found },
    ))
}

fn syntax(error: &ScanError, lines: LinesBefore) -> DocumentFault {
    let kind = match error.kind() {
        ErrorKind::RecursionLimitExceeded => DocumentErrorKind::TooDeep,
        kind => DocumentErrorKind::Syntax {
            format: DocumentFormat::Yaml,
            found: kind.to_string().into(),
        },
    };
    DocumentFault::new(lines.place(*error.marker()), kind)
}

/// The number of lines in the file before the text that the parser reads.
#[derive(Clone, Copy)]
struct LinesBefore(u32);

impl LinesBefore {
    fn place(self, mark: Marker) -> Position {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let line = number(mark.line()).saturating_add(self.0);
        Position {
            line,
            column: number(mark.col()).saturating_add(1),
        }
    }
}

// === A sequence of JSON values in a text ===
//
// `serde_json` checks that a value is well-formed and finds its end, without building it. Then a
// walk over the valid text sends each value with its position to the builder.

/// Reads the first value of the text at the cursor, and moves the cursor behind it. `None` if only
/// white space is left.
pub(super) fn next_json(
    cursor: &mut TextCursor<'_>,
    rules: DocumentRules,
) -> Option<Result<(Value, Positions), DocumentFault>> {
    cursor.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let text = cursor.rest;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    if let Err(error) = values.next()? {
        return Some(Err(json_syntax(&error, cursor)));
    }
    let value = text.get(..values.byte_offset())?;
    let mut within = TextCursor::starting_at(cursor.at, value);
    cursor.advance(value.len());
    Some(walk(&mut within, rules))
}

fn walk(
    cursor: &mut TextCursor<'_>,
    rules: DocumentRules,
) -> Result<(Value, Positions), DocumentFault> {
    let mut builder = Builder::new(rules);
    while let Some(first) = cursor.rest.bytes().next() {
        let at = cursor.at;
        let len = token_len(cursor.rest, first);
        let token = cursor.rest.get(..len).unwrap_or_default();
        match first {
            b'{' => builder.begin(CollectedItems::mapping(), None, at)?,
            b'[' => builder.begin(CollectedItems::LIST, None, at)?,
            b'}' | b']' => builder.end(at)?,
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => builder.scalar(scalar(token, first, cursor)?, token, None, at)?,
        }
        cursor.advance(len);
    }
    Ok(builder.finish())
}

/// Returns the length in bytes of the token at the start of a well-formed text; its first byte is
/// `first`.
fn token_len(text: &str, first: u8) -> usize {
    let after = text.bytes().skip(1);
    1 + match first {
        b'"' => string_len(after),
        b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => 0,
        _ => after
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
            .count(),
    }
}

/// Returns the number of bytes up to and including the closing quote.
fn string_len(mut after: impl Iterator<Item = u8>) -> usize {
    let mut len = 0;
    while let Some(byte) = after.next() {
        len += 1;
        match byte {
            b'"' => break,
            b'\\' => len += usize::from(after.next().is_some()),
            _ => {}
        }
    }
    len
}

fn scalar<'a>(
    token: &'a str,
    first: u8,
    cursor: &TextCursor<'_>,
) -> Result<Scalar<'a>, DocumentFault> {
    let parsed = match first {
        b'n' => Ok(Scalar::Null),
        b't' => Ok(Scalar::Bool(true)),
        b'f' => Ok(Scalar::Bool(false)),
        b'"' => string(token),
        _ => serde_json::from_str(token).map(|number| number_scalar(&number)),
    };
    parsed.map_err(|error| json_syntax(&error, cursor))
}

/// Reads a string, without a copy if it has no escapes.
fn string(token: &str) -> Result<Scalar<'_>, serde_json::Error> {
    match token
        .strip_prefix('"')
        .and_then(|token| token.strip_suffix('"'))
    {
        Some(plain) if !plain.contains('\\') => Ok(Scalar::Str(plain.into())),
        _ => serde_json::from_str::<String>(token).map(|text| Scalar::Str(text.into())),
    }
}

/// Converts an error of the JSON parser, which counts its place from the cursor.
fn json_syntax(error: &serde_json::Error, cursor: &TextCursor<'_>) -> DocumentFault {
    let message = error.to_string();
    let found = message.split(" at line ").next().unwrap_or_default().into();
    let kind = DocumentErrorKind::Syntax {
        format: DocumentFormat::Json,
        found,
    };
    DocumentFault::new(place(error, cursor), kind)
}

fn place(error: &serde_json::Error, cursor: &TextCursor<'_>) -> Position {
    let lines = cursor.rest.split_inclusive('\n');
    let above: usize = lines
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let mut there = cursor.clone();
    there.advance(above + error.column().saturating_sub(1));
    there.at
}

// === A cursor: a position in a text that moves forward and tracks its line and column ===
//
// Line breaks are those of YAML: LF, CR LF, or CR alone.

/// Invariant: each byte of the text is passed once, so a walk over a text takes linear time.
#[derive(Clone, Debug)]
pub(super) struct TextCursor<'a> {
    /// The text from the cursor on.
    pub(super) rest: &'a str,
    pub(super) at: Position,
    after_cr: bool,
}

impl<'a> TextCursor<'a> {
    /// Returns a cursor at the first character of `text`, which has the position `at` in the file.
    pub(super) const fn starting_at(at: Position, text: &'a str) -> Self {
        Self {
            rest: text,
            at,
            after_cr: false,
        }
    }

    /// Advances by this number of bytes, or to the end. Inside a character, it advances to the next
    /// one.
    pub(super) fn advance(&mut self, bytes: usize) {
        let mut len = bytes.min(self.rest.len());
        while !self.rest.is_char_boundary(len) {
            len += 1;
        }
        let (passed, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        passed.chars().for_each(|c| self.pass(c));
        self.rest = rest;
    }

    /// Skips the bytes that match.
    pub(super) fn skip(&mut self, fits: impl Fn(u8) -> bool) {
        self.advance(self.rest.bytes().take_while(|byte| fits(*byte)).count());
    }

    fn pass(&mut self, c: char) {
        let completes_crlf = c == '\n' && self.after_cr;
        self.after_cr = c == '\r';
        match c {
            '\n' if completes_crlf => {}
            '\n' | '\r' => {
                self.at.line = self.at.line.saturating_add(1);
                self.at.column = 1;
            }
            _ => self.at.column = self.at.column.saturating_add(1),
        }
    }
}
