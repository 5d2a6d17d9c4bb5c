//! The text and bytes literals of an expression: raw or not, with one or three marks.

/// How a text literal ends.
pub(super) struct Quote {
    /// Where its content starts.
    start: usize,
    mark: u8,
    is_triple: bool,
    is_raw: bool,
}

/// The opening of a text literal, with its prefix.
pub(super) fn quote(bytes: &[u8]) -> Option<Quote> {
    let is_mark = |byte: &&u8| matches!(byte, b'"' | b'\'');
    let prefix = bytes
        .iter()
        .take(2)
        .take_while(|byte| b"rRbB".contains(byte))
        .count();
    let mark = *bytes.get(prefix).filter(is_mark)?;
    let prefixed = bytes.get(..prefix)?;
    let is_triple = bytes.get(prefix..prefix + 3) == Some(&[mark; 3]);
    Some(Quote {
        start: prefix + if is_triple { 3 } else { 1 },
        mark,
        is_triple,
        is_raw: prefixed.contains(&b'r') || prefixed.contains(&b'R'),
    })
}

impl Quote {
    /// The length of the whole literal, if it is closed.
    pub(super) fn end(&self, bytes: &[u8]) -> Option<usize> {
        let width = if self.is_triple { 3 } else { 1 };
        let mut at = self.start;
        loop {
            let byte = *bytes.get(at)?;
            let closes = bytes
                .get(at..at + width)?
                .iter()
                .all(|byte| *byte == self.mark);
            match byte {
                _ if closes => return Some(at + width),
                b'\n' | b'\r' if !self.is_triple => return None,
                b'\\' if !self.is_raw => at += 2,
                _ => at += 1,
            }
        }
    }
}
