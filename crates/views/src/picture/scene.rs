//! Parts of a picture with their positions, independent of the output format.
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
    /// The lines at the top: the package, the selection, and how to read the picture.
    pub heading: Vec<SceneLabel>,
    /// Legend of the signs in the picture.
    pub legend: Vec<LegendItem>,
    /// The versions at the left edge.
    pub axis: Axis,
    /// The channels.
    pub cards: Vec<Card>,
    /// The requested upgrade path, drawn over everything else.
    pub way: Vec<EdgeLine>,
}

/// A point.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Point {
    /// Distance from the left.
    pub x: i32,
    /// Distance from the top.
    pub y: i32,
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Area {
    /// The left edge.
    pub x: i32,
    /// The upper edge.
    pub y: i32,
    /// Width, from left to right.
    pub width: i32,
    /// Height, from top to bottom.
    pub height: i32,
}

/// A text on one line.
#[derive(Clone, Debug)]
pub struct SceneLabel {
    /// Position on the baseline. `anchor` decides which point of the text it is.
    pub at: Point,
    /// Point of the text at this position.
    pub anchor: Anchor,
    /// Font size.
    pub size: i32,
    /// Role, which decides the style of the text.
    pub role: LabelRole,
    /// The text.
    pub text: String,
}

/// The point of a text that is at its position.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Anchor {
    /// The start: the text extends to the right.
    Start,
    /// The middle: the text extends to both sides.
    Middle,
    /// The end: the text extends to the left.
    End,
}

/// Role of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelRole {
    /// Name of the package.
    Title,
    /// Name of a channel.
    Name,
    /// A version.
    Version,
    /// Number of versions in a fold.
    Count,
    /// Remark.
    Aside,
}

/// A sign and its meaning.
#[derive(Clone, Debug)]
pub struct LegendItem {
    /// The sign.
    pub sign: LegendSign,
    /// Area of the sign.
    pub area: Area,
    /// Meaning of the sign.
    pub label: SceneLabel,
}

/// A sign of the legend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LegendSign {
    /// An edge of this field, or of the semver rules.
    Edge(StepField),
    /// An edge that OLM does not take, or that guardrails forbid.
    Fate(EdgeFate),
    /// An edge that only one of two catalogs has.
    Change(DrawnChange),
    /// A version with this mark.
    Version(VersionMark),
    /// The requested upgrade path.
    Way,
    /// A version that cannot be reached.
    OutOfReach,
}

/// The versions at the left edge.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Area of the versions.
    pub area: Area,
    /// Label above the versions.
    pub label: SceneLabel,
    /// The versions, from the top.
    pub rows: Vec<AxisRow>,
}

/// A version at the left edge, and the band behind its row.
#[derive(Clone, Debug)]
pub struct AxisRow {
    /// Row of the version.
    pub row: VersionRow,
    /// Marks that do not depend on a channel.
    pub marks: Marks,
    /// Area of the band.
    pub area: Area,
    /// Label of the version.
    pub label: SceneLabel,
    /// Whole name.
    pub name: String,
    /// Number of steps from the start of the walk.
    pub hops: Option<SceneLabel>,
    /// Whether the version cannot be reached.
    pub is_out_of_reach: bool,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Card {
    /// Index of the lane in the sketch, from the left.
    pub lane: u32,
    /// Background.
    pub area: Area,
    /// Height of the heading.
    pub heading: i32,
    /// Name, and remarks.
    pub labels: Vec<SceneLabel>,
    /// Remarks that do not fit, as a tooltip.
    pub title: String,
    /// Whether the channel is the default channel.
    pub is_default: bool,
    /// Whether the channel is deprecated.
    pub is_deprecated: bool,
    /// Versions.
    pub pills: Vec<Pill>,
    /// `replaces` edges.
    pub lines: Vec<EdgeLine>,
    /// `skips` and `skipRange` edges, folded.
    pub buses: Vec<Bus>,
}

/// A version in a channel.
#[derive(Clone, Debug)]
pub struct Pill {
    /// Row of the version.
    pub row: VersionRow,
    /// Marks of the version in the channel.
    pub marks: Marks,
    /// Shape.
    pub area: Area,
    /// Version.
    pub label: SceneLabel,
    /// Whole name and marks, in words.
    pub title: String,
    /// Whether the version cannot be reached from the start of the walk.
    pub is_out_of_reach: bool,
}

/// An edge with its own line.
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

/// Edges that share a line: there is one from each stop to each door above it.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Field of the edges.
    pub field: StepField,
    /// Fate of the edges.
    pub fate: EdgeFate,
    /// Change that the comparison found.
    pub change: DrawnChange,
    /// Upper end of the line.
    pub top: Point,
    /// Length of the line.
    pub length: i32,
    /// Versions at which the edges start.
    pub stops: Vec<BusStop>,
    /// Entries at which the edges end.
    pub doors: Vec<Door>,
    /// Number of stops beyond the last version of the channel.
    pub beyond: Option<SceneLabel>,
}

/// A version that is skipped.
#[derive(Clone, Copy, Debug)]
pub struct BusStop {
    /// Row of the version.
    pub row: VersionRow,
    /// Point on the line.
    pub at: Point,
    /// Right edge of the version, if the channel has it.
    pub from: Option<i32>,
}

/// An entry that skips.
#[derive(Clone, Debug)]
pub struct Door {
    /// The entry.
    pub to: VersionRow,
    /// Rows that the entry skips.
    pub from: Vec<VersionRow>,
    /// Ends of the connection from the line to the entry.
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
    /// Creates a text. Its role decides its typeface.
    pub(super) fn new(at: Point, anchor: Anchor, size: i32, role: LabelRole, text: String) -> Self {
        Self {
            at,
            anchor,
            size,
            role,
            text,
        }
    }

    /// Returns the leftmost position that the text can cover.
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
    /// Returns the typeface of the role.
    pub(super) fn face(self) -> Face {
        match self {
            Self::Title | Self::Name => Face::Bold,
            Self::Version | Self::Count => Face::Mono,
            Self::Aside => Face::Sans,
        }
    }
}

impl Area {
    /// Returns the right edge.
    pub fn right(&self) -> i32 {
        self.x + self.width
    }

    /// Returns the lower edge.
    pub fn bottom(&self) -> i32 {
        self.y + self.height
    }

    /// Returns the middle between the upper and the lower edge.
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

// === Maximum width of texts, without a font ===
//
// Widths are upper bounds in CSS pixels for the typefaces of the style. Texts that do not overlap by these
// widths do not overlap on a screen.

/// A typeface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Face {
    /// Monospace, for versions.
    Mono,
    /// Sans serif, for words.
    Sans,
    /// Bold sans serif, for names.
    Bold,
}

impl Face {
    /// Returns the maximum width of a text of this size.
    pub fn width(self, text: &str, size: i32) -> i32 {
        let widths = text.chars().map(|character| self.advance(character));
        let thousandths = widths.fold(0_i32, i32::saturating_add);
        thousandths.saturating_mul(size).saturating_add(999) / 1000
    }

    /// Returns the maximum width of a character in thousandths of the font size.
    ///
    /// The widths are from `DejaVu`, the widest typeface of the style. Other characters come from a fallback font. For
    /// these, a column counts as 800.
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

/// Maximum number of columns of a version. Longer versions are clipped.
pub(super) const LONGEST_VERSION: usize = 26;

/// Clips a text to this number of columns.
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

/// Converts a count to a coordinate.
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
