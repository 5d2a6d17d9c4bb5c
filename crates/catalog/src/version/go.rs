//! Texts that Go's standard library writes into upstream's messages.
//!
//! Mirrors `strconv.Quote` (the verb `%q`) and the errors of `strconv.ParseUint`. OLM quotes both
//! in conditions, so users search for them byte for byte.
//!
//! One rule is our own: no text becomes a command of a CI runner, which reads commands from the
//! output of a step. A GitHub runner accepts a line that starts with `::`, also after spaces, and
//! `##[` anywhere. Azure Pipelines accepts `##vso[`, and `TeamCity` accepts `##teamcity[`.

use std::fmt::Write as _;

/// Returns `text` as Go's `%q` writes it: escaped and in double quotes.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    escape_into(text, &mut quoted);
    quoted.push('"');
    quoted
}

/// Returns `text` as Go's `%q` writes it, without the quotes. The result can start a line.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape_into(start_of_line(text, &mut escaped), &mut escaped);
    escaped
}

/// Returns a text of another program as part of one line. Line breaks and characters that are not
/// printable are escaped; quotes and backslashes are not. The result can start a line.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for part in start_of_line(text, &mut line).split_inclusive(AS_THEY_ARE) {
        let end = part.strip_suffix(AS_THEY_ARE).map_or(part.len(), str::len);
        let (others, last) = part.split_at(end);
        escape_into(others, &mut line);
        line.push_str(last);
    }
    line
}

/// Appends a text as Go's `encoding/json` writes it: in double quotes, with escapes for HTML and for
/// the two line separators of Unicode.
pub fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Whether a CI runner can take the start of this text for a command, at any position in a line:
/// `##`, a word, `[`.
pub fn is_runner_command(text: &str) -> bool {
    let word = text.strip_prefix("##");
    word.is_some_and(|word| {
        word.trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .starts_with('[')
    })
}

/// Whether a CI runner can take this line for a command.
pub fn is_runner_line(line: &str) -> bool {
    let mut markers = line.match_indices('#');
    line.trim_start().starts_with("::")
        || markers.any(|(at, _)| line.get(at..).is_some_and(is_runner_command))
}

/// Returns a part of an escaped text that starts a line because the text is wrapped.
pub fn wrapped(part: &str) -> String {
    let mut line = String::with_capacity(part.len());
    let rest = start_of_line(part, &mut line);
    line + rest
}

/// Writes the spaces and the colon that a text starts with, so the line is not a command, and
/// returns the rest. One escaped colon is enough, because the next character could be our own
/// colon.
fn start_of_line<'t>(text: &'t str, out: &mut String) -> &'t str {
    let Some(rest) = text.trim_start_matches(' ').strip_prefix(':') else {
        return text;
    };
    out.extend(text.chars().take_while(|character| *character == ' '));
    out.push_str("\\x3a");
    rest
}

/// The error for a number that `strconv.ParseUint` rejects. The text has only decimal digits, or is
/// empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is empty.
    #[error("strconv.ParseUint: parsing \"\": invalid syntax")]
    Empty,
    /// The number is greater than 18446744073709551615.
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

/// Whether `text` has only ASCII digits; true for the empty text.
pub(crate) fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is ASCII without anything to escape, as most texts are.
pub fn is_plain(text: &str) -> bool {
    !text.trim_start_matches(' ').starts_with(':') && is_plain_inside(text)
}

/// Whether [`is_plain`] holds for a text that does not start a line.
fn is_plain_inside(text: &str) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'#');
    text.bytes().all(is_plain)
}

fn escape_into(text: &str, out: &mut String) {
    if is_plain_inside(text) {
        return out.push_str(text);
    }
    for (at, character) in text.char_indices() {
        match character {
            '#' if text.get(at..).is_some_and(is_runner_command) => out.push_str("\\x23"),
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

/// Whether a character outside ASCII is printable by Go's `unicode.IsPrint`.
///
/// Rust has the same set, but it is private: `str::escape_debug` leaves exactly those characters
/// unescaped. It does so for combining marks only from the second character on, hence the letter in
/// front.
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

/// Characters that Go escapes within quotes, and that the text of another program keeps.
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
    fn no_text_is_a_command_to_a_runner() {
        for (text, expected) in [
            ("::a::b", "\\x3a:a::b"),
            ("  ::a", "  \\x3a:a"),
            (":", "\\x3a"),
            ("a::b", "a::b"),
            ("\t::a", "\\t::a"),
            ("\u{a0}::a", "\\u00a0::a"),
            ("a ##[b]", "a \\x23#[b]"),
            ("###[b]", "#\\x23#[b]"),
            ("##vso[a", "\\x23#vso[a"),
            ("## a [b]", "## a [b]"),
            ("#[a]", "#[a]"),
        ] {
            assert_eq!((&*escape(text), &*one_line(text)), (expected, expected));
        }
        assert_eq!(one_line("a \"::b\" ##[c]"), "a \"::b\" \\x23#[c]");
        assert_eq!(quote("::a ##[b]"), "\"::a \\x23#[b]\"");
        assert_eq!(
            (&*wrapped("::a\\n"), &*wrapped("a::")),
            ("\\x3a:a\\n", "a::")
        );
        assert!(is_runner_line("\t ::a") && is_runner_line("a##[b"));
        assert!(!is_runner_line("a: ::b") && !is_runner_line("## a"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_it_is(text in "[ :#\\[a\t\n\"\\\\]{0,12}") {
            for written in [escape(&text), one_line(&text), quote(&text)] {
                proptest::prop_assert!(!is_runner_line(&written), "{}", written);
                proptest::prop_assert!(!is_runner_line(&format!("{written}:")), "{}", written);
            }
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
