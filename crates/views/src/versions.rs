//! What there is of a package: every bundle of every catalog, the best first, and how it hangs
//! together; with something installed also what each bundle is to it.
//!
//! Whatever range and channels are asked for, everything is listed: they say what would be a
//! candidate, and channels also which edges count. A `skipRange` is folded: it is told how many bundles
//! it holds, and of a bundle how many entries hold it, not each pair.

mod listing;
mod standing;
mod text;

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::see::{self, InstalledReport};
use olmguard_catalog::Catalog;
use olmguard_engine::explain::{Places, PolicyReport, Reasons};
use olmguard_engine::extension::{Filter, InstalledBundle};
use olmguard_engine::judge::{Basis, NamingError, StatedInstalled};
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::{
    Bounds, EditContext, Guards, InstallBound, InstallContext, MatchingPolicies, Maturity,
    NotLoadedCause, Offer, Origin, Query,
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
    /// The package that a filter asks for, and what its bundles are to what is said to be installed.
    ///
    /// # Errors
    /// If it is not known what is said to be installed.
    pub fn of(
        basis: Basis<'_>,
        filter: &Filter,
        said: Option<&StatedInstalled>,
        context: EditContext<'_>,
    ) -> Result<Self, NamingError> {
        let snapshot = basis.snapshot;
        let mut notes = Vec::new();
        let (mut unread, mut has_bad_input) = (Vec::new(), false);
        let offers = offers(snapshot, filter, |catalog, why| {
            notes.push(see::not_loaded(catalog, why));
            unread.push(catalog.to_owned());
            has_bad_input |= why.is_bad_input();
        });
        if !offers.is_empty() {
            notes.extend(see::missing_channels(filter, &offers));
        }
        let said = said.filter(|_| !offers.is_empty());
        let named = said.map(|said| said.find(snapshot.rules(), &offers));
        let named = named.transpose()?;
        let no_version = named
            .as_ref()
            .and_then(|named| see::no_version((&named.installed, named.known), filter, &offers));
        let known = named.as_ref().and_then(|named| see::known(named.known));
        notes.extend(known.map(str::to_owned));
        let installed = named.as_ref().map(|named| &named.installed);
        let origin = installed.and_then(|installed| origin(installed, snapshot, &mut notes));
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, &offers);
        let upgrades = &basis.policies.upgrades;
        let masterminds = snapshot.rules().masterminds;
        let policies = MatchingPolicies::of(upgrades, filter, context, masterminds);
        let install = context.install.unwrap_or_else(InstallContext::of_unknown);
        let bounds = Bounds {
            rules: snapshot.rules(),
            guards: &guards,
            policies: Some(&policies),
            install: InstallBound::of(Some(install), snapshot, &offers),
            effort: None,
        };
        let standings = origin.map(|origin| Standings::of(&offers, origin, bounds));
        if standings.as_ref().is_some_and(Standings::is_cut) {
            notes.push(see::cut("versions shown as \"not found\" may be reachable"));
        }
        let unjudged = standings.as_ref().and_then(Standings::unjudged);
        notes.extend(unjudged.map(|(judged, all)| text::unjudged(judged, all)));
        let listed = offers.iter().enumerate();
        let catalogs =
            listed.map(|(at, offer)| listing::catalog(at, offer, filter, standings.as_ref()));
        let catalogs = catalogs.collect();
        let tie = standings.as_ref().and_then(Standings::tie);
        Ok(Self {
            is_complete: standings.as_ref().is_some_and(|all| !all.is_cut())
                && unjudged.is_none()
                && no_version.is_none(),
            no_version,
            unread,
            has_bad_input,
            ambiguous: tie.map(|tie| see::ambiguous(tie.iter().map(|choice| choice.catalog))),
            schema: SCHEMA,
            package: filter.package.clone(),
            channels: filter.channels.clone(),
            range: filter.range().map(str::to_owned),
            installed: installed.map(InstalledReport::from),
            catalogs,
            guardrails: standings.map(Standings::into_reasons).unwrap_or_default(),
            nearest: nearest_packages(snapshot, filter, &offers),
            notes,
        })
    }

    /// Whether some catalog has the package.
    pub fn is_found(&self) -> bool {
        !self.catalogs.is_empty()
    }

    /// Whether a catalog that could have the package is not known.
    pub fn is_undecided(&self) -> bool {
        !self.is_found() && !self.unread.is_empty()
    }

    /// Whether a catalog that could have the package cannot be read.
    pub fn has_bad_input(&self) -> bool {
        self.has_bad_input
    }
}

/// Writes every reason of the table.
fn all<S: Serializer>(reasons: &Reasons, to: S) -> Result<S::Ok, S::Error> {
    reasons.all().serialize(to)
}

/// Writes every place of a list.
fn each<S: Serializer>(places: &Places, to: S) -> Result<S::Ok, S::Error> {
    <[usize]>::serialize(places, to)
}

/// Where edges start; why that cannot be told is noted.
fn origin<'i>(
    installed: &'i InstalledBundle,
    snapshot: &Snapshot,
    notes: &mut Vec<String>,
) -> Option<Origin<'i>> {
    let read = Origin::read(installed, snapshot.rules());
    read.map_err(|error| notes.push(text::unreadable(&error)))
        .ok()
}

/// What each catalog in play offers, and which cannot, for which reason.
fn offers<'s>(
    snapshot: &'s Snapshot,
    filter: &Filter,
    mut failed: impl FnMut(&str, &NotLoadedCause<'_>),
) -> Vec<Offer<'s>> {
    let Ok(query) = Query::compile(filter, snapshot) else {
        return Vec::new();
    };
    let mut offers = Vec::new();
    for catalog in query.in_play(snapshot).catalogs {
        match query.offers(&catalog.into()) {
            Ok(offer) => offers.extend(offer),
            Err(error) => failed(&catalog.name, &error.why),
        }
    }
    offers
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
