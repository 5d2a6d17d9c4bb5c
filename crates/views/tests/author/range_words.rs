//! The words of a range, parsed by a small reader, match the same versions as the range.

use std::collections::BTreeMap;

use olmguard_catalog::version::{Constraint, Masterminds, Membership, SkipRange, Version};
use olmguard_engine::explain::range as explain;
use proptest::prelude::*;
use serde::Deserialize;

use crate::words::Meaning;
use olmguard_fixtures::vectors::cases;

#[derive(Deserialize)]
struct RangeCase {
    constraint: String,
    matches: BTreeMap<String, bool>,
    #[serde(default)]
    panics: Vec<String>,
}

/// Returns every core of small numbers with every kind of prerelease, and the ends of the order.
fn pool() -> Vec<Version> {
    let numbers = ["0", "1", "2", "3", "4"];
    let tails = [
        "", "-0", "-0.0", "-1", "-a", "-alpha", "-alpha.0", "-alpha.1", "-beta", "-rc.1+b",
    ];
    let mut texts =
        vec!["18446744073709551615.18446744073709551615.18446744073709551615".to_owned()];
    for major in numbers {
        for minor in numbers {
            for patch in numbers {
                texts.extend(tails.map(|tail| format!("{major}.{minor}.{patch}{tail}")));
            }
        }
    }
    texts
        .iter()
        .map(|text| Version::parse(text).expect("the pool is well formed"))
        .collect()
}

#[track_caller]
fn assert_says(words: &str, text: &str, is_open: bool, takes: &[(&Version, Membership)]) {
    let meaning = Meaning::read(words);
    for (version, membership) in takes {
        assert_eq!(
            meaning.takes(version),
            *membership,
            "{text:?} is {words:?}; {version}"
        );
    }
    // At the very end of the order, a bound is hard to distinguish from no bound.
    if !text.contains("18446744073709551615") {
        assert_eq!(meaning.is_open_above(), is_open, "{text:?} is {words:?}");
    }
}

fn membership(holds: bool) -> Membership {
    if holds {
        Membership::Holds
    } else {
        Membership::HoldsNot
    }
}

#[track_caller]
fn assert_constraint_says(text: &str, release: Masterminds, versions: &[&Version]) {
    let Ok(constraint) = Constraint::parse(text, release) else {
        return;
    };
    let takes: Vec<_> = versions
        .iter()
        .map(|version| (*version, membership(constraint.matches(version))))
        .collect();
    assert_says(
        &explain::constraint(&constraint),
        text,
        constraint.is_open_above(),
        &takes,
    );
}

#[track_caller]
fn assert_skip_range_says(text: &str, versions: &[&Version]) {
    let Ok(range) = SkipRange::parse(text) else {
        return;
    };
    let takes: Vec<_> = versions
        .iter()
        .map(|version| (*version, range.takes(version)))
        .collect();
    assert_says(
        &explain::skip_range(&range),
        text,
        range.is_open_above(),
        &takes,
    );
}

/// Checks all recorded ranges on their recorded versions, and every twentieth on the pool as well.
fn for_each_recorded(file: &str, mut check: impl FnMut(&str, &[&Version])) {
    let pool = pool();
    for (index, case) in cases::<RangeCase>(file).into_iter().enumerate() {
        let texts = case.matches.keys().chain(&case.panics);
        let own: Vec<_> = texts
            .map(|text| Version::parse(text).expect("recorded"))
            .collect();
        let more = if index % 20 == 0 {
            pool.as_slice()
        } else {
            &[]
        };
        check(
            &case.constraint,
            &own.iter().chain(more).collect::<Vec<_>>(),
        );
    }
}

#[test]
fn recorded_constraints() {
    for release in [Masterminds::V3_3_1, Masterminds::V3_5] {
        for_each_recorded("masterminds-constraints.jsonl", |text, versions| {
            assert_constraint_says(text, release, versions);
        });
    }
}

#[test]
fn recorded_skip_ranges() {
    for_each_recorded("blang-ranges.jsonl", assert_skip_range_says);
}

fn operand() -> impl Strategy<Value = String> {
    let number = || prop_oneof![8 => "[0-4]", 1 => Just("x".to_owned())];
    let tail = prop_oneof![
        4 => Just(""), 1 => Just("-0"), 1 => Just("-1"), 1 => Just("-alpha"), 1 => Just("-alpha.1"),
        1 => Just("-beta+b"), 1 => Just("-99999999999999999999")
    ];
    (
        number(),
        proptest::option::of(number()),
        proptest::option::weighted(0.8, number()),
        tail,
    )
        .prop_map(|(major, minor, patch, tail)| {
            let numbers: Vec<_> = std::iter::once(major).chain(minor).chain(patch).collect();
            format!("{}{tail}", numbers.join("."))
        })
}

fn range(operators: &'static [&'static str]) -> impl Strategy<Value = String> {
    let comparator = (proptest::sample::select(operators), operand());
    let comparator = comparator.prop_map(|(operator, operand)| format!("{operator}{operand}"));
    let group = proptest::collection::vec(comparator, 1..4).prop_map(|group| group.join(" "));
    proptest::collection::vec(group, 1..4).prop_map(|groups| groups.join(" || "))
}

const MASTERMINDS: &[&str] = &["", "=", "!=", "!=", ">", ">=", "<", "<=", "~", "^"];
const BLANG: &[&str] = &["", "!", "!=", ">", ">=", "<", "<=", "|| "];

proptest! {
    #[test]
    fn generated_constraints(text in range(MASTERMINDS)) {
        let pool = pool();
        let versions: Vec<_> = pool.iter().collect();
        for release in [Masterminds::V3_3_0, Masterminds::V3_5] {
            assert_constraint_says(&text, release, &versions);
        }
    }

    #[test]
    fn generated_skip_ranges(text in range(BLANG)) {
        let pool = pool();
        assert_skip_range_says(&text, &pool.iter().collect::<Vec<_>>());
    }
}

#[track_caller]
fn check_words(rows: &[(&str, &str)], words: impl Fn(&str) -> String) {
    for (text, expected) in rows {
        assert_eq!(words(text), *expected, "{text:?}");
    }
}

#[test]
fn words_of_constraints() {
    let rows = [
        ("*", "any version; releases only"),
        ("x-0", "any version; prereleases included"),
        ("1.2.3", "exactly 1.2.3; releases only"),
        ("1.x", "from 1.0.0 up to, but without, 2.0.0; releases only"),
        (">=1.0.0, <=2.0.0", "from 1.0.0 up to 2.0.0; releases only"),
        (
            ">=1.0.0-0 <2.0.0",
            "from 1.0.0-0 up to, but without, 2.0.0; prereleases included",
        ),
        (
            "^1.2.3-beta",
            "from 1.2.3-beta up to, but without, 2.0.0-0; prereleases included",
        ),
        ("1.0.0-alpha", "exactly 1.0.0-alpha; prereleases only"),
        ("!=1.2.3", "below 1.2.3 or above 1.2.3; releases only"),
        (
            "!=1.2.x-alpha",
            "any version except 1.2.*-alpha; prereleases included",
        ),
        (
            "!=1.2.x, >=1.0.0-0",
            "releases: from 1.0.0 up to, but without, 1.2.0 or from 1.3.0; \
             prereleases: from 1.0.0-0",
        ),
        (
            "1.0.0 || 2.0.0-rc.1",
            "releases: exactly 1.0.0; prereleases: exactly 2.0.0-rc.1",
        ),
        ("1 - *", "nothing"),
        ("~0.0.0", "any version; releases only"),
        ("^*", "exactly 0.0.0; releases only"),
        ("<1.2.3 || >=1.2.3", "any version; releases only"),
        (
            "18446744073709551615",
            "from 18446744073709551615.0.0 up to \
            18446744073709551615.18446744073709551615.18446744073709551615; releases only",
        ),
    ];
    check_words(&rows, |text| {
        explain::constraint(&Constraint::parse(text, Masterminds::V3_5).expect("a constraint"))
    });
}

#[test]
fn words_of_skip_ranges() {
    let rows = [
        (
            ">=1.0.0 <2.0.0",
            "from 1.0.0 up to, but without, 2.0.0; prereleases included",
        ),
        ("<1.2.3", "below 1.2.3; prereleases included"),
        ("1.0.0", "exactly 1.0.0; releases only"),
        (
            "<1.0.0 >=1.0.0-rc.1",
            "from 1.0.0-rc.1 up to, but without, 1.0.0; prereleases only",
        ),
        ("!1.2.x", "nothing"),
        (
            ">=2.0.0 || || <1.0.0",
            "from 2.0.0; prereleases included; on every other version the controller panics",
        ),
        (">=0.0.0-0 || || 1.0.0", "any version; prereleases included"),
    ];
    check_words(&rows, |text| {
        explain::skip_range(&SkipRange::parse(text).expect("a skipRange"))
    });
}

#[test]
fn a_range_without_end_is_not_worked_out() {
    let text = ">=1.0.0 ".repeat(100_000);
    let range = SkipRange::parse(&text).expect("a skipRange");
    assert_eq!(
        explain::skip_range(&range),
        "too long to put into words: 100000 comparators"
    );
}
