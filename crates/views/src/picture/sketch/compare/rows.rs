//! The versions of two catalogs in one order.

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::graph::Graph;
use olmguard_catalog::version::{Version, go};

use super::changed;
use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::rows::{newest_first, version};
use crate::picture::sketch::{Row, RowFacts};

/// A row with the version that its place follows from.
pub(super) type PlacedRow<'p> = (Option<Version>, RowFacts<'p>);

pub(super) fn placed<'p>(rows: Vec<RowFacts<'p>>, graph: &Graph<'_>) -> Vec<PlacedRow<'p>> {
    let rows = rows.into_iter();
    rows.map(|facts| (version(graph, facts.node), facts))
        .collect()
}

/// The rows of both, and where the rows of each are among them.
pub(super) struct BothRows<'p> {
    pub(super) rows: Vec<RowFacts<'p>>,
    pub(super) new: Vec<Row>,
    pub(super) old: Vec<Row>,
}

impl<'p> BothRows<'p> {
    pub(super) fn of(new: Vec<PlacedRow<'p>>, old: Vec<PlacedRow<'p>>) -> Self {
        let (now, before) = (bundles(&new), bundles(&old));
        let old_names: Vec<_> = old.iter().map(|(_, facts)| facts.name).collect();
        let all = in_order(new, old);
        let of_now = (0..).map(Row).zip(&all).filter(|(_, (.., is_new))| *is_new);
        let of_now = of_now.map(|(row, _)| row).collect();
        let mut rows: Vec<_> = all.into_iter().map(|(_, facts, _)| facts).collect();
        for facts in &mut rows {
            let (is_now, was) = (now.contains(facts.name), before.contains(facts.name));
            facts.marks = changed(facts.marks, is_now, was);
        }
        let names = rows.iter().map(|facts| facts.name);
        let places: BTreeMap<_, _> = names.zip((0..).map(Row)).collect();
        let of_before = old_names.iter().filter_map(|name| places.get(name));
        Self {
            new: of_now,
            old: of_before.copied().collect(),
            rows,
        }
    }
}

fn is_bundle(facts: &RowFacts<'_>) -> bool {
    !facts.marks.has(Mark::Virtual)
}

fn bundles<'p>(rows: &[PlacedRow<'p>]) -> BTreeSet<&'p str> {
    let facts = rows.iter().map(|(_, facts)| facts);
    let bundles = facts.filter(|facts| is_bundle(facts));
    bundles.map(|facts| facts.name).collect()
}

/// The rows of now and those that are gone, the newest first, each with whether it is of now.
fn in_order<'p>(
    new: Vec<PlacedRow<'p>>,
    old: Vec<PlacedRow<'p>>,
) -> Vec<(Option<Version>, RowFacts<'p>, bool)> {
    let known: BTreeSet<_> = new.iter().map(|(_, facts)| facts.name).collect();
    let labels: BTreeSet<_> = new.iter().map(|(_, facts)| facts.label.clone()).collect();
    let was = old.iter().filter(|(_, facts)| is_bundle(facts));
    let was = was.map(|(version, facts)| (facts.name, (version.clone(), facts.label.clone())));
    let was: BTreeMap<_, _> = was.collect();
    let gone = old
        .into_iter()
        .filter(|(_, facts)| !known.contains(facts.name));
    let gone = gone.map(|(version, facts)| (version, before_only(facts, &labels), false));
    let new = new
        .into_iter()
        .map(|(version, facts)| match was.get(facts.name) {
            Some((version, label)) if !is_bundle(&facts) => {
                (version.clone(), named(facts, label, &labels), true)
            }
            _ => (version, facts, true),
        });
    let mut all: Vec<_> = new.chain(gone).collect();
    // Stable: the rows of now keep their order.
    all.sort_by(|(a, ..), (b, ..)| newest_first(a.as_ref(), b.as_ref()));
    all
}

/// What only the base has: no mark of it holds now but its deprecation.
fn before_only<'p>(facts: RowFacts<'p>, labels: &BTreeSet<String>) -> RowFacts<'p> {
    let label = if labels.contains(&facts.label) {
        go::escape(facts.name)
    } else {
        facts.label
    };
    let marks = Marks::default()
        .with(Mark::Virtual, facts.marks.has(Mark::Virtual))
        .with(Mark::Deprecated, facts.marks.has(Mark::Deprecated));
    RowFacts {
        label,
        marks,
        ..facts
    }
}

/// A name that was a bundle in the base, with what it was called there.
fn named<'p>(facts: RowFacts<'p>, label: &str, labels: &BTreeSet<String>) -> RowFacts<'p> {
    let is_free = !labels.contains(label);
    let mut marks = Marks::default();
    for mark in facts.marks.iter().filter(|mark| *mark != Mark::Virtual) {
        marks = marks.with(mark, true);
    }
    RowFacts {
        label: if is_free {
            label.to_owned()
        } else {
            facts.label
        },
        marks,
        ..facts
    }
}
