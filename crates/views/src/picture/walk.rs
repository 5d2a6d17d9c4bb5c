//! Where one can go from each version, and how far one gets.
//!
//! For OLM v1 every edge of the channels that are drawn counts, together, whatever the entry it leads
//! to: what operator-controller's successor rule accepts. For OLM v0 a subscription keeps to its
//! channel, and only the candidates of [`olmguard_engine::resolve::classic`] count.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use crate::picture::sketch::Row;

/// A step that OLM may take.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Hop {
    /// Where it leads.
    pub to: Row,
    /// The lane whose edge it is, from the left.
    pub lane: u32,
    /// The kind of the edge.
    pub field: Field,
}

/// The field of an entry that allows a step.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Field {
    /// `replaces`
    Replaces,
    /// `skips`
    Skips,
    /// `skipRange`
    SkipRange,
    /// No field: the semver rules.
    Semver,
}

impl Field {
    /// As catalogs write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::Skips => "skips",
            Self::SkipRange => "skipRange",
            Self::Semver => "semver",
        }
    }
}

/// The steps from each row, each kind of edge once, by where they lead from the top.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    next: BTreeMap<Row, Vec<Hop>>,
}

/// What can be reached from a row.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Where it starts.
    pub start: Row,
    /// How many hops away each row is that can be reached; the start is none away.
    pub hops: BTreeMap<Row, u32>,
    /// The shortest way to the goal: the one asked for, else the highest that can be reached. Empty
    /// where there is none.
    pub way: Vec<(Row, Hop)>,
    /// The goal that was asked for.
    pub goal: Option<Row>,
}

impl Reach {
    /// Whether the goal that was asked for is out of reach.
    pub fn misses_goal(&self) -> bool {
        self.goal.is_some_and(|goal| !self.hops.contains_key(&goal))
    }
}

impl Walk {
    /// Of these steps.
    pub(super) fn of(hops: impl IntoIterator<Item = (Row, Hop)>) -> Self {
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

    /// The steps from a row.
    pub fn from(&self, row: Row) -> &[Hop] {
        self.next.get(&row).map_or(&[], Vec::as_slice)
    }

    /// What can be reached from a row, and the shortest way to a goal; of several the one with the
    /// higher first hops.
    pub fn reach(&self, start: Row, goal: Option<Row>) -> Reach {
        let mut hops = BTreeMap::from([(start, 0)]);
        let mut came = BTreeMap::new();
        let mut queue = VecDeque::from([(start, 0)]);
        while let Some((row, away)) = queue.pop_front() {
            for hop in self.from(row) {
                if let Entry::Vacant(first) = hops.entry(hop.to) {
                    first.insert(away + 1);
                    came.insert(hop.to, (row, *hop));
                    queue.push_back((hop.to, away + 1));
                }
            }
        }
        let end = goal.or_else(|| hops.keys().next().copied());
        Reach {
            start,
            goal,
            way: way(&came, end.unwrap_or(start)),
            hops,
        }
    }

    /// What is reached where each step is given: one row after another, by the edges of a lane, else by
    /// those of any. The way ends at the goal, where it comes there.
    pub(super) fn course(
        &self,
        start: Row,
        rows: impl Iterator<Item = Row>,
        goal: Option<Row>,
        lane: Option<u32>,
    ) -> Reach {
        let mut hops = BTreeMap::from([(start, 0)]);
        let mut course = Vec::new();
        let mut at = start;
        for (away, row) in (1..).zip(rows) {
            let mut steps = self.from(at).iter();
            let is_own = |hop: &Hop| lane.is_none_or(|lane| hop.lane == lane);
            let Some(hop) = steps.find(|hop| hop.to == row && is_own(hop)) else {
                break;
            };
            hops.insert(row, away);
            course.push((at, *hop));
            at = row;
        }
        if let Some(goal) = goal {
            course.truncate(hops.get(&goal).map_or(0, |away| *away as usize));
        }
        Reach {
            start,
            goal,
            way: course,
            hops,
        }
    }
}

fn way(came: &BTreeMap<Row, (Row, Hop)>, end: Row) -> Vec<(Row, Hop)> {
    let mut way = Vec::new();
    let mut at = end;
    while let Some((from, hop)) = came.get(&at) {
        way.push((*from, *hop));
        at = *from;
    }
    way.reverse();
    way
}
