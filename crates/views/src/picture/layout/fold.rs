//! Fans that say almost the same become one bus.
//!
//! Authors write `skipRange: ">=1.2.0 <1.2.5"` for 1.2.5, `">=1.2.0 <1.2.4"` for 1.2.4 and so on: of
//! what the first holds, the second holds all that is older than itself. Such fans share a line with
//! one door for each entry, read as: from any stop, to any door above it. No edge is lost or added.
//!
//! ```text
//! 1.2.5  <-- 5 --+      fans {0..4} -> 5, {0..3} -> 4        Invariant: for each door, what its
//! 1.2.4  <-- 4 --o                                           entry skips are the stops below it.
//! 1.2.3          o
//! ```

use std::cmp::Reverse;

use crate::picture::sketch::{Change, Fan, Fate, Row};
use crate::picture::walk::Field;

/// Fans on one line.
#[derive(Debug)]
pub(super) struct FoldedFans<'f, 'p> {
    /// The fans, the uppermost entry first. The first one's stops are those of the whole.
    pub(super) fans: Vec<&'f Fan<'p>>,
}

/// Folds the fans of a lane; those of one field stand together, the shorter lines first.
pub(super) fn fold<'f, 'p>(fans: &'f [Fan<'p>]) -> Vec<FoldedFans<'f, 'p>> {
    let mut fans: Vec<_> = fans.iter().collect();
    fans.sort_by_key(|fan| (fan.to, Reverse(fan.from.len())));
    let mut folded = Vec::<FoldedFans<'_, '_>>::new();
    for fan in fans {
        match folded.iter_mut().find(|folded| folded.takes(fan)) {
            Some(folded) => folded.fans.push(fan),
            None => folded.push(FoldedFans { fans: vec![fan] }),
        }
    }
    folded.sort_by_key(|folded| (folded.field(), folded.span(), folded.top()));
    folded
}

impl<'f> FoldedFans<'f, '_> {
    /// The field that all of them are of.
    pub(super) fn field(&self) -> Field {
        let first = self.fans.first();
        first.map_or(Field::Skips, |fan| fan.kind.field())
    }

    /// What becomes of all of them.
    pub(super) fn fate(&self) -> Fate {
        self.fans.first().map_or(Fate::Taken, |fan| fan.fate)
    }

    /// What the comparison makes of all of them.
    pub(super) fn change(&self) -> Change {
        self.fans.first().map_or(Change::Kept, |fan| fan.change)
    }

    /// Every version that boards.
    pub(super) fn stops(&self) -> &'f [Row] {
        self.fans.first().map_or(&[], |fan| &fan.from)
    }

    /// The uppermost row that it touches.
    pub(super) fn top(&self) -> Row {
        self.ends().into_iter().min().unwrap_or(Row(0))
    }

    /// The lowest row that it touches.
    pub(super) fn bottom(&self) -> Row {
        self.ends().into_iter().max().unwrap_or(Row(0))
    }

    /// Whether it leads beyond these rows.
    pub(super) fn leaves(&self, (first, last): (Row, Row)) -> bool {
        self.top() < first || self.bottom() > last
    }

    fn ends(&self) -> Vec<Row> {
        let stops = self.stops();
        let doors = self.fans.iter().map(|fan| fan.to);
        let ends = stops.first().into_iter().chain(stops.last()).copied();
        doors.chain(ends).collect()
    }

    fn span(&self) -> u32 {
        self.bottom().0 - self.top().0
    }

    /// Whether a fan, lower than all doors, can be read off the same line.
    fn takes(&self, fan: &Fan<'_>) -> bool {
        let stops = self.stops();
        let below = stops.get(stops.partition_point(|row| *row <= fan.to)..);
        self.field() == fan.kind.field()
            && (self.fate(), self.change()) == (fan.fate, fan.change)
            && !fan.from.is_empty()
            && is_upward(fan)
            && self
                .fans
                .iter()
                .all(|other| is_upward(other) && other.to != fan.to)
            && below == Some(&*fan.from)
    }
}

fn is_upward(fan: &Fan<'_>) -> bool {
    fan.from.first().is_none_or(|first| *first > fan.to)
}
