use proptest::prelude::*;

use super::*;

const RANGES: &[&str] = &[
    ">=0.1.0 <0.4.0",
    "<0.3.0",
    "0.2.x",
    ">0.0.0",
    "<0.1.0 || || >0.3.0",
    "not a range",
];

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

fn edge(to: usize) -> Edge {
    Edge {
        channel: ChannelIndex(0),
        to: BundleIndex(u32::try_from(to).expect("few")),
    }
}

fn builder<'r>(ranges: impl IntoIterator<Item = &'r str>) -> EdgesBuilder {
    let mut builder = EdgesBuilder::default();
    for (to, range) in ranges.into_iter().enumerate() {
        builder.range(range, edge(to));
    }
    builder
}

fn answers(edges: &Edges, from: &Version) -> Vec<(Membership, Vec<Edge>)> {
    edges
        .starting_at_version(from)
        .map(|(answer, edges)| (answer, edges.to_vec()))
        .collect()
}

proptest! {
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
        prop_assert_eq!(with_rows.held.len(), versions.len());
        prop_assert!(without.held.is_empty() || without.from_range.is_empty());
        let from = version(&format!("0.{from}.0"));
        prop_assert_eq!(answers(&with_rows, &from), answers(&without, &from));
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
            answers(&edges, &from),
            [(Membership::Crashes, vec![edge(0)])]
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
    assert_eq!((edges.from_range.len(), edges.held.len()), (20_000, 0));
    assert_eq!(answers(&edges, &version("1.0.19997")).len(), 2);
}
