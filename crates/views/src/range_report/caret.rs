//! A range on a line, and a caret under one place of it.
//!
//! What a terminal would obey is escaped as Go's `%q` does, and the caret stands under what is then
//! on the screen: columns are counted in the escaped text, two for a wide character.

use unicode_width::UnicodeWidthStr;

use olmguard_catalog::version::go;

/// `text` escaped, and the column, from 0, under which byte `at` of it stands.
pub(super) fn place(text: &str, at: usize) -> (String, usize) {
    let before = text.get(..at).unwrap_or(text);
    (go::escape(text), go::escape(before).width())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, at: usize, escaped: &str, column: usize) {
        assert_eq!(place(text, at), (escaped.to_owned(), column), "{text:?}");
    }

    #[test]
    fn the_caret_stands_under_the_fault() {
        check("", 0, "", 0);
        check(">=1 x", 4, ">=1 x", 4);
        check("1\t<2", 2, "1\\t<2", 3);
        check("\u{1b}[31m1", 5, "\\x1b[31m1", 8);
        check("\u{202e}1", 3, "\\u202e1", 6);
        check("漢1", 3, "漢1", 2);
        check("e\u{301}1", 3, "e\u{301}1", 1);
        check("1", 9, "1", 1);
        check("漢", 1, "漢", 2);
    }
}
