//! Writes XML: elements, attributes and texts. All texts are escaped.

use std::fmt::{Display, Write as _};

use olmguard_catalog::version::go;

/// XML under construction.
#[derive(Debug, Default)]
pub struct Xml {
    out: String,
    /// The open elements.
    open: Vec<&'static str>,
}

/// The attributes of an element.
pub type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

impl Xml {
    /// Writes an element without content.
    pub fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.out.push_str("/>\n");
    }

    /// Writes an element with a text.
    pub fn text(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.start(name, attributes);
        self.out.push('>');
        escape(text, &mut self.out);
        let _infallible = writeln!(self.out, "</{name}>");
    }

    /// Writes the start of an element. Everything until [`Self::close`] is within the element.
    pub fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.out.push_str(">\n");
        self.open.push(name);
    }

    /// Writes the end of the element that was opened last.
    pub fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _infallible = writeln!(self.out, "</{name}>");
        }
    }

    /// Writes an element with our own text, which must not include text of a catalog.
    pub fn ours(&mut self, name: &'static str, text: &str) {
        let _infallible = writeln!(self.out, "<{name}>{text}</{name}>");
    }

    /// Closes all open elements and returns the XML.
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

/// Fills a template: replaces each name in braces with its part. The parts are not escaped.
pub fn fill(page: &str, parts: &[(&str, &str)]) -> String {
    let pieces = page.split(['{', '}']);
    let filled = pieces.map(|piece| {
        let part = parts.iter().find(|(name, _)| *name == piece);
        part.map_or(piece, |(_, text)| text)
    });
    filled.collect()
}

/// Escapes a text. Markup and quotes become entities. Characters that are not printable, except
/// line breaks, are escaped as in Go. So no character changes the direction of the text, and none
/// is forbidden in XML.
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
