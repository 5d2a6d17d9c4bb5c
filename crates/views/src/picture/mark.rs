//! What is told of a version beside its edges.

/// A mark of a version; in a lane it is that channel's view of it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Mark {
    /// It is the installed one.
    Installed,
    /// No entry of the channel replaces or skips it.
    Head,
    /// The package's deprecations name it.
    Deprecated,
    /// An entry of the channel skips it: OLM v0 does not offer it, OLM v1 does.
    Skipped,
    /// OLM v0 finds no way from it in this channel, and it is no head.
    StrandedV0,
    /// OLM v1 finds no way from it in the channels that are drawn, and it is the head of none.
    StrandedV1,
    /// Edges speak of it, and no bundle has this name.
    Virtual,
    /// It is no entry of the channel, though an edge there starts at it.
    Elsewhere,
    /// The catalog that is compared with does not have it.
    Added,
    /// Only the catalog that is compared with has it.
    Removed,
}

/// The marks of one version.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Marks(u16);

impl Mark {
    /// Every mark, in the order in which they are told.
    pub const ALL: [Self; 10] = [
        Self::Installed,
        Self::Head,
        Self::Deprecated,
        Self::Skipped,
        Self::StrandedV0,
        Self::StrandedV1,
        Self::Virtual,
        Self::Elsewhere,
        Self::Added,
        Self::Removed,
    ];

    /// Its name in classes and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Head => "head",
            Self::Deprecated => "deprecated",
            Self::Skipped => "skipped",
            Self::StrandedV0 => "stranded-v0",
            Self::StrandedV1 => "stranded-v1",
            Self::Virtual => "virtual",
            Self::Elsewhere => "elsewhere",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }

    fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl Marks {
    /// These marks and one more, if it holds.
    #[must_use]
    pub fn with(self, mark: Mark, holds: bool) -> Self {
        if holds {
            Self(self.0 | mark.bit())
        } else {
            self
        }
    }

    /// Whether this mark is among them.
    pub fn has(self, mark: Mark) -> bool {
        self.0 & mark.bit() != 0
    }

    /// Whether there is a way on from here by neither or by one generation of OLM.
    pub fn is_stranded(self) -> bool {
        self.has(Mark::StrandedV0) || self.has(Mark::StrandedV1)
    }

    /// The marks, in the order in which they are told.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::ALL.into_iter().filter(move |mark| self.has(*mark))
    }
}
