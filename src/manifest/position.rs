//! The place in the source of each value of a document.
//!
//! The places lie in one flat list in the order of the source, each with the number of places below
//! it, so that a document costs 24 bytes a value, 16 more for a number, and one copy of each key. A mapping's merge (`<<`)
//! is kept as a child of its own, whose keys are found through it.

/// A place in a source. Orders as one reads.
#[derive(Clone, Copy, Debug, derive_more::Display, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[display("{line}:{column}")]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
}

impl Position {
    /// The first character of a source.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// One step down from a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ValueStep<'a> {
    /// Down to the member of this name.
    Key(&'a str),
    /// To the element at this 0-based index.
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

/// The places of all values of one document.
///
/// Invariant: the first mark is the document's, and a mark is followed by those below it.
#[derive(Clone, Debug)]
pub struct Positions {
    marks: Vec<PositionMark>,
    /// The names of all members, and the texts of `texts`.
    keys: String,
    /// How numbers and booleans are written, in the order of the source.
    texts: Vec<(Position, KeyText)>,
}

impl Positions {
    /// How the number or boolean at this path is written: `1.10` is the number 1.1 to YAML. None for other
    /// values, for a very long text, and for what came by an alias.
    pub fn source_text(&self, path: &[ValueStep<'_>]) -> Option<&str> {
        let at = self.of(path)?;
        let found = self.texts.binary_search_by_key(&at, |(at, _)| *at);
        let (_, text) = self.texts.get(found.ok()?)?;
        Some(text.text(&self.keys))
    }

    /// Where the value at this path begins; the document itself for an empty path. None where there
    /// is no such value.
    ///
    /// A value that came by an alias stands at its anchor, save for the one in whose stead the
    /// alias is written.
    pub fn of(&self, path: &[ValueStep<'_>]) -> Option<Position> {
        let (at, missing) = self.descend(path);
        missing.is_empty().then_some(at)
    }

    /// Where the value at this path begins or, where it is absent, the nearest value above it.
    pub fn nearest(&self, path: &[ValueStep<'_>]) -> Position {
        self.descend(path).0
    }

    fn descend<'p, 'a>(&self, path: &'p [ValueStep<'a>]) -> (Position, &'p [ValueStep<'a>]) {
        let mut rest = path;
        let mut marks = Subtree(&self.marks);
        while let [step, below @ ..] = rest {
            let Some(child) = marks.step(step, &self.keys) else {
                break;
            };
            (marks, rest) = (child, below);
        }
        (
            marks.0.first().map_or(Position::START, |mark| mark.at),
            rest,
        )
    }
}

/// A mark and those below it.
#[derive(Clone, Copy)]
struct Subtree<'m>(&'m [PositionMark]);

impl Subtree<'_> {
    fn children(self) -> impl Iterator<Item = Self> {
        let mut rest = self.0.get(1..).unwrap_or_default();
        std::iter::from_fn(move || {
            let len = usize::try_from(rest.first()?.len).ok()?;
            let (child, after) = rest.split_at_checked(len)?;
            rest = after;
            Some(Self(child))
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

    /// The last one counts: a key written after a merge replaces the merged one, and the other way
    /// round.
    fn member(self, name: &str, keys: &str) -> Option<Self> {
        let found = |child: Self| match child.0.first()?.key {
            MarkKey::Name(key) => (key.text(keys) == name).then_some(child),
            MarkKey::Merge => child.merged(name, keys),
            MarkKey::None => None,
        };
        self.children().filter_map(found).last()
    }

    /// Of several merged mappings the first one counts.
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
            self.0,
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

/// The place of one value.
#[derive(Clone, Copy, Debug)]
struct PositionMark {
    at: Position,
    /// How many marks this value and all below it have.
    len: u32,
    key: MarkKey,
}

/// What leads to a value from the one above.
#[derive(Clone, Copy, Debug)]
pub(super) enum MarkKey {
    /// An index, or nothing at all.
    None,
    /// The merge key `<<`.
    Merge,
    /// A member's name.
    Name(KeyText),
}

/// A key's text within [`Positions::keys`].
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

/// The number of a mark, for coming back to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkId(usize);

/// The marks of a value without its own, for copying them to where an alias stands.
#[derive(Clone, Debug)]
pub(super) struct Below(std::ops::Range<usize>);

impl Below {
    /// What a scalar has below it.
    pub(super) const NOTHING: Self = Self(0..0);
}

/// Building up, in the order of the source.
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

    /// Notes how the number or boolean here is written, unless that is very long.
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

    /// Notes a value of which nothing below is known yet.
    pub(super) fn open(&mut self, at: Position, key: MarkKey) -> MarkId {
        self.marks.push(PositionMark { at, len: 1, key });
        MarkId(self.marks.len() - 1)
    }

    /// All marks since `id` lie below it.
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

    /// Where the member of this name of the mapping at `id`, still open, was written out.
    pub(super) fn written(&self, id: MarkId, name: &str) -> Option<Position> {
        let mapping = Subtree(self.marks.get(id.0..)?);
        let is_named = |mark: &&PositionMark| matches!(mark.key, MarkKey::Name(key) if key.text(&self.keys) == name);
        mapping
            .children()
            .filter_map(|child| child.0.first())
            .find(is_named)
            .map(|mark| mark.at)
    }
}

/// No version that a person writes is longer.
const LONGEST_TEXT: usize = 64;

/// The limits on nodes and text of a document stay far below this.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
