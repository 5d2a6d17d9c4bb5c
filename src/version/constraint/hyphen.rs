//! Hyphen ranges: `1.2 - 2.3` is rewritten to `>= 1.2, <= 2.3 ` before anything else is read.
//!
//! Mirrors `rewriteRange` (`constraints.go`), which works on the raw text: all matches are found first,
//! then, one after another, the *first occurrence* of the matched text in what has become of the
//! constraint is replaced, wherever that is. So `1 - 2<3` works, and `1 - 2||3 - 4` does not.

use std::borrow::Cow;

use super::group::operand;
use crate::version::cursor::Cursor;
use crate::version::fault::{Expected, Fault};

/// How positions in the rewritten text lead back to the text as typed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// Nothing was rewritten.
    AsTyped,
    /// Something was; the first range's hyphen stands here.
    Hyphen(usize),
}

impl Origin {
    /// The fault at byte `at` of the rewritten text; of what was rewritten, the first hyphen.
    pub(super) fn fault(self, typed: &str, at: usize, expected: Expected) -> Fault {
        match self {
            Self::AsTyped => Fault::new(typed, at, expected),
            Self::Hyphen(hyphen) => Fault::new(typed, hyphen, expected),
        }
    }
}

/// Rewrites all hyphen ranges of a constraint.
pub(super) fn rewrite(text: &str) -> (Cow<'_, str>, Origin) {
    let ranges = ranges(text);
    let Some(first) = ranges.first() else {
        return (text.into(), Origin::AsTyped);
    };
    let origin = Origin::Hyphen(first.hyphen);
    let rewritten = ranges.iter().fold(text.to_owned(), |text, range| {
        text.replacen(
            range.text,
            &format!(">= {}, <= {} ", range.from, range.to),
            1,
        )
    });
    (rewritten.into(), origin)
}

/// A hyphen range with the blanks around it.
struct HyphenRange<'t> {
    text: &'t str,
    from: &'t str,
    to: &'t str,
    hyphen: usize,
}

fn ranges(text: &str) -> Vec<HyphenRange<'_>> {
    let mut ranges = Vec::new();
    // Cheap, and true of nearly every constraint.
    if !text.contains('-') {
        return ranges;
    }
    let mut start = 0;
    while start < text.len() {
        let mut cursor = Cursor::starting(text, start);
        if let Some(range) = range(&mut cursor) {
            ranges.push(range);
            start = cursor.at();
        } else {
            start += 1;
        }
    }
    ranges
}

fn range<'t>(cursor: &mut Cursor<'t>) -> Option<HyphenRange<'t>> {
    let start = cursor.at();
    cursor.eat_blanks();
    let from = operand(cursor)?.text;
    let before = cursor.eat_blanks();
    let hyphen = cursor.at();
    let is_hyphen = cursor.eat("-");
    if before == 0 || !is_hyphen || cursor.eat_blanks() == 0 {
        return None;
    }
    let to = operand(cursor)?.text;
    cursor.eat_blanks();
    Some(HyphenRange {
        text: cursor.since(start),
        from,
        to,
        hyphen,
    })
}
