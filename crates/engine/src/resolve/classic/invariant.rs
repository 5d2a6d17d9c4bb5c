//! How many entries of a channel take the place of each name: the invariant of the first design.
//!
//! It said that a catalog returns a single successor for what is installed. No validation checks it, the
//! templates of upstream break it, and OLM v1 does not need it; so it is told, never enforced.

use std::collections::{BTreeMap, HashSet};

use olmguard_catalog::graph::{Channel, NodeIndex};

/// The entries that replace or skip one name, those left out that are skipped themselves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Replacements {
    /// The name.
    pub of: NodeIndex,
    /// The entries, in the order of their nodes.
    pub by: Vec<NodeIndex>,
}

/// For every name that a channel knows, but for its heads, what takes its place. One entry each: the
/// invariant holds.
pub fn replacements(channel: &Channel<'_>) -> Vec<Replacements> {
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
    let replaced = by.into_iter();
    replaced.map(|(of, by)| Replacements { of, by }).collect()
}
