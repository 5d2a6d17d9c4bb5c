//! The upgrade graph as a picture: what is drawn of it, where, and in which form.
//!
//! ```text
//! graph::Graph, View --sketch--> Sketch --layout--> Scene --> svg, html
//!                                   '--> mermaid, dot, json
//! ```
//!
//! Channels are lanes, side by side; versions are rows, the newest on top, and a version stands in the
//! same row of every lane. Upstream draws one line for every version that a `skipRange` holds, which
//! soon hides all else; here ranges are folded (see [`layout`]).
//!
//! Everything is made from the facts alone: the same graph and view give the same bytes. Texts of the
//! catalog are escaped where they are written, in [`svg`], [`html`], [`mermaid`] and
//! [`dot`]; JSON escapes them itself.

use olmguard_catalog::word_set;

pub mod dot;
pub mod html;
pub mod json;
pub mod layout;
pub mod mermaid;
mod pick;
pub mod scene;
pub mod sketch;
pub mod svg;
mod text;
pub mod walk;

use olmguard_catalog::graph::NodeIndex;
use olmguard_catalog::olm::{EdgeSource, Rules};
use olmguard_engine::resolve::{Guards, MatchingPolicies};
use olmguard_engine::snapshot::CatalogState;

use crate::generation::Generation;

pub use crate::picture::pick::{AbsentBundle, NoSuchVersion, absent, pick, removed};
pub use crate::picture::sketch::{EdgeFate, ForbiddenSteps, Sketch};
pub use crate::picture::text::no_version;

/// Selection of a graph that a picture shows.
#[derive(Clone, Debug, Default)]
pub struct View<'a> {
    /// Name of the catalog.
    pub catalog: &'a str,
    /// Channels to show; all if none is named.
    pub channels: &'a [String],
    /// Installed version.
    pub installed: Option<NodeIndex>,
    /// Start of the walk.
    pub from: Option<NodeIndex>,
    /// End of the walk.
    pub to: Option<NodeIndex>,
    /// OLM whose rules decide which edges are taken.
    pub olm: Generation,
    /// Source of the edges.
    pub edges: EdgeSource,
    /// Guardrails and policies that forbid steps.
    pub guarded: Option<ShownGuards<'a>>,
}

/// Guardrails and policies about the steps to the bundles of a catalog.
#[derive(Clone, Copy, Debug)]
pub struct ShownGuards<'a> {
    /// Guardrails of the package.
    pub guards: &'a Guards<'a>,
    /// The upgrade policies that match the package, if they are to be shown.
    pub policies: Option<&'a MatchingPolicies<'a, 'a>>,
    /// The rules of the OLM that the edges are of.
    pub rules: &'a Rules,
    /// The catalog that the graph is of.
    pub catalog: &'a CatalogState,
}

/// Reason why a graph is not drawn.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GraphTooLarge {
    /// Too many versions.
    #[error("{found} versions: expected at most {most}; fewer channels have fewer")]
    Versions {
        /// Number of versions.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Too many edges for that many rules.
    #[error(
        "{edges} edges and guardrails of {rules} comparisons each: fewer channels have fewer edges"
    )]
    Guardrails {
        /// Number of edges.
        edges: usize,
        /// With how many comparisons guardrails judge each of them.
        rules: usize,
    },
    /// Too many edges.
    #[error("more than {most} edges: fewer channels have fewer")]
    Edges {
        /// How many there may be.
        most: usize,
    },
}

impl View<'_> {
    /// Whether a channel is asked for.
    pub fn shows(&self, channel: &str) -> bool {
        self.channels.is_empty() || self.channels.iter().any(|asked| asked == channel)
    }
}

word_set! {
    /// A mark of a version; in a lane it is that channel's view of it. The words are in classes and in JSON.
    pub enum VersionMark {
        /// The version is installed.
        Installed => "installed",
        /// No entry of the channel replaces or skips it.
        Head => "head",
        /// The package's deprecations name it.
        Deprecated => "deprecated",
        /// An entry of the channel skips it: OLM v0 does not offer it, OLM v1 does.
        Skipped => "skipped",
        /// OLM v0 finds no way from it in this channel, and it is no head.
        StrandedV0 => "stranded-v0",
        /// OLM v1 finds no way from it in the channels that are drawn, and it is the head of none.
        StrandedV1 => "stranded-v1",
        /// Edges speak of it, and no bundle has this name.
        Virtual => "virtual",
        /// The version is not an entry of the channel, although an edge there starts at it.
        Elsewhere => "elsewhere",
        /// The catalog that is compared with does not have it.
        Added => "added",
        /// Only the catalog that is compared with has it.
        Removed => "removed",
    }
}

/// The marks of one version.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Marks(u16);

impl VersionMark {
    fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl Marks {
    /// These marks and one more, if it holds.
    pub fn with(self, mark: VersionMark, holds: bool) -> Self {
        if holds {
            Self(self.0 | mark.bit())
        } else {
            self
        }
    }

    /// Keeps only these marks.
    pub fn only(self, marks: &[VersionMark]) -> Self {
        let kept = marks.iter().filter(|mark| self.has(**mark));
        kept.fold(Self::default(), |kept, mark| kept.with(*mark, true))
    }

    /// Whether this mark is among them.
    pub fn has(self, mark: VersionMark) -> bool {
        self.0 & mark.bit() != 0
    }

    /// Whether there is a way on from here by neither or by one generation of OLM.
    pub fn is_stranded(self) -> bool {
        self.has(VersionMark::StrandedV0) || self.has(VersionMark::StrandedV1)
    }

    /// The marks, in the order in which they are told.
    pub fn iter(self) -> impl Iterator<Item = VersionMark> {
        VersionMark::ALL
            .into_iter()
            .filter(move |mark| self.has(*mark))
    }
}
