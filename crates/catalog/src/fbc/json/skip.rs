//! Stepping over a value of any type, however deep, without recursion.

use super::cursor::{Cursor, CursorResult};
use crate::blob::JsonKind;

impl Cursor<'_> {
    /// Steps over the next value and checks it.
    pub fn skip(&mut self) -> CursorResult<()> {
        let base = self.open.len();
        loop {
            let opened = match self.next_byte()? {
                b'{' => self.open_object()?,
                b'[' => self.open_list()?,
                _ => {
                    self.skip_scalar()?;
                    false
                }
            };
            if !opened && !self.close_finished(base)? {
                return Ok(());
            }
        }
    }

    /// Steps over a string; null is one, another type a fault.
    pub(crate) fn skip_text(&mut self) -> CursorResult<()> {
        match self.kind()? {
            JsonKind::String => self.string().map(drop),
            found => self.skip_instead(found, "a string"),
        }
    }

    fn skip_scalar(&mut self) -> CursorResult<()> {
        match self.byte()? {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.unexpected("a value"),
        }
    }

    /// Enters an object. Whether it has members: then stands before the first value, else after
    /// the object.
    fn open_object(&mut self) -> CursorResult<bool> {
        self.enter()?;
        let opened = self.has_item(0, b'}')?;
        if opened {
            self.open.push(b'}');
            self.member_key()?;
        }
        Ok(opened)
    }

    /// As [`Self::open_object`], for a list.
    fn open_list(&mut self) -> CursorResult<bool> {
        self.enter()?;
        let opened = self.has_item(0, b']')?;
        if opened {
            self.open.push(b']');
        }
        Ok(opened)
    }

    /// After a value: leaves every container that ends here, down to `base`. Whether another
    /// value follows; stands before it.
    fn close_finished(&mut self, base: usize) -> CursorResult<bool> {
        while self.open.len() > base {
            let close = self.open.last().copied().unwrap_or_default();
            if self.has_item(1, close)? {
                if close == b'}' {
                    self.member_key()?;
                }
                return Ok(true);
            }
            self.open.pop();
        }
        Ok(false)
    }
}
