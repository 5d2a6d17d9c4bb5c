//! The measures that all parts of the picture share.

use crate::picture::sketch::Row;

/// From one version to the next.
pub(super) const ROW: i32 = 28;
/// The height of a version.
pub(super) const PILL: i32 = 20;
/// Left and right of the text in a version.
pub(super) const PILL_PAD: i32 = 9;
/// The size of versions.
pub(super) const VERSION_SIZE: i32 = 12;
/// The columns of the longest version that is told whole.
pub(crate) const LONGEST_VERSION: usize = 26;
/// What a sign takes inside a version.
pub(super) const SIGN: i32 = 14;
/// Around everything.
pub(super) const MARGIN: i32 = 24;
/// The heading of a channel.
pub(super) const CARD_HEADING: i32 = 48;
/// Inside a channel, on every side.
pub(super) const CARD_PAD: i32 = 14;
/// Between two channels.
pub(super) const CARD_GAP: i32 = 20;
/// What a line that leads beyond the last version takes below it.
pub(super) const BEYOND: i32 = 22;

/// Where rows are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// The middle of the first.
    pub(super) first: i32,
}

impl Grid {
    /// The middle of a row.
    pub(super) fn y(self, Row(row): Row) -> i32 {
        self.first + ROW * i32::try_from(row).unwrap_or(0)
    }
}
