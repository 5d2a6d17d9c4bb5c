//! Every bundle of a package in every catalog, the best first, with its edges. If a version is installed, also
//! the relation of each bundle to it.
//!
//! The list is complete whatever range and channels are requested. They only decide which bundles are candidates;
//! channels also decide which edges count. A `skipRange` is summarized: the report counts its bundles, and for each
//! bundle the entries whose range includes it, but does not list each pair.

mod listing;
mod standing;
mod text;

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::see::{self, InstalledReport};
use olmguard_catalog::Catalog;
use olmguard_engine::explain::{Places, PolicyReport, Reasons};
use olmguard_engine::extension::{Filter, InstalledBundle};
use olmguard_engine::judge::{Basis, IdentifiedInstalled, NamingError, StatedInstalled};
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::{
    Bounds, EditContext, Guards, InstallBound, InstallContext, MatchingPolicies, Maturity, Offer,
    Origin, Query,
};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use standing::Standings;

pub use standing::Standing;

/// The bundles of a package.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.versions/v1")]
pub struct VersionsReport {
    /// Schema of this object.
    schema: &'static str,
    /// Name of the package.
    package: String,
    /// Requested channels. Empty for all channels.
    channels: Vec<String>,
    /// Requested version range.
    range: Option<String>,
    /// The installed bundle. Null if not given.
    installed: Option<InstalledReport>,
    /// Catalogs that have the package, in byte order of their names.
    catalogs: Vec<CatalogVersions>,
    /// Every reason why guardrails forbid a step from the installed bundle, each once.
    #[serde(serialize_with = "all")]
    #[schemars(with = "Vec<olmguard_engine::explain::GuardrailReport>")]
    guardrails: Reasons,
    /// Packages with a similar name, if no catalog has the package.
    nearest: Vec<String>,
    /// Additional notes.
    notes: Vec<String>,
    /// That the installed version is none of the package: the first line.
    #[serde(skip)]
    no_version: Option<String>,
    /// Catalogs that cannot say whether they have the package.
    #[serde(skip)]
    unread: Vec<String>,
    /// Whether one of them has content that cannot be read.
    #[serde(skip)]
    has_bad_input: bool,
    /// Whether the search for what can be reached was complete.
    #[serde(skip)]
    is_complete: bool,
    /// That OLM cannot choose between catalogs.
    #[serde(skip)]
    ambiguous: Option<String>,
}

/// The package in one catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct CatalogVersions {
    catalog: String,
    priority: i32,
    /// Default channel, which OLM v0 uses if a Subscription names none. OLM v1 does not use it.
    default_channel: Option<String>,
    /// Deprecation message of the package, possibly empty. Null if it is not deprecated.
    deprecated: Option<String>,
    /// Channels of the package, in byte order of their names.
    channels: Vec<ChannelVersions>,
    /// Bundles of the package, the best first.
    bundles: Vec<BundleVersions>,
    /// Names without a bundle at which edges start, in byte order.
    names: Vec<NameVersions>,
}

/// A channel of the package.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct ChannelVersions {
    channel: String,
    /// Whether the channel is requested, or no channel is.
    asked: bool,
    /// Number of bundles in the channel.
    entries: usize,
    /// Channel heads: bundles that no other entry of the channel replaces or skips.
    heads: Vec<String>,
    /// Deprecation message of the channel, possibly empty. Null if it is not deprecated.
    deprecated: Option<String>,
    #[serde(skip)]
    labels: Vec<String>,
}

/// A bundle of the package.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct BundleVersions {
    bundle: String,
    /// Version of the bundle, without its release. Null if it cannot be read.
    version: Option<String>,
    release: Option<String>,
    /// Why the version of the bundle cannot be read.
    error: Option<String>,
    channels: Vec<Membership>,
    /// Deprecation message of the bundle, possibly empty. Null if it is not deprecated.
    deprecated: Option<String>,
    /// Kind of dependency that the bundle declares, which OLM v1 does not support.
    requires: Option<&'static str>,
    replaced_by: Vec<Successor>,
    skipped_by: Vec<Successor>,
    /// Summary of the other entries whose skipRange includes the bundle.
    held_by: Option<Folded>,
    /// Values of `skipRange` in the entries of the bundle.
    skip_ranges: Vec<OwnRange>,
    /// Whether the bundle is in the requested channels and range. Null if neither is requested.
    candidate: Option<bool>,
    /// Relation of the bundle to the installed one. Null if no installed bundle is given, or its
    /// version cannot be read.
    standing: Option<Standing>,
    /// Number of steps from the installed bundle. Each step is one edit that pins a version.
    hops: Option<usize>,
    /// Reasons why guardrails forbid the step from the installed bundle, if an edge exists:
    /// positions in the top-level `guardrails`, from 0.
    #[serde(serialize_with = "each")]
    #[schemars(with = "Vec<usize>")]
    guardrails: Places,
    /// Rules of upgrade policies that deny the step. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    policies: Vec<PolicyReport>,
    /// Why no edit installs the bundle although an edge exists. Not set if a dependency or the
    /// version is the reason.
    not_given: Option<String>,
    #[serde(skip)]
    label: String,
    #[serde(skip)]
    maturity: Maturity,
    /// Whether an upgrade to it is suggested if the user names no version.
    #[serde(skip)]
    is_suggested: bool,
}

/// A channel that contains the bundle.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct Membership {
    channel: String,
    /// Whether the bundle is the channel head: no other entry of the channel replaces or skips it.
    head: bool,
}

/// A bundle that an edge from the name ends at.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct Successor {
    channel: String,
    bundle: String,
    #[serde(skip)]
    label: String,
}

/// Several bundles in one summary.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct Folded {
    count: usize,
    highest: String,
    lowest: String,
    #[serde(skip)]
    labels: [String; 2],
}

/// A `skipRange` of an entry.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct OwnRange {
    channel: String,
    range: String,
    /// Number of other bundles of the package in the range. Null if the range is invalid; OLM then
    /// ignores it.
    holds: Option<usize>,
}

/// A name without a bundle.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct NameVersions {
    name: String,
    replaced_by: Vec<Successor>,
    skipped_by: Vec<Successor>,
}

impl VersionsReport {
    /// Lists the package of a filter, and relates its bundles to the bundle that is stated to be installed.
    ///
    /// # Errors
    /// If the stated bundle cannot be identified.
    pub fn of(
        basis: Basis<'_>,
        filter: &Filter,
        said: Option<&StatedInstalled>,
        context: EditContext<'_>,
    ) -> Result<Self, NamingError> {
        let snapshot = basis.snapshot;
        let offered = OfferedPackage::of(snapshot, filter);
        let offers = offered.offers.as_slice();
        let said = said.filter(|_| !offers.is_empty());
        let named = said.map(|said| said.find(snapshot.rules(), offers));
        let named = named.transpose()?;
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, offers);
        let upgrades = &basis.policies.upgrades;
        let policies =
            MatchingPolicies::of(upgrades, filter, context, snapshot.rules().masterminds);
        let install = context.install.unwrap_or_else(InstallContext::of_unknown);
        let bounds = Bounds {
            rules: snapshot.rules(),
            guards: &guards,
            policies: Some(&policies),
            install: InstallBound::of(Some(install), snapshot, offers),
            effort: None,
        };
        Ok(offered.report(snapshot, filter, named.as_ref(), bounds))
    }

    /// Whether some catalog has the package, with one of the requested channels.
    pub fn is_found(&self) -> bool {
        let has_channel =
            |catalog: &CatalogVersions| catalog.channels.iter().any(|channel| channel.asked);
        let any = self.channels.is_empty();
        self.catalogs
            .iter()
            .any(|catalog| any || has_channel(catalog))
    }

    /// Whether a catalog that could have the package and the channel is not loaded, and no other catalog has them.
    pub fn is_undecided(&self) -> bool {
        !self.is_found() && !self.unread.is_empty()
    }

    /// Whether a catalog that could have the package cannot be read.
    pub fn has_bad_input(&self) -> bool {
        self.has_bad_input
    }
}

/// Serializes every reason of the table.
fn all<S: Serializer>(reasons: &Reasons, to: S) -> Result<S::Ok, S::Error> {
    reasons.all().serialize(to)
}

/// Serializes every position of a list.
fn each<S: Serializer>(places: &Places, to: S) -> Result<S::Ok, S::Error> {
    <[usize]>::serialize(places, to)
}

/// Returns where edges start, or adds a note about why that is unknown.
fn origin<'i>(
    installed: &'i InstalledBundle,
    snapshot: &Snapshot,
    notes: &mut Vec<String>,
) -> Option<Origin<'i>> {
    let read = Origin::read(installed, snapshot.rules());
    read.map_err(|error| notes.push(text::unreadable(&error)))
        .ok()
}

/// Offers of the selected catalogs.
#[derive(Default)]
struct OfferedPackage<'s> {
    offers: Vec<Offer<'s>>,
    notes: Vec<String>,
    /// Names of the catalogs that are not loaded.
    unread: Vec<String>,
    /// Whether the content of one of them cannot be read.
    has_bad_input: bool,
}

impl<'s> OfferedPackage<'s> {
    fn of(snapshot: &'s Snapshot, filter: &Filter) -> Self {
        let mut read = Self::default();
        let Ok(query) = Query::compile(filter, snapshot) else {
            return read;
        };
        for catalog in query.in_play(snapshot).catalogs {
            match query.offers(&catalog.into()) {
                Ok(offer) => read.offers.extend(offer),
                Err(error) => {
                    read.notes.push(see::not_loaded(&catalog.name, &error.why));
                    read.unread.push(catalog.name.clone());
                    read.has_bad_input |= error.why.is_bad_input();
                }
            }
        }
        if !read.offers.is_empty() {
            let missing = see::missing_channels(filter, &read.offers);
            read.notes.extend(missing);
        }
        read
    }

    /// Reports the bundles, compared with the installed one within these bounds.
    fn report(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
        named: Option<&IdentifiedInstalled>,
        bounds: Bounds<'_, 's>,
    ) -> VersionsReport {
        let (offers, mut notes) = (self.offers.as_slice(), self.notes.clone());
        let known = named.and_then(|named| see::known(named.known));
        notes.extend(known.map(str::to_owned));
        let installed = named.map(|named| &named.installed);
        let origin = installed.and_then(|installed| origin(installed, snapshot, &mut notes));
        let standings = origin.map(|origin| Standings::of(offers, origin, bounds));
        notes.extend(standings.iter().flat_map(doubts));
        let no_version = named
            .and_then(|named| see::no_version((&named.installed, named.known), filter, offers));
        let catalogs = offers.iter().enumerate();
        let catalogs =
            catalogs.map(|(at, offer)| listing::catalog(at, offer, filter, standings.as_ref()));
        VersionsReport {
            schema: SCHEMA,
            package: filter.package.clone(),
            channels: filter.channels.clone(),
            range: filter.range().map(str::to_owned),
            installed: installed.map(InstalledReport::from),
            catalogs: catalogs.collect(),
            nearest: nearest_packages(snapshot, filter, offers),
            is_complete: no_version.is_none()
                && standings.as_ref().is_some_and(Standings::is_complete),
            no_version,
            unread: self.unread.clone(),
            has_bad_input: self.has_bad_input,
            ambiguous: standings.as_ref().and_then(tie),
            guardrails: standings.map(|found| found.reasons).unwrap_or_default(),
            notes,
        }
    }
}

/// Notes why a version that is shown as not found may be reachable.
fn doubts(standings: &Standings<'_, '_>) -> Vec<String> {
    let cut = standings.is_cut();
    let cut = cut.then(|| see::cut("versions shown as \"not found\" may be reachable"));
    let unjudged = standings.unjudged();
    let unjudged = unjudged.map(|(judged, all)| text::unjudged(judged, all));
    cut.into_iter().chain(unjudged).collect()
}

/// Describes the catalogs between which OLM cannot choose, if any.
fn tie(standings: &Standings<'_, '_>) -> Option<String> {
    let tied = standings.tie()?;
    Some(see::ambiguous(tied.iter().map(|choice| choice.catalog)))
}

fn nearest_packages(snapshot: &Snapshot, filter: &Filter, offers: &[Offer<'_>]) -> Vec<String> {
    if !offers.is_empty() {
        return Vec::new();
    }
    let loaded = snapshot.catalogs().iter().filter_map(CatalogState::loaded);
    let names = loaded.flat_map(Catalog::package_names);
    let names: BTreeSet<&str> = names.filter(|name| *name != filter.package).collect();
    let near = nearest(&filter.package, names, MOST_NEAR).into_iter();
    near.map(str::to_owned).collect()
}

const SCHEMA: &str = "olmguard.versions/v1";
const MOST_NEAR: usize = 3;

#[cfg(test)]
mod tests;
