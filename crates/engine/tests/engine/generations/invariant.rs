//! "The catalog returns a single successor": cases where this is true, and examples of good practice that break it.
//!
//! The first design stated this. No validation checks it, and OLM v1 does not need it.

use std::collections::{BTreeMap, HashSet};

use olmguard_catalog::graph::{GraphChannel, NodeIndex};

use super::drawn::Drawn;
use super::{skip_ranges, skips};

/// The names that have no entry or several entries that take their place, with those entries.
fn broken(drawn: &Drawn, channel: &str) -> String {
    let graph = drawn.graph();
    let short = |node| graph.name_of(node).trim_start_matches("P.v");
    let replaced = replacements(graph.channel(channel).expect("a channel"));
    let broken = replaced.into_iter().filter(|(_, by)| by.len() != 1);
    let broken = broken.map(|(of, by)| {
        let by: Vec<_> = by.into_iter().map(short).collect();
        format!("{} by [{}]", short(of), by.join(" "))
    });
    broken.collect::<Vec<_>>().join(", ")
}

/// For every name in a channel except its heads, the entries that replace or skip it, without entries that are skipped
/// themselves.
fn replacements(channel: &GraphChannel<'_>) -> BTreeMap<NodeIndex, Vec<NodeIndex>> {
    let entries = || channel.entries.iter();
    let skipped: HashSet<_> = entries().flat_map(|entry| &entry.skips).collect();
    let mut by: BTreeMap<NodeIndex, Vec<NodeIndex>> = BTreeMap::new();
    for entry in entries() {
        for of in entry.replaces.iter().chain(&entry.skips) {
            let replacing = by.entry(*of).or_default();
            if !skipped.contains(&entry.node) && replacing.last() != Some(&entry.node) {
                replacing.push(entry.node);
            }
        }
    }
    by
}

#[test]
fn steps_of_skips() {
    for (step, expected) in [
        (1, ""),
        (2, ""),
        (3, ""),
        (4, "1.0.0 by [1.2.0 1.1.0]"),
        (5, "1.0.0 by [1.2.0 1.1.0]"),
        (6, "1.1.0 by [2.0.0 1.2.0], 1.0.0 by [2.0.0 1.2.0]"),
        (7, "1.1.0 by [2.0.0 1.2.0], 1.0.0 by [2.0.0 1.2.0]"),
        (8, "1.2.0 by [2.1.0 2.0.0]"),
        (9, "2.0.0 by [2.2.0 2.1.0], 1.1.0 by [], 1.0.0 by []"),
    ] {
        assert_eq!(broken(&skips::after(step, true), "c"), expected, "S{step}");
    }
}

#[test]
fn ranges_are_not_part_of_it() {
    for step in 1..=8 {
        assert_eq!(broken(&skip_ranges::after(step), "c"), "", "R{step}");
    }
}

#[test]
fn promotion_bad_releases_and_z_streams_keep_it() {
    let promotion = Drawn::read(
        "alpha: 0.1.0; 0.2.0 replaces 0.1.0; 0.3.0 replaces 0.2.0; 0.4.0 replaces 0.3.0; 0.5.0 replaces 0.4.0; 0.6.0 replaces 0.5.0
         beta: 0.2.0 replaces 0.1.0; 0.4.0 replaces 0.2.0; 0.6.0 replaces 0.4.0
         stable: 0.4.0 replaces 0.1.0 skips 0.2.0,0.3.0",
    );
    for channel in ["alpha", "beta", "stable"] {
        assert_eq!(broken(&promotion, channel), "", "{channel}");
    }
    for graph in [
        "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.1 replaces 0.9.0; 0.9.2 replaces 0.9.1",
        "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.1 replaces 0.9.0; 0.9.2 replaces 0.9.0 skips 0.9.1",
        "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.2 replaces 0.9.0 skips 0.9.1",
        "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.3 replaces 0.9.0 skips 0.9.1,0.9.2",
    ] {
        assert_eq!(broken(&Drawn::read(graph), "c"), "", "{graph}");
    }
}
