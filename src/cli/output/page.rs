//! Pages of the documentation: unchanged Markdown in files and pipes, and text without Markdown's marks on a terminal.
//!
//! Only the marks of headings, links, code and emphasis change. All other text stays as it is in the page, including
//! tables and lists.

use std::io::{self, IsTerminal};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::plain;

/// Prints a page.
pub(crate) fn print(page: &str) -> io::Result<()> {
    if is_for_terminal() {
        plain(rendered(page))
    } else {
        plain(page)
    }
}

/// Whether stdout is a terminal, or gets colors as if it were one.
fn is_for_terminal() -> bool {
    let stdout = io::stdout();
    stdout.is_terminal() || AutoStream::choice(&stdout) != ColorChoice::Never
}

/// The page without marks. The stream omits the styles if they are not wanted.
fn rendered(page: &str) -> String {
    let mut rendering = Rendering::of(page);
    let events = Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in events {
        let end = range.end;
        rendering.event(&event, range);
        rendering.last_end = end;
    }
    rendering.copy(page.len());
    rendering.text
}

/// A page that is copied from start to end, except for its marks.
struct Rendering<'p> {
    page: &'p str,
    text: String,
    /// The offset up to which the page is copied.
    at: usize,
    /// The end of the previous event. At the end of a link, this is the end of its text.
    last_end: usize,
    /// Whether the text is already bold, for example in a heading.
    is_bold: bool,
    /// The enclosing fenced block, if any.
    block: Option<Block>,
}

/// A fenced block of code.
struct Block {
    /// The prefix of each line.
    indent: String,
    code: String,
}

impl<'p> Rendering<'p> {
    fn of(page: &'p str) -> Self {
        Self {
            page,
            text: String::new(),
            at: 0,
            last_end: 0,
            is_bold: false,
            block: None,
        }
    }

    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                let marks = self.leading(&range, &['#', ' ']);
                self.replace(range.start..range.start + marks, "");
                self.bold();
            }
            Event::End(TagEnd::Heading(_)) => self.plain_until(self.last_end, range.end),
            Event::Start(Tag::Emphasis | Tag::Strong) => {
                let marks = self.leading(&range, &['*', '_']);
                self.replace(range.start..range.start + marks, "");
                self.bold();
            }
            Event::End(TagEnd::Emphasis | TagEnd::Strong) => {
                self.plain_until(self.last_end, range.end);
            }
            Event::Start(Tag::Link { .. }) => self.replace(range.start..range.start + 1, ""),
            Event::End(TagEnd::Link) => self.replace(self.last_end..range.end, ""),
            Event::Code(code) => self.code(code, range),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => self.start_block(&range),
            Event::Text(code) => {
                if let Some(block) = &mut self.block {
                    block.code.push_str(code);
                }
            }
            Event::End(TagEnd::CodeBlock) => self.end_block(&range),
            _ => {}
        }
    }

    /// Copies the page up to an offset.
    fn copy(&mut self, to: usize) {
        let copied = self.page.get(self.at..to);
        self.text.push_str(copied.unwrap_or_default());
        self.at = self.at.max(to);
    }

    /// Copies the page up to a part, and writes a text in place of the part.
    fn replace(&mut self, part: Range<usize>, by: &str) {
        self.copy(part.start);
        self.text.push_str(by);
        self.at = self.at.max(part.end);
    }

    /// The number of these characters at the start of a part.
    fn leading(&self, part: &Range<usize>, marks: &[char]) -> usize {
        let part = self.page.get(part.clone()).unwrap_or_default();
        part.len() - part.trim_start_matches(marks).len()
    }

    fn bold(&mut self) {
        self.text.push_str(&BOLD.render().to_string());
        self.is_bold = true;
    }

    /// Ends bold text at `end`, and skips the marks after it.
    fn plain_until(&mut self, end: usize, marks_end: usize) {
        self.copy(end);
        self.text.push_str(&BOLD.render_reset().to_string());
        self.is_bold = false;
        let marks = self.page.get(end..marks_end).unwrap_or_default();
        self.at = self.at.max(end + marks.trim_end().len());
    }

    fn code(&mut self, code: &str, range: Range<usize>) {
        if self.is_bold {
            self.replace(range, code);
        } else {
            self.replace(range, &format!("{BOLD}{code}{BOLD:#}"));
        }
    }

    /// Starts a block. The fence may be indented, for example in a list; the code is then indented by [`INDENT`] more.
    fn start_block(&mut self, range: &Range<usize>) {
        self.copy(range.start);
        let line = self.text.trim_end_matches(' ').len();
        let indent = " ".repeat(self.text.len() - line + INDENT);
        self.text.truncate(line);
        let code = String::new();
        self.block = Some(Block { indent, code });
    }

    fn end_block(&mut self, range: &Range<usize>) {
        let Some(Block { indent, code }) = self.block.take() else {
            return;
        };
        for line in code.lines() {
            let indent = if line.is_empty() { "" } else { &indent };
            self.text.push_str(indent);
            self.text.push_str(line);
            self.text.push('\n');
        }
        let behind = self.page.get(range.end..).unwrap_or_default();
        let is_line_end = behind.starts_with('\n');
        self.at = range.end + usize::from(is_line_end);
    }
}

const BOLD: Style = Style::new().bold();

/// The indentation of code, in spaces.
const INDENT: usize = 4;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The page as a terminal shows it; bold text is between `<` and `>`.
    fn shown(page: &str) -> String {
        let text = rendered(page);
        text.replace("\u{1b}[1m", "<").replace("\u{1b}[0m", ">")
    }

    #[track_caller]
    fn shows(page: &str, expected: &str) {
        assert_eq!(shown(page), expected);
    }

    #[test]
    fn headings_are_bold_without_marks() {
        shows(
            "# Downgrade\n\nText.\n\n## The `Fix` line ##\n\nMore.\n",
            "<Downgrade>\n\nText.\n\n<The Fix line>\n\nMore.\n",
        );
    }

    #[test]
    fn links_keep_their_text() {
        shows(
            "See [the `demo`](../a.md#b), [one\ntwo](c.md) and <https://example.com>.\n",
            "See the <demo>, one\ntwo and https://example.com.\n",
        );
    }

    #[test]
    fn code_and_emphasis_are_bold_without_marks() {
        shows(
            "Set `a_b*c`, **not** `` a`b `` or *this*; 2 * 3 * 4.\n",
            "Set <a_b*c>, <not> <a`b> or <this>; 2 * 3 * 4.\n",
        );
    }

    #[test]
    fn fenced_blocks_are_indented() {
        shows(
            "Run:\n\n```sh\na `b` [c](d)\n\n# e\n```\n\nThen:\n",
            "Run:\n\n    a `b` [c](d)\n\n    # e\n\nThen:\n",
        );
        shows("```\nat the end\n```", "    at the end\n");
        shows(
            "1. Run:\n\n   ```sh\n   a\n     b\n   ```\n\n2. Then.\n",
            "1. Run:\n\n       a\n         b\n\n2. Then.\n",
        );
    }

    #[test]
    fn tables_and_lists_stay_as_they_are() {
        shows(
            "| a | b |\n| --- | --- |\n| 1 | [`x`](y.md) |\n\n- one\n- two\n  three\n\n1. four\n",
            "| a | b |\n| --- | --- |\n| 1 | <x> |\n\n- one\n- two\n  three\n\n1. four\n",
        );
    }

    #[test]
    fn no_page_keeps_a_mark_or_loses_code() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        for folder in ["tokens", "runbooks", "lint"] {
            for file in fs::read_dir(docs.join(folder)).unwrap() {
                let path = file.unwrap().path();
                let page = fs::read_to_string(&path).unwrap();
                let text = anstream::adapter::strip_str(&rendered(&page)).to_string();
                for mark in ["\n#", "```", "](", "``"] {
                    assert!(!text.contains(mark), "{}: {mark:?}\n{text}", path.display());
                }
                let blocks = page.split("```").skip(1).step_by(2);
                let lines = blocks.flat_map(|block| block.trim_end().lines().skip(1));
                for line in lines.filter(|line| !line.is_empty()) {
                    let line = format!("    {line}\n");
                    assert!(text.contains(&line), "{}: {line}\n{text}", path.display());
                }
            }
        }
    }
}
