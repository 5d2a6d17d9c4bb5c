//! What sentences about findings have in common: names, ranges and paths as they are shown.
//!
//! A message is one line: subject, what was found, what was expected, how to fix it. What is taken from a
//! catalog is quoted as Go quotes, so that nothing in it reaches a terminal as it is.

use olmguard_catalog::version::Version;
use olmguard_catalog::version::go::{escape, quote};

/// A text of a catalog, quoted, of a very long one the beginning: no more of it is kept anyway.
pub(super) fn q(text: &str) -> String {
    quote(beginning(text))
}

/// A range, quoted: of a long one the beginning.
pub(super) fn range(text: &str) -> String {
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
pub(super) fn path(all: &[&str]) -> String {
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
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    let shown: Vec<_> = all.iter().take(NAMED).map(|name| q(name)).collect();
    let shown = shown.join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// A version, whose text can be of any length.
pub(super) fn escaped(version: &Version) -> String {
    escape(&version.to_string())
}

/// The advice about a name that does not exist: the nearest name, otherwise what to do.
pub(super) fn meant(nearest: Option<&str>, otherwise: &str) -> String {
    match nearest {
        Some(name) => format!("did you mean {}?", q(name)),
        None => otherwise.to_owned(),
    }
}

/// How many names a message has at most, a path at each end.
pub(super) const NAMED: usize = 3;

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
