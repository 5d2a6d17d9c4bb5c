//! Texts of other programs and libraries inside our messages: bounded, and each on one line.
//!
//! An error can repeat the text that was read, which can be long: a line of a file, a body, a tree.

/// Returns a text as part of a line: white space becomes one space, and only the first 400
/// characters are kept.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut room = LONGEST;
    for (at, word) in text.split_whitespace().enumerate() {
        let space = if at == 0 { "" } else { " " };
        for character in space.chars().chain(word.chars()) {
            if room == 0 {
                return line + "...";
            }
            // A terminal would interpret control characters.
            line.push(if character.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                character
            });
            room -= 1;
        }
    }
    line
}

/// Returns the first 16 lines of a text, each as by [`one_line`].
pub(crate) fn lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().take(MOST_LINES).map(one_line).collect();
    lines.join("\n")
}

/// The maximum number of characters per line.
const LONGEST: usize = 400;
const MOST_LINES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let full = "ä".repeat(LONGEST);
        for (text, expected) in [
            ("", String::new()),
            ("  a \t b\r\n", "a b".to_owned()),
            (&full, full.clone()),
            (&format!("{full} "), full.clone()),
            (&format!("{full}ä"), format!("{full}...")),
            (&"a ".repeat(10_000_000), "a ".repeat(LONGEST / 2) + "..."),
        ] {
            assert_eq!(one_line(text), expected);
        }
    }

    #[test]
    fn only_the_first_lines_are_kept() {
        assert_eq!(lines("a  b\n\nc\n"), "a b\n\nc");
        assert_eq!(lines(&"x\n".repeat(1000)).lines().count(), MOST_LINES);
    }
}
