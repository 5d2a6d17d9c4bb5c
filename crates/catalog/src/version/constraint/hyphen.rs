//! Hyphen ranges: `1.2 - 2.3` is rewritten to `>= 1.2, <= 2.3 ` before anything else is read.
//!
//! Mirrors `rewriteRange` ([`constraints.go`]), which works on the raw text: all matches are found
//! first, then, one after another, the *first occurrence* of the matched text in what has become of
//! the constraint is replaced, wherever that is. So `1 - 2<3` works, and `1 - 2||3 - 4` does not.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

use std::borrow::Cow;

use super::group::operand;
use crate::version::cursor::Cursor;
use crate::version::fault::{ExpectedPart, Fault};

/// A constraint whose hyphen ranges are rewritten.
pub(super) struct RewrittenConstraint<'t> {
    typed: &'t str,
    pub(super) text: Cow<'t, str>,
    extent: Option<Extent>,
}

/// Where the text as typed has hyphen ranges, in bytes.
#[derive(Clone, Copy)]
struct Extent {
    start: usize,
    end: usize,
    /// The hyphen of the first.
    hyphen: usize,
}

impl<'t> RewrittenConstraint<'t> {
    pub(super) fn of(typed: &'t str) -> Self {
        let ranges = ranges(typed);
        let extent = ranges
            .first()
            .zip(ranges.last())
            .map(|(first, last)| Extent {
                start: first.start,
                end: last.start + last.text.len(),
                hyphen: first.hyphen,
            });
        let text = ranges.iter().fold(Cow::Borrowed(typed), |text, range| {
            text.replacen(
                range.text,
                &format!(">= {}, <= {} ", range.from, range.to),
                1,
            )
            .into()
        });
        Self {
            typed,
            text,
            extent,
        }
    }

    /// The fault at byte `at` of the rewritten text, in the text as typed.
    ///
    /// Before the first range and behind the last the two may agree; else the ranges are to blame.
    pub(super) fn fault(&self, at: usize, expected: ExpectedPart) -> Fault {
        let Some(Extent { start, end, hyphen }) = self.extent else {
            return Fault::new(self.typed, at, expected);
        };
        let (before, behind) = self.text.split_at_checked(at).unwrap_or((&self.text, ""));
        if at < start && self.typed.starts_with(before) {
            return Fault::new(self.typed, at, expected);
        }
        match self.typed.len().checked_sub(behind.len()) {
            Some(at) if at >= end && self.typed.ends_with(behind) => {
                Fault::new(self.typed, at, expected)
            }
            _ => Fault::new(self.typed, hyphen, ExpectedPart::HyphenRange),
        }
    }
}

/// A hyphen range with the blanks around it.
struct HyphenRange<'t> {
    start: usize,
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
        start,
        text: cursor.since(start),
        from,
        to,
        hyphen,
    })
}
