//! JSON numbers: their grammar, and whether a 64-bit float holds them.
//!
//! catalogd reads every number into a float, so one beyond its range makes the catalog
//! unreadable.

use super::cursor::{Cursor, CursorResult, Halt};
use crate::fbc::error::FbcErrorKind;

impl<'a> Cursor<'a> {
    /// Steps over a number; returns its text.
    ///
    /// A number ends with the byte after it, so at the end of the text it is incomplete.
    pub(crate) fn number(&mut self) -> CursorResult<&'a str> {
        let start = self.at();
        if self.byte()? == b'-' {
            self.advance(1);
        }
        match self.byte()? {
            b'0' => self.advance(1),
            _ => self.digits()?,
        }
        if self.byte()? == b'.' {
            self.advance(1);
            self.digits()?;
        }
        if matches!(self.byte()?, b'e' | b'E') {
            self.advance(1);
            if matches!(self.byte()?, b'+' | b'-') {
                self.advance(1);
            }
            self.digits()?;
        }
        let text = str::from_utf8(self.since(start)).unwrap_or_default();
        if is_out_of_range(text) {
            return self.malformed_at(start, FbcErrorKind::NumberRange);
        }
        Ok(text)
    }

    /// Steps over at least one digit.
    fn digits(&mut self) -> CursorResult<()> {
        let count = self
            .rest()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        if count == 0 {
            return self.unexpected("a digit");
        }
        self.advance(count);
        if self.rest().is_empty() {
            return Err(Halt::Incomplete);
        }
        Ok(())
    }
}

/// Whether a number is beyond what a float holds. Short ones without an exponent never are.
fn is_out_of_range(text: &str) -> bool {
    (text.len() > 300 || text.contains(['e', 'E']))
        && text.parse::<f64>().is_ok_and(f64::is_infinite)
}
