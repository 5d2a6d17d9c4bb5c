//! Texts that Go's standard library writes into upstream's messages.
//!
//! Mirrors `strconv.Quote` (the verb `%q`) and the errors of `strconv.ParseUint`. Both are quoted
//! by OLM in conditions, so people search for them byte for byte.

use std::fmt::Write as _;

/// `text` as Go's `%q` writes it: escaped and between double quotes.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    escape_into(text, &mut quoted);
    quoted.push('"');
    quoted
}

/// `text` as Go's `%q` writes it, without the quotes around it.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape_into(text, &mut escaped);
    escaped
}

/// A text of another program as part of one line: its line breaks and whatever is not printable are
/// escaped, its quotes are its own.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for part in text.split_inclusive(AS_THEY_ARE) {
        let end = part.strip_suffix(AS_THEY_ARE).map_or(part.len(), str::len);
        let (others, last) = part.split_at(end);
        line.push_str(&escape(others));
        line.push_str(last);
    }
    line
}

/// A number that `strconv.ParseUint` refuses. The text holds decimal digits only, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// No digit at all.
    #[error("strconv.ParseUint: parsing \"\": invalid syntax")]
    Empty,
    /// More than 18446744073709551615.
    #[error("strconv.ParseUint: parsing {}: value out of range", quote(.0))]
    OutOfRange(Box<str>),
}

/// Reads ASCII digits, which the caller has checked, as an unsigned 64-bit number.
pub(crate) fn parse_digits(digits: &str) -> Result<u64, NumberError> {
    if digits.is_empty() {
        return Err(NumberError::Empty);
    }
    digits
        .parse()
        .map_err(|_| NumberError::OutOfRange(digits.into()))
}

/// Whether `text` is made of ASCII digits only; true for the empty text.
pub(crate) fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is ASCII of which nothing is escaped, as most texts are.
pub fn is_plain(text: &str) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    text.bytes().all(is_plain)
}

fn escape_into(text: &str, out: &mut String) {
    if is_plain(text) {
        return out.push_str(text);
    }
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            ' '..='~' => out.push(character),
            _ if is_printable(character) => out.push(character),
            _ => push_code_point(u32::from(character), out),
        }
    }
}

fn push_code_point(code: u32, out: &mut String) {
    let written = match code {
        0..=0x7f => write!(out, "\\x{code:02x}"),
        0x80..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
    written.expect("a String takes every write");
}

/// Go's `unicode.IsPrint` for a character outside ASCII.
///
/// Rust keeps the same set, but private: `str::escape_debug` leaves exactly those characters as
/// they are, combining marks only from the second character on, hence the letter in front.
pub fn is_printable(character: char) -> bool {
    let mut buffer = [0; 5];
    let (letter, rest) = buffer.split_at_mut(1);
    letter.fill(b'a');
    let length = 1 + character.encode_utf8(rest).len();
    buffer
        .get(..length)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .is_some_and(|text| text.escape_debug().nth(1) == Some(character))
}

/// What Go escapes within quotes, and another program's text may hold.
const AS_THEY_ARE: [char; 2] = ['"', '\\'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        let rows = [
            ("", r#""""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
            ("\0\u{1b}\u{7f}", r#""\x00\x1b\x7f""#),
            ("it's all of ~it", "\"it's all of ~it\""),
            ("it's é ü 漢 \u{301}", "\"it's é ü 漢 \u{301}\""),
            (
                "\u{a0}\u{3000}\u{200b}\u{feff}\u{ad}",
                r#""\u00a0\u3000\u200b\ufeff\u00ad""#,
            ),
            ("\u{2028}\u{e000}\u{10ffff}", r#""\u2028\ue000\U0010ffff""#),
        ];
        for (text, expected) in rows {
            assert_eq!(quote(text), expected);
            assert_eq!(escape(text), expected[1..expected.len() - 1]);
            assert!(!is_plain(text) || escape(text) == text, "{text:?}");
        }
    }
    #[test]
    fn texts_of_others_stay_on_their_line() {
        assert_eq!(
            one_line("a \"b\"\n\u{1b}[31m\t\\"),
            "a \"b\"\\n\\x1b[31m\\t\\"
        );
        assert_eq!(one_line("\"\"\\\\a"), "\"\"\\\\a");
    }
}
