//! Builds the index of one package from its blobs.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::bundle_set::{BundleIndex, BundleSet};
use crate::edges::{ChannelIndex, EdgesBuilder, IndexedEdge, NameEdge};
use crate::guardrail::{self, AuthorGuardrails, Guardrails, UnreadGuardrails, VALUE_PER_BYTE};
use crate::memory::{Account, Heap, Loan, TooLarge, allocated};
use crate::owned::OwnedChannel;
use crate::package::sharing_version;
use crate::{Bundle, Channel, CrdNames, Deprecation, Package, blob};

/// The blobs of one package by kind, in the order of their files.
#[derive(Debug, Default)]
pub(super) struct PackageParts {
    pub(super) package: Option<blob::PackageBlob<'static>>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) channels: Vec<OwnedChannel>,
    /// The entries of the first `olm.deprecations` blob; later ones are ignored.
    pub(super) deprecations: Option<Vec<blob::DeprecationEntry<'static>>>,
    pub(super) guardrails: Vec<Result<Guardrails, UnreadGuardrails>>,
    /// Schemas of guardrail blobs of an unknown version.
    pub(super) other_guardrails: Vec<Box<str>>,
}

/// Positions of the bundles by name. Blobs in different files can have the same bundle name, but
/// this is rare.
type PlacesByName<'a> = HashMap<&'a str, SmallVec<[BundleIndex; 2]>>;

/// Deprecation messages of channels or bundles, by name.
type Messages<'a> = HashMap<&'a str, &'a str>;

/// Indexes a package and charges its memory to the account.
pub(super) fn index(parts: PackageParts, account: &Account) -> Result<Package, TooLarge> {
    let mut loan = account.lend(parts.working())?;
    let PackageParts {
        package: about,
        mut bundles,
        channels,
        deprecations,
        guardrails,
        other_guardrails,
    } = parts;
    let has_about = about.is_some();
    let about = about.unwrap_or_default();
    let guardrails = author_guardrails(&about, guardrails, other_guardrails);
    bundles.sort_by(Bundle::cmp_preference);
    bundles.shrink_to_fit();
    share_crds(&mut bundles);
    let mut blobs: Vec<_> = channels.iter().map(OwnedChannel::read).collect();
    blobs.sort_by(|a, b| a.name.cmp(&b.name));
    let places = places(&bundles);
    let is_incomplete = !is_complete(has_about, &blobs, &places);
    let edges = EdgesBuilder::within(account.loan());
    let (channels, edges) = indexed_channels(&blobs, &places, edges);
    let readable = bundles
        .iter()
        .filter_map(|bundle| bundle.version.as_ref().ok());
    let (edges, _until_kept) = edges.build(readable.map(|read| &read.version));
    let mut package = Package {
        default_channel: about.default_channel.into(),
        guardrails: Box::new(guardrails),
        deprecated_bundles: BundleSet::none(bundles.len()),
        sharing_version: sharing_version(&bundles),
        deprecation: Deprecation::Absent,
        bundles,
        channels,
        edges,
        is_incomplete,
    };
    account.check()?;
    if let Some(entries) = deprecations {
        package.deprecate(&entries, &mut loan)?;
    }
    loan.keep(package.heap_bytes())?;
    Ok(package)
}

/// Shares the names of CRDs between consecutive bundles that have the same names.
fn share_crds(bundles: &mut [Bundle]) {
    let mut last = CrdNames::default();
    let installs = bundles.iter_mut().filter_map(|it| it.install.as_mut());
    for install in installs {
        if install.crds == last {
            install.crds = last.clone();
        } else {
            last = install.crds.clone();
        }
    }
}

/// The guardrails from blobs, and the guardrails from properties of the `olm.package` blob.
fn author_guardrails(
    about: &blob::PackageBlob<'_>,
    blobs: Vec<Result<Guardrails, UnreadGuardrails>>,
    mut others: Vec<Box<str>>,
) -> AuthorGuardrails {
    let properties = about.guardrails.iter();
    let properties = properties.map(|text| guardrail::read_text(text));
    others.extend(
        about
            .other_guardrails
            .iter()
            .map(|kind| kind.as_ref().into()),
    );
    AuthorGuardrails::new(blobs, properties.collect(), others)
}

impl PackageParts {
    /// Memory for indexing, without the edges: space to sort in, tables by name, and the index
    /// itself.
    fn working(&self) -> usize {
        let bundles = self.bundles.len() * PER_BUNDLE;
        let channels = self.channels.iter().map(|channel| {
            2 * size_of::<Channel>()
                + channel.read_bytes()
                + allocated(channel.name_len())
                + allocated(size_of::<Channel>())
        });
        let stated = self.package.iter().flat_map(|about| &about.guardrails);
        let stated = stated.map(|text| text.len().saturating_mul(VALUE_PER_BYTE));
        let kept = self.guardrails.heap_bytes() + self.other_guardrails.heap_bytes();
        let bundle_texts = self.bundles.heap_bytes();
        bundles
            + bundle_texts
            + channels.sum::<usize>()
            + stated.sum::<usize>()
            + 2 * kept
            + BESIDES
    }
}

fn places(bundles: &[Bundle]) -> PlacesByName<'_> {
    let mut places = PlacesByName::with_capacity(bundles.len());
    for (index, bundle) in (0..).map(BundleIndex).zip(bundles) {
        places.entry(&bundle.name).or_default().push(index);
    }
    places
}

/// Whether the package has an `olm.package` blob and a channel, and a bundle for every channel
/// entry. A package with neither channels nor bundles counts as complete, because the author may
/// have intended it.
fn is_complete(
    has_about: bool,
    channels: &[blob::ChannelBlob<'_>],
    bundles: &PlacesByName<'_>,
) -> bool {
    let mut entries = channels.iter().flat_map(|channel| &channel.entries);
    let is_bare = channels.is_empty() && bundles.is_empty();
    is_bare
        || has_about
            && !channels.is_empty()
            && entries.all(|entry| bundles.contains_key(&*entry.name))
}

fn indexed_channels<'t>(
    blobs: &'t [blob::ChannelBlob<'_>],
    places: &PlacesByName<'_>,
    mut edges: EdgesBuilder<'t>,
) -> (Vec<Channel>, EdgesBuilder<'t>) {
    let channels = (0..)
        .map(ChannelIndex)
        .zip(blobs)
        .map(|(at, blob)| Channel {
            name: blob.name.as_ref().into(),
            members: members(at, blob, places, &mut edges),
            deprecated: None,
        });
    (channels.collect(), edges)
}

/// Returns the bundles that the entries of a channel name, and adds their edges.
fn members<'t>(
    channel: ChannelIndex,
    blob: &'t blob::ChannelBlob<'_>,
    places: &PlacesByName<'_>,
    edges: &mut EdgesBuilder<'t>,
) -> Box<[BundleIndex]> {
    let mut members = Vec::new();
    for entry in &blob.entries {
        for to in places.get(&*entry.name).into_iter().flatten().copied() {
            if !edges.makes_room(MEMBER) {
                break;
            }
            members.push(to);
            add_edges(edges, entry, IndexedEdge { channel, to });
        }
    }
    members.sort_unstable();
    members.dedup();
    members.into()
}

/// Adds the edges of one entry. An entry without `replaces` replaces the empty name.
fn add_edges<'t>(
    edges: &mut EdgesBuilder<'t>,
    entry: &'t blob::ChannelEntry<'_>,
    edge: IndexedEdge,
) {
    edges.name(&entry.replaces, edge.named(NameEdge::Replaces));
    let skipped = entry.skips.iter();
    skipped.for_each(|name| edges.name(name, edge.named(NameEdge::Skips)));
    if !entry.skip_range.is_empty() {
        edges.range(&entry.skip_range, edge);
    }
}

impl Package {
    /// Applies the deprecation entries. If two entries deprecate the same thing, the last one
    /// counts.
    fn deprecate(
        &mut self,
        entries: &[blob::DeprecationEntry<'_>],
        loan: &mut Loan,
    ) -> Result<(), TooLarge> {
        loan.more(entries.len().saturating_mul(PER_MESSAGE))?;
        self.deprecation = Deprecation::OfParts;
        let (mut channels, mut bundles) = (Messages::new(), Messages::new());
        for entry in entries {
            let (name, message) = (&*entry.name, &*entry.message);
            match &*entry.schema {
                "olm.package" => {
                    loan.more(allocated(message.len()))?;
                    self.deprecation = Deprecation::OfPackage(message.into());
                }
                "olm.channel" => {
                    channels.insert(name, message);
                }
                "olm.bundle" => {
                    bundles.insert(name, message);
                }
                _ => {}
            }
        }
        for channel in &mut self.channels {
            channel.deprecated = kept(channels.get(&*channel.name), loan)?;
        }
        for (index, bundle) in (0..).map(BundleIndex).zip(&mut self.bundles) {
            bundle.deprecated = kept(bundles.get(&*bundle.name), loan)?;
            if bundle.deprecated.is_some() {
                self.deprecated_bundles.insert(index);
            }
        }
        Ok(())
    }
}

/// Returns a message that is kept, and charges it.
fn kept(message: Option<&&str>, loan: &mut Loan) -> Result<Option<Box<str>>, TooLarge> {
    let Some(message) = message else {
        return Ok(None);
    };
    loan.more(allocated(message.len()))?;
    Ok(Some(Box::from(*message)))
}

/// Memory per bundle: space to sort it in, and its slot in the table by name. The table is up to
/// half empty, and the list in a slot can need space for four.
const PER_BUNDLE: usize = 2 * size_of::<Bundle>()
    + 4 * (size_of::<(&str, SmallVec<[BundleIndex; 2]>)>() + 1)
    + allocated(4 * size_of::<BundleIndex>())
    // The bits of the bundle in sets.
    + 1;

/// Memory per deprecation: its slot in a table of messages, which exists twice while it grows.
const PER_MESSAGE: usize = 4 * (size_of::<(&str, &str)>() + 1);

/// Memory per item of a list that exists twice while it grows, and is up to half empty.
const MEMBER: usize = 4 * size_of::<BundleIndex>();

/// Memory that belongs to no bundle and no channel: small tables, and the box of the guardrails.
const BESIDES: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AskedChannels;
    use crate::olm::Rules;

    fn bundle(name: &str) -> Bundle {
        let blob = blob::BundleBlob {
            name: name.into(),
            ..blob::BundleBlob::default()
        };
        Bundle::read(blob, &Rules::default())
    }

    fn channel(name: &str, entries: &[&str]) -> OwnedChannel {
        let entry = |name: &&str| blob::ChannelEntry {
            name: (*name).to_owned().into(),
            ..blob::ChannelEntry::default()
        };
        OwnedChannel::of(&blob::ChannelBlob {
            name: name.into(),
            entries: entries.iter().map(entry).collect(),
        })
    }

    fn package(bundles: &[&str], channels: Vec<OwnedChannel>) -> Package {
        let parts = PackageParts {
            bundles: bundles.iter().copied().map(bundle).collect(),
            channels,
            ..PackageParts::default()
        };
        index(parts, &Account::default()).expect("no bound")
    }

    #[test]
    fn a_channel_lists_each_bundle_once_in_the_order_of_the_package() {
        let entries = ["a", "c", "stranger", "a"];
        let package = package(&["b", "c", "a"], vec![channel("stable", &entries)]);
        let members = package.channels().iter().flat_map(|c| &c.members);
        let names: Vec<_> = members.map(|m| &*package.bundle(*m).name).collect();
        assert_eq!(names, ["c", "a"]);
    }

    #[test]
    fn of_two_deprecations_of_a_part_the_last_counts() {
        let entry = |(schema, name, message): (&str, &str, &str)| blob::DeprecationEntry {
            schema: schema.to_owned().into(),
            name: name.to_owned().into(),
            message: message.to_owned().into(),
        };
        let entries = [
            ("olm.bundle", "b", "first"),
            ("olm.channel", "b", "of the channel"),
            ("olm.bundle", "b", "last"),
            ("olm.bundle", "stranger", "none"),
        ];
        let parts = PackageParts {
            bundles: ["a", "b"].map(bundle).into(),
            channels: ["a", "b"].map(|name| channel(name, &[])).into(),
            deprecations: Some(entries.map(entry).into()),
            ..PackageParts::default()
        };
        let package = index(parts, &Account::default()).expect("no bound");
        let bundles: Vec<_> = package
            .bundles()
            .map(|(_, b)| b.deprecated.as_deref())
            .collect();
        assert_eq!(bundles, [None, Some("last")]);
        let channels = package.channels().iter();
        let channels: Vec<_> = channels.map(|c| c.deprecated.as_deref()).collect();
        assert_eq!(channels, [None, Some("of the channel")]);
        assert_eq!(package.deprecated_bundles.len(), 1);
        assert_eq!(package.deprecation(), &Deprecation::OfParts);
    }

    #[test]
    fn asked_channels_are_those_that_exist() {
        let channels = ["b", "d", "a", "b", ""].map(|name| channel(name, &[]));
        let package = package(&[], channels.into());
        for (asked, expected) in [
            (&["a"][..], &[1][..]),
            (&["b"], &[2, 3]),
            (&["d", "b", "d", "a"], &[1, 2, 3, 4]),
            (&["", "c", "e"], &[0]),
            (&["c"], &[]),
        ] {
            let names: Vec<String> = asked.iter().copied().map(str::to_owned).collect();
            let expected = expected.iter().copied().map(ChannelIndex).collect();
            let found = package.ask_channels(&names);
            assert_eq!(found, AskedChannels::Some(expected), "{asked:?}");
            let has = |at| found.has(ChannelIndex(at));
            let exists = |name: &&str| package.has_channel(name);
            assert_eq!((0..9).any(has), asked.iter().any(exists), "{asked:?}");
        }
        assert!(package.ask_channels(&[]).has(ChannelIndex(4)));
    }

    #[test]
    fn as_many_channels_as_bundles_take_no_more_room_than_their_entries() {
        let names: Vec<String> = (0..20_000).map(|n| format!("{n:05}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let channels = names.iter().map(|name| channel(name, &[name])).collect();
        let package = package(&names, channels);
        let kept: usize = package.channels().iter().map(|c| c.members.len()).sum();
        assert_eq!(kept, 20_000);
        for name in ["00000", "07777", "19999"] {
            let asked = package.ask_channels(&[name.to_owned()]);
            let members: Vec<_> = package.members(&asked).iter().collect();
            let names: Vec<_> = members.iter().map(|m| &*package.bundle(*m).name).collect();
            assert_eq!(names, [name]);
        }
    }
}
