//! JSON on stdout that is safe to print: terminals and CI runners obey nothing in it, and readers get every text in
//! full.
//!
//! Characters that are not printable by Go's rules, such as DEL and bidirectional controls, are written as `\u`
//! escapes, which every JSON reader decodes. The output bypasses anstream, which removes such characters.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use olmguard_catalog::version::go;

/// Writes the value on one line.
pub(crate) fn write_line(value: &impl Serialize, to: &mut impl Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *to, Printable))?;
    writeln!(to)
}

struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut written = 0;
        for (at, character) in fragment.char_indices() {
            if must_be_escaped(character)
                || go::is_runner_command(fragment.get(at..).unwrap_or_default())
            {
                writer.write_all(fragment.get(written..at).unwrap_or_default().as_bytes())?;
                escape(character, writer)?;
                written = at + character.len_utf8();
            }
        }
        writer.write_all(fragment.get(written..).unwrap_or_default().as_bytes())
    }
}

/// Whether a terminal could obey this character, or fail to show it.
pub(crate) fn must_be_escaped(character: char) -> bool {
    let mut buffer = [0; 4];
    let text = &*character.encode_utf8(&mut buffer);
    !matches!(character, ' '..='~') && go::escape(text) != text
}

fn escape(character: char, writer: &mut (impl Write + ?Sized)) -> io::Result<()> {
    character
        .encode_utf16(&mut [0; 2])
        .iter()
        .try_for_each(|unit| write!(writer, "\\u{unit:04x}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut bytes = Vec::new();
        write_line(&text, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_not_printable_is_escaped() {
        let rows = [
            ("a\"\\é漢", "\"a\\\"\\\\é漢\"\n"),
            ("\u{7f}x\u{9b}", "\"\\u007fx\\u009b\"\n"),
            ("\u{202e}1\u{a0}\u{1b}", "\"\\u202e1\\u00a0\\u001b\"\n"),
            ("\u{10ffff}", "\"\\udbff\\udfff\"\n"),
            ("a ##[error]#é", "\"a \\u0023#[error]#é\"\n"),
        ];
        for (text, expected) in rows {
            assert_eq!(written(text), expected);
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back_whole(text: String) {
            let line = written(&text);
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
            let shown = line.trim_end_matches('\n');
            prop_assert!(!shown.chars().any(must_be_escaped), "{}", line);
        }
    }
}
