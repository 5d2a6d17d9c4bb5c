//! Steps from each version, and the versions that they reach.
//!
//! For OLM v1, the edges of all channels shown count together, as in operator-controller's successor rule. For
//! OLM v0, a Subscription stays in its channel, and only the candidates of
//! [`olmguard_engine::resolve::classic`] count.

use std::collections::BTreeMap;

use olmguard_catalog::graph::{Visits, search};
use olmguard_catalog::word_set;

/// The position of a version among all that are shown, from the top.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Serialize)]
pub struct VersionRow(pub u32);

/// A step that OLM can take.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RowStep {
    /// End of the step.
    pub to: VersionRow,
    /// Lane of the edge, from the left.
    pub lane: u32,
    /// Field of the edge.
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

/// The steps from each row, without duplicates, sorted by target from the top.
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
    /// The shortest path to the requested goal, otherwise to the highest suggested version that can be reached. Empty
    /// if there is none.
    pub way: Vec<(VersionRow, RowStep)>,
    /// The requested goal.
    pub goal: Option<VersionRow>,
}

impl ReachedRows {
    /// Replaces the rows.
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

    /// Whether the requested goal cannot be reached.
    pub fn misses_goal(&self) -> bool {
        self.goal.is_some_and(|goal| !self.hops.contains_key(&goal))
    }
}

impl StepsByRow {
    /// Groups these steps by their start.
    pub(super) fn of(hops: impl IntoIterator<Item = (VersionRow, RowStep)>) -> Self {
        let mut next = BTreeMap::<_, Vec<_>>::new();
        for (from, hop) in hops {
            // An edge from an entry to itself is not a step.
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

    /// Replaces the rows, in the same order.
    pub(super) fn mapped(self, row: impl Fn(VersionRow) -> VersionRow) -> Self {
        let next = self.next.into_iter().map(|(from, hops)| {
            let hops = hops.into_iter().map(|hop| hop.mapped(&row));
            (row(from), hops.collect())
        });
        Self {
            next: next.collect(),
        }
    }

    /// Returns the steps from a row.
    pub fn from(&self, row: VersionRow) -> &[RowStep] {
        self.next.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Finds the rows that can be reached from a row, and the shortest path to a goal. Of several paths, the one
    /// with the higher first steps is chosen.
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

    /// Follows given rows one after another, by the edges of a lane, or of any lane if `lane` is `None`. The path
    /// ends at the goal, if the rows reach it.
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

/// Returns the steps of the shortest path to a row, each with its start.
fn hops_to(end: VersionRow, visits: &Visits<VersionRow, RowStep>) -> Vec<(VersionRow, RowStep)> {
    let path = visits.shortest_path(end).unwrap_or_default();
    let starts = path.iter().map(|visit| visit.node);
    let hops = path.iter().skip(1).filter_map(|visit| visit.by);
    starts
        .zip(hops)
        .map(|(from, (_, hop))| (from, hop))
        .collect()
}
