//! From the blobs of one package to its index.

use std::collections::HashMap;

use crate::catalog::blob;
use crate::catalog::bundle_set::{BundleIndex, BundleSet};
use crate::catalog::channel::ChannelIndex;
use crate::catalog::edges::{Edge, EdgesBuilder};
use crate::catalog::{Bundle, Channel, Deprecation, Package};

/// The blobs of one package, by what they are, in the order of their files.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) bundles: Vec<Bundle>,
    pub(super) channels: Vec<blob::Channel<'static>>,
    /// The entries of the first `olm.deprecations`; others are not looked at.
    pub(super) deprecations: Option<Vec<blob::Deprecation<'static>>>,
}

/// Where the bundles of one name stand: blobs that are filed under different names can share one.
type Places<'a> = HashMap<&'a str, Vec<BundleIndex>>;

/// The index of the package of this name.
pub(super) fn index(parts: Parts) -> Package {
    let Parts {
        mut bundles,
        channels: mut blobs,
        deprecations,
    } = parts;
    bundles.sort_by(Bundle::cmp_preference);
    blobs.sort_by(|a, b| a.name.cmp(&b.name));
    let places = places(&bundles);
    let (channels, edges) = channels(&blobs, &places, bundles.len());
    let readable = bundles
        .iter()
        .filter_map(|bundle| bundle.version.as_ref().ok());
    let edges = edges.build(readable.map(|read| &read.version));
    let deprecated_bundles = BundleSet::none(bundles.len());
    let deprecation = Deprecation::Absent;
    let mut package = Package {
        bundles,
        channels,
        edges,
        deprecated_bundles,
        deprecation,
    };
    if let Some(entries) = deprecations {
        package.deprecate(&entries);
    }
    package
}

fn places(bundles: &[Bundle]) -> Places<'_> {
    let mut places = Places::new();
    for (index, bundle) in (0..).map(BundleIndex).zip(bundles) {
        places.entry(&bundle.name).or_default().push(index);
    }
    places
}

fn channels(
    blobs: &[blob::Channel<'_>],
    places: &Places<'_>,
    bundles: usize,
) -> (Vec<Channel>, EdgesBuilder) {
    let mut edges = EdgesBuilder::default();
    let channel = |(at, blob): (ChannelIndex, &blob::Channel<'_>)| {
        let mut members = BundleSet::none(bundles);
        for entry in &blob.entries {
            for to in places.get(&*entry.name).into_iter().flatten() {
                members.insert(*to);
                add_edges(
                    &mut edges,
                    entry,
                    Edge {
                        channel: at,
                        to: *to,
                    },
                );
            }
        }
        Channel {
            name: blob.name.as_ref().into(),
            members,
            deprecated: None,
        }
    };
    let channels = (0..).map(ChannelIndex).zip(blobs).map(channel).collect();
    (channels, edges)
}

/// An entry without `replaces` replaces the empty name.
fn add_edges(edges: &mut EdgesBuilder, entry: &blob::Entry<'_>, edge: Edge) {
    edges.name(&entry.replaces, edge);
    entry
        .skips
        .iter()
        .for_each(|skipped| edges.name(skipped, edge));
    if !entry.skip_range.is_empty() {
        edges.range(&entry.skip_range, edge);
    }
}

impl Package {
    fn deprecate(&mut self, entries: &[blob::Deprecation<'_>]) {
        self.deprecation = Deprecation::OfParts;
        for entry in entries {
            let message: Box<str> = entry.message.as_ref().into();
            match &*entry.schema {
                "olm.package" => self.deprecation = Deprecation::OfPackage(message),
                "olm.channel" => self.deprecate_channel(&entry.name, &message),
                "olm.bundle" => self.deprecate_bundle(&entry.name, &message),
                _ => {}
            }
        }
    }

    fn deprecate_channel(&mut self, name: &str, message: &str) {
        for channel in self
            .channels
            .iter_mut()
            .filter(|channel| *channel.name == *name)
        {
            channel.deprecated = Some(message.into());
        }
    }

    fn deprecate_bundle(&mut self, name: &str, message: &str) {
        let named = (0..).map(BundleIndex).zip(&mut self.bundles);
        for (index, bundle) in named.filter(|(_, bundle)| *bundle.name == *name) {
            bundle.deprecated = Some(message.into());
            self.deprecated_bundles.insert(index);
        }
    }
}
