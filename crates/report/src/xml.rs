//! XML as it is written: elements, attributes and texts, every text escaped.

use std::fmt::{Display, Write as _};

use olmguard_catalog::version::go;

/// XML being written.
#[derive(Debug, Default)]
pub struct Xml {
    out: String,
    /// The elements that are open.
    open: Vec<&'static str>,
}

/// The attributes of an element.
pub type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

impl Xml {
    /// An element without content.
    pub fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.out.push_str("/>\n");
    }

    /// An element with a text.
    pub fn text(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.start(name, attributes);
        self.out.push('>');
        escape(text, &mut self.out);
        let _infallible = writeln!(self.out, "</{name}>");
    }

    /// The start of an element; what is written until [`Self::close`] is in it.
    pub fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.out.push_str(">\n");
        self.open.push(name);
    }

    /// The end of the element that was opened last.
    pub fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _infallible = writeln!(self.out, "</{name}>");
        }
    }

    /// An element of ours, with no text of a catalog in it.
    pub fn ours(&mut self, name: &'static str, text: &str) {
        let _infallible = writeln!(self.out, "<{name}>{text}</{name}>");
    }

    /// All of it.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn start(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(name);
        for (name, value) in attributes {
            let _infallible = write!(self.out, " {name}=\"");
            escape(&value.to_string(), &mut self.out);
            self.out.push('"');
        }
    }
}

/// A page with these parts in the place of their names, which stand in braces; the texts are written as they are.
pub fn fill(page: &str, parts: &[(&str, &str)]) -> String {
    let pieces = page.split(['{', '}']);
    let filled = pieces.map(|piece| {
        let part = parts.iter().find(|(name, _)| *name == piece);
        part.map_or(piece, |(_, text)| text)
    });
    filled.collect()
}

/// Markup and quotes become entities; what is not printable, lines aside, is written as Go escapes it,
/// so nothing turns the direction of the text, and no character is one that XML forbids.
pub fn escape(text: &str, out: &mut String) {
    for (at, character) in text.char_indices() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push_str("&#10;"),
            '#' if text.get(at..).is_some_and(go::is_runner_command) => out.push_str("&#35;"),
            ' '..='~' => out.push(character),
            other => out.push_str(&go::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        for (text, expected) in [
            ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"),
            ("]]>", "]]&gt;"),
            ("a\u{202e}b\u{1b}\u{fffe}", "a\\u202eb\\x1b\\ufffe"),
            ("a\nb\\", "a&#10;b\\"),
            (":: ##[a]#", ":: &#35;#[a]#"),
        ] {
            let mut out = String::new();
            escape(text, &mut out);
            assert_eq!(out, expected);
        }
    }
}
