//! Common parts of the sentences about findings: names, ranges and paths as they are printed.
//!
//! A message is one line: subject, what was found, what was expected, how to fix it. Texts from a catalog are quoted
//! as Go quotes them, so that no control character reaches a terminal.

use olmguard_catalog::version::Version;
use olmguard_catalog::version::go::{escape, quote};
use olmguard_engine::explain::text::and_more;

/// Quotes a text of a catalog. Of a very long text, only the beginning is kept.
pub(super) fn q(text: &str) -> String {
    quote(beginning(text))
}

/// Quotes a range. Of a long range, only the beginning is kept.
pub(super) fn range(text: &str) -> String {
    let end = text.floor_char_boundary(RANGE);
    match text.get(..end).filter(|_| end < text.len()) {
        Some(begin) => format!("{}...", q(begin)),
        None => q(text),
    }
}

/// Cuts a text to the maximum length. Names in a catalog can be as long as a blob.
pub(super) fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(KEPT))
        .unwrap_or_default()
}

/// Quotes the names on a path. Of a long path, only both ends are named, and the rest is counted.
pub(super) fn path<N: AsRef<str>>(all: &[N]) -> String {
    let shown = |part: &[N]| {
        let names = part.iter().map(|name| q(name.as_ref()));
        names.collect::<Vec<_>>().join(" -> ")
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

/// Quotes names. If there are many, only the first are named, and the rest is counted.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    let shown: Vec<_> = all.iter().take(NAMED).map(|name| q(name)).collect();
    and_more(shown.join(", "), all.len().saturating_sub(NAMED))
}

/// Escapes a version, whose text can have any length.
pub(super) fn escaped(version: &Version) -> String {
    escape(&version.to_string())
}

/// Returns the advice about an unknown name: the nearest name, otherwise a general text.
pub(super) fn meant(nearest: Option<&str>, otherwise: &str) -> String {
    match nearest {
        Some(name) => format!("did you mean {}?", q(name)),
        None => otherwise.to_owned(),
    }
}

/// Maximum number of names in a message, and at each end of a path.
pub(super) const NAMED: usize = 3;

/// Maximum number of bytes of a range in a message.
const RANGE: usize = 120;

/// Maximum number of bytes of a text: far more than real names need.
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
        assert_eq!(path(&["a", "b", "a"]), r#""a" -> "b" -> "a""#);
        assert_eq!(
            path(&["a", "b", "c", "d", "e", "f", "g", "a"]),
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
