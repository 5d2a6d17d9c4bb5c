//! The room that a lane needs, before it has a position.

use std::cmp::Reverse;

use crate::picture::layout::{PILL_PAD, SIGN, VERSION_SIZE, tracks};
use crate::picture::scene::{Face, px};
use crate::picture::sketch::{Fan, Lane, LaneCell, ReplacesStep, Sketch, VersionRow};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark, text};

/// A lane with its lines on tracks.
#[derive(Debug)]
pub(super) struct LanePlan<'s, 'p> {
    pub(super) at: u32,
    pub(super) lane: &'s Lane<'p>,
    /// Width of every version in the lane.
    pub(super) pill: i32,
    /// Steps to the next entry, which run in the middle.
    pub(super) straight: Vec<ReplacesStep>,
    /// Other steps, with their distance to the left of the versions.
    pub(super) bent: Vec<(ReplacesStep, i32)>,
    /// Folded fans, with their distance to the right of the versions.
    pub(super) buses: Vec<(FoldedFans<'s, 'p>, i32)>,
    /// Width needed to the left of the versions.
    pub(super) left: i32,
    /// Width needed to the right of the versions.
    pub(super) right: i32,
    /// First and last row of the lane.
    pub(super) rows: (VersionRow, VersionRow),
    /// Whether a line continues to versions outside these rows.
    pub(super) is_open: bool,
}

impl<'s, 'p> LanePlan<'s, 'p> {
    pub(super) fn of(sketch: &'s Sketch<'_, 'p>, at: u32, lane: &'s Lane<'p>) -> Self {
        let row = |cell: Option<&LaneCell>| cell.map_or(VersionRow(0), |cell| cell.row);
        let rows = (row(lane.cells.first()), row(lane.cells.last()));
        let (straight, bent): (Vec<_>, Vec<_>) =
            lane.steps.iter().partition(|step| is_next(lane, step));
        let bent = bend(bent);
        let buses = board(fold(&lane.fans), rows);
        let right = buses.iter().map(|(bus, x)| x + half(bus)).max();
        Self {
            at,
            lane,
            pill: pill(sketch, lane),
            straight,
            left: bent.iter().map(|(_, x)| *x).max().unwrap_or(0),
            right: right.unwrap_or(0),
            is_open: buses.iter().any(|(bus, _)| bus.leaves(rows)),
            bent,
            buses,
            rows,
        }
    }
}

/// Whether a step goes from one cell of a lane up to the next.
fn is_next(lane: &Lane<'_>, step: &ReplacesStep) -> bool {
    let at = |row: VersionRow| lane.cells.binary_search_by_key(&row, |cell| cell.row).ok();
    matches!((at(step.from), at(step.to)), (Some(from), Some(to)) if from == to + 1)
}

/// Puts steps on tracks. Shorter steps are nearer to the versions.
fn bend(mut steps: Vec<ReplacesStep>) -> Vec<(ReplacesStep, i32)> {
    let ends = |step: &ReplacesStep| (step.from.0.min(step.to.0), step.from.0.max(step.to.0));
    steps.sort_by_key(|step| {
        let (top, bottom) = ends(step);
        (bottom - top, top)
    });
    let tracks = tracks(steps.iter().map(ends));
    let placed = steps.into_iter().zip(tracks);
    placed
        .map(|(step, track)| (step, FIRST_BEND + BEND * px(track)))
        .collect()
}

/// Puts folded fans on tracks: `skips` before `skipRange`, separate tracks for each field, as wide
/// as its counts.
fn board<'s, 'p>(
    folded: Vec<FoldedFans<'s, 'p>>,
    rows: (VersionRow, VersionRow),
) -> Vec<(FoldedFans<'s, 'p>, i32)> {
    let mut boarded = Vec::new();
    let mut x = FIRST_BUS;
    let mut rest = folded.into_iter().peekable();
    while let Some(first) = rest.peek() {
        let field = first.first.kind.field();
        let group: Vec<_> =
            std::iter::from_fn(|| rest.next_if(|bus| bus.first.kind.field() == field)).collect();
        let pitch = group.iter().map(half).max().unwrap_or(0) * 2 + BUS_GAP;
        // A line that continues below the channel has a count at its end.
        let stretch = |bus: &FoldedFans<'_, '_>| {
            let (top, bottom) = (bus.top().max(rows.0), bus.bottom());
            (
                top.0,
                if bus.leaves(rows) {
                    rows.1.0 + 1
                } else {
                    bottom.0
                },
            )
        };
        let tracks = tracks(group.iter().map(stretch));
        let count = tracks.iter().max().map_or(0, |track| px(track + 1));
        for (bus, track) in group.into_iter().zip(tracks) {
            boarded.push((bus, x + pitch * px(track) + pitch / 2));
        }
        x += pitch * count;
    }
    boarded
}

/// Returns half of the width of a line: half of its widest count.
pub(super) fn half(bus: &FoldedFans<'_, '_>) -> i32 {
    let widest = bus
        .fans
        .iter()
        .filter_map(|fan| text::count(fan.from.len()));
    let widest = widest.map(|text| Face::Mono.width(&text, COUNT_SIZE) + COUNT_PAD);
    let beyond = Face::Mono.width(&text::beyond(bus.first.from.len()), COUNT_SIZE);
    let beyond = if bus.first.kind.field() == StepField::SkipRange {
        beyond
    } else {
        0
    };
    (widest.max().unwrap_or(0).max(beyond) / 2).max(NARROWEST)
}

/// Returns the width of the versions of a lane: the width of the widest one.
fn pill(sketch: &Sketch<'_, '_>, lane: &Lane<'_>) -> i32 {
    let width = |cell: &LaneCell| {
        let label = text::pill_label(sketch, *cell);
        Face::Mono.width(&label, VERSION_SIZE) + SIGN * px(signs(cell.marks).count())
    };
    let widest = lane.cells.iter().map(width).max();
    widest.unwrap_or(0) + 2 * PILL_PAD
}

/// Returns the marks that have their own sign inside a version. Other marks change its shape.
pub(crate) fn signs(marks: Marks) -> impl Iterator<Item = VersionMark> {
    let stranded = marks
        .is_stranded()
        .then_some(if marks.has(VersionMark::StrandedV1) {
            VersionMark::StrandedV1
        } else {
            VersionMark::StrandedV0
        });
    let own = [
        VersionMark::Installed,
        VersionMark::Head,
        VersionMark::Skipped,
    ];
    let own = own.into_iter().filter(move |mark| marks.has(*mark));
    own.chain(stranded)
}

/// Distance from the versions to the first bent step.
const FIRST_BEND: i32 = 14;
/// Distance from one bent step to the next.
const BEND: i32 = 9;
/// Distance from the versions to the first line. Arrowheads need this room.
const FIRST_BUS: i32 = 14;
/// Distance between the counts of two lines.
const BUS_GAP: i32 = 6;
/// Minimum of half of the width of a line.
const NARROWEST: i32 = 6;
/// Font size of counts.
pub(super) const COUNT_SIZE: i32 = 11;
/// Padding of a count, left and right together.
pub(super) const COUNT_PAD: i32 = 8;

// === Fans that differ little become one bus ===
//
// Authors write `skipRange: ">=1.2.0 <1.2.5"` for 1.2.5, `">=1.2.0 <1.2.4"` for 1.2.4 and so on. Of
// the versions in the first range, the second includes all that are older than its own entry. Such
// fans share a line with one door for each entry. There is an edge from any stop to any door above
// it, so no edge is lost or added.
//
// ```text
// 1.2.5  <-- 5 --+      fans {0..4} -> 5, {0..3} -> 4        Invariant: for each door, what its
// 1.2.4  <-- 4 --o                                           entry skips are the stops below it.
// 1.2.3          o
// ```

/// Fans that share a line.
#[derive(Debug)]
pub(super) struct FoldedFans<'f, 'p> {
    /// The fans, the uppermost entry first. The stops of the first fan are the stops of the line.
    pub(super) fans: Vec<&'f Fan<'p>>,
    pub(super) first: &'f Fan<'p>,
}

/// Folds the fans of a lane, grouped by field. Shorter lines come first.
pub(super) fn fold<'f, 'p>(fans: &'f [Fan<'p>]) -> Vec<FoldedFans<'f, 'p>> {
    let mut fans: Vec<_> = fans.iter().collect();
    fans.sort_by_key(|fan| (fan.to, Reverse(fan.from.len())));
    let mut folded = Vec::<FoldedFans<'_, '_>>::new();
    for fan in fans {
        match folded.iter_mut().find(|folded| folded.takes(fan)) {
            Some(folded) => folded.fans.push(fan),
            None => folded.push(FoldedFans {
                fans: vec![fan],
                first: fan,
            }),
        }
    }
    folded.sort_by_key(|folded| (folded.first.kind.field(), folded.span(), folded.top()));
    folded
}

impl FoldedFans<'_, '_> {
    /// Returns the uppermost row of the line.
    pub(super) fn top(&self) -> VersionRow {
        self.ends().into_iter().min().unwrap_or(VersionRow(0))
    }

    /// Returns the lowest row of the line.
    pub(super) fn bottom(&self) -> VersionRow {
        self.ends().into_iter().max().unwrap_or(VersionRow(0))
    }

    /// Whether the line continues beyond these rows.
    pub(super) fn leaves(&self, (first, last): (VersionRow, VersionRow)) -> bool {
        self.top() < first || self.bottom() > last
    }

    fn ends(&self) -> Vec<VersionRow> {
        let stops = &self.first.from;
        let doors = self.fans.iter().map(|fan| fan.to);
        let ends = stops.first().into_iter().chain(stops.last()).copied();
        doors.chain(ends).collect()
    }

    fn span(&self) -> u32 {
        self.bottom().0 - self.top().0
    }

    /// Whether a fan, lower than all doors, can share the line.
    fn takes(&self, fan: &Fan<'_>) -> bool {
        let stops = &self.first.from;
        let below = stops.get(stops.partition_point(|row| *row <= fan.to)..);
        self.first.kind.field() == fan.kind.field()
            && (self.first.fate, self.first.change) == (fan.fate, fan.change)
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
