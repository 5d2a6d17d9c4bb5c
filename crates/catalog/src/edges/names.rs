//! The edges that start at a name, as one sorted table: a hash map for each package would take more than its edges.

use std::cmp::Ordering;

use crate::edges::NamedEdge;
use crate::heap::{Heap, allocated};

/// Names with their edges, in byte order.
///
/// Invariant: `ends` has an item for each name. The text of a name, and its edges, are between the ends of the name
/// before it and its own.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    texts: Box<str>,
    edges: Box<[NamedEdge]>,
    ends: Box<[Ends]>,
}

/// Where the text of a name and its edges end.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    text: usize,
    edges: usize,
}

impl NameTable {
    /// The memory for the table of these edges, if each has a name of its own.
    pub(super) fn bytes(edges: &[(&str, NamedEdge)]) -> usize {
        let texts = edges.iter().map(|(name, _)| name.len()).sum();
        let (each, end) = (size_of::<NamedEdge>(), size_of::<Ends>());
        allocated(texts) + allocated(edges.len() * each) + allocated(edges.len() * end)
    }

    /// The table of these edges, each with its name. An edge that is written twice in a channel is one.
    pub(super) fn of(mut edges: Vec<(&str, NamedEdge)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let names = || edges.chunk_by(|(one, _), (other, _)| one == other);
        let length = |named: &[(&str, NamedEdge)]| named.first().map_or(0, |(name, _)| name.len());
        let mut texts = String::with_capacity(names().map(length).sum());
        let mut ends = Vec::with_capacity(names().count());
        let mut own = Vec::with_capacity(edges.len());
        let mut end = Ends::default();
        for named in names() {
            texts.extend(named.first().map(|(name, _)| *name));
            end.text = texts.len();
            end.edges += named.len();
            ends.push(end);
            own.extend(named.iter().map(|(_, edge)| *edge));
        }
        Self {
            texts: texts.into(),
            edges: own.into(),
            ends: ends.into(),
        }
    }

    /// The edges that start at a name.
    pub(super) fn get(&self, name: &str) -> &[NamedEdge] {
        let mut rest = 0..self.ends.len();
        while !rest.is_empty() {
            let middle = rest.start + rest.len() / 2;
            let Some((known, edges)) = self.row(middle) else {
                break;
            };
            match known.cmp(name) {
                Ordering::Less => rest.start = middle + 1,
                Ordering::Greater => rest.end = middle,
                Ordering::Equal => return edges,
            }
        }
        &[]
    }

    /// Every name with its edges, in byte order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[NamedEdge])> {
        (0..self.ends.len()).filter_map(|at| self.row(at))
    }

    fn row(&self, at: usize) -> Option<(&str, &[NamedEdge])> {
        let end = self.ends.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or_default();
        let text = self.texts.get(start.text..end.text)?;
        Some((text, self.edges.get(start.edges..end.edges)?))
    }
}

impl Heap for NameTable {
    fn heap_bytes(&self) -> usize {
        let Self { texts, edges, ends } = self;
        texts.heap_bytes() + allocated(size_of_val(&**edges)) + allocated(size_of_val(&**ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle_set::BundleIndex;
    use crate::channel::ChannelIndex;
    use crate::edges::{Edge, NameEdge};

    fn edge(to: u32) -> NamedEdge {
        let edge = Edge {
            channel: ChannelIndex(0),
            to: BundleIndex(to),
        };
        edge.named(NameEdge::Replaces)
    }

    #[test]
    fn names_have_their_own_edges_each_once() {
        let names = [("b", 3), ("", 0), ("b", 1), ("ab", 2), ("b", 3)];
        let table = NameTable::of(names.map(|(name, to)| (name, edge(to))).into());
        for (name, expected) in [
            ("", &[0][..]),
            ("a", &[]),
            ("ab", &[2]),
            ("abc", &[]),
            ("b", &[1, 3]),
            ("c", &[]),
        ] {
            let expected: Vec<_> = expected.iter().copied().map(edge).collect();
            assert_eq!(table.get(name), expected, "{name:?}");
        }
        let names: Vec<_> = table.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["", "ab", "b"]);
    }

    #[test]
    fn no_names_have_no_edges() {
        let table = NameTable::of(Vec::new());
        assert_eq!(table.get(""), []);
        assert_eq!(table.heap_bytes(), 0);
    }
}
