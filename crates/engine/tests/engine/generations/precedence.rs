//! Several sources: the rules of the first design, of OLM v0 and of OLM v1.
//!
//! The first design had four levels: the head of the channel in the Subscription's own source, if its `skipRange`
//! contains the installed version; the entry there that replaces the installed version; then the same two of the other
//! sources. OLM v0 never followed it: a Subscription names its source, and OLM v0 reads only that source.

use olmguard_catalog::graph::{GraphEntry, NodeIndex};
use olmguard_catalog::version::{Membership, Version};
use olmguard_engine::resolve::classic::{InstalledCsv, SubscribedChannel, SubscriptionOrder};

use super::drawn::{Drawn, pick};

const INSTALLED: &str = "1.0.0";

/// The own source, the other source, and the answers of the first design, of OLM v0, and of OLM v1 with equal
/// priorities and with the own source above the other.
const ROWS: [(&str, &str, &str, [&str; 4]); 5] = [
    (
        "Q1",
        r"c: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skipRange >=1.0.0 <1.2.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["A 1.2.0", "1.2.0, 1.1.0", "none", "A 1.2.0"],
    ),
    (
        "Q2",
        "c: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["A 1.1.0", "1.1.0", "none", "A 1.1.0"],
    ),
    (
        "Q3",
        "c: 1.0.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["B 1.3.0", "", "none", "A 1.0.0"],
    ),
    (
        "Q4",
        "c: 0.9.0",
        r"c: 1.3.0 skipRange >=1.0.0 <1.3.0",
        ["B 1.3.0", "", "B 1.3.0", "B 1.3.0"],
    ),
    (
        "Q5",
        "c: 0.9.0",
        "c: 1.0.0; 1.1.0 replaces 1.0.0; 1.3.0 replaces 1.1.0",
        ["B 1.1.0", "", "B 1.1.0", "B 1.1.0"],
    ),
];

#[test]
fn q_precedence() {
    for (id, own, other, [first, v0, equal, above]) in ROWS {
        let (own, other) = (Drawn::read(own), Drawn::read(other));
        assert_eq!(
            by_first_design(&own, &other),
            first,
            "{id}: the first design"
        );
        let classic = own.v0("c", INSTALLED).expect("a line");
        assert_eq!(classic.candidates, v0, "{id}: OLM v0");
        let picked = |priority| {
            pick(
                &[("A", priority, &own), ("B", 0, &other)],
                &[],
                "",
                INSTALLED,
            )
        };
        assert_eq!(picked(0), equal, "{id}: OLM v1, equal priorities");
        assert_eq!(picked(1), above, "{id}: OLM v1, A above B");
    }
}

fn by_first_design(own: &Drawn, other: &Drawn) -> String {
    let (own, other) = (own.graph(), other.graph());
    let [own, other] = [&own, &other]
        .map(|graph| SubscriptionOrder::of(graph, SubscribedChannel::To("c")).expect("a line"));
    let version = Version::parse(INSTALLED).expect("a version");
    let installed = InstalledCsv {
        name: "P.v1.0.0",
        version: Some(&version),
    };
    let mut sources = [("A", &own), ("B", &other)].into_iter();
    let found = sources.find_map(|(source, line)| {
        let node = found_by_first_design(line, installed)?;
        let version = line.graph().name_of(node).trim_start_matches("P.v");
        Some(format!("{source} {version}"))
    });
    found.expect("something")
}

/// In one source: the head by its range, otherwise the entry that replaces the installed version.
fn found_by_first_design(
    line: &SubscriptionOrder<'_, '_>,
    installed: InstalledCsv<'_>,
) -> Option<NodeIndex> {
    let entries = || {
        let channels = line.channels().first();
        line.order().filter_map(move |node| channels?.entry(node))
    };
    let is_taken = |entry: &&GraphEntry<'_>| {
        let mut ranges = entry.skip_ranges.iter();
        let version = installed.version;
        version.is_some_and(|at| ranges.any(|range| range.takes(at) == Membership::Holds))
    };
    let replaces = |entry: &&GraphEntry<'_>| {
        let mut names = entry.replaces.iter();
        names.any(|node| line.graph().name_of(*node) == installed.name)
    };
    let head = entries().next().filter(is_taken);
    head.or_else(|| entries().find(replaces))
        .map(|entry| entry.node)
}
