//! An extension as it runs, without an edit: its place in the catalogs, its automatic upgrades, and the next edit that
//! an administrator can make.
//!
//! ```text
//! object with its status --judge--> would its spec be admitted today?
//!                        --walk---> the automatic upgrades of OLM
//!                        --place--> its place in the catalogs: newer versions, deprecations
//!                        --onward-> the next edit, and when the policies allow it
//!
//! before, after --change--> the differences after the catalogs change
//! ```
//!
//! The edit that is judged here is hypothetical: it sets the object as it is, as if the object were created now. So a
//! new policy, which does not block a change of labels, shows here which extensions violate it.
//!
//! The results are facts; `views` turns them into text.

mod change;
mod onward;
mod place;

use crate::extension::{Extension, Fields, Filter, Installed, Policy, UnknownCause};
use crate::judge::{
    Basis, Edit, Judgement, PreflightRefusal, Request, Ruling, Token, Verdict, Walk, judge, rule,
    walk,
};
use crate::resolve::{Choice, Offer, Origin, Query, choose, weigh};
use crate::snapshot::Snapshot;
use olmguard_catalog::version::Constraint;
use olmguard_catalog::word_set;

pub use crate::audit::change::{Difference, Moves, denied_step, differences, other_images};
pub use crate::audit::onward::{NextEdit, Onward, UninstallablePath};
pub use crate::audit::place::{Deprecations, Place};
pub use crate::judge::as_set_now;

/// All facts about one extension without an edit.
#[derive(Debug)]
pub struct Audit<'s> {
    /// The judgement of the spec, as if it were set now.
    pub judgement: Judgement<'s>,
    /// The automatic upgrades; absent if no bundle is installed, or if the installed bundle is unknown.
    pub automatic: Option<Walk<'s>>,
    /// The first prerelease that OLM installs automatically, if a release is installed.
    pub to_prerelease: Option<Choice<'s>>,
    /// The place of the installed bundle in the catalogs; absent if no readable bundle is installed, if a selected
    /// catalog cannot answer, or if no catalog has the package.
    pub place: Option<Place<'s>>,
    /// The parts of the request that exist in the catalogs; absent if a selected catalog cannot answer.
    pub requested: Option<Requested<'s>>,
    /// Why the installed bundle is unknown. With the bypass, the verdict does not show this.
    pub unknown: Option<UnknownCause>,
    /// The row that answers the same request without the bypass of the upgrade edges, if the bypass is still set.
    pub without_bypass: Option<Token>,
    /// Whether the range has no upper bound; absent if the range cannot be read.
    pub is_unbounded: Option<bool>,
}

impl<'s> Audit<'s> {
    /// Audits the extension of an edit, regardless of its earlier state.
    pub fn of(basis: Basis<'s>, edit: &Edit<'_>) -> Self {
        let edit = Edit { old: None, ..*edit };
        let judgement = judge(basis, &edit);
        let is_judged = judgement.verdict() != Verdict::NotJudged;
        match edit.request().filter(|_| is_judged) {
            Some(request) => Self::of_request(basis, &request, &edit.new.fields, judgement),
            None => Self {
                judgement,
                automatic: None,
                to_prerelease: None,
                place: None,
                requested: None,
                unknown: None,
                without_bypass: None,
                is_unbounded: None,
            },
        }
    }

    fn of_request(
        basis: Basis<'s>,
        request: &Request<'_>,
        fields: &Fields,
        judgement: Judgement<'s>,
    ) -> Self {
        let unknown = unknown(&judgement, request.installed).cloned();
        let bundle = request.installed.bundle().filter(|_| unknown.is_none());
        let install = request.context.install;
        let automatic = bundle.map(|bundle| walk(basis, request.filter, install, bundle));
        let origin = bundle.and_then(|bundle| Origin::read(bundle, basis.snapshot.rules()).ok());
        let both = origin.zip(automatic.as_ref());
        Self {
            judgement,
            to_prerelease: both.and_then(|(from, walk)| from.first_prerelease(&walk.steps)),
            automatic,
            place: bundle.and_then(|bundle| Place::of(basis, request, fields, bundle)),
            requested: Requested::of(basis, request.filter),
            unknown,
            without_bypass: without_bypass(basis, request),
            is_unbounded: is_unbounded(basis, request.filter),
        }
    }

    /// Why OLM cannot install the bundle that the spec resolves to, or possibly cannot. Faults that the extension
    /// overrides do not count.
    pub fn not_installable(&self) -> Option<&PreflightRefusal<'s>> {
        let refusal = self.judgement.ruled.preflight();
        refusal.filter(|refusal| !refusal.faults.are_overridden())
    }

    /// The concerns, the worst first.
    pub fn concerns(&self) -> Vec<Concern> {
        let all = Concern::ALL.iter().copied();
        all.filter(|concern| concern.is_of(self)).collect()
    }
}

fn unknown<'a>(judgement: &'a Judgement<'_>, installed: &'a Installed) -> Option<&'a UnknownCause> {
    match (&judgement.ruled.ruling, installed) {
        (Ruling::InstalledUnknown(cause), _) | (_, Installed::Unknown(cause)) => Some(cause),
        _ => None,
    }
}

fn without_bypass(basis: Basis<'_>, request: &Request<'_>) -> Option<Token> {
    let strict = request
        .filter
        .bypasses()
        .then(|| request.filter.with_policy(Policy::CatalogProvided))?;
    let request = Request {
        filter: &strict,
        ..*request
    };
    Some(rule(basis, &request).ruling.token())
}

fn is_unbounded(basis: Basis<'_>, filter: &Filter) -> Option<bool> {
    let query = Query::compile(filter, basis.snapshot).ok()?;
    let range = query.range();
    Some(range.is_none_or(Constraint::is_open_above))
}

/// The parts of a request that exist in the selected catalogs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requested<'s> {
    /// Whether a selected catalog has the package.
    pub has_package: bool,
    /// The requested channels that exist, in byte order.
    pub channels: Vec<&'s str>,
}

impl<'s> Requested<'s> {
    /// The existing parts of a request; `None` if the catalogs cannot answer.
    fn of(basis: Basis<'s>, filter: &Filter) -> Option<Self> {
        let anything = filter.without_version().without_channels();
        let query = Query::compile(&anything, basis.snapshot).ok()?;
        let offers = query.offers(&query.in_play(basis.snapshot)).ok()?;
        let channels = offers.iter().flat_map(|offer| offer.package.channels());
        let mut channels: Vec<_> = channels
            .map(|channel| &*channel.name)
            .filter(|name| filter.channels.iter().any(|requested| requested == name))
            .collect();
        channels.sort_unstable();
        channels.dedup();
        Some(Self {
            has_package: !offers.is_empty(),
            channels,
        })
    }
}

// === The images that are worth reading before an edit needs them ===

/// The images of the bundles that an extension can be upgraded to, each once. First is the image of the bundle that its
/// spec resolves to, then the images of the successors of the installed bundle in its channels, the newest first.
///
/// Empty for an extension without an installed bundle, or with a spec that cannot be read.
pub fn images_ahead(snapshot: &Snapshot, extension: &Extension, most: usize) -> Vec<String> {
    let Some(ahead) = bundles(snapshot, extension) else {
        return Vec::new();
    };
    let mut images: Vec<String> = Vec::new();
    for choice in ahead {
        let image = &*choice.bundle().image;
        if images.len() < most && !image.is_empty() && !images.iter().any(|known| known == image) {
            images.push(image.to_owned());
        }
    }
    images
}

fn bundles<'s>(snapshot: &'s Snapshot, extension: &Extension) -> Option<Vec<Choice<'s>>> {
    let filter = extension.filter.as_ref().ok()?;
    let installed = extension.installed.bundle()?;
    let origin = Origin::read(installed, snapshot.rules()).ok()?;
    let resolved = choose(&weigh(&Offer::of(snapshot, filter)?, Some(&origin))).ok();
    let offers = Offer::of(snapshot, &filter.without_version())?;
    let successors = offers.iter().flat_map(|offer| successors(offer, &origin));
    let mut successors: Vec<_> = successors
        .filter_map(|choice| Some((choice.version_release()?, choice)))
        .collect();
    successors.sort_by(|(one, _), (other, _)| other.cmp_precedence(one));
    let resolved = resolved.map(|resolved| resolved.choice);
    let successors = successors.into_iter().map(|(_, choice)| choice);
    Some(resolved.into_iter().chain(successors).collect())
}

fn successors<'s>(offer: &Offer<'s>, origin: &Origin<'_>) -> Vec<Choice<'s>> {
    let accepted = offer.accepted(origin).bundles;
    accepted.iter().map(|index| offer.choice(index)).collect()
}

// === The concerns about an extension: a closed set of words, used as labels by metrics and reports ===

word_set! {
    /// One concern about an extension. The worst is first.
    pub enum Concern {
        /// OLM resolves nothing for the spec.
        Unresolvable => "unresolvable",
        /// OLM takes a step automatically that guardrails forbid.
        ForbiddenMove => "forbidden_move",
        /// Guardrails or upgrade policies forbid the bundle that the spec resolves to.
        Forbidden => "forbidden",
        /// OLM cannot install the bundle that the spec resolves to, or possibly cannot.
        NotInstallable => "not_installable",
        /// OLM upgrades the extension automatically from a release to a prerelease.
        MovesToPrerelease => "moves_to_prerelease",
        /// A fact is missing: a fact for the verdict, or the installed bundle.
        Undecided => "undecided",
        /// Newer versions exist, but none of them can be reached.
        Stranded => "stranded",
        /// No catalog has the installed bundle any more.
        NotInCatalog => "not_in_catalog",
        /// The installed bundle violates upgrade policies.
        AgainstPolicy => "against_policy",
        /// The package is deprecated.
        PackageDeprecated => "package_deprecated",
        /// The installed bundle is deprecated.
        BundleDeprecated => "bundle_deprecated",
        /// A requested channel is deprecated.
        ChannelDeprecated => "channel_deprecated",
        /// Guardrails or upgrade policies forbid each path to a newer version.
        PathForbidden => "path_forbidden",
        /// OLM does not install a bundle on the path to a newer version, and no other path exists.
        PathNotInstallable => "path_not_installable",
        /// Newer versions can be reached only after a change of channels.
        ChannelEnds => "channel_ends",
        /// The bypass of the upgrade edges is still set.
        Bypass => "bypass",
        /// OLM upgrades the extension automatically.
        Moves => "moves",
        /// The range has no upper bound.
        Unbounded => "unbounded",
        /// A newer version can be reached, but OLM does not upgrade to it automatically.
        Behind => "behind",
    }
}

impl Concern {
    /// Whether an audit found the concern.
    fn is_of(self, audit: &Audit<'_>) -> bool {
        match self {
            Self::Unresolvable => {
                let is_resolved = audit.judgement.token() == Token::Preflight;
                denies(audit) && !is_by_rule(audit) && !is_resolved
            }
            Self::Forbidden => denies(audit) && is_by_rule(audit),
            Self::Undecided => {
                audit.judgement.verdict() == Verdict::Undecided || audit.unknown.is_some()
            }
            Self::NotInstallable => audit.not_installable().is_some(),
            Self::ForbiddenMove => walks(audit, |walk| !walk.forbidden.is_empty()),
            Self::MovesToPrerelease => audit.to_prerelease.is_some(),
            Self::Moves => walks(audit, |walk| !walk.steps.is_empty()),
            Self::Bypass => audit.without_bypass.is_some(),
            Self::Unbounded => audit.is_unbounded == Some(true),
            Self::NotInCatalog => is_at(audit, |place| place.installed.is_empty()),
            Self::AgainstPolicy => is_at(audit, |place| !place.violations.is_empty()),
            Self::PackageDeprecated => deprecates(audit, |all| all.of_package.is_some()),
            Self::BundleDeprecated => deprecates(audit, |all| all.is_of_bundle),
            Self::ChannelDeprecated => deprecates(audit, |all| !all.of_channels.is_empty()),
            Self::Stranded
            | Self::PathForbidden
            | Self::PathNotInstallable
            | Self::ChannelEnds
            | Self::Behind => Self::of_path(audit) == Some(self),
        }
    }

    /// The concern about the upgrade path, if there is one.
    fn of_path(audit: &Audit<'_>) -> Option<Self> {
        match &audit.place.as_ref()?.onward {
            Onward::Now(next) | Onward::Later(next, _) => {
                let arrives = walks(audit, |walk| arrives(walk, next));
                // No edit is needed for a version that OLM reaches automatically along edges.
                let is_idle = arrives && audit.without_bypass.is_none();
                (!is_idle).then_some(Self::Behind)
            }
            Onward::Forbidden(_) => Some(Self::PathForbidden),
            Onward::NotInstallable(_) => Some(Self::PathNotInstallable),
            Onward::OtherChannels(_) => Some(Self::ChannelEnds),
            Onward::Stranded => Some(Self::Stranded),
            // A bundle that OLM cannot choose is a concern of the request.
            Onward::Newest | Onward::Tied | Onward::NotFound => None,
        }
    }
}

fn denies(audit: &Audit<'_>) -> bool {
    audit.judgement.verdict() == Verdict::Deny
}

/// Whether rules of authors or administrators decided, rather than OLM.
fn is_by_rule(audit: &Audit<'_>) -> bool {
    let ruling = &audit.judgement.ruled.ruling;
    matches!(ruling, Ruling::Guardrail(_) | Ruling::Policy(_))
}

fn walks(audit: &Audit<'_>, is: impl Fn(&Walk<'_>) -> bool) -> bool {
    audit.automatic.as_ref().is_some_and(is)
}

/// Whether automatic upgrades without forbidden steps reach the version that edits can reach, even from another
/// catalog, or a newer version such as a prerelease.
fn arrives(walk: &Walk<'_>, next: &NextEdit<'_>) -> bool {
    let Some(end) = next.path.last().and_then(Choice::version_release) else {
        return false;
    };
    let steps = walk.steps.iter();
    let mut steps = steps.filter_map(Choice::version_release);
    walk.forbidden.is_empty() && steps.any(|step| step.cmp_precedence(end).is_ge())
}

fn deprecates(audit: &Audit<'_>, is: impl Fn(&Deprecations<'_>) -> bool) -> bool {
    is_at(audit, |place| is(&place.deprecations))
}

fn is_at(audit: &Audit<'_>, is: impl Fn(&Place<'_>) -> bool) -> bool {
    audit.place.as_ref().is_some_and(is)
}
