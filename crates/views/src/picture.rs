//! The upgrade graph as a picture: its contents, its layout and its output formats.
//!
//! ```text
//! graph::Graph, View --sketch--> Sketch --layout--> Scene --> svg, html
//!                                   '--> mermaid, dot, json
//! ```
//!
//! Channels are lanes, side by side. Versions are rows, the newest at the top, and a version is in the
//! same row of every lane. Upstream draws one line for every version that a `skipRange` includes, which
//! soon hides everything else. Here ranges are folded (see [`layout`]).
//!
//! The output is deterministic: the same graph and view give the same bytes. Texts of the catalog are
//! escaped where they are written, in [`svg`], [`html`], [`mermaid`] and [`dot`]; JSON needs no
//! extra escaping.

pub mod dot;
pub mod html;
pub mod json;
pub mod layout;
pub mod mermaid;
pub mod scene;
pub mod sketch;
pub mod svg;
mod text;
pub mod walk;

use crate::see::Generation;
use olmguard_catalog::graph::{Graph, NodeIndex, version_in_name};
use olmguard_catalog::olm::{EdgeSource, Rules};
use olmguard_catalog::version::{Version, go};
use olmguard_catalog::word_set;
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::{Guards, MatchingPolicies};
use olmguard_engine::snapshot::CatalogState;

pub use crate::picture::sketch::{EdgeFate, ForbiddenSteps, Sketch};
pub use crate::picture::text::no_version;

/// Selection of a graph that a picture shows.
#[derive(Clone, Debug, Default)]
pub struct View<'a> {
    /// Name of the catalog.
    pub catalog: &'a str,
    /// Channels to show. Empty for all channels.
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
    /// Upgrade policies that match the package, if the picture shows policies.
    pub policies: Option<&'a MatchingPolicies<'a, 'a>>,
    /// Rules of the OLM whose edges are shown.
    pub rules: &'a Rules,
    /// Catalog of the graph.
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
        /// Maximum number.
        most: usize,
    },
    /// Too many edges for this number of rules.
    #[error(
        "{edges} edges and guardrails of {rules} comparisons each: fewer channels have fewer edges"
    )]
    Guardrails {
        /// Number of edges.
        edges: usize,
        /// Number of comparisons that guardrails need for each edge.
        rules: usize,
    },
    /// Too many edges.
    #[error("more than {most} edges: fewer channels have fewer")]
    Edges {
        /// Maximum number.
        most: usize,
    },
}

impl View<'_> {
    /// Whether the view shows a channel.
    pub fn shows(&self, channel: &str) -> bool {
        self.channels.is_empty() || self.channels.iter().any(|asked| asked == channel)
    }
}

word_set! {
    /// A mark of a version. In a lane, it applies to that channel. Its word is a CSS class and a JSON value.
    pub enum VersionMark {
        /// The version is installed.
        Installed => "installed",
        /// No entry of the channel replaces or skips the version.
        Head => "head",
        /// The deprecations of the package name the version.
        Deprecated => "deprecated",
        /// An entry of the channel skips the version: OLM v0 does not offer it, OLM v1 does.
        Skipped => "skipped",
        /// OLM v0 finds no upgrade from the version in this channel, and it is not a head.
        StrandedV0 => "stranded-v0",
        /// OLM v1 finds no upgrade from the version in the channels shown, and it is the head of none of them.
        StrandedV1 => "stranded-v1",
        /// Edges mention the name, but no bundle has it.
        Virtual => "virtual",
        /// The version is not an entry of the channel, although an edge there starts at it.
        Elsewhere => "elsewhere",
        /// Only the current catalog has the version.
        Added => "added",
        /// Only the catalog of the comparison has the version.
        Removed => "removed",
    }
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Marks(u16);

impl VersionMark {
    fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl Marks {
    /// Adds a mark if it holds.
    pub fn with(self, mark: VersionMark, holds: bool) -> Self {
        if holds {
            Self(self.0 | mark.bit())
        } else {
            self
        }
    }

    /// Keeps only the given marks.
    pub fn only(self, marks: &[VersionMark]) -> Self {
        let kept = marks.iter().filter(|mark| self.has(**mark));
        kept.fold(Self::default(), |kept, mark| kept.with(*mark, true))
    }

    /// Whether the set contains a mark.
    pub fn has(self, mark: VersionMark) -> bool {
        self.0 & mark.bit() != 0
    }

    /// Whether at least one generation of OLM finds no upgrade from the version.
    pub fn is_stranded(self) -> bool {
        self.has(VersionMark::StrandedV0) || self.has(VersionMark::StrandedV1)
    }

    /// Returns the marks, in display order.
    pub fn iter(self) -> impl Iterator<Item = VersionMark> {
        VersionMark::ALL
            .into_iter()
            .filter(move |mark| self.has(*mark))
    }
}

// === The version that a user names ===

/// The error for a text that does not name a version of the package.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "package {} has no version and no bundle {}{}",
    go::quote(package),
    go::quote(text),
    instead(near)
)]
pub struct NoSuchVersion {
    package: String,
    text: String,
    near: Vec<String>,
}

/// Returns the node of this name, otherwise the best node of this version. A version with a release must match
/// exactly; one without a release matches any. A name without a bundle has the version that its text contains.
pub fn pick(graph: &Graph<'_>, text: &str) -> Result<NodeIndex, NoSuchVersion> {
    let by_name = graph.find(text);
    let has_text = |node: &NodeIndex| texts(graph, *node).any(|own| own == text);
    let found = by_name.or_else(|| graph.nodes().find(has_text));
    found.ok_or_else(|| {
        let known = graph.nodes().filter_map(|node| texts(graph, node).next());
        let known: Vec<_> = known.collect();
        let without_v = text.strip_prefix('v');
        let meant = known.iter().find(|own| Some(own.as_str()) == without_v);
        let near = match meant {
            Some(version) => vec![version.as_str()],
            None => nearest(text, known.iter().map(String::as_str), MOST_NEAR),
        };
        NoSuchVersion {
            package: graph.name().to_owned(),
            text: text.to_owned(),
            near: near.into_iter().map(str::to_owned).collect(),
        }
    })
}

/// A bundle that can be installed but is not in the package.
#[derive(Clone, Debug)]
pub struct AbsentBundle {
    /// Name of the bundle if edges start at it, otherwise the version, because nothing else is known.
    pub name: String,
    /// Version of the bundle.
    pub version: Version,
}

impl AbsentBundle {
    /// Whether a user can mean the bundle by this text.
    pub fn is_called(&self, text: &str) -> bool {
        self.name == text || self.version.to_string() == text
    }
}

/// Returns the bundle that a text states as installed and that is not in the package: a name that edges mention and
/// that contains a version, or a version. Returns `None` if the text means a bundle of the package, or neither.
pub fn absent(graph: &Graph<'_>, text: &str) -> Option<AbsentBundle> {
    let stated = Version::parse(text).ok();
    let (name, version) = match pick(graph, text) {
        Ok(node) if graph.bundle(node).is_some() => return None,
        Ok(node) => {
            let name = graph.name_of(node);
            (name, stated.or_else(|| version_in_name(name))?)
        }
        Err(_) => (text, stated?),
    };
    let name = name.to_owned();
    Some(AbsentBundle { name, version })
}

/// Returns the bundles of the old graph that no longer exist. Bundles without a valid version are omitted.
pub fn removed(graph: &Graph<'_>, before: &Graph<'_>) -> Vec<AbsentBundle> {
    let bundles = before.nodes().filter_map(|node| before.bundle(node));
    let is_gone = |name: &str| {
        let found = graph.find(name);
        found.is_none_or(|node| graph.bundle(node).is_none())
    };
    let gone = bundles.filter(|bundle| is_gone(&bundle.name));
    let absent = gone.filter_map(|bundle| {
        Some(AbsentBundle {
            name: bundle.name.to_string(),
            version: bundle.version.as_ref().ok()?.version.clone(),
        })
    });
    absent.collect()
}

/// Returns the texts by which users can name a node, besides its name: the version with its release, and without.
fn texts(graph: &Graph<'_>, node: NodeIndex) -> impl Iterator<Item = String> {
    let bundle = graph.bundle(node);
    let read = bundle.and_then(|bundle| bundle.version.as_ref().ok());
    let whole = read.and_then(|read| {
        let release = read.release.as_ref()?;
        Some(format!("{}+{release}", read.version))
    });
    let plain = graph.likely_version(node);
    let plain = plain.map(|version| version.to_string());
    whole.into_iter().chain(plain)
}

fn instead(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let near: Vec<_> = near.iter().map(|text| go::escape(text)).collect();
    format!("; did you mean {}?", near.join(", "))
}

const MOST_NEAR: usize = 3;
