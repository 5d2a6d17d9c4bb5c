//! The place of an installed bundle in the current catalogs, regardless of the range of the extension.

use crate::audit::onward::{Onward, Question, offers};
use crate::extension::{Fields, InstalledBundle, Policy};
use crate::judge::{Basis, Request};
use crate::resolve::{Choice, Offer, Origin, PolicyFinding, PolicyStep, Query};
use olmguard_policy::{Maker, Operation};

/// The place of an installed bundle in the catalogs.
#[derive(Debug)]
pub struct Place<'s> {
    /// The installed bundle in each catalog that has it; empty if no catalog has it any more.
    pub installed: Vec<Choice<'s>>,
    /// The newest bundle in any channel that is newer than the installed one and not deprecated. Prereleases do not
    /// count if a release is installed.
    pub newest: Option<Choice<'s>>,
    /// The number of newer versions, counted as for `newest`.
    pub newer: usize,
    /// The deprecations that affect the installed bundle.
    pub deprecations: Deprecations<'s>,
    /// The rules about a bundle that the installed bundle violates, in the catalog where it violates the fewest.
    pub violations: Vec<PolicyFinding<'s>>,
    /// The next edit towards the newest version.
    pub onward: Onward<'s>,
}

/// The deprecations that affect an installed bundle, in the catalogs that have it.
#[derive(Clone, Debug, Default)]
pub struct Deprecations<'s> {
    /// Whether the bundle is deprecated.
    pub is_of_bundle: bool,
    /// The author's message about the package, possibly empty; absent if the package is not deprecated.
    pub of_package: Option<&'s str>,
    /// The deprecated channels among the requested ones, each with the author's message, possibly empty.
    pub of_channels: Vec<(&'s str, &'s str)>,
}

impl<'s> Place<'s> {
    /// The place of a bundle; `None` if the catalogs cannot answer.
    pub(super) fn of(
        basis: Basis<'s>,
        request: &Request<'_>,
        fields: &Fields,
        installed: &InstalledBundle,
    ) -> Option<Self> {
        let unpinned = request.filter.without_version();
        let in_channels = unpinned.with_policy(Policy::CatalogProvided);
        let anywhere = in_channels.without_channels();
        let origin = Origin::read(installed, basis.snapshot.rules()).ok()?;
        let offers = offers(basis, &anywhere, &origin)?;
        let here: Vec<_> = offers.iter().flat_map(|offer| at(offer, &origin)).collect();
        let newer = newer(&offers, &origin);
        let question = Question {
            basis,
            request: *request,
            fields,
            origin: &origin,
            in_channels: &in_channels,
            anywhere: &anywhere,
        };
        Some(Self {
            newest: newer.first().copied(),
            deprecations: Deprecations::of(&here, &request.filter.channels),
            violations: violations(basis, request, &origin, &here),
            onward: question.onward(!newer.is_empty()),
            newer: newer.len(),
            installed: here,
        })
    }
}

impl<'s> Deprecations<'s> {
    fn of(here: &[Choice<'s>], requested: &[String]) -> Self {
        let of_package = here
            .iter()
            .find_map(|choice| choice.package.deprecation().of_package());
        let channels = here.iter().flat_map(|choice| choice.package.channels());
        let channels =
            channels.filter_map(|channel| Some((&*channel.name, channel.deprecated.as_deref()?)));
        let mut of_channels: Vec<_> = channels
            .filter(|(name, _)| requested.iter().any(|requested| requested == name))
            .collect();
        of_channels.sort_unstable();
        of_channels.dedup_by_key(|(name, _)| *name);
        Self {
            is_of_bundle: here.iter().any(Choice::is_deprecated),
            of_package,
            of_channels,
        }
    }
}

/// The rules that the installed bundle violates. It is compared with the rules for a step that OLM takes, because no
/// admission request exists for it.
fn violations<'s>(
    basis: Basis<'s>,
    request: &Request<'_>,
    origin: &Origin<'_>,
    here: &[Choice<'s>],
) -> Vec<PolicyFinding<'s>> {
    let policies = basis.policies_on(request.filter, request.context);
    let query = Query::compile(request.filter, basis.snapshot).ok();
    // A policy whose match cannot be read refuses moves, but nothing moves here.
    let is_read = |found: &PolicyFinding<'_>| !found.policy.is_match_unread();
    let findings = here.iter().map(|installed| {
        let mut findings = policies.findings(&PolicyStep {
            maker: Maker::Olm,
            after: None,
            from: origin.start(),
            to: *installed,
            is_move: true,
            operation: Operation::Update,
            range: query.as_ref().and_then(Query::range),
        });
        findings.retain(is_read);
        findings
    });
    findings.min_by_key(Vec::len).unwrap_or_default()
}

/// The installed bundle in an offer. If its name is unknown, every bundle with its version.
fn at<'s>(offer: &Offer<'s>, origin: &Origin<'_>) -> Vec<Choice<'s>> {
    let same = origin.same(offer.package);
    let same = same.iter().map(|index| offer.choice(index));
    let is_named = |choice: &Choice<'_>| {
        origin
            .name()
            .is_none_or(|name| *choice.bundle().name == *name)
    };
    same.filter(is_named).collect()
}

/// One bundle per candidate version that is newer than the installed one, the newest first.
fn newer<'s>(offers: &[Offer<'s>], origin: &Origin<'_>) -> Vec<Choice<'s>> {
    let candidates = offers.iter().flat_map(|offer| {
        let candidates = offer.candidates.iter();
        candidates.map(|index| offer.choice(index))
    });
    let is_newer = |choice: &Choice<'_>| origin.is_older_than(choice.package, choice.index);
    let newer = candidates.filter(is_newer);
    let mut newer: Vec<_> = newer
        .filter_map(|choice| Some((choice, choice.version_release()?)))
        .collect();
    newer.sort_by(|(_, one), (_, other)| other.cmp_precedence(one));
    newer.dedup_by(|(_, one), (_, other)| one.cmp_precedence(other).is_eq());
    newer.into_iter().map(|(choice, _)| choice).collect()
}
