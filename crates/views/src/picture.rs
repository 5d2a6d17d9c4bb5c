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

pub mod dot;
pub mod html;
pub mod json;
pub mod layout;
pub mod mark;
mod measure;
pub mod mermaid;
mod pick;
pub mod scene;
pub mod sketch;
pub mod svg;
mod text;
pub mod walk;

use crate::generation::Generation;
use olmguard_catalog::graph::NodeIndex;
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::olm::Rules;
use olmguard_engine::resolve::{Guards, MatchingPolicies};
use olmguard_engine::snapshot::CatalogState;

pub use mark::{Mark, Marks};
pub use pick::{AbsentBundle, NoSuchVersion, absent, pick, removed};
pub use sketch::{Fate, ForbiddenSteps, Sketch};
pub use text::no_version;

/// What of a graph is to be seen.
#[derive(Clone, Debug, Default)]
pub struct View<'a> {
    /// The catalog it is from.
    pub catalog: &'a str,
    /// The channels; all if none is named.
    pub channels: &'a [String],
    /// What is installed.
    pub installed: Option<NodeIndex>,
    /// Where the walk starts.
    pub from: Option<NodeIndex>,
    /// Where it should end.
    pub to: Option<NodeIndex>,
    /// Whose rules say which edges are taken.
    pub olm: Generation,
    /// Which edges there are.
    pub edges: EdgeSource,
    /// Who says which of them are safe.
    pub guarded: Option<GuardedSteps<'a>>,
}

/// What is said of the steps to the bundles of a catalog.
#[derive(Clone, Copy, Debug)]
pub struct GuardedSteps<'a> {
    /// What is said.
    pub guards: &'a Guards<'a>,
    /// The upgrade policies that match the package, if they are to be shown.
    pub policies: Option<&'a MatchingPolicies<'a, 'a>>,
    /// The rules of the OLM that the edges are of.
    pub rules: &'a Rules,
    /// The catalog that the graph is of.
    pub catalog: &'a CatalogState,
}

/// Why there is no picture.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TooLarge {
    /// Too many versions.
    #[error("{found} versions: expected at most {most}; fewer channels have fewer")]
    Versions {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Too many edges for that many rules.
    #[error(
        "{edges} edges and guardrails of {rules} comparisons each: fewer channels have fewer edges"
    )]
    Guardrails {
        /// How many edges there are.
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
