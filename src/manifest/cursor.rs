//! A place in a text that moves forward and knows its line and column.
//!
//! Line breaks are those of YAML: LF, CR LF, or CR alone.

use super::position::Position;

/// Invariant: each byte of the text is passed once, so a walk over a text costs its length.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    at: Position,
    after_cr: bool,
}

impl<'a> Cursor<'a> {
    /// At the first character of `text`, which stands at `at` in the file.
    pub(super) const fn starting_at(at: Position, text: &'a str) -> Self {
        Self {
            rest: text,
            at,
            after_cr: false,
        }
    }

    /// The text from here on.
    pub(super) const fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) const fn position(&self) -> Position {
        self.at
    }

    /// Passes that many bytes, or all that are left. To the next character where one is cut.
    pub(super) fn advance(&mut self, bytes: usize) {
        let mut len = bytes.min(self.rest.len());
        while !self.rest.is_char_boundary(len) {
            len += 1;
        }
        let (passed, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        passed.chars().for_each(|c| self.pass(c));
        self.rest = rest;
    }

    /// Passes the bytes that fit.
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
