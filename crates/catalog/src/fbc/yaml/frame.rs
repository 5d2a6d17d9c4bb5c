//! What the transcoder remembers: collections that are open, and values that have an anchor.

use std::ops::Range;

/// A collection that has begun.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) shape: Shape,
    /// Where its JSON begins.
    pub(super) start: usize,
    pub(super) anchor: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    List,
    /// A mapping before a key.
    Key,
    /// A mapping before the value of a key.
    Value,
    /// A mapping before the value of a merge key.
    Merge,
    /// A mapping that is merged into the one around it, before a key.
    MergedKey,
    /// The same before a value.
    MergedValue,
    /// The same before the value of a merge key.
    MergedMerge,
    /// A list of mappings to merge; where the members of each stand.
    MergedList(Vec<Range<usize>>),
}

/// An anchored value that is complete.
#[derive(Debug)]
pub(super) enum Anchor {
    /// It stands here in what was written.
    Written(Range<usize>),
    /// Its JSON: it was written in another form.
    Kept(Vec<u8>),
}
