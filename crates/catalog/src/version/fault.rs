//! Where a range text went wrong, for a caret under it.
//!
//! Upstream's messages name no position; this is ours, found by the same scan.

/// The place of a fault in the text as typed. `explain` words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte offset of a character; the text's length where something is missing at its end.
    pub at: usize,
    /// The character there; none at the end.
    pub found: Option<char>,
    /// What should have stood there.
    pub expected: ExpectedPart,
}

impl Fault {
    /// The fault at byte `at` of `text`, which can be within a character if a limit is there.
    pub(crate) fn new(text: &str, at: usize, expected: ExpectedPart) -> Self {
        let at = text.floor_char_boundary(at);
        let found = text.get(at..).and_then(|rest| rest.chars().next());
        Self {
            at,
            found,
            expected,
        }
    }
}

/// What a range needs at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedPart {
    /// The end of the text, at the latest.
    End,
    /// A comparator: an operator, if any, and a version.
    Comparator,
    /// Something between two comparators: a blank, a comma or `||`.
    Separator,
    /// An operator that the grammar knows.
    Operator,
    /// A version that can be read.
    Version,
    /// A numeric prerelease identifier that does not start with 0, as this one does.
    NoLeadingZero,
    /// Two versions around this hyphen, and nothing glued to them.
    HyphenRange,
}
