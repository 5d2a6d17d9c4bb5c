//! Random ranges of every kind, valid or not: `skipRange`s, and versions of a request.

use proptest::prelude::*;

const OPERATORS: &[&str] = &["", "=", "<", "<=", ">", ">=", "!=", "!"];
const TAILS: &[&str] = &["", "", "", "-0", "-rc.1", "-rc.1.b", "+7", "-rc.1+git"];

/// Ranges with a wildcard, without an end, without a version, and texts that are not valid ranges.
const SPECIAL: &[&str] = &[
    "0.1.x",
    "0.x",
    ">=0.1.x",
    "<=0.1.x",
    "!=0.1.x",
    ">0.0.0",
    ">=0.0.0-0",
    "<9.0.0",
    ">=0.2.0 <0.1.0",
    "not a range",
    "v0.1.0",
    ">=",
    "|| <0.1.0",
    ">=0.0.1 <0.1.0 ||",
    " ",
];

/// The text between two groups. OLM crashes on an empty group, unless an earlier group includes the version.
const BETWEEN: &[&str] = &[" || ", " || ", " || || "];

/// One comparator. There are few versions, so ends meet each other and bundles.
fn comparator() -> impl Strategy<Value = String> {
    let tail = prop::sample::select(TAILS);
    let operator = prop::sample::select(OPERATORS);
    (operator, 0_u64..3, 0_u64..400, tail)
        .prop_map(|(operator, minor, patch, tail)| format!("{operator}0.{minor}.{patch}{tail}"))
}

/// Comparators that must all include the version: mostly a range as authors write it.
fn group() -> impl Strategy<Value = String> {
    let tails = [prop::sample::select(TAILS), prop::sample::select(TAILS)];
    let usual = (0_u64..3, 0_u64..400, 0_u64..3, 0_u64..400, tails);
    prop_oneof![
        4 => usual.prop_map(|(from, lowest, to, end, [low, high])| {
            format!(">=0.{from}.{lowest}{low} <0.{to}.{end}{high}")
        }),
        1 => prop::collection::vec(comparator(), 1..4).prop_map(|all| all.join(" ")),
    ]
}

pub(crate) fn range() -> impl Strategy<Value = String> {
    let between = prop::sample::select(BETWEEN);
    prop_oneof![
        8 => group(),
        1 => (group(), between, group()).prop_map(|(one, or, other)| format!("{one}{or}{other}")),
        1 => prop::sample::select(SPECIAL).prop_map(str::to_owned),
    ]
}

const REQUEST_OPERATORS: &[&str] = &["", "=", "<", "<=", ">", ">=", "!=", "~", "^"];
const COMPONENTS: &[&str] = &["0", "1", "2", "x"];

/// One comparator of a request, with two or three components.
fn request_comparator() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(REQUEST_OPERATORS);
    let minor = prop::sample::select(COMPONENTS);
    let tail = prop::sample::select(TAILS);
    let patch = prop::option::of(0_u64..400);
    (operator, minor, patch, tail).prop_map(|(operator, minor, patch, tail)| match patch {
        Some(patch) => format!("{operator}0.{minor}.{patch}{tail}"),
        None => format!("{operator}0.{minor}"),
    })
}

/// The `version` of a request.
pub(crate) fn request() -> impl Strategy<Value = String> {
    let group = prop::collection::vec(request_comparator(), 1..3).prop_map(|all| all.join(", "));
    prop::collection::vec(group, 1..4).prop_map(|all| all.join(" || "))
}
