//! Automatic upgrades of OLM v0. There is no other path, because a Subscription cannot pin a version.

use crate::path::{End, Generation, PathReport, WalkReport, not_applied};
use crate::see::{BundleReport, forbidden};
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::version::Version;
use olmguard_engine::extension::Policy;
use olmguard_engine::inquiry::{Inquiry, NotAnswered};
use olmguard_engine::judge::CatalogKnowledge;
use olmguard_engine::resolve::classic::{
    InstalledCsv, Outlook, SubscribedChannel, SubscriptionOrder,
};
use olmguard_engine::resolve::{Choice, Offer};

impl PathReport {
    /// Reports the automatic upgrades of OLM v0 in each catalog, for a Subscription to the first requested
    /// channel, or to no channel if none is requested.
    ///
    /// # Errors
    /// If `to` names nothing.
    pub fn of_classic<'a>(
        inquiry: &Inquiry<'a>,
        to: Option<&str>,
    ) -> Result<Self, NotAnswered<'a>> {
        let targets = to.map(|text| inquiry.target(text)).transpose()?;
        let offers = inquiry.offers.iter();
        let goal = targets.and_then(|targets| targets.first().copied());
        let walks: Vec<_> = offers.map(|offer| walk(inquiry, offer, goal)).collect();
        let mut report = Self::about(inquiry);
        report.notes.extend(not_applied(&walks));
        Ok(Self {
            olm: Generation::V0,
            to: goal.map(BundleReport::of),
            walks,
            ..report
        })
    }

    /// Whether OLM v0 reaches the goal or has it installed; without a goal, whether every walk ends at a head.
    pub(super) fn is_walked(&self) -> bool {
        match &self.to {
            Some(to) => {
                let mut steps = self.walks.iter().flat_map(|walk| &walk.steps);
                let is_here = self.from.bundle.as_ref() == Some(&to.bundle);
                is_here || steps.any(|step| step.bundle == to.bundle)
            }
            None => self.walks.iter().all(|walk| walk.end == End::Head),
        }
    }

    /// Whether the unknown name of the installed bundle decides: an edge that names it can differ from the ranges.
    pub(super) fn is_walk_unknown(&self) -> bool {
        let is_nameless = self.olm == Generation::V0 && self.from.bundle.is_none();
        is_nameless && self.walks.iter().any(|walk| walk.has_goal) && !self.is_walked()
    }
}

/// Returns the channel of the Subscription, of the requested ones. A Subscription has at most one.
pub(crate) fn subscribed(channels: &[String]) -> SubscribedChannel<'_> {
    match channels.first() {
        Some(channel) => SubscribedChannel::To(channel),
        None => SubscribedChannel::ToAny,
    }
}

fn walk<'a>(inquiry: &Inquiry<'a>, offer: &Offer<'a>, goal: Option<Choice<'a>>) -> WalkReport {
    let graph = Graph::of(&inquiry.filter.package, offer.package);
    let version = Version::parse(&inquiry.installed.version).ok();
    let order = SubscriptionOrder::of(&graph, subscribed(&inquiry.filter.channels));
    let (nodes, end) = match &order {
        Ok(line) => walked(line, inquiry, version.as_ref()),
        Err(_) => (Vec::new(), End::Refused),
    };
    let places = nodes.iter().filter_map(|node| graph.bundle_index(*node));
    let steps: Vec<_> = places.map(|index| offer.choice(index)).collect();
    let looked = inquiry.forbidden_of_classic(version.as_ref(), &steps);
    WalkReport {
        catalog: Some(offer.catalog.name.clone()),
        forbidden: forbidden(&looked.forbidden, Policy::CatalogProvided),
        looked_at: looked.looked_at,
        steps: steps.into_iter().map(BundleReport::of).collect(),
        has_goal: order.as_ref().is_ok_and(|line| tries(line, goal)),
        end,
        message: order.err().map(|error| error.to_string()),
        to_prerelease: None,
    }
}

/// Returns the steps from the installed bundle, and why they end.
fn walked(
    line: &SubscriptionOrder<'_, '_>,
    inquiry: &Inquiry<'_>,
    version: Option<&Version>,
) -> (Vec<NodeIndex>, End) {
    let installed = InstalledCsv {
        name: inquiry.installed.name.as_deref().unwrap_or_default(),
        version,
    };
    let first = match line.outlook(installed) {
        Outlook::Next(first) => first,
        _ if inquiry.known == CatalogKnowledge::VersionOnly => return (Vec::new(), End::Unknown),
        outlook => return (Vec::new(), end(outlook)),
    };
    // Start after the installed bundle: a cycle returns to it, and the path shows that.
    let mut steps = vec![first];
    steps.extend(line.walk_from(first));
    let last = steps.last().copied().unwrap_or(first);
    (steps, end(line.outlook_at(last)))
}

/// Whether the channel order contains the goal, so OLM v0 tries it from some version.
fn tries(line: &SubscriptionOrder<'_, '_>, goal: Option<Choice<'_>>) -> bool {
    goal.is_none_or(|to| {
        let mut tried = line.order();
        tried.any(|node| line.graph().name_of(node) == &*to.bundle().name)
    })
}

fn end(outlook: Outlook) -> End {
    match outlook {
        Outlook::AtHead => End::Head,
        Outlook::Next(_) => End::Round,
        Outlook::Stranded => End::Stranded,
    }
}
