//! Converts a byte offset in the text of a blob to a line and column in its file.

use crate::lint::written::{Spot, Text};
use olmguard_catalog::blob::Position;
use olmguard_catalog::fbc::raw::PlacedText;
use olmguard_catalog::fbc::{BlobPlace, TextOrigin};

/// Finds places in one text. It starts at the last place found, so near ones are cheap, in both
/// directions.
pub(super) struct Locator<'p> {
    text: &'p [u8],
    origin: TextOrigin,
    /// Start in the text of the bytes that offsets refer to.
    base: usize,
    marks: Option<&'p olmguard_catalog::fbc::yaml::YamlMarks>,
    file: u32,
    /// Current byte, with its line and column.
    at: usize,
    line: u64,
    column: u64,
}

impl<'p> Locator<'p> {
    /// Creates a locator for the bytes of a blob.
    pub(super) fn of(place: &BlobPlace<'p>, file: u32) -> Self {
        let mut locator = Self::new(place.text, place.origin, file);
        locator.marks = place.marks;
        if let (Position::Byte(begin), None) = (place.position, place.marks) {
            locator.base = usize::try_from(begin - place.origin.bytes).unwrap_or_default();
        }
        locator
    }

    /// Creates a locator for the bytes of a text.
    pub(super) fn new(text: &'p [u8], origin: TextOrigin, file: u32) -> Self {
        Self {
            text,
            origin,
            base: 0,
            marks: None,
            file,
            at: 0,
            line: origin.lines,
            column: origin.column,
        }
    }

    /// Returns the place of a byte.
    pub(super) fn find(&mut self, at: usize) -> Spot {
        if let Some(marks) = self.marks {
            let (line, column) = marks.find(at);
            let line = narrow(self.origin.lines).saturating_add(line);
            return self.spot(line, column);
        }
        self.walk_to(self.base + at);
        self.spot(narrow(self.line + 1), narrow(self.column + 1))
    }

    /// Returns a text with its place. An absent text has no place.
    pub(super) fn kept(&mut self, text: &PlacedText<'_>) -> Text {
        let is_absent = text.at == 0 && text.text.is_empty();
        Text {
            spot: if is_absent {
                Spot::default()
            } else {
                self.find(text.at)
            },
            text: text.text.as_ref().into(),
        }
    }

    /// Returns a known place.
    pub(super) fn spot(&self, line: u32, column: u32) -> Spot {
        Spot {
            file: self.file,
            line,
            column,
        }
    }

    fn walk_to(&mut self, at: usize) {
        if at < self.at {
            self.walk_back_to(at);
            return;
        }
        let walked = self.text.get(self.at..at).unwrap_or_default();
        let tail = match memchr::memrchr(b'\n', walked) {
            Some(newline) => {
                self.line += memchr::memchr_iter(b'\n', walked).count() as u64;
                self.column = 0;
                walked.get(newline + 1..).unwrap_or_default()
            }
            None => walked,
        };
        self.column += characters(tail);
        self.at = at;
    }

    fn walk_back_to(&mut self, at: usize) {
        let walked = self.text.get(at..self.at).unwrap_or_default();
        let newlines = memchr::memchr_iter(b'\n', walked).count() as u64;
        if newlines == 0 {
            self.column -= characters(walked);
        } else {
            self.line -= newlines;
            let before = self.text.get(..at).unwrap_or_default();
            self.column = match memchr::memrchr(b'\n', before) {
                Some(newline) => characters(before.get(newline + 1..).unwrap_or_default()),
                None => self.origin.column + characters(before),
            };
        }
        self.at = at;
    }
}

/// Counts the characters that start in the bytes.
fn characters(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<128>();
    let begins = |byte: &u8| u8::from(byte & 0xc0 != 0x80);
    let of = |block: &[u8]| u64::from(block.iter().map(begins).sum::<u8>());
    blocks.iter().map(|block| of(block)).sum::<u64>() + of(rest)
}

pub(super) fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_in_characters_and_in_any_order() {
        let text = "ab\nçd\n\n漢字x".as_bytes();
        let origin = TextOrigin {
            bytes: 100,
            lines: 6,
            column: 2,
        };
        let mut locator = Locator::new(text, origin, 3);
        let rows = [
            (0, 7, 3),
            (1, 7, 4),
            (3, 8, 1),
            (5, 8, 2),
            (7, 9, 1),
            (8, 10, 1),
            (14, 10, 3),
            (11, 10, 2),
            (3, 8, 1),
            (1, 7, 4),
            (0, 7, 3),
        ];
        for (at, line, column) in rows {
            assert_eq!(
                locator.find(at),
                Spot {
                    file: 3,
                    line,
                    column
                },
                "{at}"
            );
        }
    }

    #[test]
    fn long_lines_are_counted_whole() {
        let text = "é".repeat(1000);
        let mut locator = Locator::new(text.as_bytes(), TextOrigin::default(), 0);
        assert_eq!(locator.find(2000).column, 1001);
    }
}
