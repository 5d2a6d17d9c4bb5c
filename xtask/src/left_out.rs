//! Lists of exceptions, each with its reason: what a CI run may skip, and the mutants that no test notices.
//!
//! ```text
//! # a comment
//! TEXT | REASON
//! TEXT THAT STARTS SO* | REASON
//! ```

use std::path::PathBuf;
use std::{fs, io};

use crate::program::root;

/// The entries of the list, in order.
#[derive(Debug, Default)]
pub(crate) struct Allowed(Vec<Entry>);

#[derive(Debug, Eq, PartialEq)]
struct Entry {
    text: String,
    /// Whether the text is only the start of the lines that it matches.
    is_start: bool,
}

/// The reason why the list cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{list}:{line}: found {found:?}, expected `TEXT | REASON`")]
    Line {
        list: &'static str,
        line: usize,
        found: String,
    },
}

impl Allowed {
    /// Reads a list of this repository. Its path is relative to the root.
    pub(crate) fn read(list: &'static str) -> Result<Self, ListError> {
        let path = root().join(list);
        let text = fs::read_to_string(&path).map_err(|source| ListError::File { path, source })?;
        Self::parse(list, &text)
    }

    pub(crate) fn parse(list: &'static str, text: &str) -> Result<Self, ListError> {
        let lines = text.lines().zip(1..);
        let entries = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let entries = entries.map(|(found, line)| {
            Entry::parse(found).ok_or_else(|| ListError::Line {
                list,
                line,
                found: found.to_owned(),
            })
        });
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// The lines that no entry matches.
    pub(crate) fn refused<'l>(&self, left_out: &[&'l str]) -> Vec<&'l str> {
        let is_refused = |line: &&&str| !self.0.iter().any(|entry| entry.matches(line));
        left_out.iter().filter(is_refused).copied().collect()
    }

    /// The texts of entries that match no line.
    pub(crate) fn unused(&self, left_out: &[&str]) -> Vec<&str> {
        let is_unused = |entry: &&Entry| !left_out.iter().any(|line| entry.matches(line));
        let unused = self.0.iter().filter(is_unused);
        unused.map(|entry| entry.text.as_str()).collect()
    }
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        // The text can contain the operator `|`.
        let (text, reason) = line.rsplit_once(" | ")?;
        let start = text.strip_suffix('*');
        let text = start.unwrap_or(text).trim();
        (!text.is_empty() && !reason.trim().is_empty()).then(|| Self {
            text: text.to_owned(),
            is_start: start.is_some(),
        })
    }

    fn matches(&self, line: &str) -> bool {
        line == self.text || self.is_start && line.starts_with(&self.text)
    }
}

/// The list of what a CI run may skip, relative to the root.
pub(crate) const LIST: &str = ".ci/left-out";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# c | c\n\nadvisories: not reached* | no network\nno IPv6 | a container\n";

    #[test]
    fn a_line_is_allowed_by_its_whole_text_or_by_a_start_with_a_star() {
        let allowed = Allowed::parse(LIST, TEXT).unwrap();
        let left_out = [
            "advisories: not reached (`cargo deny fetch` failed)",
            "no IPv6",
            "no IPv6 at all",
            "an advisories: not reached",
        ];
        assert_eq!(
            allowed.refused(&left_out),
            ["no IPv6 at all", "an advisories: not reached"]
        );
    }

    #[test]
    fn an_entry_that_matches_nothing_is_unused() {
        let allowed = Allowed::parse(LIST, TEXT).unwrap();
        assert_eq!(allowed.unused(&["no IPv6"]), ["advisories: not reached"]);
        assert_eq!(
            allowed.unused(&["no IPv6", "advisories: not reached"]),
            [""; 0]
        );
    }

    #[test]
    fn an_entry_without_a_text_or_a_reason_is_refused_with_its_line() {
        for line in ["x", "x | ", " | y", "* | y"] {
            let error = Allowed::parse(LIST, &format!("# c\n{line}\n")).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(".ci/left-out:2: found {line:?}, expected `TEXT | REASON`")
            );
        }
    }

    #[test]
    fn the_list_of_this_repository_can_be_read() {
        assert!(!Allowed::read(LIST).unwrap().0.is_empty());
    }
}
