//! JSON strings: finding their end quickly, and decoding them.
//!
//! A string is scanned in blocks without a branch per byte, and decoded only on request. Go's rules
//! apply: a control character is a fault. Bytes that are not UTF-8, and surrogates without their
//! other half, become U+FFFD, one for each byte or escape.

use std::borrow::Cow;

use crate::fbc::json::cursor::{Cursor, CursorResult};
use crate::json::push_lossy;

/// A well-formed string, as written between its quotes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawString<'a> {
    body: &'a [u8],
    escapes: Escapes,
}

/// Whether a string may have escapes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Escapes {
    #[default]
    None,
    Some,
}

impl<'a> RawString<'a> {
    /// Length between the quotes, in bytes.
    pub(in crate::fbc) fn len(&self) -> usize {
        self.body.len()
    }

    /// The bytes between the quotes, if there are no escapes.
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (self.escapes == Escapes::None).then_some(self.body)
    }

    /// Returns the decoded string.
    pub fn decode(&self) -> Cow<'a, str> {
        match (self.escapes, str::from_utf8(self.body)) {
            (Escapes::None, Ok(text)) => Cow::Borrowed(text),
            _ => Cow::Owned(unescape(self.body)),
        }
    }
}

impl<'a> Cursor<'a> {
    /// Skips a string, from its opening quote.
    pub fn string(&mut self) -> CursorResult<RawString<'a>> {
        self.advance(1);
        let rest = self.rest();
        let run = plain_run(rest);
        let (body, after) = rest.split_at(run);
        if after.first() == Some(&b'"') {
            self.advance(run + 1);
            let escapes = Escapes::None;
            return Ok(RawString { body, escapes });
        }
        self.string_with_escapes(run)
    }

    /// Skips a string, from after its opening quote. Its first escape or fault is at `run`.
    fn string_with_escapes(&mut self, run: usize) -> CursorResult<RawString<'a>> {
        let (text, start) = (self.rest(), self.at());
        let mut at = run;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            at += match rest {
                [b'"', ..] => break,
                [b'\\', byte, ..] if is_short_escape(*byte) => 2,
                _ => {
                    self.go_to(start + at);
                    self.other_escape()?;
                    self.at() - start - at
                }
            };
            at += plain_run(text.get(at..).unwrap_or_default());
        }
        self.go_to(start + at + 1);
        let body = text.get(..at).unwrap_or_default();
        let escapes = Escapes::Some;
        Ok(RawString { body, escapes })
    }

    /// Skips an escape of a code unit. Anything else is a fault.
    fn other_escape(&mut self) -> CursorResult<()> {
        if self.byte()? != b'\\' {
            return self.unexpected("no control character in a string");
        }
        self.advance(1);
        if self.byte()? != b'u' {
            return self.unexpected("an escape such as \\n");
        }
        self.advance(1);
        (0..4).try_for_each(|_| self.hex_digit())
    }

    fn hex_digit(&mut self) -> CursorResult<()> {
        if !self.byte()?.is_ascii_hexdigit() {
            return self.unexpected("four hexadecimal digits after \\u");
        }
        self.advance(1);
        Ok(())
    }
}

/// Whether a byte after a backslash makes an escape of two bytes.
fn is_short_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

/// Decodes a well-formed string with escapes.
fn unescape(body: &[u8]) -> String {
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        push_lossy(&mut text, plain);
        rest = push_escape(&mut text, escape);
    }
    push_lossy(&mut text, rest);
    text
}

/// Appends the character of the escape at the start of `escape`. Returns the rest.
fn push_escape<'a>(text: &mut String, escape: &'a [u8]) -> &'a [u8] {
    let (character, length) = match escape.get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => unicode_escape(escape),
        Some(&byte) => (char::from(byte), 2),
        None => (char::REPLACEMENT_CHARACTER, 1),
    };
    text.push(character);
    escape.get(length..).unwrap_or_default()
}

/// Returns the character of a `\u` escape, or of two that make a surrogate pair, and their length.
fn unicode_escape(escape: &[u8]) -> (char, usize) {
    let Some(unit) = code_unit(escape) else {
        return (char::REPLACEMENT_CHARACTER, 6);
    };
    if let Some(character) = char::from_u32(unit.into()) {
        return (character, 6);
    }
    let low = escape.get(6..).and_then(code_unit);
    let pair = char::decode_utf16([Some(unit), low].into_iter().flatten()).next();
    match pair {
        Some(Ok(character)) => (character, 12),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// Returns the code unit of the `\u` escape at the start of `escape`.
fn code_unit(escape: &[u8]) -> Option<u16> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

// === The length of a run: the bytes of a string before its end, an escape or a fault ===
//
// Most runs are shorter than two words, and most bytes are in long runs. So the first words are
// checked one by one, and the rest in blocks without a branch per byte.

/// Number of bytes of `text` before the first byte that ends a run: a quote, a backslash or a
/// control character.
#[inline]
pub(crate) fn plain_run(text: &[u8]) -> usize {
    let Some((first, rest)) = text.split_first_chunk::<WORD>() else {
        return words_run(text);
    };
    if let Some(at) = first_break(*first) {
        return at;
    }
    let Some((second, rest)) = rest.split_first_chunk::<WORD>() else {
        return WORD + words_run(rest);
    };
    match first_break(*second) {
        Some(at) => WORD + at,
        None => 2 * WORD + long_run(rest),
    }
}

/// Separate from short runs, which are cheaper without its registers.
#[inline(never)]
fn long_run(text: &[u8]) -> usize {
    let (blocks, tail) = text.as_chunks::<BLOCK>();
    for (n, block) in blocks.iter().enumerate() {
        if block.iter().fold(false, |any, &byte| any | breaks(byte)) {
            return n * BLOCK + words_run(block);
        }
    }
    blocks.len() * BLOCK + words_run(tail)
}

/// Does the same as [`plain_run`], one word at a time.
#[inline(never)]
fn words_run(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks::<WORD>();
    for (n, word) in words.iter().enumerate() {
        if let Some(at) = first_break(*word) {
            return n * WORD + at;
        }
    }
    let run = tail.iter().position(|&byte| breaks(byte));
    words.len() * WORD + run.unwrap_or(tail.len())
}

/// Position of the first byte of a word that ends a run.
#[inline]
fn first_break(word: [u8; WORD]) -> Option<usize> {
    let found = breaking_bytes(u64::from_le_bytes(word));
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}

fn breaks(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Sets the top bit of each byte that ends a run. The result is exact up to the first such byte,
/// because a borrow only affects higher bytes. No more is needed.
#[inline]
fn breaking_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ QUOTES);
    let backslash = zero(word ^ BACKSLASHES);
    (control | quote | backslash) & (ONES << 7)
}

/// Bytes per word.
const WORD: usize = 8;

/// Bytes that are checked together: two or four vector registers on the machines we build for.
const BLOCK: usize = 32;
