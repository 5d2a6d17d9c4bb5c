//! Which channels stand above each other.
//!
//! A channel takes the rows of its versions and a heading above them. Those of different times share a
//! column, so that a package with a channel for each minor version is no long diagonal.

use crate::picture::layout::grid::{CARD_GAP, CARD_PAD};
use crate::picture::layout::plan::Plan;
use crate::picture::text;

/// Lanes above each other, with their versions in one line.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Left of the middle of the versions.
    left: i32,
    /// Right of it.
    right: i32,
    /// The first row that is free.
    free: u32,
    /// The widest heading.
    heading: i32,
}

/// The column of each plan, in the order given: one of its own while that fits into the room, else the
/// first that is free.
pub(super) fn columns(plans: &[Plan<'_, '_>], room: i32) -> (Vec<Column>, Vec<usize>) {
    let mut columns = Vec::<Column>::new();
    let place = |plan: &Plan<'_, '_>| {
        let first = plan.rows.0.0;
        let free = columns.iter().position(|column| column.free <= first);
        let free = free.filter(|_| !has_room(&columns, plan, room));
        let at = free.unwrap_or(columns.len());
        if free.is_none() {
            columns.push(Column::default());
        }
        if let Some(column) = columns.get_mut(at) {
            column.add(plan);
        }
        at
    };
    let places = plans.iter().map(place).collect();
    (columns, places)
}

/// Whether one more column fits.
fn has_room(columns: &[Column], plan: &Plan<'_, '_>, room: i32) -> bool {
    let mut own = Column::default();
    own.add(plan);
    let columns = columns.iter().chain([&own]);
    columns.map(|column| column.width() + CARD_GAP).sum::<i32>() <= room
}

impl Column {
    fn add(&mut self, plan: &Plan<'_, '_>) {
        self.left = self.left.max(plan.left + plan.pill / 2);
        self.right = self.right.max(plan.pill - plan.pill / 2 + plan.right);
        self.heading = self.heading.max(text::heading_width(plan.lane));
        self.free = plan.rows.1.0 + if plan.is_open { 4 } else { 3 };
    }

    /// From edge to edge.
    pub(super) fn width(&self) -> i32 {
        (self.left + self.right).max(self.heading) + 2 * CARD_PAD
    }

    /// The middle of the versions, from the edge: what room is left over is shared by both sides.
    pub(super) fn middle(&self) -> i32 {
        let spare = self.width() - 2 * CARD_PAD - (self.left + self.right);
        CARD_PAD + self.left + spare / 2
    }
}
