//! One package of one catalog, and the queries that resolution makes.
//!
//! Invariant: `bundles` are in order of preference, deprecation aside: readable versions before
//! unreadable ones, higher versions first, then higher releases, then the order of their files in
//! OLM's cache (`CatalogBuilder`). `channels` are in byte order of their names.

use std::cmp::Ordering;
use std::mem;

use smallvec::SmallVec;

use crate::bundle::Bundle;
use crate::bundle_set::{BundleIndex, BundleSet};
use crate::edges::{ChannelIndex, Edges, IndexedEdge};
use crate::guardrail::AuthorGuardrails;
use crate::memory::heap_of;
use crate::version::{Constraint, Group, Membership, Version, VersionRelease};

/// A package of a catalog, indexed.
#[derive(Clone, Debug)]
pub struct Package {
    pub(super) default_channel: Box<str>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) channels: Vec<Channel>,
    pub(super) edges: Edges,
    pub(super) deprecated_bundles: BundleSet,
    /// The bundles that share their version with another bundle.
    pub(super) sharing_version: BundleSet,
    pub(super) deprecation: Deprecation,
    pub(super) guardrails: Box<AuthorGuardrails>,
    /// Whether blobs are missing that other blobs of the package need.
    pub(super) is_incomplete: bool,
}

/// Deprecation of a package, from its `olm.deprecations` blob.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Deprecation {
    /// The package has no `olm.deprecations` blob.
    #[default]
    Absent,
    /// The blob deprecates channels or bundles, but not the package itself.
    OfParts,
    /// The package is deprecated, with this message, which may be empty.
    OfPackage(Box<str>),
}

impl Deprecation {
    /// The message of the package's own deprecation, which may be empty; `None` if the package
    /// itself is not deprecated.
    pub fn of_package(&self) -> Option<&str> {
        match self {
            Self::OfPackage(message) => Some(message),
            Self::Absent | Self::OfParts => None,
        }
    }
}

/// The ends of the upgrade edges from an installed bundle.
#[derive(Clone, Debug)]
pub struct Successors {
    /// The bundles with an upgrade edge from the installed bundle.
    pub edges: BundleSet,
    /// The bundles without such an edge for which OLM crashes while it tests a `skipRange`.
    pub crashes: BundleSet,
}

heap_of!(
    Package: default_channel, bundles, channels, edges, deprecated_bundles, sharing_version, deprecation, guardrails;
    is_incomplete
);

heap_of!(enum Deprecation: OfPackage(message); Absent, OfParts);

impl Package {
    /// All bundles, best first.
    pub fn bundles(&self) -> impl Iterator<Item = (BundleIndex, &Bundle)> {
        (0_u32..).map(BundleIndex).zip(&self.bundles)
    }

    /// Returns the bundle at an index.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to another package.
    pub fn bundle(&self, BundleIndex(index): BundleIndex) -> &Bundle {
        self.bundles
            .get(index as usize)
            .expect("an index of this package")
    }

    /// The channels, in byte order of their names.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The `defaultChannel` of the `olm.package` blob; empty if it is not set. OLM v1 ignores it.
    pub fn default_channel(&self) -> &str {
        &self.default_channel
    }

    /// Whether the default channel has an entry for a bundle.
    pub fn is_in_default_channel(&self, bundle: BundleIndex) -> bool {
        let mut channels = self
            .named(&self.default_channel)
            .filter_map(|channel| self.channels.get(channel.0 as usize));
        channels.any(|channel| channel.has(bundle))
    }

    /// Deprecation of the package itself.
    pub fn deprecation(&self) -> &Deprecation {
        &self.deprecation
    }

    /// Guardrails by the author of the package: rules about upgrade steps.
    pub fn guardrails(&self) -> &AuthorGuardrails {
        &self.guardrails
    }

    /// Whether the package has an `olm.deprecations` blob.
    pub fn has_deprecations(&self) -> bool {
        self.deprecation != Deprecation::Absent
    }

    /// Whether the bundle is deprecated.
    pub fn is_deprecated(&self, bundle: BundleIndex) -> bool {
        self.deprecated_bundles.contains(bundle)
    }

    /// The empty set of bundles.
    pub fn no_bundle(&self) -> BundleSet {
        BundleSet::none(self.bundles.len())
    }

    /// The set of all bundles.
    pub fn every_bundle(&self) -> BundleSet {
        BundleSet::all(self.bundles.len())
    }

    /// Finds the channels with these names. Like OLM, it ignores names without a channel.
    pub fn ask_channels(&self, names: &[String]) -> AskedChannels {
        if names.is_empty() {
            return AskedChannels::All;
        }
        let mut asked = SmallVec::new();
        for name in names {
            asked.extend(self.named(name));
        }
        asked.sort_unstable();
        asked.dedup();
        AskedChannels::Some(asked)
    }

    /// The channels with this name. Blobs in different files can have the same channel name.
    fn named(&self, name: &str) -> impl Iterator<Item = ChannelIndex> {
        let from = self
            .channels
            .partition_point(|channel| *channel.name < *name);
        let channels = (0..).map(ChannelIndex).zip(&self.channels).skip(from);
        channels
            .take_while(move |(_, channel)| *channel.name == *name)
            .map(|(index, _)| index)
    }

    /// The bundles that can be selected from these channels.
    pub fn members(&self, asked: &AskedChannels) -> BundleSet {
        match asked {
            AskedChannels::All => self.every_bundle(),
            AskedChannels::Some(channels) => {
                let mut members = BundleSet::none(self.bundles.len());
                let channels = channels
                    .iter()
                    .filter_map(|c| self.channels.get(c.0 as usize));
                let indexes = channels.flat_map(|channel| &channel.members);
                indexes.for_each(|index| members.insert(*index));
                members
            }
        }
    }

    /// The bundles that these channels have an edge to from the installed version, or from the
    /// installed name if it is known.
    pub fn successors(
        &self,
        name: Option<&str>,
        version: &Version,
        asked: &AskedChannels,
    ) -> Successors {
        self.successors_at(self.first_of(version), name, version, asked)
    }

    /// [`Self::successors`] for callers that already know [`Self::first_of`] the version.
    pub fn successors_at(
        &self,
        bundle: Option<BundleIndex>,
        name: Option<&str>,
        version: &Version,
        asked: &AskedChannels,
    ) -> Successors {
        debug_assert_eq!(bundle, self.first_of(version), "of another version");
        let mut edges = BundleSet::none(self.bundles.len());
        let mut crashes = BundleSet::none(self.bundles.len());
        let named = name
            .into_iter()
            .flat_map(|name| self.edges.starting_at_name(name));
        named
            .filter(|edge| asked.has(edge.channel))
            .for_each(|edge| edges.insert(edge.to));
        let found = |answer, from_range: &[IndexedEdge]| {
            let set = if answer == Membership::Crashes {
                &mut crashes
            } else {
                &mut edges
            };
            let asked = from_range.iter().filter(|edge| asked.has(edge.channel));
            asked.for_each(|edge| set.insert(edge.to));
        };
        self.edges.starting_at_version(version, bundle, found);
        crashes.subtract(&edges);
        Successors { edges, crashes }
    }

    /// Whether these channels have an edge to a bundle from the installed version, or from the
    /// installed name if it is known. `place` is [`Self::first_of`] the version.
    pub fn edge_to(
        &self,
        to: BundleIndex,
        (name, version): (Option<&str>, &Version),
        place: Option<BundleIndex>,
        asked: &AskedChannels,
    ) -> Membership {
        debug_assert_eq!(place, self.first_of(version), "of another version");
        let is_to_it = |edge: &IndexedEdge| edge.to == to && asked.has(edge.channel);
        let mut named = name
            .into_iter()
            .flat_map(|name| self.edges.starting_at_name(name));
        if named.any(|edge| is_to_it(&edge)) {
            return Membership::Holds;
        }
        let mut answer = Membership::HoldsNot;
        let found = |found, edges: &[IndexedEdge]| {
            if answer != Membership::Holds && edges.iter().any(is_to_it) {
                answer = found;
            }
        };
        self.edges.starting_at_version_to(to, version, place, found);
        answer
    }

    /// The first bundle with this version, whatever its release.
    pub fn first_of(&self, version: &Version) -> Option<BundleIndex> {
        let order = |bundle: &Bundle| readable(bundle).map(|known| version.cmp_precedence(known));
        let is_above = |bundle: &Bundle| order(bundle).is_some_and(Ordering::is_lt);
        let first = self.bundles.partition_point(is_above);
        let found = self.bundles.get(first).and_then(order);
        let place = found
            .filter(|order| order.is_eq())
            .and(u32::try_from(first).ok());
        place.map(BundleIndex)
    }

    /// The first bundle with the same version as this bundle, nearly always the bundle itself;
    /// `None` if the version cannot be read.
    pub fn first_like(&self, bundle: BundleIndex) -> Option<BundleIndex> {
        if self.sharing_version.contains(bundle) {
            return self.first_of(readable(self.bundle(bundle))?);
        }
        readable(self.bundle(bundle)).map(|_| bundle)
    }

    /// The cost of [`Self::successors`] and of reading `found` results, in compared bundles. Sets
    /// are combined word by word. Without answer rows, each result costs extra.
    pub fn successors_cost(&self, found: usize) -> usize {
        let counted = if self.edges.has_rows() { 0 } else { found };
        self.bundles.len().div_ceil(BundleSet::AT_ONCE) + RESULT * counted
    }

    /// Whether no other bundle has the version of this bundle.
    pub fn is_alone_of_version(&self, bundle: BundleIndex) -> bool {
        !self.sharing_version.contains(bundle)
    }

    /// The bundles with exactly this version and release, whatever their names.
    pub fn same_version(&self, wanted: &VersionRelease) -> BundleSet {
        let mut same = self.no_bundle();
        self.add_same_version(self.first_of(&wanted.version), wanted, &mut same);
        same
    }

    /// Adds [`Self::same_version`] to a set. `place` is [`Self::first_of`] the version.
    pub fn add_same_version(
        &self,
        place: Option<BundleIndex>,
        wanted: &VersionRelease,
        bundles: &mut BundleSet,
    ) {
        debug_assert_eq!(place, self.first_of(&wanted.version), "of another version");
        let Some(BundleIndex(first)) = place else {
            return;
        };
        let order = |bundle: &Bundle| match &bundle.version {
            Ok(version) => wanted.cmp_precedence(version),
            Err(_) => Ordering::Greater,
        };
        let mut of_version = self.bundles.get(first as usize..).unwrap_or_default();
        if self.is_alone_of_version(BundleIndex(first)) {
            of_version = of_version.get(..1).unwrap_or_default();
        }
        let from = match of_version.first().map(order) {
            Some(Ordering::Less) => of_version.partition_point(|bundle| order(bundle).is_lt()),
            _ => 0,
        };
        let places = (first..).map(BundleIndex).zip(of_version).skip(from);
        let equal = places.take_while(|(_, bundle)| order(bundle).is_eq());
        equal.for_each(|(index, _)| bundles.insert(index));
    }

    /// The bundles whose version can be read and is in the range.
    pub fn in_range(&self, range: &Constraint) -> BundleSet {
        let mut bundles = self.every_bundle();
        self.keep_in_range(range, &mut bundles);
        bundles
    }

    /// Whether the version of the bundle can be read and is in the range.
    pub fn is_in_range(&self, range: &Constraint, bundle: BundleIndex) -> bool {
        readable(self.bundle(bundle)).is_some_and(|version| range.matches(version))
    }

    /// Removes the bundles whose version cannot be read or is not in the range.
    pub fn keep_in_range(&self, range: &Constraint, bundles: &mut BundleSet) {
        if let [only] = range.groups() {
            return self.keep_in_group(only, bundles);
        }
        let mut left = mem::replace(bundles, self.no_bundle());
        for group in range.groups() {
            if left.is_empty() {
                return;
            }
            let mut kept = left.clone();
            self.keep_in_group(group, &mut kept);
            left.subtract(&kept);
            bundles.unite(&kept);
        }
    }

    fn keep_in_group(&self, group: &Group, bundles: &mut BundleSet) {
        let hull = group.hull();
        let is_above =
            |bundle: &Bundle| readable(bundle).is_some_and(|it| hull.is_below(it.point()));
        let has_begun =
            |bundle: &Bundle| readable(bundle).is_some_and(|it| !hull.is_above(it.point()));
        let from = self.bundles.partition_point(is_above);
        let to = self.bundles.partition_point(has_begun);
        bundles.keep_between(from, to);
        let is_exact = group.is_interval();
        if is_exact && group.admits_prereleases() {
            return;
        }
        bundles.retain(|bundle| {
            let version = readable(self.bundle(bundle));
            version.is_some_and(|version| {
                if is_exact {
                    !version.is_prerelease()
                } else {
                    group.matches(version)
                }
            })
        });
    }

    /// The bundle that OLM selects from a set: bundles that are not deprecated come first, then the
    /// best one wins.
    pub fn preferred(&self, candidates: &BundleSet) -> Option<BundleIndex> {
        candidates
            .first_outside(&self.deprecated_bundles)
            .or_else(|| candidates.first())
    }

    /// Whether a channel has this name.
    pub fn has_channel(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }
}

/// The bundles that share their version with another bundle. Bundles with equal versions are next
/// to each other.
pub(super) fn sharing_version(bundles: &[Bundle]) -> BundleSet {
    let mut sharing = BundleSet::none(bundles.len());
    let places = (0..).map(BundleIndex).zip(bundles);
    for ((place, bundle), (next_place, next)) in places.clone().zip(places.skip(1)) {
        let both = readable(bundle).zip(readable(next));
        if both.is_some_and(|(one, other)| one.cmp_precedence(other).is_eq()) {
            sharing.insert(place);
            sharing.insert(next_place);
        }
    }
    sharing
}

/// The cost of one result, in compared bundles.
const RESULT: usize = 8;

/// The version of a bundle, if it can be read.
fn readable(bundle: &Bundle) -> Option<&Version> {
    let version = bundle.version.as_ref().ok()?;
    Some(&version.version)
}

/// A channel of one package, as an `olm.channel` blob describes it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Name; empty if the blob has none.
    pub name: Box<str>,
    /// The bundles that the entries name, each once, best first. This is a list because a set has a
    /// bit for every bundle of the package, and a package can have as many channels as bundles.
    pub(super) members: Box<[BundleIndex]>,
    /// The message of the channel's `olm.channel` entry in the package's deprecations; may be
    /// empty.
    pub deprecated: Option<Box<str>>,
}

heap_of!(Channel: name, members, deprecated);

impl Channel {
    /// Whether an entry names this bundle.
    pub fn has(&self, bundle: BundleIndex) -> bool {
        self.members.binary_search(&bundle).is_ok()
    }

    /// Whether an entry names a bundle of this set.
    pub fn has_any_of(&self, bundles: &BundleSet) -> bool {
        self.members.iter().any(|member| bundles.contains(*member))
    }
}

/// The channels of one package that a request selects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AskedChannels {
    /// The request names no channels: every edge counts, and bundles without a channel are
    /// included.
    All,
    /// The request names channels. Contains those that exist, each once, in the order of the
    /// package; nearly always one.
    Some(SmallVec<[ChannelIndex; 4]>),
}

impl AskedChannels {
    /// Whether edges of this channel count.
    pub fn has(&self, channel: ChannelIndex) -> bool {
        match self {
            Self::All => true,
            Self::Some(channels) => channels.binary_search(&channel).is_ok(),
        }
    }
}
