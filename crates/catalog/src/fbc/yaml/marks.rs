//! Where the parts of a document stand whose JSON was written.
//!
//! Invariant: `kept` is in the order of the JSON. What an alias repeats has the place of the alias.

/// A list of places: byte in the JSON, line and column in the document, both counted from 1.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    wanted: bool,
    kept: Vec<(usize, u32, u32)>,
    tags: Vec<TaggedScalar>,
}

/// A scalar behind a tag of no meaning, such as that of an unquoted `!=1.5.0`.
#[derive(Clone, Debug)]
pub struct TaggedScalar {
    pub line: u32,
    pub column: u32,
    /// As it is written.
    pub tag: Box<str>,
    /// What is left as the value.
    pub value: Box<str>,
}

impl Marks {
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            kept: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Notes that the JSON from `at` on stands there.
    pub(super) fn note(&mut self, at: usize, line: usize, column: usize) {
        if self.wanted {
            self.kept.push((at, narrow(line), narrow(column + 1)));
        }
    }

    /// Notes a scalar behind a tag.
    pub(super) fn note_tag(&mut self, tag: &str, value: &str, line: usize, column: usize) {
        if self.wanted {
            self.tags.push(TaggedScalar {
                line: narrow(line),
                column: narrow(column + 1),
                tag: tag.into(),
                value: value.into(),
            });
        }
    }

    /// The scalars behind tags of no meaning.
    pub fn tags(&self) -> &[TaggedScalar] {
        &self.tags
    }

    /// Line and column of what the JSON says at `at`.
    pub fn find(&self, at: usize) -> (u32, u32) {
        let after = self.kept.partition_point(|(mark, ..)| *mark <= at);
        let mark = after.checked_sub(1).and_then(|last| self.kept.get(last));
        mark.map_or((1, 1), |(_, line, column)| (*line, *column))
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
