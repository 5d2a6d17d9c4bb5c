//! How wide texts are at most, without asking a font.
//!
//! Widths are upper bounds in CSS pixels for the faces that the style names, so that what does not
//! overlap by them does not overlap on a screen.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A face.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Face {
    /// Versions: every column is as wide as the others.
    Mono,
    /// Words.
    Sans,
    /// Names.
    Bold,
}

impl Face {
    /// The width of a text of this size.
    pub fn width(self, text: &str, size: i32) -> i32 {
        let widths = text.chars().map(|character| self.advance(character));
        let thousandths = widths.fold(0_i32, i32::saturating_add);
        thousandths.saturating_mul(size).saturating_add(999) / 1000
    }

    /// Thousandths of the size that a character takes: those of `DejaVu`, the widest face that the style
    /// names. What it has not is taken from a font where a column is as wide as half its height.
    fn advance(self, character: char) -> i32 {
        let columns = character.width().map_or(0, px);
        match self {
            _ if !character.is_ascii() => columns.saturating_mul(800),
            Self::Mono => 605 * columns,
            Self::Sans => proportional(character),
            Self::Bold => proportional(character) * 9 / 8,
        }
    }
}

fn proportional(character: char) -> i32 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '!' | '|' | '\'' | ' ' => 340,
        'f' | 't' | 'r' | '(' | ')' | '-' | '[' | ']' | '/' | '\\' => 420,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1000,
        'A'..='Z' | '+' | '<' | '>' | '=' | '#' | '~' | '^' | '&' => 840,
        _ => 645,
    }
}

/// The text, its end cut off where it has more columns than this.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| {
        let width = character.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{kept}…")
}

/// A count as a coordinate.
pub(super) fn px(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_end() {
        for (text, columns, expected) in [
            ("1.2.3", 5, "1.2.3"),
            ("1.2.34", 5, "1.2.…"),
            ("灯灯灯", 5, "灯灯…"),
            ("灯灯灯", 6, "灯灯灯"),
            ("", 0, ""),
        ] {
            assert_eq!(clip(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(Face::Mono.width("1.2.3", 12), 37);
        assert!(Face::Mono.width("灯", 10) > Face::Mono.width("ab", 10));
        assert!(Face::Bold.width("stable", 12) > Face::Sans.width("stable", 12));
    }
}
