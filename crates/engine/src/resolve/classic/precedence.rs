//! The precedence over catalog sources of the first design, which OLM v0 never followed.
//!
//! It had four levels: the head of the channel in the Subscription's own source, where its `skipRange`
//! holds what is installed; the entry there that replaces it; then the same two of the other sources.
//! A Subscription must name its source, and OLM v0 asks that one only ([`super::Line`]); OLM v1 takes the
//! best of each catalog, weighs priorities, and refuses a tie ([`crate::resolve::choose`]).

use crate::resolve::classic::{Installed, Line};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::version::Membership;

/// A catalog source: its name, and the line of the Subscription's channel in it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, 'g, 'p> {
    /// The name.
    pub name: &'a str,
    /// The line.
    pub line: &'a Line<'g, 'p>,
}

/// What the first design would install: the source, and the entry in it. `others` stand in the order
/// in which they are asked, which that design left open.
pub fn first_precedence<'a, 'g, 'p>(
    own: Source<'a, 'g, 'p>,
    others: &[Source<'a, 'g, 'p>],
    installed: Installed<'_>,
) -> Option<(Source<'a, 'g, 'p>, NodeIndex)> {
    let of = |sources: &[Source<'a, 'g, 'p>]| {
        let head = sources
            .iter()
            .find_map(|source| head_by_range(source.line, installed).map(|node| (*source, node)));
        let replacing = || {
            let mut sources = sources.iter();
            sources.find_map(|source| replacing(source.line, installed).map(|node| (*source, node)))
        };
        head.or_else(replacing)
    };
    of(&[own]).or_else(|| of(others))
}

fn head_by_range(line: &Line<'_, '_>, installed: Installed<'_>) -> Option<NodeIndex> {
    let head = line.ordered().first()?;
    let version = installed.version?;
    let mut ranges = head.skip_ranges.iter();
    let is_taken = ranges.any(|range| range.takes(version) == Membership::Holds);
    is_taken.then_some(head.node)
}

fn replacing(line: &Line<'_, '_>, installed: Installed<'_>) -> Option<NodeIndex> {
    let graph: &Graph<'_> = line.graph();
    let mut entries = line.ordered().iter();
    let replaces = |node: &NodeIndex| graph.name_of(*node) == installed.name;
    let found = entries.find(|entry| entry.replaces.iter().any(replaces));
    found.map(|entry| entry.node)
}
