//! Text for people: pieces with tones, sentences, and labelled facts, in lines of at most 80
//! columns.
//!
//! Without a terminal the words stay the same and their tones are dropped, so no fact may depend on
//! a tone alone. No piece may have control sequences of a terminal: callers must escape them.

use std::fmt;

use unicode_width::UnicodeWidthStr;

use olmguard_catalog::version::go;

/// The tone of a piece of text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// No special meaning.
    Plain,
    /// The label of the text that follows.
    Label,
    /// The expected state.
    Good,
    /// A state that needs attention.
    Caution,
    /// A problem.
    Bad,
}

/// A text in pieces, each with a tone. `Display` writes the pieces without their tones.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    pieces: Vec<(Tone, String)>,
    /// The column where the words after a label start.
    labels: usize,
}

impl Default for Text {
    fn default() -> Self {
        Self::with_labels(14)
    }
}

impl Text {
    /// Creates an empty text with labels of this width, in columns.
    pub fn with_labels(labels: usize) -> Self {
        let pieces = Vec::new();
        Self { pieces, labels }
    }

    /// The pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.pieces.iter().map(|(tone, text)| (*tone, &**text))
    }

    /// Adds a piece.
    pub fn say(&mut self, tone: Tone, piece: impl Into<String>) {
        self.pieces.push((tone, piece.into()));
    }

    /// Ends the line.
    pub fn end_line(&mut self) {
        self.say(Tone::Plain, "\n");
    }

    /// Adds a line without wrapping it.
    pub fn line(&mut self, tone: Tone, words: impl Into<String>) {
        self.say(tone, words);
        self.end_line();
    }

    /// Adds a wrapped sentence without a label.
    pub fn sentence(&mut self, tone: Tone, words: &str) {
        for line in lines_of(words, MOST_COLUMNS) {
            self.line(tone, line);
        }
    }

    /// Adds a label and its words without wrapping them.
    pub fn labelled(&mut self, label: &str, tone: Tone, words: &str) {
        let width = self.labels;
        self.say(Tone::Label, format!("{label:width$}"));
        self.line(tone, words);
    }

    /// Adds a label and its words, wrapped next to the label.
    pub fn fact(&mut self, label: &str, tone: Tone, words: &str) {
        self.under(label, tone, lines_of(words, MOST_COLUMNS - self.labels));
    }

    /// Adds a line for each item, with the label before the first. If there are too many items,
    /// only the first ones are added.
    pub fn items(&mut self, label: &str, tone: Tone, items: &[String]) {
        let most = MOST_COLUMNS - self.labels;
        let shown = items.iter().take(MOST_ITEMS);
        self.under(label, tone, shown.flat_map(|item| item_lines(item, most)));
        if let Some(more) = more_than_shown(items) {
            self.fact("", Tone::Label, &more);
        }
    }

    /// Adds a heading, and a line for each item below it. If there are too many items, only the
    /// first ones are added. Adds nothing if there are no items.
    pub fn list(&mut self, heading: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.line(Tone::Label, heading);
        let more = more_than_shown(items);
        let items = items.iter().take(MOST_ITEMS).chain(&more);
        for line in items.flat_map(|item| lines_of(item, MOST_COLUMNS - INDENT.len())) {
            self.line(Tone::Plain, format!("{INDENT}{line}"));
        }
    }

    /// Adds notes.
    pub fn notes(&mut self, notes: &[String]) {
        self.items("Note", Tone::Caution, notes);
    }

    /// Adds lines, with the label before the first.
    pub fn under(&mut self, label: &str, tone: Tone, lines: impl IntoIterator<Item = String>) {
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        for (label, line) in labels.zip(lines) {
            self.labelled(label, tone, &line);
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|(_, text)| f.write_str(text))
    }
}

/// The lines of one of several items. Lines after the first are indented.
fn item_lines(item: &str, most: usize) -> Vec<String> {
    if item.width() <= most {
        return vec![item.to_owned()];
    }
    let mut lines = lines_of(item, most - INDENT.len());
    for line in lines.iter_mut().skip(1) {
        line.insert_str(0, INDENT);
    }
    lines
}

/// A line with the number of items that are not shown, if any.
fn more_than_shown(items: &[String]) -> Option<String> {
    let more = items.len().checked_sub(MOST_ITEMS).filter(|more| *more > 0);
    more.map(|more| format!("and {more} more; -o json has all"))
}

/// Cleans each line of a text of characters that are not printable.
pub fn clean(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(go::one_line).collect();
    lines.join("\n")
}

/// Wraps a text at spaces, to lines of at most `most` columns. A longer word has its own line. An
/// arrow stays with the word after it.
pub fn lines_of(words: &str, most: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut is_after_arrow = false;
    for word in words.split(' ') {
        match pieces.last_mut().filter(|_| is_after_arrow) {
            Some(arrow) => arrow.extend([" ", word]),
            None => pieces.push(word.to_owned()),
        }
        is_after_arrow = word == "->";
    }
    wrapped(pieces, most)
}

/// Joins pieces with spaces, to lines of at most `most` columns. A longer piece has its own line.
pub(crate) fn wrapped(pieces: impl IntoIterator<Item = String>, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = go::wrapped(&piece),
            Some(line) if line.width() + 1 + piece.width() <= most => {
                line.extend([" ", &piece]);
            }
            _ => lines.push(go::wrapped(&piece)),
        }
    }
    lines
}

/// Maximum width of a line in columns, unless a word or an item alone is longer.
pub const MOST_COLUMNS: usize = 80;

/// The indentation of items of a list, and of the lines in which an item continues.
const INDENT: &str = "  ";

/// Maximum number of items of a label or a heading.
const MOST_ITEMS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: impl FnOnce(&mut Text), expected: &[&str]) {
        let mut text = Text::default();
        said(&mut text);
        assert_eq!(text.to_string(), expected.join("\n") + "\n");
    }

    #[test]
    fn a_fact_goes_on_beside_its_label() {
        let words = "1.0.0 -> 1.1.0 -> 1.2.0 -> 1.3.0 -> 1.4.0 -> 1.5.0 -> 1.6.0 -> 1.7.0 -> 2.0.0";
        let expected = [
            "Path          1.0.0 -> 1.1.0 -> 1.2.0 -> 1.3.0 -> 1.4.0 -> 1.5.0 -> 1.6.0",
            "              -> 1.7.0 -> 2.0.0",
        ];
        check(|text| text.fact("Path", Tone::Plain, words), &expected);
    }

    #[test]
    fn an_arrow_without_a_word_after_it_stays() {
        let lines = |words| lines_of(words, 10);
        assert_eq!(lines("->"), ["->"]);
        assert_eq!(lines("1.0.0 ->"), ["1.0.0 ->"]);
        assert_eq!(lines("1.0.0 -> -> 2.0.0"), ["1.0.0", "-> -> 2.0.0"]);
    }

    #[test]
    fn of_very_many_items_the_first_are_listed_and_the_rest_is_counted() {
        let items: Vec<_> = (0..14).map(|at| format!("item {at}")).collect();
        let mut expected = vec!["Edge          item 0".to_owned()];
        expected.extend((1..12).map(|at| format!("              item {at}")));
        expected.push("              and 2 more; -o json has all".to_owned());
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check(|text| text.items("Edge", Tone::Plain, &items), &expected);
    }

    #[test]
    fn an_item_goes_on_indented_and_a_list_has_a_heading() {
        let long = ["word".to_owned(), vec!["words"; 14].join(" ")];
        let expected = [
            "Edges into 2",
            "  word",
            "  words words words words words words words words words words words words words",
            "  words",
            "Note          word",
            "              words words words words words words words words words words",
            "                words words words words",
        ];
        check(
            |text| {
                text.list("Edges into 2", &long);
                text.list("Nothing", &[]);
                text.notes(&long);
            },
            &expected,
        );
    }
}
