//! The source position of each value in a document.
//!
//! The positions are in one flat list in the order of the source, each with the number of positions
//! below it. A document therefore costs 24 bytes per value, 16 more per number, and one copy of
//! each key. A merge (`<<`) in a mapping is a child of its own, through which the merged keys are
//! found.

/// A position in a source. The order is the reading order.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[display("{line}:{column}")]
pub struct Position {
    /// The line, starting at 1.
    pub line: u32,
    /// The column in characters, starting at 1.
    pub column: u32,
}

impl Position {
    /// The position of the first character of a source.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// One step down from a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ValueStep<'a> {
    /// The member with this name.
    Key(&'a str),
    /// The element at this 0-based index.
    Index(usize),
}

impl<'a> ValueStep<'a> {
    /// The steps of a field path such as `spec.rules[2].via`.
    pub fn of_path(path: &'a str) -> Vec<Self> {
        let steps = path.split(['.', '[']).filter(|step| !step.is_empty());
        let step = |step: &'a str| {
            let index = step.strip_suffix(']').and_then(|index| index.parse().ok());
            index.map_or(Self::Key(step), Self::Index)
        };
        steps.map(step).collect()
    }
}

/// The positions of all values in one document.
///
/// Invariant: the first mark is that of the document, and each mark is followed by the marks below
/// it.
#[derive(Clone, Debug)]
pub struct Positions {
    marks: Vec<PositionMark>,
    /// The names of all members, and the texts that `texts` refers to.
    keys: String,
    /// The numbers and booleans as written, in the order of the source.
    texts: Vec<(Position, KeyText)>,
}

impl Positions {
    /// Returns the number or boolean at this path as written: YAML reads `1.10` as the number 1.1.
    /// `None` for other values, for very long texts, and for values from an alias.
    pub fn source_text(&self, path: &[ValueStep<'_>]) -> Option<&str> {
        self.source_text_below(MarkId::ROOT, path)
    }

    pub(super) fn source_text_below(&self, from: MarkId, path: &[ValueStep<'_>]) -> Option<&str> {
        let (at, missing) = self.descend(from, path);
        let at = missing.is_empty().then_some(at)?;
        let found = self.texts.binary_search_by_key(&at, |(at, _)| *at);
        let (_, text) = self.texts.get(found.ok()?)?;
        Some(text.text(&self.keys))
    }

    /// Returns the position of the value at this path; of the document for an empty path. `None` if
    /// there is no such value.
    ///
    /// A value inside an alias has the position at its anchor. Only the aliased value itself has
    /// the position of the alias.
    pub fn of(&self, path: &[ValueStep<'_>]) -> Option<Position> {
        let (at, missing) = self.descend(MarkId::ROOT, path);
        missing.is_empty().then_some(at)
    }

    /// Returns the position of the value at this path or, if it is absent, of the nearest value
    /// above it.
    pub fn nearest(&self, path: &[ValueStep<'_>]) -> Position {
        self.nearest_below(MarkId::ROOT, path)
    }

    pub(super) fn nearest_below(&self, from: MarkId, path: &[ValueStep<'_>]) -> Position {
        self.descend(from, path).0
    }

    /// Returns the mark of each element of the list that is the member `name` of a value.
    pub(super) fn elements(&self, of: MarkId, name: &str) -> Vec<MarkId> {
        let list = Subtree::at(&self.marks, of).member(name, &self.keys);
        let elements = list.into_iter().flat_map(Subtree::children);
        let elements = elements.filter(|child| child.is_element());
        elements.map(|child| child.id).collect()
    }

    fn descend<'p, 'a>(
        &self,
        from: MarkId,
        path: &'p [ValueStep<'a>],
    ) -> (Position, &'p [ValueStep<'a>]) {
        let mut rest = path;
        let mut marks = Subtree::at(&self.marks, from);
        while let [step, below @ ..] = rest {
            let Some(child) = marks.step(step, &self.keys) else {
                break;
            };
            (marks, rest) = (child, below);
        }
        (
            marks.all.first().map_or(Position::START, |mark| mark.at),
            rest,
        )
    }
}

/// A mark with the marks below it.
#[derive(Clone, Copy)]
struct Subtree<'m> {
    id: MarkId,
    all: &'m [PositionMark],
}

impl<'m> Subtree<'m> {
    /// Returns a mark with the marks below it.
    fn at(marks: &'m [PositionMark], id: MarkId) -> Self {
        let after = marks.get(id.0..).unwrap_or_default();
        let len = after.first().map_or(0, |mark| mark.len as usize);
        let all = after.get(..len).unwrap_or(after);
        Self { id, all }
    }

    fn children(self) -> impl Iterator<Item = Self> {
        let mut rest = self.all.get(1..).unwrap_or_default();
        let mut id = MarkId(self.id.0 + 1);
        std::iter::from_fn(move || {
            let len = usize::try_from(rest.first()?.len).ok()?;
            let (all, after) = rest.split_at_checked(len)?;
            let child = Self { id, all };
            (rest, id) = (after, MarkId(id.0 + len));
            Some(child)
        })
    }

    fn step(self, step: &ValueStep<'_>, keys: &str) -> Option<Self> {
        match step {
            ValueStep::Key(name) => self.member(name, keys),
            ValueStep::Index(index) => self
                .children()
                .filter(|child| child.is_element())
                .nth(*index),
        }
    }

    /// Returns the last member with a name: a key after a merge replaces the merged one, and vice
    /// versa.
    fn member(self, name: &str, keys: &str) -> Option<Self> {
        let found = |child: Self| match child.all.first()?.key {
            MarkKey::Name(key) => (key.text(keys) == name).then_some(child),
            MarkKey::Merge => child.merged(name, keys),
            MarkKey::None => None,
        };
        self.children().filter_map(found).last()
    }

    /// Returns the first match, because the first of several merged mappings counts.
    fn merged(self, name: &str, keys: &str) -> Option<Self> {
        let mut elements = self
            .children()
            .filter(|child| child.is_element())
            .peekable();
        if elements.peek().is_some() {
            elements.find_map(|mapping| mapping.member(name, keys))
        } else {
            self.member(name, keys)
        }
    }

    fn is_element(self) -> bool {
        matches!(
            self.all,
            [
                PositionMark {
                    key: MarkKey::None,
                    ..
                },
                ..
            ]
        )
    }
}

/// The position of one value.
#[derive(Clone, Copy, Debug)]
struct PositionMark {
    at: Position,
    /// The number of marks of this value and all values below it.
    len: u32,
    key: MarkKey,
}

/// The step from a value to the value below it.
#[derive(Clone, Copy, Debug)]
pub(super) enum MarkKey {
    /// An index, or the root.
    None,
    /// The merge key `<<`.
    Merge,
    /// The name of a member.
    Name(KeyText),
}

/// The range of a key's text in [`Positions::keys`].
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyText {
    start: u32,
    len: u32,
}

impl KeyText {
    fn text(self, keys: &str) -> &str {
        let start = self.start as usize;
        keys.get(start..start + self.len as usize)
            .unwrap_or_default()
    }
}

/// The index of a mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkId(usize);

impl MarkId {
    /// The mark of the document.
    pub(super) const ROOT: Self = Self(0);
}

/// The marks below a value, without its own, for copying them to an alias.
#[derive(Clone, Debug)]
pub(super) struct Below(std::ops::Range<usize>);

impl Below {
    /// The marks below a scalar: none.
    pub(super) const NOTHING: Self = Self(0..0);
}

/// Construction, in the order of the source.
impl Positions {
    pub(super) const fn new() -> Self {
        Self {
            marks: Vec::new(),
            keys: String::new(),
            texts: Vec::new(),
        }
    }

    pub(super) fn key(&mut self, text: &str) -> MarkKey {
        MarkKey::Name(self.keep(text))
    }

    /// Records how a number or boolean is written, unless the text is very long.
    pub(super) fn note(&mut self, text: &str, at: Position) {
        if text.len() <= LONGEST_TEXT {
            let text = self.keep(text);
            self.texts.push((at, text));
        }
    }

    fn keep(&mut self, text: &str) -> KeyText {
        let start = small(self.keys.len());
        self.keys.push_str(text);
        KeyText {
            start,
            len: small(text.len()),
        }
    }

    /// Adds a mark for a value, without any marks below it yet.
    pub(super) fn open(&mut self, at: Position, key: MarkKey) -> MarkId {
        self.marks.push(PositionMark { at, len: 1, key });
        MarkId(self.marks.len() - 1)
    }

    /// Declares that all marks since `id` are below it.
    pub(super) fn close(&mut self, id: MarkId) -> Below {
        let len = small(self.marks.len() - id.0);
        if let Some(mark) = self.marks.get_mut(id.0) {
            mark.len = len;
        }
        Below(id.0 + 1..self.marks.len())
    }

    pub(super) fn copy(&mut self, below: &Below) {
        self.marks.extend_from_within(below.0.clone());
    }

    /// Returns the position of the member with this name that is written in the open mapping at
    /// `id`.
    pub(super) fn written(&self, id: MarkId, name: &str) -> Option<Position> {
        let all = self.marks.get(id.0..)?;
        let mapping = Subtree { id, all };
        let is_named = |mark: &&PositionMark| matches!(mark.key, MarkKey::Name(key) if key.text(&self.keys) == name);
        mapping
            .children()
            .filter_map(|child| child.all.first())
            .find(is_named)
            .map(|mark| mark.at)
    }
}

/// The maximum length of a recorded text. No realistic version is longer.
const LONGEST_TEXT: usize = 64;

/// Converts a count, which the limits on nodes and text of a document keep far below the maximum.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
