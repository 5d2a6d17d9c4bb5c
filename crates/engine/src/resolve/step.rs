//! The edges of an offer as they are written, and which of them start at an installed bundle.
//!
//! Resolution asks only where edges lead ([`Offer::accepted`]); whoever explains a step asks which
//! entry says so.
//!
//! Invariant: without a caret range, the edges of an asked channel that start at an origin lead to
//! exactly the bundles of [`olmguard_catalog::Successors::edges`].

use crate::resolve::{Choice, Offer, Origin};
use olmguard_catalog::version::Membership;
use olmguard_catalog::{BundleIndex, NameEdge, WrittenEdge};

/// An edge that an entry of an offer's package writes.
#[derive(Clone, Copy, Debug)]
pub struct OfferEdge<'s> {
    /// The edge.
    pub written: WrittenEdge<'s>,
    /// The bundle that it leads to.
    pub to: Choice<'s>,
    /// The channel of its entry.
    pub channel: &'s str,
    /// Whether edges of that channel count.
    pub is_asked: bool,
}

impl<'s> Offer<'s> {
    /// Every edge, also of channels that are not asked for.
    pub fn edges(&self) -> impl Iterator<Item = OfferEdge<'s>> {
        self.package.written_edges().map(|written| {
            let channel = written.channel();
            let known = self.package.channels().get(channel.get() as usize);
            OfferEdge {
                written,
                to: self.choice(written.to()),
                channel: known.map_or("", |channel| &*channel.name),
                is_asked: self.asked.has(channel),
            }
        })
    }

    /// The place of a bundle of this name, the best of several.
    pub fn find(&self, name: &str) -> Option<BundleIndex> {
        self.package
            .bundles_named(name)
            .map(|(index, _)| index)
            .next()
    }
}

impl OfferEdge<'_> {
    /// Whether it starts at an installed bundle. Where successors are those of a caret range, none
    /// does.
    pub fn starts_at(&self, origin: &Origin<'_>) -> bool {
        if origin.is_of_caret_range() {
            return false;
        }
        match &self.written {
            WrittenEdge::Name { from, .. } => origin.name() == Some(from),
            WrittenEdge::Range { range, .. } => origin
                .version()
                .is_some_and(|read| range.takes(&read.version) == Membership::Holds),
            WrittenEdge::UnreadRange { .. } => false,
        }
    }

    /// The field of the entry that it is written in.
    pub fn field(&self) -> &'static str {
        match &self.written {
            WrittenEdge::Name {
                kind: NameEdge::Replaces,
                ..
            } => "replaces",
            WrittenEdge::Name {
                kind: NameEdge::Skips,
                ..
            } => "skips",
            WrittenEdge::Range { .. } | WrittenEdge::UnreadRange { .. } => "skipRange",
        }
    }
}
