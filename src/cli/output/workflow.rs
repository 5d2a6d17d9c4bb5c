//! Workflow commands of GitHub, which a runner reads from the lines that begin with `::`.
//!
//! Invariant: a command is one line, whatever its parts hold.

use std::fmt::Write as _;

use crate::manifest::Position;
use olmguard_engine::explain::one_line;

/// One command, but for its message.
pub(crate) struct Command<'c> {
    /// `error`, `warning` or `notice`.
    pub(crate) word: &'static str,
    pub(crate) file: Option<&'c str>,
    pub(crate) at: Option<Position>,
    pub(crate) title: &'c str,
}

impl Command<'_> {
    /// The whole line.
    pub(crate) fn line(&self, message: &str) -> String {
        let mut line = format!("::{} ", self.word);
        // What is read from standard input is no file of the repository.
        if let Some(file) = self.file.filter(|file| *file != "-") {
            let file = property(plain(file));
            write!(line, "file={file},").expect("a String takes everything");
            if let Some(Position { line: at, column }) = self.at {
                write!(line, "line={at},col={column},").expect("a String takes everything");
            }
        }
        line + &format!("title={}::{}\n", property(self.title), data(message))
    }
}

/// A path as GitHub knows its files: `./a` is none of them.
pub(crate) fn plain(path: &str) -> &str {
    let rest = path
        .strip_prefix("./")
        .map(|rest| rest.trim_start_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() => plain(rest),
        _ => path,
    }
}

/// A message: lines in it are kept.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A value between commas.
fn property(text: &str) -> String {
    data(&one_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_as_it_stands_in_the_repository() {
        for (path, expected) in [
            ("./a.yaml", "a.yaml"),
            ("././/apps/./a.yaml", "apps/./a.yaml"),
            ("../a.yaml", "../a.yaml"),
            (".a.yaml", ".a.yaml"),
            ("./", "./"),
            ("/a.yaml", "/a.yaml"),
        ] {
            assert_eq!(plain(path), expected, "{path}");
        }
    }
}
