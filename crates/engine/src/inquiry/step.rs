//! The reasons for and against one step, from the installed bundle to one of the given bundles.

use crate::inquiry::{Decision, Inquiry, is_given};
use crate::judge::{Token, Verdict, pin};
use crate::resolve::semver::{Hindrance, step};
use crate::resolve::{Choice, Offer, OfferEdge, Origin, Query, Violation};
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::version::VersionRelease;
use olmguard_catalog::{DependencyKind, EdgeStart};

/// A condition that a step does not meet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Need<'a> {
    /// No entry has an edge to the bundle. It needs one, by `replaces`, `skips` or `skipRange`.
    Edge {
        /// The name of the installed bundle, if known.
        name: Option<String>,
        /// The installed version.
        version: String,
    },
    /// The name of the installed bundle is unknown, and the answer depends on it.
    Name {
        /// The installed version.
        version: String,
    },
    /// The semver rules apply and do not allow the step.
    Versions(Hindrance),
    /// Only entries of other channels than the requested ones have an edge to the bundle.
    Channel(Vec<String>),
    /// The bundle is in none of the requested channels, but in these.
    Member(Vec<String>),
    /// The range does not match the bundle.
    Range(String),
    /// The bundle declares a dependency of this kind.
    Dependency(DependencyKind),
    /// The version of the bundle cannot be read.
    Version,
    /// The pin resolves to another bundle of the version.
    Chosen {
        /// The pin.
        pin: String,
        /// The bundle that the pin resolves to.
        given: Choice<'a>,
    },
    /// Several catalogs of the same priority have the bundle.
    Catalogs(Vec<String>),
    /// OLM crashes on a `skipRange`.
    BrokenRange,
    /// The installed version cannot be read.
    Installed,
    /// Entries of the bundle have a `skipRange` that OLM ignores.
    UnreadRange(Vec<String>),
    /// Without a pin, OLM prefers bundles that are not deprecated.
    Deprecated,
}

/// The judgement of the edit that pins the version in question.
#[derive(Debug)]
pub struct PinnedStep<'a> {
    /// The range that pins the version.
    pub pin: String,
    /// The judgement of the edit.
    pub decision: Decision<'a>,
    /// The bundle that the edit installs instead, if it is another one.
    pub another: Option<Choice<'a>>,
}

impl PinnedStep<'_> {
    /// Whether the edit installs the bundle in question.
    pub fn is_allowed(&self) -> bool {
        self.decision.verdict() == Verdict::Allow && self.another.is_none()
    }
}

impl<'a> Inquiry<'a> {
    /// The edit that pins the version of these bundles; `None` if the version cannot be read.
    pub fn pinned(&self, targets: &[Choice<'a>]) -> Option<PinnedStep<'a>> {
        let pin = targets.iter().find_map(|to| pin(*to))?;
        let free = self.filter.without_version();
        let decision = self.decide(&free.with_version(&pin));
        let is_meant = |given: &Choice<'_>| targets.iter().any(|to| is_given(to, given));
        Some(PinnedStep {
            another: decision.given().filter(|given| !is_meant(given)),
            decision,
            pin,
        })
    }

    /// Whether an edge makes one of these bundles a successor.
    pub fn is_successor(&self, targets: &[Choice<'a>]) -> bool {
        let origin = self.origin();
        origin.is_some_and(|origin| targets.iter().any(|to| self.leads(&origin, to)))
    }

    /// Whether one of these bundles counts as the installed one, possibly under another name.
    fn stays(&self, targets: &[Choice<'a>]) -> bool {
        let origin = self.origin();
        origin.is_some_and(|origin| {
            targets
                .iter()
                .any(|to| origin.is_same(to.index, to.package))
        })
    }

    /// The violations of guardrails by a step along an edge in the requested channels.
    pub fn violations_along(&self, targets: &[Choice<'a>]) -> Vec<Violation<'a>> {
        let Some(origin) = self.origin() else {
            return Vec::new();
        };
        let Some(from) = origin.version() else {
            return Vec::new();
        };
        let leading = targets.iter().filter(|to| self.leads(&origin, to));
        let violations = leading.flat_map(|to| self.violations(&from.version, to));
        violations.collect()
    }

    /// Whether versions alone allow the step; absent if one of them cannot be read.
    pub fn by_versions(&self, targets: &[Choice<'a>]) -> Option<Result<(), Hindrance>> {
        let legacy = self.basis.snapshot.rules().legacy_release;
        let here = VersionRelease::parse_legacy(&self.installed.version, legacy).ok()?;
        let there = targets.iter().find_map(Choice::version)?;
        Some(step(&here.version, there))
    }

    /// The conditions that a step does not meet, in the order in which it is best to fix them. `unpinned` is the bundle
    /// that the request resolves to without a pin.
    pub fn needs(
        &self,
        targets: &[Choice<'a>],
        edit: Option<&PinnedStep<'a>>,
        unpinned: Option<Choice<'a>>,
    ) -> Vec<Need<'a>> {
        let mut needs = Vec::new();
        let is_here = self.is_here(targets);
        let token = edit.map(|edit| edit.decision.token());
        if token == Some(Token::InstalledVersionInvalid) {
            needs.push(Need::Installed);
        } else if token == Some(Token::InstalledUnknown) {
            let version = self.installed.version.clone();
            needs.push(Need::Name { version });
        } else if !self.stays(targets) && !self.is_successor(targets) {
            needs.extend(self.without_edge(targets));
        }
        needs.extend(outside_of_channels(self, targets));
        needs.extend(outside_of_range(self, targets));
        let mut bundles = targets.iter().map(Choice::bundle);
        let dependency = bundles.clone().find_map(|bundle| bundle.dependency);
        needs.extend(dependency.map(Need::Dependency));
        needs.extend(
            bundles
                .find(|bundle| bundle.version.is_err())
                .map(|_| Need::Version),
        );
        needs.extend(edit.and_then(|edit| {
            let (pin, given) = (edit.pin.clone(), edit.another?);
            Some(Need::Chosen { pin, given })
        }));
        needs.extend(token.and_then(|token| of_catalogs(token, targets)));
        let comes_alone = unpinned.is_some_and(|next| targets.contains(&next));
        if !is_here && !comes_alone && targets.iter().all(Choice::is_deprecated) {
            needs.push(Need::Deprecated);
        }
        needs
    }

    fn without_edge(&self, targets: &[Choice<'a>]) -> Vec<Need<'a>> {
        if let (true, Some(Err(what))) = (
            self.basis.snapshot.rules().edges != EdgeSource::Catalog,
            self.by_versions(targets),
        ) {
            return vec![Need::Versions(what)];
        }
        let leading = || self.offers.iter().flat_map(Offer::edges);
        let leading = || leading().filter(|edge| targets.contains(&edge.to));
        let origin = self.origin();
        let starts = |edge: &OfferEdge<'_>| {
            let origin = origin.as_ref();
            origin.is_some_and(|origin| starts(edge, origin))
        };
        let channels = sorted(leading().filter(starts).map(channel));
        if !channels.is_empty() {
            return vec![Need::Channel(channels)];
        }
        let mut needs = vec![Need::Edge {
            name: self.installed.name.clone(),
            version: self.installed.version.clone(),
        }];
        let unread = leading().filter_map(|edge| match edge.from {
            EdgeStart::UnreadRange(text) => Some(text.to_owned()),
            EdgeStart::Name(..) | EdgeStart::Range(_) => None,
        });
        let unread: Vec<_> = unread.collect();
        if !unread.is_empty() {
            needs.push(Need::UnreadRange(unread));
        }
        needs
    }
}

/// Whether an edge starts at the installed bundle. An entry that replaces nothing has no edge.
fn starts(edge: &OfferEdge<'_>, origin: &Origin<'_>) -> bool {
    let is_none = matches!(edge.from, EdgeStart::Name("", _));
    !is_none && edge.starts_at(origin)
}

fn channel(edge: OfferEdge<'_>) -> String {
    edge.channel.to_owned()
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    names
}

fn of_catalogs<'a>(token: Token, targets: &[Choice<'a>]) -> Option<Need<'a>> {
    match token {
        Token::AmbiguousCatalogs => {
            let catalogs = targets.iter().map(|to| to.catalog.name.clone());
            Some(Need::Catalogs(catalogs.collect()))
        }
        Token::BrokenSkipRange => Some(Need::BrokenRange),
        _ => None,
    }
}

fn outside_of_channels<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Option<Need<'a>> {
    let is_member = |to: &Choice<'_>| {
        let mut offers = inquiry.offers.iter();
        let offer = offers.find(|offer| to.is_of(offer.catalog));
        offer.is_some_and(|offer| offer.members.contains(to.index))
    };
    if targets.iter().any(is_member) {
        return None;
    }
    let having = targets.iter().flat_map(|to| {
        let channels = to.package.channels().iter();
        channels.filter(|channel| channel.members().any(|member| member == to.index))
    });
    let names = having.map(|channel| channel.name.to_string());
    Some(Need::Member(sorted(names)))
}

fn outside_of_range<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Option<Need<'a>> {
    let query = Query::compile(inquiry.filter, inquiry.basis.snapshot).ok()?;
    let range = query.range()?;
    let holds = |to: &Choice<'_>| {
        let version = to.version();
        version.is_some_and(|version| range.matches(version))
    };
    let text = range.as_str().to_owned();
    (!targets.iter().any(holds)).then_some(Need::Range(text))
}
