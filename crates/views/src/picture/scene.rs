//! Parts of a picture with their places, before any output format.
//!
//! All lengths are CSS pixels from the top left corner.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::picture::sketch::{DrawnChange, EdgeFate, VersionRow};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark};

/// The whole picture.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
    /// The lines above everything: the package, what is shown of it, how to read it.
    pub heading: Vec<SceneLabel>,
    /// Legend of the signs that occur.
    pub legend: Vec<LegendItem>,
    /// The versions at the left edge.
    pub axis: Axis,
    /// The channels.
    pub cards: Vec<Card>,
    /// The way that was asked for, over everything else.
    pub way: Vec<EdgeLine>,
}

/// A point.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Area {
    /// The left edge.
    pub x: i32,
    /// The upper edge.
    pub y: i32,
    /// From left to right.
    pub width: i32,
    /// From top to bottom.
    pub height: i32,
}

/// A text on one line.
#[derive(Clone, Debug)]
pub struct SceneLabel {
    /// Start, middle or end of the baseline.
    pub at: Point,
    /// Which of these.
    pub anchor: Anchor,
    /// The height of its face.
    pub size: i32,
    /// Role, which decides how the text stands out.
    pub role: LabelRole,
    /// The text.
    pub text: String,
}

/// To which side of its place a text extends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Anchor {
    /// To the right.
    Start,
    /// To both.
    Middle,
    /// To the left.
    End,
}

/// Role of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelRole {
    /// The name of the package.
    Title,
    /// The name of a channel.
    Name,
    /// A version.
    Version,
    /// Number of versions in a fold.
    Count,
    /// Remark.
    Aside,
}

/// A sign and what it means.
#[derive(Clone, Debug)]
pub struct LegendItem {
    /// The sign.
    pub sign: LegendSign,
    /// Where it is.
    pub area: Area,
    /// Meaning of the sign.
    pub label: SceneLabel,
}

/// A sign of the legend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LegendSign {
    /// An edge of this field; of none where versions alone allow it.
    Edge(StepField),
    /// An edge that OLM does not take, or that guardrails forbid.
    Fate(EdgeFate),
    /// An edge that one of two catalogs has.
    Change(DrawnChange),
    /// A version with this mark.
    Version(VersionMark),
    /// The way that was asked for.
    Way,
    /// A version out of reach.
    OutOfReach,
}

/// The versions at the left edge.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Where they stand.
    pub area: Area,
    /// What stands above them.
    pub label: SceneLabel,
    /// Each of them.
    pub rows: Vec<AxisRow>,
}

/// A version at the left edge, and the band behind its row.
#[derive(Clone, Debug)]
pub struct AxisRow {
    /// Which.
    pub row: VersionRow,
    /// Marks that do not depend on a channel.
    pub marks: Marks,
    /// The band.
    pub area: Area,
    /// The version.
    pub label: SceneLabel,
    /// Whole name.
    pub name: String,
    /// Number of steps from the start of the walk.
    pub hops: Option<SceneLabel>,
    /// Whether it cannot be reached.
    pub is_out_of_reach: bool,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Card {
    /// The lane, from the left of the sketch.
    pub lane: u32,
    /// Background.
    pub area: Area,
    /// Height of the heading.
    pub heading: i32,
    /// Name, and remarks.
    pub labels: Vec<SceneLabel>,
    /// Remarks for which there is no room.
    pub title: String,
    /// Whether it is the default channel.
    pub is_default: bool,
    /// Whether it is deprecated.
    pub is_deprecated: bool,
    /// Versions.
    pub pills: Vec<Pill>,
    /// `replaces`.
    pub lines: Vec<EdgeLine>,
    /// `skips` and `skipRange`, folded.
    pub buses: Vec<Bus>,
}

/// A version in a channel.
#[derive(Clone, Debug)]
pub struct Pill {
    /// Which.
    pub row: VersionRow,
    /// Marks of the version in the channel.
    pub marks: Marks,
    /// Shape.
    pub area: Area,
    /// Version.
    pub label: SceneLabel,
    /// Whole name and marks, in words.
    pub title: String,
    /// Whether it cannot be reached from where the walk starts.
    pub is_out_of_reach: bool,
}

/// An edge that is a line of its own.
#[derive(Clone, Debug)]
pub struct EdgeLine {
    /// Start of the edge.
    pub from: VersionRow,
    /// End of the edge.
    pub to: VersionRow,
    /// Bends, with both ends.
    pub points: Vec<Point>,
    /// Fate of the edge.
    pub fate: EdgeFate,
    /// Change that the comparison found.
    pub change: DrawnChange,
    /// Tooltip.
    pub title: Option<String>,
}

/// Edges on one line: board at any stop, leave at any door further up.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Of which kind they are.
    pub field: StepField,
    /// Fate of the edges.
    pub fate: EdgeFate,
    /// Change that the comparison found.
    pub change: DrawnChange,
    /// The line.
    pub top: Point,
    /// Length.
    pub length: i32,
    /// Where versions board.
    pub stops: Vec<BusStop>,
    /// Where entries are entered.
    pub doors: Vec<Door>,
    /// Number of stops beyond the last version of the channel.
    pub beyond: Option<SceneLabel>,
}

/// A version that is skipped.
#[derive(Clone, Copy, Debug)]
pub struct BusStop {
    /// Which.
    pub row: VersionRow,
    /// Where it boards.
    pub at: Point,
    /// Where its version ends, where the channel has it.
    pub from: Option<i32>,
}

/// An entry that skips.
#[derive(Clone, Debug)]
pub struct Door {
    /// The entry.
    pub to: VersionRow,
    /// Rows that the entry skips.
    pub from: Vec<VersionRow>,
    /// From the line to the entry.
    pub points: [Point; 2],
    /// Number of versions that the entry skips.
    pub count: Option<(Area, SceneLabel)>,
    /// Number of versions in words.
    pub title: String,
}

impl Point {
    pub(super) const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }
}

impl SceneLabel {
    /// A text in the face of its role.
    pub(super) fn new(at: Point, anchor: Anchor, size: i32, role: LabelRole, text: String) -> Self {
        Self {
            at,
            anchor,
            size,
            role,
            text,
        }
    }

    /// The left edge of the widest that it can be.
    pub(super) fn left(&self) -> i32 {
        let width = self.role.face().width(&self.text, self.size);
        match self.anchor {
            Anchor::Start => self.at.x,
            Anchor::Middle => self.at.x - width / 2,
            Anchor::End => self.at.x - width,
        }
    }
}

impl LabelRole {
    /// Its typeface.
    pub(super) fn face(self) -> Face {
        match self {
            Self::Title | Self::Name => Face::Bold,
            Self::Version | Self::Count => Face::Mono,
            Self::Aside => Face::Sans,
        }
    }
}

impl Area {
    /// The right edge.
    pub fn right(&self) -> i32 {
        self.x + self.width
    }

    /// The lower edge.
    pub fn bottom(&self) -> i32 {
        self.y + self.height
    }

    /// The middle between the upper and the lower edge.
    pub fn middle(&self) -> i32 {
        self.y + self.height / 2
    }

    pub(super) const fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        Self {
            x,
            y,
            width,
            height,
        }
    }
}

// === How wide texts are at most, without asking a font ===
//
// Widths are upper bounds in CSS pixels for the faces that the style names, so that what does not
// overlap by them does not overlap on a screen.

/// A face.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Face {
    /// Versions: every column is as wide as the others.
    Mono,
    /// Words.
    Sans,
    /// Names.
    Bold,
}

impl Face {
    /// The width of a text of this size.
    pub fn width(self, text: &str, size: i32) -> i32 {
        let widths = text.chars().map(|character| self.advance(character));
        let thousandths = widths.fold(0_i32, i32::saturating_add);
        thousandths.saturating_mul(size).saturating_add(999) / 1000
    }

    /// Thousandths of the size that a character takes: those of `DejaVu`, the widest face that the style
    /// names. What it has not is taken from a font where a column is as wide as half its height.
    fn advance(self, character: char) -> i32 {
        let columns = character.width().map_or(0, px);
        match self {
            _ if !character.is_ascii() => columns.saturating_mul(800),
            Self::Mono => 605 * columns,
            Self::Sans => proportional(character),
            Self::Bold => proportional(character) * 9 / 8,
        }
    }
}

fn proportional(character: char) -> i32 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '!' | '|' | '\'' | ' ' => 340,
        'f' | 't' | 'r' | '(' | ')' | '-' | '[' | ']' | '/' | '\\' => 420,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1000,
        'A'..='Z' | '+' | '<' | '>' | '=' | '#' | '~' | '^' | '&' => 840,
        _ => 645,
    }
}

/// The columns of the longest version that is shown whole.
pub(super) const LONGEST_VERSION: usize = 26;

/// The text, its end cut off where it has more columns than this.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| {
        let width = character.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{kept}…")
}

/// A count as a coordinate.
pub(super) fn px(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_end() {
        for (text, columns, expected) in [
            ("1.2.3", 5, "1.2.3"),
            ("1.2.34", 5, "1.2.…"),
            ("灯灯灯", 5, "灯灯…"),
            ("灯灯灯", 6, "灯灯灯"),
            ("", 0, ""),
        ] {
            assert_eq!(clip(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(Face::Mono.width("1.2.3", 12), 37);
        assert!(Face::Mono.width("灯", 10) > Face::Mono.width("ab", 10));
        assert!(Face::Bold.width("stable", 12) > Face::Sans.width("stable", 12));
    }
}
