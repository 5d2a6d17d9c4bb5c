//! Where the parts of a document stand whose JSON was written.
//!
//! Invariant: `kept` is in the order of the JSON. What an alias repeats has the place of the alias.

/// A list of places: byte in the JSON, line and column in the document, both counted from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    wanted: bool,
    kept: Vec<(usize, u32, u32)>,
}

impl Marks {
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            kept: Vec::new(),
        }
    }

    /// Notes that the JSON from `at` on stands there.
    pub(super) fn note(&mut self, at: usize, line: usize, column: usize) {
        if self.wanted {
            let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            self.kept.push((at, narrow(line), narrow(column + 1)));
        }
    }

    /// Line and column of what the JSON says at `at`.
    pub(crate) fn find(&self, at: usize) -> (u32, u32) {
        let after = self.kept.partition_point(|(mark, ..)| *mark <= at);
        let mark = after.checked_sub(1).and_then(|last| self.kept.get(last));
        mark.map_or((1, 1), |(_, line, column)| (*line, *column))
    }
}
