//! Two catalogs in one picture: what a package has now, and what it had before.
//!
//! ```text
//! before: 1.1.0 <- 1.0.0     now: 1.2.0 <- 1.0.0     both: 1.2.0 added   <- 1.0.0 added
//!                                                          1.1.0 removed <- 1.0.0 removed
//! ```
//!
//! Versions are the same that have one name, channels likewise, and edges that have one field, one start
//! and one end in one channel. What can be reached is as it is now: what was removed is drawn, and no path
//! uses it.

mod lanes;
mod rows;

use crate::picture::mark::{Mark, Marks};
use crate::picture::sketch::{Row, Sketch};
use rows::{BothRows, placed};

/// What a comparison makes of a channel or an edge.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Change {
    /// Both catalogs have it, or nothing is compared.
    #[default]
    Kept,
    /// Only the catalog of now has it.
    Added,
    /// Only the catalog of before has it.
    Removed,
}

/// What a picture is compared with, and how much differs.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// What the user calls it.
    pub base: String,
    /// How many versions are added, and how many are removed.
    pub versions: (usize, usize),
    /// How many edges are added, and how many are removed.
    pub edges: (usize, usize),
}

impl Change {
    /// Its name in classes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

impl Sketch<'_, '_> {
    /// This picture with what another one, of the same package before, has more or less. Without one the
    /// package is new.
    #[must_use]
    pub fn compared(self, old: Option<Self>, base: &str) -> Self {
        let (old_rows, old_lanes) = match old {
            Some(old) => (placed(old.rows, old.graph), old.lanes),
            None => (Vec::new(), Vec::new()),
        };
        let graph = self.graph;
        let both = BothRows::of(placed(self.rows, graph), old_rows);
        let lanes = lanes::of_both(&both, self.lanes, old_lanes);
        let new = |row: Row| place(&both.new, row);
        let mut sketch = Sketch {
            barred: self.barred.mapped(new),
            walk: self.walk.mapped(new),
            reach: self.reach.map(|reach| reach.mapped(new)),
            rows: both.rows,
            lanes,
            ..self
        };
        sketch.comparison = Some(Comparison::of(&sketch, base));
        sketch
    }
}

impl Comparison {
    fn of(sketch: &Sketch<'_, '_>, base: &str) -> Self {
        let versions = |mark| {
            let rows = sketch.rows.iter();
            rows.filter(|row| row.marks.has(mark)).count()
        };
        let edges = |change| {
            let steps = sketch.lanes.iter().flat_map(|lane| &lane.steps);
            let fans = sketch.lanes.iter().flat_map(|lane| &lane.fans);
            let fans = fans.filter(|fan| fan.change == change);
            let skipped = fans.map(|fan| fan.from.len()).sum::<usize>();
            steps.filter(|step| step.change == change).count() + skipped
        };
        Self {
            base: base.to_owned(),
            versions: (versions(Mark::Added), versions(Mark::Removed)),
            edges: (edges(Change::Added), edges(Change::Removed)),
        }
    }
}

fn changed(marks: Marks, is_now: bool, was: bool) -> Marks {
    marks
        .with(Mark::Added, is_now && !was)
        .with(Mark::Removed, was && !is_now)
}

fn place(places: &[Row], Row(row): Row) -> Row {
    places.get(row as usize).copied().unwrap_or(Row(row))
}
