//! A range of versions in a rule, with where it begins and ends.

use crate::heap::Heap;
use crate::version::{Extent, Membership, SkipRange, Version};

use super::Problem;

/// A range in the grammar of `skipRange`; two are equal if their texts are.
#[derive(Clone, Debug)]
pub struct Range {
    versions: SkipRange,
    extent: Extent,
}

impl Range {
    /// Reads one.
    ///
    /// # Errors
    /// The text is none, or one on which OLM would crash, or too long.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let too_long = Problem::RangeTooLong { most: MOST_BYTES };
        if text.len() > MOST_BYTES {
            return Err(too_long);
        }
        let versions = SkipRange::parse(text)?;
        if versions.otherwise() == Membership::Crashes {
            return Err(Problem::EmptyGroup);
        }
        match versions.extent() {
            Some(extent) => Ok(Self { versions, extent }),
            None => Err(too_long),
        }
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        self.versions.as_str()
    }

    /// Whether a version is in it.
    pub fn holds(&self, version: &Version) -> bool {
        self.versions.takes(version) == Membership::Holds
    }

    /// Whether all of it is higher than a version; so is a range without versions.
    pub fn is_above(&self, version: &Version) -> bool {
        self.extent.is_above(version)
    }

    /// Whether all of it is lower than a version; so is a range without versions.
    pub fn is_below(&self, version: &Version) -> bool {
        self.extent.is_below(version)
    }

    /// The versions in it.
    pub(super) fn versions(&self) -> &SkipRange {
        &self.versions
    }

    /// How many comparators there are.
    pub(crate) fn comparators(&self) -> usize {
        self.versions.groups().iter().map(|group| group.len()).sum()
    }
}

impl PartialEq for Range {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Range {}

impl Heap for Range {
    fn heap_bytes(&self) -> usize {
        self.versions.heap_bytes() + self.extent.heap_bytes()
    }
}

/// How long a range may be: every step of a search is compared with it.
const MOST_BYTES: usize = 512;
