//! The values that the CRD accepts in `spec.source.catalog.version`, before any parser of OLM reads
//! them.
//!
//! Mirrors the CEL rule and the maximum length in operator-controller's
//! [`api/v1/clusterextension_types.go`]. Two misplaced brackets in the pattern are part of the
//! contract: in some places `|` and the two characters `*]` are components, in others `*` is not.
//! Pattern and length are checked separately because the API server reports them separately.
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

use crate::version::RangeCursor;
use crate::version::identifier::is_identifier_byte;

/// Maximum length of the field, in characters (code points).
pub const MAX_CHARACTERS: usize = 64;

/// Whether the text has at most [`MAX_CHARACTERS`] characters.
pub fn fits_length(text: &str) -> bool {
    text.chars().nth(MAX_CHARACTERS).is_none()
}

/// Whether the text matches the pattern of the CRD, whatever its length.
pub fn fits_pattern(text: &str) -> bool {
    expression(&mut RangeCursor::new(text)).is_some()
}

/// The wildcards that the pattern allows in each component of a version.
struct Slots {
    major: &'static [&'static str],
    minor: &'static [&'static str],
    patch: &'static [&'static str],
}

const FIRST: Slots = Slots {
    major: &["|", "*"],
    minor: &["*]"],
    patch: &["*"],
};
const LATER: Slots = Slots {
    major: &["*]"],
    minor: &["*"],
    patch: &["*]"],
};

/// Operators. A longer one comes before its prefixes.
const OPERATORS: [&str; 11] = ["!=", ">=", "=>", "<=", "=<", "~>", "=", ">", "<", "~", "^"];

fn expression(cursor: &mut RangeCursor<'_>) -> Option<()> {
    cursor.eat_blanks();
    comparator(cursor, &FIRST)?;
    loop {
        let blanks = cursor.eat_blanks();
        if cursor.is_at_end() {
            return Some(());
        }
        if cursor.eat(",") || cursor.eat("||") {
            cursor.eat_blanks();
        } else if blanks == 0 {
            return None;
        }
        comparator(cursor, &LATER)?;
    }
}

fn comparator(cursor: &mut RangeCursor<'_>, slots: &Slots) -> Option<()> {
    let _operator = OPERATORS.into_iter().find(|operator| cursor.eat(operator));
    cursor.eat_blanks();
    cursor.eat("v");
    component(cursor, slots.major)?;
    // Either can be missing, so a lone second component can also match in the third slot.
    let _minor = dotted(cursor, slots.minor);
    let _patch = dotted(cursor, slots.patch);
    identifiers(cursor, "-")?;
    identifiers(cursor, "+")
}

fn dotted(cursor: &mut RangeCursor<'_>, wildcards: &[&str]) -> Option<()> {
    let mut ahead = cursor.clone();
    if !ahead.eat(".") {
        return None;
    }
    component(&mut ahead, wildcards)?;
    *cursor = ahead;
    Some(())
}

fn component(cursor: &mut RangeCursor<'_>, wildcards: &[&str]) -> Option<()> {
    let is_component = ["x", "X"]
        .iter()
        .chain(wildcards)
        .any(|wildcard| cursor.eat(wildcard))
        || cursor.eat("0")
        || !cursor.eat_while(|byte| byte.is_ascii_digit()).is_empty();
    // No component is followed by a bracket. If `*` matches here but the text is `*]`, another slot
    // may match it.
    (is_component && cursor.peek() != Some(b']')).then_some(())
}

/// Reads the sign and the identifiers after it, or nothing at all.
fn identifiers(cursor: &mut RangeCursor<'_>, sign: &str) -> Option<()> {
    if !cursor.eat(sign) {
        return Some(());
    }
    loop {
        if cursor.eat_while(is_identifier_byte).is_empty() {
            return None;
        }
        if !cursor.eat(".") {
            return Some(());
        }
    }
}
