//! What is drawn, with places: the picture before it is any file's.
//!
//! All lengths are CSS pixels from the top left corner.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::picture::sketch::{DrawnChange, EdgeFate, VersionRow};
use crate::picture::walk::StepField;
use crate::picture::{Marks, VersionMark};

/// The whole picture.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
    /// The lines above everything: the package, what is shown of it, how to read it.
    pub heading: Vec<SceneLabel>,
    /// What the signs mean, those that occur.
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
    /// Where its baseline starts, or has its middle or end.
    pub at: Point,
    /// Which of these.
    pub anchor: Anchor,
    /// The height of its face.
    pub size: i32,
    /// Its face.
    pub face: Face,
    /// How it stands out.
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

/// What a text is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelRole {
    /// The name of the package.
    Title,
    /// The name of a channel.
    Name,
    /// A version.
    Version,
    /// How many versions a fold stands for.
    Count,
    /// What is said by the way.
    Aside,
}

/// A sign and what it means.
#[derive(Clone, Debug)]
pub struct LegendItem {
    /// The sign.
    pub sign: LegendSign,
    /// Where it is.
    pub area: Area,
    /// What it means.
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
    /// What holds whatever the channel.
    pub marks: Marks,
    /// The band.
    pub area: Area,
    /// The version.
    pub label: SceneLabel,
    /// Its whole name.
    pub name: String,
    /// How many hops away it is.
    pub hops: Option<SceneLabel>,
    /// Whether it cannot be reached.
    pub is_out_of_reach: bool,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Card {
    /// The lane, from the left of the sketch.
    pub lane: u32,
    /// Its background.
    pub area: Area,
    /// How high its heading is.
    pub heading: i32,
    /// Its name, and what is said of it.
    pub labels: Vec<SceneLabel>,
    /// What is not said for want of room.
    pub title: String,
    /// Whether it is the default channel.
    pub is_default: bool,
    /// Whether it is deprecated.
    pub is_deprecated: bool,
    /// Its versions.
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
    /// What the channel makes of it.
    pub marks: Marks,
    /// Its shape.
    pub area: Area,
    /// Its version.
    pub label: SceneLabel,
    /// Its whole name, and what holds of it, in words.
    pub title: String,
    /// Whether it cannot be reached from where the walk starts.
    pub is_out_of_reach: bool,
}

/// An edge that is a line of its own.
#[derive(Clone, Debug)]
pub struct EdgeLine {
    /// Where it starts.
    pub from: VersionRow,
    /// Where it leads.
    pub to: VersionRow,
    /// Its bends, both ends with them.
    pub points: Vec<Point>,
    /// What becomes of it.
    pub fate: EdgeFate,
    /// What the comparison makes of it.
    pub change: DrawnChange,
    /// What is to be said of it.
    pub title: Option<String>,
}

/// Edges on one line: board at any stop, leave at any door further up.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Of which kind they are.
    pub field: StepField,
    /// What becomes of them.
    pub fate: EdgeFate,
    /// What the comparison makes of them.
    pub change: DrawnChange,
    /// The line.
    pub top: Point,
    /// Its length.
    pub length: i32,
    /// Where versions board.
    pub stops: Vec<BusStop>,
    /// Where entries are entered.
    pub doors: Vec<Door>,
    /// How many stops lie beyond the last version of the channel.
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
    /// What it skips.
    pub from: Vec<VersionRow>,
    /// From the line to the entry.
    pub points: [Point; 2],
    /// How many versions it skips.
    pub count: Option<(Area, SceneLabel)>,
    /// The same in words.
    pub title: String,
}

impl SceneLabel {
    /// What it covers at most.
    pub fn area(&self) -> Area {
        let width = self.face.width(&self.text, self.size);
        let x = match self.anchor {
            Anchor::Start => self.at.x,
            Anchor::Middle => self.at.x - width / 2,
            Anchor::End => self.at.x - width,
        };
        Area {
            x,
            y: self.at.y - self.size,
            width,
            height: self.size + self.size / 4,
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

    /// Whether the two share a point inside both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

// How wide texts are at most, without asking a font.
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
