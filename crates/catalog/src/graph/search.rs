//! Breadth-first search: which nodes can be reached, and by which shortest path.
//!
//! The caller says what a step is: an edge that a catalog writes, a row of a picture, an edit. Given the
//! steps backwards, the search finds the nodes that reach a goal.
//!
//! Invariant: nodes that are fewer steps away are visited first. So the first visit of a node is by a
//! shortest path, and among those by the steps that were given first.

use std::collections::HashSet;
use std::hash::Hash;

/// The nodes that a search has visited, in order.
#[derive(Clone, Debug)]
pub struct Visits<N, S>(Vec<SearchVisit<N, S>>);

/// A node that a search has visited.
#[derive(Clone, Debug)]
pub struct SearchVisit<N, S> {
    /// The node.
    pub node: N,
    /// How many steps it is away from a start.
    pub steps: usize,
    /// The place of the visit that the last step was taken from, and that step; none for a start.
    pub by: Option<(usize, S)>,
}

/// Searches from some nodes on, until the goal is reached or no node is left.
pub fn search<N, S, I>(
    starts: impl IntoIterator<Item = N>,
    goal: Option<N>,
    mut steps_from: impl FnMut(N) -> I,
) -> Visits<N, S>
where
    N: Copy + Eq + Hash,
    I: IntoIterator<Item = (S, N)>,
{
    let mut visits = Visits::default();
    let mut seen = HashSet::new();
    for start in starts {
        if seen.insert(start) {
            visits.push(start, None);
        }
    }
    let mut next = 0;
    while let Some(at) = visits.0.get(next).map(|visit| visit.node) {
        if goal.is_some_and(|goal| seen.contains(&goal)) {
            break;
        }
        for (step, to) in steps_from(at) {
            if seen.insert(to) {
                visits.push(to, Some((next, step)));
            }
        }
        next += 1;
    }
    visits
}

impl<N, S> Default for Visits<N, S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N, S> Visits<N, S> {
    /// Adds a visit, after all before it.
    pub fn push(&mut self, node: N, by: Option<(usize, S)>) {
        let before = by.as_ref().and_then(|(from, _)| self.0.get(*from));
        let steps = before.map_or(0, |before| before.steps + 1);
        self.0.push(SearchVisit { node, steps, by });
    }

    /// The visits, in their order.
    pub fn as_slice(&self) -> &[SearchVisit<N, S>] {
        &self.0
    }

    /// Brings the visits from a place on into another order. Nothing may have been reached from them yet.
    pub fn sort_from_by_key<K: Ord>(
        &mut self,
        place: usize,
        key: impl FnMut(&SearchVisit<N, S>) -> K,
    ) {
        if let Some(visits) = self.0.get_mut(place..) {
            visits.sort_by_key(key);
        }
    }

    /// The visits on the path to that at a place, itself last.
    pub fn path_to(&self, place: usize) -> Vec<&SearchVisit<N, S>> {
        let mut path = Vec::new();
        let mut at = self.0.get(place);
        while let Some(visit) = at {
            path.push(visit);
            at = visit.by.as_ref().and_then(|(from, _)| self.0.get(*from));
        }
        path.reverse();
        path
    }
}

impl<N: Copy + Eq, S> Visits<N, S> {
    /// The shortest path to a node, itself last; none where it was not reached.
    pub fn shortest_path(&self, to: N) -> Option<Vec<&SearchVisit<N, S>>> {
        let place = self.0.iter().position(|visit| visit.node == to)?;
        Some(self.path_to(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 leads to 2 and 3, both to 4, and 4 back to 1.
    fn steps_from(node: u32) -> Vec<(&'static str, u32)> {
        match node {
            1 => vec![("a", 2), ("b", 3), ("again", 2)],
            2 => vec![("c", 4)],
            3 => vec![("d", 4), ("e", 5)],
            4 => vec![("back", 1)],
            _ => Vec::new(),
        }
    }

    fn nodes<S>(visits: &[SearchVisit<u32, S>]) -> Vec<(u32, usize)> {
        visits
            .iter()
            .map(|visit| (visit.node, visit.steps))
            .collect()
    }

    #[test]
    fn what_is_fewer_steps_away_is_visited_first_and_nothing_twice() {
        let visits = search([1], None, steps_from);
        let expected = [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)];
        assert_eq!(nodes(visits.as_slice()), expected);
    }

    #[test]
    fn a_path_takes_the_step_that_was_given_first() {
        let visits = search([1], None, steps_from);
        let path = visits.shortest_path(4).expect("4 is reached");
        let steps: Vec<_> = path.iter().filter_map(|visit| visit.by).collect();
        assert_eq!(steps, [(0, "a"), (1, "c")]);
        assert!(visits.shortest_path(6).is_none(), "nothing leads to 6");
    }

    #[test]
    fn a_search_ends_at_its_goal() {
        let visits = search([1], Some(3), steps_from);
        assert_eq!(nodes(visits.as_slice()), [(1, 0), (2, 1), (3, 1)]);
        let there = search([3], Some(3), steps_from);
        assert_eq!(nodes(there.as_slice()), [(3, 0)]);
    }

    #[test]
    fn several_starts_are_no_step_away() {
        let visits = search([2, 3, 2], None, steps_from);
        let expected = [(2, 0), (3, 0), (4, 1), (5, 1), (1, 2)];
        assert_eq!(nodes(visits.as_slice()), expected);
    }
}
