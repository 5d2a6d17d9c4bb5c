//! Cuts a file where a line begins with `---`, before anything is parsed.
//!
//! Neither YAML nor JSON lets a value go on over such a line, so a broken document ends at the next
//! one. What stands before the first `---` is a part of its own only if it holds more than comments
//! and directives: those belong to the document that the line begins. This is YAML's own way to
//! count; `# licence` above `---` does not make a document.

use super::position::Position;

/// A part of a file, from its `---` up to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Where it begins in the file.
    pub(super) at: Position,
    /// Its bytes, `---` included.
    pub(super) bytes: &'a [u8],
}

impl Part<'_> {
    /// Whether there is nothing but blank lines, comments and the separator.
    pub(super) fn is_blank(&self) -> bool {
        let after_separator = |line: &'_ [u8]| line.strip_prefix(SEPARATOR).is_some_and(is_comment);
        lines(self.bytes).all(|line| is_comment(line) || after_separator(line))
    }
}

/// The parts of a file in order.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a> {
    rest: &'a [u8],
    line: u32,
    place: DocumentPlace,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DocumentPlace {
    Start,
    Inside,
}

impl<'a> Parts<'a> {
    /// A byte order mark at the very beginning is no part of the text.
    pub(super) fn of(file: &'a [u8]) -> Self {
        Self {
            rest: file.strip_prefix(BOM).unwrap_or(file),
            line: 1,
            place: DocumentPlace::Start,
        }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
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
        Some(Part { at, bytes })
    }
}

/// The lines with their ends: LF, CR LF, or CR alone.
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

/// `---` alone, or with a space behind it.
fn is_separator(line: &[u8]) -> bool {
    match line.strip_prefix(SEPARATOR) {
        Some(after) => after.first().is_none_or(u8::is_ascii_whitespace),
        None => false,
    }
}

/// Blank, a comment, or a directive.
fn is_prologue(line: &[u8]) -> bool {
    is_comment(line) || line.starts_with(b"%")
}

/// Blank, or a comment.
fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

const SEPARATOR: &[u8] = b"---";
const BOM: &[u8] = b"\xef\xbb\xbf";
