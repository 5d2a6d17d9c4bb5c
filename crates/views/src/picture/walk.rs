//! Steps from each version, and the versions that they reach.
//!
//! For OLM v1 every edge of the channels that are drawn counts, together, whatever the entry it leads
//! to: what operator-controller's successor rule accepts. For OLM v0 a subscription keeps to its
//! channel, and only the candidates of [`olmguard_engine::resolve::classic`] count.

use std::collections::BTreeMap;

use olmguard_catalog::graph::{Visits, search};
use olmguard_catalog::word_set;

/// The place of a version among all that are drawn, from the top.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Serialize)]
pub struct VersionRow(pub u32);

/// A step that OLM may take.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RowStep {
    /// End of the step.
    pub to: VersionRow,
    /// The lane whose edge it is, from the left.
    pub lane: u32,
    /// The kind of the edge.
    pub field: StepField,
}

word_set! {
    /// The field of an entry that allows a step.
    pub enum StepField {
        /// `replaces`
        Replaces => "replaces",
        /// `skips`
        Skips => "skips",
        /// `skipRange`
        SkipRange => "skipRange",
        /// No field: the semver rules.
        Semver => "semver",
    }
}

impl RowStep {
    fn mapped(self, row: impl Fn(VersionRow) -> VersionRow) -> Self {
        Self {
            to: row(self.to),
            ..self
        }
    }
}

/// The steps from each row, each kind of edge once, by where they lead from the top.
#[derive(Clone, Debug, Default)]
pub struct StepsByRow {
    next: BTreeMap<VersionRow, Vec<RowStep>>,
}

/// Rows that can be reached from a row.
#[derive(Clone, Debug)]
pub struct ReachedRows {
    /// Start of the walk.
    pub start: VersionRow,
    /// Number of steps to each row that can be reached; 0 for the start.
    pub hops: BTreeMap<VersionRow, usize>,
    /// The shortest way to the goal: the one asked for, else the highest suggested one that can be reached. Empty
    /// where there is none.
    pub way: Vec<(VersionRow, RowStep)>,
    /// The goal that was asked for.
    pub goal: Option<VersionRow>,
}

impl ReachedRows {
    /// The same with other rows.
    pub(super) fn mapped(self, row: impl Fn(VersionRow) -> VersionRow) -> Self {
        let hops = self.hops.into_iter().map(|(at, hops)| (row(at), hops));
        let way = self.way.into_iter();
        Self {
            start: row(self.start),
            hops: hops.collect(),
            way: way
                .map(|(from, hop)| (row(from), hop.mapped(&row)))
                .collect(),
            goal: self.goal.map(row),
        }
    }

    /// Whether the goal that was asked for is out of reach.
    pub fn misses_goal(&self) -> bool {
        self.goal.is_some_and(|goal| !self.hops.contains_key(&goal))
    }
}

impl StepsByRow {
    /// Of these steps.
    pub(super) fn of(hops: impl IntoIterator<Item = (VersionRow, RowStep)>) -> Self {
        let mut next = BTreeMap::<_, Vec<_>>::new();
        for (from, hop) in hops {
            // An edge from an entry to itself leads nowhere.
            if from != hop.to {
                next.entry(from).or_default().push(hop);
            }
        }
        for hops in next.values_mut() {
            hops.sort_unstable();
            hops.dedup();
        }
        Self { next }
    }

    /// The same with other rows, in the same order.
    pub(super) fn mapped(self, row: impl Fn(VersionRow) -> VersionRow) -> Self {
        let next = self.next.into_iter().map(|(from, hops)| {
            let hops = hops.into_iter().map(|hop| hop.mapped(&row));
            (row(from), hops.collect())
        });
        Self {
            next: next.collect(),
        }
    }

    /// The steps from a row.
    pub fn from(&self, row: VersionRow) -> &[RowStep] {
        self.next.get(&row).map_or(&[], Vec::as_slice)
    }

    /// What can be reached from a row, and the shortest way to a goal; of several the one with the
    /// higher first hops.
    pub fn reach(
        &self,
        start: VersionRow,
        goal: Option<VersionRow>,
        is_suggested: impl Fn(VersionRow) -> bool,
    ) -> ReachedRows {
        let hops = |row| self.from(row).iter().map(|hop| (*hop, hop.to));
        let visits = search([start], None, hops);
        let reached = visits.as_slice().iter();
        let hops: BTreeMap<_, _> = reached.map(|visit| (visit.node, visit.steps)).collect();
        let mut reached = hops.keys().copied();
        let end = goal.or_else(|| reached.find(|row| is_suggested(*row)));
        ReachedRows {
            start,
            goal,
            way: end.map_or_else(Vec::new, |end| hops_to(end, &visits)),
            hops,
        }
    }

    /// What is reached where each step is given: one row after another, by the edges of a lane, else by
    /// those of any. The way ends at the goal, where it comes there.
    pub(super) fn course(
        &self,
        start: VersionRow,
        rows: impl Iterator<Item = VersionRow>,
        goal: Option<VersionRow>,
        lane: Option<u32>,
    ) -> ReachedRows {
        let mut hops = BTreeMap::from([(start, 0)]);
        let mut course = Vec::new();
        let mut at = start;
        for (away, row) in (1..).zip(rows) {
            let mut steps = self.from(at).iter();
            let is_own = |hop: &RowStep| lane.is_none_or(|lane| hop.lane == lane);
            let Some(hop) = steps.find(|hop| hop.to == row && is_own(hop)) else {
                break;
            };
            hops.insert(row, away);
            course.push((at, *hop));
            at = row;
        }
        if let Some(goal) = goal {
            course.truncate(hops.get(&goal).copied().unwrap_or_default());
        }
        ReachedRows {
            start,
            goal,
            way: course,
            hops,
        }
    }
}

/// The hops of the shortest path to a row, each with where it starts.
fn hops_to(end: VersionRow, visits: &Visits<VersionRow, RowStep>) -> Vec<(VersionRow, RowStep)> {
    let path = visits.shortest_path(end).unwrap_or_default();
    let starts = path.iter().map(|visit| visit.node);
    let hops = path.iter().skip(1).filter_map(|visit| visit.by);
    starts
        .zip(hops)
        .map(|(from, (_, hop))| (from, hop))
        .collect()
}
