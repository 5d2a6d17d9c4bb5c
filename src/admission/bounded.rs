//! Texts of users within a limit, on one line: for an API server logs and stores what it is told.

use std::borrow::Cow;

use olmguard_catalog::version::go;

/// At most so many bytes of a text, escaped, "..." at its end where something was cut.
///
/// What is left out is not escaped either: a text may be as long as a whole request.
pub(super) fn bounded<'a>(text: impl Into<Cow<'a, str>>, most: usize) -> Cow<'a, str> {
    let text = text.into();
    if text.len() <= most && go::is_plain(&text) {
        return text;
    }
    Cow::Owned(escaped(&text, most))
}

fn escaped(text: &str, most: usize) -> String {
    let escaped = go::escape(start(text, most));
    if text.len() <= most && escaped.len() <= most {
        return escaped;
    }
    format!("{}{CUT}", start(&escaped, most - CUT.len()))
}

fn start(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    text.get(..end).unwrap_or_default()
}

pub(super) const CUT: &str = "...";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_past_its_limit_is_cut_at_a_character() {
        for (text, expected) in [
            ("", ""),
            ("abcdefgh", "abcdefgh"),
            ("abcdefghi", "abcde..."),
            ("ääää", "ääää"),
            ("äääää", "ää..."),
            ("a\n\u{1b}", "a\\n\\x1b"),
            ("a\n\n\u{1b}", "a\\n\\n..."),
            ("\u{10ffff}", "\\U001..."),
        ] {
            assert_eq!(bounded(text, 8), expected, "{text:?}");
        }
        assert_eq!(bounded("ä".repeat(1 << 20), 9), "äää...");
    }
}
