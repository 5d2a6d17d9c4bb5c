//! The walk of OLM v0: the only way there is, since nothing can be pinned.

use crate::path::{End, Generation, PathReport, WalkReport, not_applied};
use crate::see::BundleReport;
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::version::Version;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::extension::Policy;
use olmguard_engine::inquiry::{Inquiry, NotAnswered};
use olmguard_engine::judge::CatalogKnowledge;
use olmguard_engine::resolve::Offer;
use olmguard_engine::resolve::classic::{
    InstalledCsv, Outlook, SubscribedChannel, SubscriptionOrder,
};

impl PathReport {
    /// What OLM v0 does with a Subscription to the first of the asked channels, else to none: the walk
    /// in each catalog.
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
        let walks: Vec<_> = offers.map(|offer| walk(inquiry, offer)).collect();
        let mut report = Self::about(inquiry);
        report.notes.extend(not_applied(&walks));
        Ok(Self {
            olm: Generation::V0,
            to: goal.map(BundleReport::of),
            walks,
            ..report
        })
    }

    /// Whether a walk of OLM v0 comes to the goal or is there; without a goal, whether each ends at a head.
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

    /// Whether the name of the installed bundle decides: an edge can name it, and lead elsewhere than the ranges.
    pub(super) fn is_walk_unknown(&self) -> bool {
        let is_nameless = self.olm == Generation::V0 && self.from.bundle.is_none();
        let is_walkable = self.walks.iter().any(|walk| walk.end != End::Refused);
        is_nameless && is_walkable && !self.is_walked()
    }
}

/// The channel of a Subscription has one name.
pub(crate) fn subscribed<'a>(inquiry: &'a Inquiry<'_>) -> SubscribedChannel<'a> {
    match inquiry.filter.channels.first() {
        Some(channel) => SubscribedChannel::To(channel),
        None => SubscribedChannel::ToAny,
    }
}

fn walk<'a>(inquiry: &Inquiry<'a>, offer: &Offer<'a>) -> WalkReport {
    let graph = Graph::of(&inquiry.filter.package, offer.package);
    let version = Version::parse(&inquiry.installed.version).ok();
    let report = |nodes: &[NodeIndex], end, message| {
        let places = nodes.iter().filter_map(|node| graph.bundle_index(*node));
        let steps: Vec<_> = places.map(|index| offer.choice(index)).collect();
        let looked = inquiry.forbidden_of_classic(version.as_ref(), &steps);
        let forbidden = looked.forbidden.iter();
        WalkReport {
            catalog: Some(offer.catalog.name.clone()),
            forbidden: forbidden
                .map(|step| ForbiddenReport::of(step, Policy::CatalogProvided))
                .collect(),
            looked_at: looked.looked_at,
            steps: steps.into_iter().map(BundleReport::of).collect(),
            end,
            message,
            to_prerelease: None,
        }
    };
    let line = match SubscriptionOrder::of(&graph, subscribed(inquiry)) {
        Ok(line) => line,
        Err(error) => return report(&[], End::Refused, Some(error.to_string())),
    };
    let installed = InstalledCsv {
        name: inquiry.installed.name.as_deref().unwrap_or_default(),
        version: version.as_ref(),
    };
    let Outlook::Next(first) = line.outlook(installed) else {
        let end = match inquiry.known {
            CatalogKnowledge::VersionOnly => End::Unknown,
            _ => end(line.outlook(installed)),
        };
        return report(&[], end, None);
    };
    // From the first step on: a circle comes back to what is installed, and the path shows that.
    let mut steps = vec![first];
    steps.extend(line.walk_from(first));
    let last = steps.last().copied().unwrap_or(first);
    report(&steps, end(line.outlook_at(last)), None)
}

fn end(outlook: Outlook) -> End {
    match outlook {
        Outlook::AtHead => End::Head,
        Outlook::Next(_) => End::Round,
        Outlook::Stranded => End::Stranded,
    }
}
