//! The way that was asked for, drawn over the edges that it takes.

use crate::picture::layout::card::port;
use crate::picture::layout::grid::Grid;
use crate::picture::scene::{Bus, Card, EdgeLine, Point};
use crate::picture::sketch::{Change, Fate, Row, Sketch};
use crate::picture::walk::{Field, Hop};

/// One line for each hop.
pub(super) fn way(sketch: &Sketch<'_, '_>, cards: &[Card], grid: Grid) -> Vec<EdgeLine> {
    let hops = sketch.reach.iter().flat_map(|reach| &reach.way);
    let line = |(from, hop): &(Row, Hop)| {
        let card = cards.iter().find(|card| card.lane == hop.lane)?;
        Some(EdgeLine {
            from: *from,
            to: hop.to,
            points: points(card, *from, hop, grid)?,
            fate: Fate::Taken,
            change: Change::Kept,
            title: None,
        })
    };
    hops.filter_map(line).collect()
}

fn points(card: &Card, from: Row, hop: &Hop, grid: Grid) -> Option<Vec<Point>> {
    if hop.field == Field::Replaces {
        let mut lines = card.lines.iter();
        let line = lines.find(|line| line.from == from && line.to == hop.to)?;
        return Some(line.points.clone());
    }
    let mut buses = card.buses.iter().filter(|bus| bus.field == hop.field);
    buses.find_map(|bus| ride(card, bus, from, hop.to, grid))
}

/// From the version to the line, along it, and to the entry.
fn ride(card: &Card, bus: &Bus, from: Row, to: Row, grid: Grid) -> Option<Vec<Point>> {
    let mut doors = bus.doors.iter();
    let door = doors.find(|door| door.to == to && door.from.contains(&from))?;
    let [at, end] = door.points;
    let point = |x, y| Point { x, y };
    let board = match card.pills.iter().find(|pill| pill.row == from) {
        Some(pill) => {
            let y = grid.y(from) - port(bus.field, bus.fate, bus.change);
            vec![point(pill.area.right(), y), point(at.x, y)]
        }
        // It boards where the line leads to, out of this channel.
        None => vec![point(at.x, grid.y(from).min(bus.top.y + bus.length))],
    };
    Some(board.into_iter().chain([at, end]).collect())
}
