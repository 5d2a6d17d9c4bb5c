//! The rules, once they are read.

use std::num::NonZeroU32;

use crate::guardrail::Range;
use crate::heap::Heap;
use crate::version::Version;

/// What is said of the upgrade steps of one package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guardrails {
    /// Which edges there are before any rule takes some away.
    pub graph: BaseGraph,
    /// The rules, in byte order of their ids: their order says nothing.
    pub rules: Box<[Rule]>,
}

/// Which edges there are before any rule takes some away.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BaseGraph {
    /// Those of the catalog.
    #[default]
    Catalog,
    /// Those of the semver rules.
    Semver,
    /// Both.
    CatalogOrSemver,
}

/// One rule, which forbids some steps and allows none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// What it is called, within its guardrails.
    pub id: Box<str>,
    /// Why it is there; empty where nothing is said.
    pub reason: Box<str>,
    /// Whether the bypass lifts a rule of an administrator; it lifts every rule of an author.
    pub bypassable: bool,
    /// What it forbids.
    pub kind: RuleKind,
}

/// What a rule forbids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RuleKind {
    /// To pass by some versions.
    PassThrough(Box<Passage>),
    /// To leave a minor version before the last patch of it.
    LatestPatchFirst {
        /// From these versions; absent: from every version.
        from: Option<Range>,
    },
    /// To pass by this many minor versions, or more.
    MaxMinorStep(NonZeroU32),
    /// To pass by one of several waypoints.
    Waypoints(Box<[Passage]>),
    /// To go from a version that is no prerelease to one.
    Prerelease(Action),
}

/// What becomes of steps to prereleases.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// They are forbidden.
    Deny,
    /// They are not, though the base graph is that of semver.
    Allow,
}

/// Versions that must be stepped through.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passage {
    /// These: one of them is enough.
    pub via: Range,
    /// On the way from these; absent: from everything lower than `via`.
    pub from: Option<Range>,
    /// On the way to these; absent: to everything higher than `via`.
    pub to: Option<Range>,
}

impl Passage {
    /// Whether a step passes by.
    pub fn is_passed_by(&self, from: &Version, to: &Version) -> bool {
        self.is_left_by(from) && self.is_overtaken_by(to)
    }

    /// Whether a step from this version may pass by, wherever it leads.
    pub fn is_left_by(&self, from: &Version) -> bool {
        let starts = match &self.from {
            Some(range) => range.holds(from),
            None => self.via.is_above(from),
        };
        starts && !self.via.holds(from)
    }

    /// Whether a step to this version may pass by, wherever it starts.
    pub fn is_overtaken_by(&self, to: &Version) -> bool {
        let ends = match &self.to {
            Some(range) => range.holds(to),
            None => self.via.is_below(to),
        };
        ends && !self.via.holds(to)
    }

    /// The ranges it is made of.
    pub fn ranges(&self) -> impl Iterator<Item = &Range> {
        [Some(&self.via), self.from.as_ref(), self.to.as_ref()]
            .into_iter()
            .flatten()
    }
}

impl RuleKind {
    /// What it is called in a file.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::PassThrough(_) => "PassThrough",
            Self::LatestPatchFirst { .. } => "LatestPatchFirst",
            Self::MaxMinorStep(_) => "MaxMinorStep",
            Self::Waypoints(_) => "Waypoints",
            Self::Prerelease(_) => "Prerelease",
        }
    }

    /// What must be stepped through: nothing, one stretch of versions, or one after another.
    pub fn passages(&self) -> &[Passage] {
        match self {
            Self::PassThrough(passage) => std::slice::from_ref(passage),
            Self::Waypoints(passages) => passages,
            Self::LatestPatchFirst { .. } | Self::MaxMinorStep(_) | Self::Prerelease(_) => &[],
        }
    }
}

impl RuleKind {
    /// The ranges that a step is compared with.
    fn ranges(&self) -> impl Iterator<Item = &Range> {
        let from = match self {
            Self::LatestPatchFirst { from } => from.as_ref(),
            _ => None,
        };
        let passages = self.passages().iter();
        passages.flat_map(Passage::ranges).chain(from)
    }
}

impl Guardrails {
    /// How many comparators a step is compared with at most.
    pub fn comparators(&self) -> usize {
        let ranges = self.rules.iter().flat_map(|rule| rule.kind.ranges());
        ranges.map(Range::comparators).sum::<usize>() + self.rules.len()
    }
}

impl BaseGraph {
    /// What it is called in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalog => "Catalog",
            Self::Semver => "Semver",
            Self::CatalogOrSemver => "CatalogOrSemver",
        }
    }
}

impl Heap for Guardrails {
    fn heap_bytes(&self) -> usize {
        self.rules.heap_bytes()
    }
}

impl Heap for Rule {
    fn heap_bytes(&self) -> usize {
        let own = match &self.kind {
            RuleKind::PassThrough(passage) => passage.heap_bytes(),
            RuleKind::Waypoints(passages) => passages.heap_bytes(),
            RuleKind::LatestPatchFirst { from } => from.heap_bytes(),
            RuleKind::MaxMinorStep(_) | RuleKind::Prerelease(_) => 0,
        };
        self.id.heap_bytes() + self.reason.heap_bytes() + own
    }
}

impl Heap for Passage {
    fn heap_bytes(&self) -> usize {
        self.via.heap_bytes() + self.from.heap_bytes() + self.to.heap_bytes()
    }
}
