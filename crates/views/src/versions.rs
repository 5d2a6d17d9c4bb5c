//! What there is of a package: every bundle of every catalog, the best first, and how it hangs
//! together; with something installed also what each bundle is to it.
//!
//! Whatever range and channels are asked for, everything is listed: they say what would be a
//! candidate, and channels also which edges count. A `skipRange` is folded: it is told how many bundles
//! it holds, and of a bundle how many entries hold it, not each pair.

mod judged;
mod listing;
mod standing;
mod text;

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::see::{self, InstalledReport};
use olmguard_catalog::Catalog;
use olmguard_engine::explain::Places;
use olmguard_engine::explain::Reasons;
use olmguard_engine::extension::{Filter, InstalledBundle};
use olmguard_engine::judge::{Basis, NamingError, StatedInstalled};
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::{Bounds, Guards, InPlay, Offer, Origin, Query};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use standing::Standings;

pub use standing::Standing;

/// Every bundle of a package.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.versions/v1", deny_unknown_fields)]
pub struct VersionsReport {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The package.
    package: String,
    /// The channels asked for; none for all.
    channels: Vec<String>,
    /// The version range asked for.
    range: Option<String>,
    /// What is installed, where that is said.
    installed: Option<InstalledReport>,
    /// The catalogs that have the package, in byte order of their names.
    catalogs: Vec<CatalogVersions>,
    /// Every reason why guardrails forbid a step from the installed bundle, each once.
    #[serde(serialize_with = "all")]
    #[schemars(with = "Vec<olmguard_engine::explain::GuardrailReport>")]
    guardrails: Reasons,
    /// Packages with a name like it, where no catalog has it.
    nearest: Vec<String>,
    /// What is worth knowing besides.
    notes: Vec<String>,
}

/// The package in one catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct CatalogVersions {
    catalog: String,
    priority: i32,
    /// The channel that OLM v0 takes where none is named; OLM v1 has no such thing.
    default_channel: Option<String>,
    /// The message of the package's deprecation, perhaps empty; null where it is not deprecated.
    deprecated: Option<String>,
    /// In byte order of their names.
    channels: Vec<ChannelVersions>,
    /// The best first.
    bundles: Vec<BundleVersions>,
    /// Names that edges start at and no bundle has, in byte order.
    names: Vec<NameVersions>,
}

/// One channel.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ChannelVersions {
    channel: String,
    /// Whether it is asked for, or none is.
    asked: bool,
    /// How many bundles it has.
    entries: usize,
    /// The bundles that no other entry of it replaces or skips.
    heads: Vec<String>,
    /// The message of its deprecation, perhaps empty.
    deprecated: Option<String>,
    #[serde(skip)]
    labels: Vec<String>,
}

/// One bundle.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct BundleVersions {
    bundle: String,
    /// Without a release; null where it cannot be read.
    version: Option<String>,
    release: Option<String>,
    /// Why the version cannot be read.
    error: Option<String>,
    channels: Vec<Membership>,
    /// The message of its deprecation, perhaps empty.
    deprecated: Option<String>,
    /// The kind of dependency it declares, which OLM v1 does not support.
    requires: Option<&'static str>,
    replaced_by: Vec<Successor>,
    skipped_by: Vec<Successor>,
    /// The other entries whose skipRange holds it, folded.
    held_by: Option<Folded>,
    /// The ranges that its own entries have.
    skip_ranges: Vec<OwnRange>,
    /// Whether it is in the channels and the range asked for; null where neither is.
    candidate: Option<bool>,
    /// What it is to the installed bundle; null where none is said, or its version cannot be read.
    standing: Option<Standing>,
    /// How many hops it is away, each an edit that pins one version.
    hops: Option<usize>,
    /// Why guardrails forbid the step from the installed bundle, where an edge leads there: 0-based
    /// places in `guardrails` of the whole.
    #[serde(serialize_with = "each")]
    #[schemars(with = "Vec<usize>")]
    guardrails: Places,
    /// Why no edit gives it though an edge leads there, unless a dependency or its version says so.
    not_given: Option<String>,
    #[serde(skip)]
    label: String,
}

/// A channel that a bundle is in.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Membership {
    channel: String,
    /// Whether no other entry of the channel replaces or skips it.
    head: bool,
}

/// Where an edge from a name leads.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Successor {
    channel: String,
    bundle: String,
    #[serde(skip)]
    label: String,
}

/// Several bundles as one.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Folded {
    count: usize,
    highest: String,
    lowest: String,
    #[serde(skip)]
    labels: [String; 2],
}

/// A `skipRange` of an entry.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct OwnRange {
    channel: String,
    range: String,
    /// How many other bundles of the package it holds; null where it cannot be read and OLM ignores it.
    holds: Option<usize>,
}

/// A name without a bundle.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
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
    ) -> Result<Self, NamingError> {
        let snapshot = basis.snapshot;
        let mut notes = Vec::new();
        let offers = offers(snapshot, filter, &mut notes);
        if !offers.is_empty() {
            notes.extend(see::missing_channels(filter, &offers));
        }
        let said = said.filter(|_| !offers.is_empty());
        let named = said.map(|said| said.find(snapshot, filter, &offers));
        let named = named.transpose()?;
        let known = named.as_ref().and_then(|named| see::known(named.known));
        notes.extend(known.map(str::to_owned));
        let installed = named.as_ref().map(|named| &named.installed);
        let origin = installed.and_then(|installed| origin(installed, snapshot, &mut notes));
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, &offers);
        let bounds = Bounds {
            rules: snapshot.rules(),
            guards: &guards,
            effort: None,
        };
        let standings = origin.map(|origin| Standings::of(&offers, origin, &bounds));
        if standings.as_ref().is_some_and(Standings::is_cut) {
            notes.push(see::cut("what is called not found may be within reach"));
        }
        let unjudged = standings.as_ref().and_then(Standings::unjudged);
        notes.extend(unjudged.map(|(judged, all)| text::unjudged(judged, all)));
        let listed = offers.iter().enumerate();
        let catalogs =
            listed.map(|(at, offer)| listing::catalog(at, offer, filter, standings.as_ref()));
        let catalogs = catalogs.collect();
        Ok(Self {
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

/// What each catalog in play offers; why one cannot is noted.
fn offers<'s>(snapshot: &'s Snapshot, filter: &Filter, notes: &mut Vec<String>) -> Vec<Offer<'s>> {
    let Ok(query) = Query::compile(filter, snapshot) else {
        return Vec::new();
    };
    let alone = |catalog: &'s CatalogState| InPlay {
        catalogs: vec![catalog],
        unavailable: 0,
    };
    let mut offers = Vec::new();
    for catalog in query.in_play(snapshot).catalogs {
        match query.offers(&alone(catalog)) {
            Ok(offer) => offers.extend(offer),
            Err(failed) => notes.push(see::not_loaded(&catalog.name, &failed.why)),
        }
    }
    offers
}

fn nearest_packages(snapshot: &Snapshot, filter: &Filter, offers: &[Offer<'_>]) -> Vec<String> {
    if !offers.is_empty() {
        return Vec::new();
    }
    let loaded = snapshot.catalogs().iter().filter_map(CatalogState::loaded);
    let names: BTreeSet<&str> = loaded.flat_map(Catalog::package_names).collect();
    let near = nearest(&filter.package, names, MOST_NEAR).into_iter();
    near.map(str::to_owned).collect()
}

const SCHEMA: &str = "olmguard.versions/v1";
const MOST_NEAR: usize = 3;

#[cfg(test)]
mod tests;
