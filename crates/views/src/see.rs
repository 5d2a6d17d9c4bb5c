//! Shared parts of the commands that show a package: `versions`, `path` and `explain`. Also the generation of OLM that
//! a report is about.
//!
//! Each command makes one report, which is printed unchanged as JSON, and as text with the sentences of the command.

#[cfg(test)]
pub(super) mod scene;
mod words;

use serde::{Deserialize, Serialize};

use olmguard_catalog::version::{LegacyRelease, Release, ReleaseLimit, VersionRelease, go};
use olmguard_catalog::{Bundle, EdgeStart, NameEdge, word_set};
use olmguard_engine::explain::{ForbiddenReport, label};
use olmguard_engine::extension::{InstalledBundle, Policy};
use olmguard_engine::judge::ForbiddenStep;
use olmguard_engine::resolve::{Choice, Offer, OfferEdge};

pub(super) use words::{
    Highest, ambiguous, arrows, cut, gives_another, known, message, missing_channels, no_version,
    not_a_version, not_loaded, notes, reachable, reason, say_forbidden, unpinnable,
};

pub use words::{line, nameless};

/// The installed bundle.
#[derive(Clone, Debug, Default, Deserialize, Serialize, schemars::JsonSchema)]
pub struct InstalledReport {
    /// Name of the installed bundle. Null if only its version is known.
    pub bundle: Option<String>,
    /// Recorded version of the installed bundle, possibly with a release as build metadata. Empty
    /// if the version of the bundle cannot be read.
    pub version: String,
    /// Explicit release of the installed bundle.
    pub release: Option<String>,
}

/// A bundle of a catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BundleReport {
    /// Catalog of the bundle.
    pub catalog: String,
    /// Name of the bundle.
    pub bundle: String,
    /// Version of the bundle, without its release. Null if it cannot be read.
    pub version: Option<String>,
    /// Release of the bundle. Null if it has none.
    pub release: Option<String>,
    /// Deprecation message of the bundle, possibly empty. Null if it is not deprecated.
    pub deprecated: Option<String>,
    /// Whether its version is a prerelease.
    #[serde(skip)]
    pub(super) is_prerelease: bool,
}

/// Reports steps that OLM would take under the policy of an extension.
pub(super) fn forbidden(steps: &[ForbiddenStep<'_>], policy: Policy) -> Vec<ForbiddenReport> {
    let steps = steps.iter();
    steps
        .map(|step| ForbiddenReport::of(step, policy))
        .collect()
}

impl From<&InstalledBundle> for InstalledReport {
    fn from(bundle: &InstalledBundle) -> Self {
        Self {
            bundle: bundle.name.clone(),
            version: bundle.version.clone(),
            release: bundle.release.clone(),
        }
    }
}

impl InstalledReport {
    /// Returns the version with its release, escaped for a terminal, or the name if there is no version.
    pub(super) fn label(&self) -> String {
        let version = match (self.version.as_str(), &self.bundle) {
            ("", Some(name)) => go::escape(name),
            (version, _) => go::escape(version),
        };
        let release = self.release.as_deref();
        match release.filter(|release| !release.is_empty()) {
            Some(release) => format!("{version}+{}", go::escape(release)),
            None => version,
        }
    }
}

impl BundleReport {
    pub(super) fn of(choice: Choice<'_>) -> Self {
        let bundle = choice.bundle();
        let (version, release) = version_and_release(bundle);
        Self {
            catalog: choice.catalog.name.clone(),
            bundle: bundle.name.to_string(),
            version,
            release,
            deprecated: bundle.deprecated.as_deref().map(str::to_owned),
            is_prerelease: choice.is_prerelease(),
        }
    }

    /// Returns the version with its release, escaped for a terminal, or the name if the version cannot be read.
    pub(super) fn label(&self) -> String {
        match (&self.version, &self.release) {
            (Some(version), Some(release)) => format!("{version}+{release}"),
            (Some(version), None) => version.clone(),
            (None, _) => go::escape(&self.bundle),
        }
    }
}

pub(super) fn version_and_release(bundle: &Bundle) -> (Option<String>, Option<String>) {
    let Ok(read) = &bundle.version else {
        return (None, None);
    };
    let release = read.release.as_ref();
    let release = release.filter(|release| !release.is_empty());
    (
        Some(read.version.to_string()),
        release.map(Release::to_string),
    )
}

/// Reads the version and the release of a bundle as written, by which opm and OLM order the bundles of a package. Build
/// metadata counts as a release if there is no other. With a release that cannot be read, the version counts alone.
pub(super) fn written_release(version: &str, release: &str) -> Option<VersionRelease> {
    let limit = ReleaseLimit::Bytes20;
    let legacy = |release| VersionRelease::parse_legacy(version, release).ok();
    match release {
        "" => legacy(LegacyRelease::Read(limit)),
        release => VersionRelease::parse_explicit(version, release, limit)
            .ok()
            .or_else(|| legacy(LegacyRelease::Ignored)),
    }
}

// === An upgrade edge in a report: catalog, channel and entry that define it, and how ===

/// An upgrade edge that an entry of a channel defines.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, schemars::JsonSchema)]
pub struct EdgeReport {
    /// Catalog of the edge.
    pub catalog: String,
    /// Channel of the entry.
    pub channel: String,
    /// Whether edges of this channel count: the channel is requested, or no channel is.
    pub asked: bool,
    /// Bundle that the entry names. The edge ends at this bundle.
    pub entry: String,
    /// Field of the entry that defines the edge.
    pub field: EdgeField,
    /// Name or range in this field.
    pub value: String,
    /// The bundle by its version, for people.
    #[serde(skip)]
    pub(crate) to: String,
}

impl EdgeReport {
    fn of(edge: &OfferEdge<'_>) -> Option<Self> {
        let (field, value) = match edge.from {
            EdgeStart::Name("", _) | EdgeStart::UnreadRange(_) => return None,
            EdgeStart::Name(from, kind) => (EdgeField::from(kind), from.to_owned()),
            EdgeStart::Range(range) => (EdgeField::SkipRange, range.as_str().to_owned()),
        };
        let bundle = edge.to.bundle();
        Some(Self {
            catalog: edge.to.catalog.name.clone(),
            channel: edge.channel.to_owned(),
            asked: edge.is_asked,
            entry: bundle.name.to_string(),
            field,
            value,
            to: label(bundle),
        })
    }

    /// Formats `replaces NAME` or `skipRange "RANGE"`, escaped for a terminal.
    pub(crate) fn how(&self) -> String {
        match self.field {
            EdgeField::SkipRange => format!("skipRange {}", go::quote(&self.value)),
            field => format!("{} {}", field.as_str(), go::escape(&self.value)),
        }
    }
}

/// Returns the edges of these offers that pass a test, by catalog and channel. Edges that count come first.
pub(crate) fn edges<'s>(
    offers: &[Offer<'s>],
    mut keep: impl FnMut(&OfferEdge<'s>) -> bool,
) -> Vec<EdgeReport> {
    let all = offers.iter().flat_map(Offer::edges);
    let kept = all.filter(|edge| keep(edge));
    let mut reports: Vec<_> = kept.filter_map(|edge| EdgeReport::of(&edge)).collect();
    reports.sort_by(|one, other| other.asked.cmp(&one.asked).then_with(|| one.cmp(other)));
    reports.dedup();
    reports
}

// === The field of an entry that defines an edge ===

word_set! {
    /// Field of an entry that defines an edge.
    #[derive(Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(rename = "Field")]
    pub enum EdgeField {
        /// `replaces`
        Replaces => "replaces",
        /// `skips`
        Skips => "skips",
        /// `skipRange`
        SkipRange => "skipRange",
    }
}

impl From<NameEdge> for EdgeField {
    fn from(kind: NameEdge) -> Self {
        match kind {
            NameEdge::Replaces => Self::Replaces,
            NameEdge::Skips => Self::Skips,
        }
    }
}

// === The generation of OLM that a report is about ===

/// Generation of OLM.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// OLM v1, with `ClusterExtension`.
    #[default]
    V1,
    /// OLM v0, with Subscription.
    V0,
}
