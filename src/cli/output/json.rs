//! JSON on stdout, safe to look at: a terminal obeys nothing in it, a reader gets every text whole.
//!
//! What is not printable by Go's rules, such as DEL and the marks that turn the direction of text,
//! is written as `\u` escapes, which every JSON reader undoes. It does not pass through anstream,
//! which takes such characters out.

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
        fragment
            .split_inclusive(must_be_escaped)
            .try_for_each(|run| {
                let end = run.char_indices().next_back();
                match end.filter(|(_, last)| must_be_escaped(*last)) {
                    None => writer.write_all(run.as_bytes()),
                    Some((at, last)) => {
                        writer.write_all(run.get(..at).unwrap_or_default().as_bytes())?;
                        escape(last, writer)
                    }
                }
            })
    }
}

/// Whether a terminal could obey this character, or not show it.
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
