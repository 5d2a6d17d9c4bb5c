//! The fields of a line of text: in quotes where they are more than one plain word, so that no value
//! can pass for a field.
//!
//! What is in quotes is escaped as in Rust, and reads back as the text that the JSON form has.

use std::fmt::{self, Debug};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};

/// Writes `name=word` and `name="more than a word"`.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextFields;

impl<'w> FormatFields<'w> for TextFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut quoting = Quoting(DefaultVisitor::new(writer, true));
        fields.record(&mut quoting);
        quoting.0.finish()
    }
}

/// Quotes what it hands on.
struct Quoting<'w>(DefaultVisitor<'w>);

impl Visit for Quoting<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if is_message(field) {
            self.0.record_str(field, value);
        } else {
            self.0.record_debug(field, &Word(value));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if is_message(field) {
            self.0.record_debug(field, value);
        } else {
            self.0.record_debug(field, &Word(&format!("{value:?}")));
        }
    }
}

/// It has no name on the line, and is a text of this program.
fn is_message(field: &Field) -> bool {
    field.name() == "message"
}

/// A text as one word.
struct Word<'a>(&'a str);

impl Debug for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"\\=".contains(c);
        if !self.0.is_empty() && self.0.chars().all(is_plain) {
            f.write_str(self.0)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_a_plain_word_is_in_quotes() {
        for (text, word) in [
            ("1.234", "1.234"),
            ("lantern.v1", "lantern.v1"),
            ("hübsch", "hübsch"),
            ("", r#""""#),
            ("1 verdict=allow", r#""1 verdict=allow""#),
            (">=1", r#"">=1""#),
            ("1\u{2003}2", r#""1\u{2003}2""#),
            (r#"a\"b"#, r#""a\\\"b""#),
            ("a\nb", r#""a\nb""#),
        ] {
            assert_eq!(format!("{:?}", Word(text)), word);
        }
    }
}
