use proptest::prelude::*;

use super::*;
use crate::bundle_set::BundleIndex;
use crate::edges::ChannelIndex;

const RANGES: &[&str] = &[
    ">=0.1.0 <0.4.0",
    "<0.3.0",
    "0.2.x",
    ">0.0.0",
    "<0.1.0 || || >0.3.0",
    "not a range",
];

const OPERATORS: &[&str] = &["", "<", "<=", ">", ">=", "!="];
const TAILS: &[&str] = &["", "-0", "-rc.1"];

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

fn edge(to: usize) -> IndexedEdge {
    IndexedEdge {
        channel: ChannelIndex(0),
        to: BundleIndex(u32::try_from(to).expect("few")),
    }
}

fn builder<'r>(ranges: impl IntoIterator<Item = &'r str>) -> EdgesBuilder<'r> {
    let mut builder = EdgesBuilder::default();
    for (to, range) in ranges.into_iter().enumerate() {
        builder.range(range, edge(to));
    }
    builder
}

/// The edges that match a version that no bundle has, in the order of their ends.
fn answers(edges: &Edges, from: &Version) -> Vec<(IndexedEdge, Membership)> {
    answers_of(edges, from, None)
}

/// The edges that match a version with its first bundle.
fn answers_of(
    edges: &Edges,
    from: &Version,
    bundle: Option<usize>,
) -> Vec<(IndexedEdge, Membership)> {
    let bundle = bundle.map(|place| edge(place).to);
    let mut answers = Vec::new();
    edges.starting_at_version(from, bundle, |answer, edges| {
        answers.extend(edges.iter().map(|edge| (*edge, answer)));
    });
    answers.sort_by_key(|(edge, _)| *edge);
    answers
}

/// Does the same by testing every range.
fn plain_answers(edges: &Edges, from: &Version) -> Vec<(IndexedEdge, Membership)> {
    let answers = edges.from_range.iter().flat_map(|range| {
        let answer = range.range.takes(from);
        range.edges.iter().map(move |edge| (*edge, answer))
    });
    let mut answers: Vec<_> = answers
        .filter(|(_, answer)| *answer != Membership::HoldsNot)
        .collect();
    answers.sort_by_key(|(edge, _)| *edge);
    answers
}

/// A comparator with one of a few versions, so that ends coincide.
fn comparator() -> impl Strategy<Value = String> {
    let parts = (
        prop::sample::select(OPERATORS),
        0_u64..3,
        0_u64..40,
        prop::sample::select(TAILS),
    );
    prop_oneof![
        9 => parts.prop_map(|(operator, minor, patch, tail)| format!("{operator}0.{minor}.{patch}{tail}")),
        1 => (0_u64..3).prop_map(|minor| format!("0.{minor}.x")),
    ]
}

fn range() -> impl Strategy<Value = String> {
    let group = || prop::collection::vec(comparator(), 1..4).prop_map(|all| all.join(" "));
    let or = prop::sample::select(&[" || ", " || || "][..]);
    prop_oneof![
        4 => group(),
        1 => (group(), or, group()).prop_map(|(one, or, other)| format!("{one}{or}{other}")),
    ]
}

proptest! {
    #[test]
    fn the_index_answers_as_a_scan(
        ranges in prop::collection::vec(range(), 0..2000),
        from in prop::collection::vec((0_u64..3, 0_u64..41, prop::bool::ANY), 9),
    ) {
        let edges = builder(ranges.iter().map(String::as_str)).build_within(0, [].iter()).0;
        for (minor, patch, is_prerelease) in from {
            let tail = if is_prerelease { "-rc.1" } else { "" };
            let from = version(&format!("0.{minor}.{patch}{tail}"));
            prop_assert_eq!(answers(&edges, &from), plain_answers(&edges, &from));
        }
    }

    /// Tests bundles with more ranges than are compared one by one, and with fewer.
    #[test]
    fn the_edges_to_one_bundle_answer_as_a_scan(
        ranges in prop::collection::vec(range(), 0..MOST_ENDING * 6),
        from in (0_u64..3, 0_u64..41),
    ) {
        let mut builder = EdgesBuilder::default();
        for (at, range) in ranges.iter().enumerate() {
            builder.range(range, edge(at % 3));
        }
        let edges = builder.build_within(0, [].iter()).0;
        let from = version(&format!("0.{}.{}", from.0, from.1));
        let plain = plain_answers(&edges, &from);
        for BundleIndex(place) in [0, 1, 2].map(BundleIndex) {
            let mut found = Vec::new();
            edges.starting_at_version_to(BundleIndex(place), &from, None, |answer, edges| {
                found.extend(edges.iter().map(|edge| (*edge, answer)));
            });
            let ends_there = |(edge, _): &(IndexedEdge, Membership)| edge.to == BundleIndex(place);
            found.retain(ends_there);
            let mut expected = plain.clone();
            expected.retain(ends_there);
            let sort = |all: &mut Vec<(IndexedEdge, Membership)>| {
                all.sort_by_key(|(edge, answer)| (*edge, *answer as u8));
            };
            sort(&mut found);
            sort(&mut expected);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn rows_answer_as_the_ranges_themselves(
        ranges in prop::collection::vec(prop::sample::select(RANGES), 0..9),
        minors in prop::collection::btree_set(0_u64..6, 0..6),
        from in 0_u64..6,
    ) {
        let versions: Vec<Version> = minors.iter().rev()
            .map(|minor| version(&format!("0.{minor}.0"))).collect();
        let twice = || versions.iter().flat_map(|version| [version, version]);
        let with_rows = builder(ranges.iter().copied()).build_within(usize::MAX, twice()).0;
        let without = builder(ranges.iter().copied()).build_within(0, twice()).0;
        prop_assert_eq!(matches!(with_rows.lookup, RangeLookup::Rows(_)), !versions.is_empty());
        prop_assert!(!matches!(without.lookup, RangeLookup::Rows(_)) || without.from_range.is_empty());
        let from = version(&format!("0.{from}.0"));
        let place = twice().position(|version| version.cmp_precedence(&from).is_eq());
        prop_assert_eq!(answers_of(&with_rows, &from, place), answers(&without, &from));
    }
}

#[test]
fn a_range_that_crashes_is_answered_both_ways() {
    for most in [0, usize::MAX] {
        let from = version("0.2.0");
        let edges = builder(["<0.1.0 || || >0.3.0"])
            .build_within(most, [&from].into_iter())
            .0;
        assert_eq!(
            answers_of(&edges, &from, Some(0)),
            [(edge(0), Membership::Crashes)]
        );
    }
}

#[test]
fn twenty_thousand_bundles_with_a_range_each_get_no_rows() {
    let texts: Vec<String> = (0..20_000).map(|n| format!("<1.0.{n}")).collect();
    let versions: Vec<Version> = (0..20_000)
        .rev()
        .map(|patch| version(&format!("1.0.{patch}")))
        .collect();
    let edges = builder(texts.iter().map(String::as_str))
        .build(versions.iter())
        .0;
    assert_eq!(edges.from_range.len(), 20_000);
    assert!(!matches!(edges.lookup, RangeLookup::Rows(_)));
    assert_eq!(answers(&edges, &version("1.0.19997")).len(), 2);
}

/// More edges than are skipped together: short ranges, and in some places one that includes most
/// versions.
#[test]
fn thousands_of_intervals_answer_as_a_scan() {
    let range = |n: u32| {
        let from = n * 7_919 % 20_000;
        let reach = if n % 5_000 == 7 { 15_000 } else { n % 9 };
        format!(">=1.0.{from} <1.0.{}", from + reach)
    };
    let texts: Vec<String> = (0..20_000).map(range).collect();
    let builder = builder(texts.iter().map(String::as_str));
    let edges = builder.build_within(0, [].iter()).0;
    for patch in (0..20_010).step_by(667) {
        for tail in ["", "-rc.1"] {
            let from = version(&format!("1.0.{patch}{tail}"));
            assert_eq!(
                answers(&edges, &from),
                plain_answers(&edges, &from),
                "{from}"
            );
        }
    }
}

fn named_edge(to: u32) -> NamedEdge {
    let edge = IndexedEdge {
        channel: ChannelIndex(0),
        to: BundleIndex(to),
    };
    edge.named(NameEdge::Replaces)
}

#[test]
fn names_have_their_own_edges_each_once() {
    let names = [("b", 3), ("", 0), ("b", 1), ("ab", 2), ("b", 3)];
    let table = NameTable::of(names.map(|(name, to)| (name, named_edge(to))).into());
    for (name, expected) in [
        ("", &[0][..]),
        ("a", &[]),
        ("ab", &[2]),
        ("abc", &[]),
        ("b", &[1, 3]),
        ("c", &[]),
    ] {
        let expected: Vec<_> = expected.iter().copied().map(named_edge).collect();
        assert_eq!(table.get(name), expected, "{name:?}");
    }
    let names: Vec<_> = table.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["", "ab", "b"]);
}

#[test]
fn no_names_have_no_edges() {
    let table = NameTable::of(Vec::new());
    assert_eq!(table.get(""), []);
    assert_eq!(table.heap_bytes(), 0);
}
