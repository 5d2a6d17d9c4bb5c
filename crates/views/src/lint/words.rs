//! Every sentence about a finding, and the text that `opm validate` has for it.
//!
//! A message is one line: subject, what was found, what was expected, how to fix it. What is taken from a
//! catalog is quoted as Go quotes, so that nothing in it reaches a terminal as it is.

mod conversion;
mod forbidden;
mod guardrails;
mod keys;
mod limits;
mod load;
mod model;
mod policies;
mod users;

pub(super) use conversion::*;
pub(super) use forbidden::*;
pub(super) use guardrails::*;
pub(super) use keys::*;
pub(super) use limits::*;
pub(super) use load::*;
pub(super) use model::*;
pub(super) use policies::*;
pub(super) use users::*;

use olmguard_catalog::version::go::{escape, quote};

/// The texts of a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Words {
    pub(super) message: String,
    /// The text of opm, or its beginning.
    pub(super) upstream: Option<String>,
}

impl Words {
    /// What opm does not report, or reports in the words of a parser.
    fn own(message: String) -> Self {
        Self {
            message,
            upstream: None,
        }
    }

    fn with(message: String, upstream: String) -> Self {
        Self {
            message,
            upstream: Some(upstream),
        }
    }

    /// The same of a second one of something, whose first is at this place.
    pub(super) fn of_second(mut self, first: &str) -> Self {
        self.message.push_str(" (the first is at ");
        self.message.push_str(&escape(first));
        self.message.push(')');
        self
    }
}

/// A text of a catalog, quoted, of a very long one the beginning: no more of it is kept anyway.
fn q(text: &str) -> String {
    quote(beginning(text))
}

/// A range, quoted: of a long one the beginning.
fn range(text: &str) -> String {
    let end = text.floor_char_boundary(RANGE);
    match text.get(..end).filter(|_| end < text.len()) {
        Some(begin) => format!("{}...", q(begin)),
        None => q(text),
    }
}

/// A text as far as it is kept: names in a catalog can be as long as a blob.
pub(super) fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(KEPT))
        .unwrap_or_default()
}

/// Names on a path, quoted: of a long one both ends, the rest counted.
fn way(all: &[&str]) -> String {
    let shown = |part: &[&str]| {
        part.iter()
            .map(|name| q(name))
            .collect::<Vec<_>>()
            .join(" -> ")
    };
    let ends = all.split_at_checked(NAMED).and_then(|(first, rest)| {
        let (left_out, last) = rest.split_at_checked(rest.len().checked_sub(NAMED)?)?;
        (!left_out.is_empty()).then_some((first, left_out.len(), last))
    });
    match ends {
        Some((first, rest, last)) => {
            format!("{} -> ({rest} more) -> {}", shown(first), shown(last))
        }
        None => shown(all),
    }
}

/// Names, quoted: as many as fit, the rest counted.
fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    let shown: Vec<_> = all.iter().take(NAMED).map(|name| q(name)).collect();
    let shown = shown.join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// How many names a message has at most, a way at each end.
const NAMED: usize = 3;

/// How many bytes of a range a message shows.
const RANGE: usize = 120;

/// How many bytes of a text are kept: far more than real names need.
const KEPT: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_counted() {
        assert_eq!(names(["a", "b\u{1b}"]), "\"a\", \"b\\x1b\"");
        assert_eq!(
            names(["a", "b", "c", "d", "e"]),
            "\"a\", \"b\", \"c\" and 2 more"
        );
    }

    #[test]
    fn the_middle_of_a_long_way_is_counted() {
        assert_eq!(way(&["a", "b", "a"]), r#""a" -> "b" -> "a""#);
        assert_eq!(
            way(&["a", "b", "c", "d", "e", "f", "g", "a"]),
            r#""a" -> "b" -> "c" -> (2 more) -> "f" -> "g" -> "a""#
        );
    }

    #[test]
    fn of_a_long_range_the_beginning_is_shown() {
        assert_eq!(range(&"1".repeat(120)), format!("\"{}\"", "1".repeat(120)));
        assert_eq!(
            range(&"1".repeat(121)),
            format!("\"{}\"...", "1".repeat(120))
        );
    }

    #[test]
    fn of_a_name_as_long_as_a_blob_the_beginning_is_kept() {
        assert_eq!(q(&"é".repeat(1 << 20)).len(), 4096 + 2);
    }
}
