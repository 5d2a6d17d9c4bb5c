//! The syntax of one AND group: `>=1.2, <2.0.0 !=1.5`.
//!
//! Mirrors `validConstraintRegex` and `findConstraintRegex` ([`constraints.go`]): blanks, or exactly
//! one comma with optional blanks, between comparators; blanks may stand behind an operator.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

use smallvec::SmallVec;

use crate::version::cursor::Cursor;
use crate::version::fault::ExpectedPart;
use crate::version::masterminds::operand::{ScannedVersion, is_component_byte, scan};

/// An operator, synonyms folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=`, or none.
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

/// An operator and its operand, with the operand's byte offset in the group.
pub(super) struct WrittenComparator<'t> {
    pub(super) operator: Operator,
    pub(super) operand: ScannedVersion<'t>,
    pub(super) at: usize,
}

/// The comparators of a group: nearly always one or two, which take no allocation.
type WrittenGroup<'t> = SmallVec<[WrittenComparator<'t>; 2]>;

/// Reads a group; a fault is its byte offset and what is missing there.
pub(super) fn read(text: &str) -> Result<WrittenGroup<'_>, (usize, ExpectedPart)> {
    let mut cursor = Cursor::new(text);
    let mut comparators = WrittenGroup::new();
    cursor.eat_blanks();
    loop {
        comparators.push(comparator(&mut cursor)?);
        let blanks = cursor.eat_blanks();
        if cursor.is_at_end() {
            return Ok(comparators);
        }
        if cursor.eat(",") {
            cursor.eat_blanks();
        } else if blanks == 0 {
            return Err((cursor.at(), ExpectedPart::Separator));
        }
    }
}

/// Whether a constraint's operand can be scanned here; moves behind it.
pub(super) fn operand<'t>(cursor: &mut Cursor<'t>) -> Option<ScannedVersion<'t>> {
    scan(cursor, is_component_byte)
}

fn comparator<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenComparator<'t>, (usize, ExpectedPart)> {
    let start = cursor.at();
    let operator = operator(cursor);
    let expected = if cursor.at() == start {
        ExpectedPart::Comparator
    } else {
        ExpectedPart::Version
    };
    cursor.eat_blanks();
    let at = cursor.at();
    let operand = operand(cursor).ok_or((at, expected))?;
    Ok(WrittenComparator {
        operator,
        operand,
        at,
    })
}

fn operator(cursor: &mut Cursor<'_>) -> Operator {
    SPELLINGS
        .into_iter()
        .find(|(spelling, _)| cursor.eat(spelling))
        .map_or(Operator::Equal, |(_, operator)| operator)
}

/// Longer spellings before their beginnings.
const SPELLINGS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];
