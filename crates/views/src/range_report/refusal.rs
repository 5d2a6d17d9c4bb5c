//! Why a range does not parse, in the library's own words, and where.

use olmguard_catalog::version::{Constraint, ConstraintError, Fault, Masterminds, SkipRangeError};

/// Why a range does not parse.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    /// The Go library's text, byte for byte.
    pub(super) text: String,
    /// The place of what that text is about.
    pub(super) fault: Fault,
}

/// The refusal of any release, as the newest one words it.
///
/// Where the newest refuses the range too, its own fault is taken: it may find another one first,
/// since only it limits lengths and counts.
pub(super) fn in_newest_words(range: &str, error: &ConstraintError) -> Refusal {
    match Constraint::parse(range, NEWEST) {
        Err(newest) => Refusal::from(newest),
        Ok(_) => Refusal::from(error.worded_by(NEWEST)),
    }
}

impl From<ConstraintError> for Refusal {
    fn from(error: ConstraintError) -> Self {
        Self {
            text: error.to_string(),
            fault: error.fault(),
        }
    }
}

impl From<SkipRangeError> for Refusal {
    fn from(error: SkipRangeError) -> Self {
        Self {
            text: error.to_string(),
            fault: error.fault(),
        }
    }
}

const NEWEST: Masterminds = Masterminds::V3_5;
