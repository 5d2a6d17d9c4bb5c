//! An extension as it runs, without an edit: its place in the catalogs, its automatic upgrades, and the next edit that
//! an administrator can make.
//!
//! ```text
//! object with its status --judge--> would its spec be admitted today?
//!                        --walk---> what OLM installs automatically
//!                        --place--> what it is in the catalogs: newer versions, deprecations
//!                        --onward-> the next edit, and when the policies allow it
//!
//! before, after --change--> what is different after the catalogs change
//! ```
//!
//! No one makes the edit that is judged here: it is the object as it is, as if it were created now. So a new policy,
//! which does not block a change of labels, shows here which extensions violate it.
//!
//! The results are facts; `views` words them.

mod ahead;
mod change;
mod concern;
mod onward;
mod place;

use crate::extension::{Extension, Fields, Filter, Installed, Policy, UnknownCause};
use crate::judge::{
    Basis, Edit, Judgement, PreflightRefusal, Request, Requester, Ruling, Token, Verdict, Walk,
    judge, rule, walk,
};
use crate::resolve::{Choice, Origin, Query};
use olmguard_catalog::version::Constraint;

pub use crate::audit::ahead::images_ahead;
pub use crate::audit::change::{Difference, Moves, Reach, denied_step, differences, other_images};
pub use crate::audit::concern::Concern;
pub use crate::audit::onward::{NextEdit, Onward, UninstallablePath};
pub use crate::audit::place::{Deprecations, Place};

/// All facts about one extension that no one edits.
#[derive(Debug)]
pub struct Audit<'s> {
    /// The judgement of its spec, as if it were set now.
    pub judgement: Judgement<'s>,
    /// The automatic upgrades; absent if nothing is installed, or it is not known what is installed.
    pub automatic: Option<Walk<'s>>,
    /// The first prerelease that OLM installs automatically, if a release is installed.
    pub to_prerelease: Option<Choice<'s>>,
    /// The place of the installed bundle in the catalogs; absent if nothing readable is installed, a selected catalog
    /// cannot answer, or none has the package.
    pub place: Option<Place<'s>>,
    /// The requested package and channels that exist; absent if a selected catalog cannot answer.
    pub requested: Option<Requested<'s>>,
    /// Why it is not known what is installed. With the bypass the verdict does not show it.
    pub unknown: Option<UnknownCause>,
    /// The bypass of the upgrade edges, if it is set.
    pub bypass: Option<StandingBypass>,
    /// Whether the range has no upper bound; absent if the range cannot be read.
    pub is_unbounded: Option<bool>,
}

/// A bypass that is still set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StandingBypass {
    /// The row that answers the same request without it.
    pub without: Token,
}

/// An extension as the edit that is audited: its spec, set now by this requester.
pub fn as_set_now<'a>(extension: &'a Extension, requester: &'a Requester) -> Edit<'a> {
    Edit {
        new: extension,
        old: None,
        installed: &extension.installed,
        // The API server accepted the object.
        schema: &[],
        requester,
    }
}

impl<'s> Audit<'s> {
    /// Audits the extension of an edit, whatever it was before.
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
                bypass: None,
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
            bypass: bypass(basis, request),
            is_unbounded: is_unbounded(basis, request.filter),
        }
    }

    /// Why OLM cannot install what the spec resolves to, or perhaps cannot. What the extension overrides is no reason.
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

fn bypass(basis: Basis<'_>, request: &Request<'_>) -> Option<StandingBypass> {
    let strict = request
        .filter
        .bypasses()
        .then(|| request.filter.with_policy(Policy::CatalogProvided))?;
    let request = Request {
        filter: &strict,
        ..*request
    };
    Some(StandingBypass {
        without: rule(basis, &request).ruling.token(),
    })
}

fn is_unbounded(basis: Basis<'_>, filter: &Filter) -> Option<bool> {
    let query = Query::compile(filter, basis.snapshot).ok()?;
    let range = query.range();
    Some(range.is_none_or(Constraint::is_open_above))
}

/// The parts of a request that exist in the selected catalogs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requested<'s> {
    /// Whether one of them has the package.
    pub has_package: bool,
    /// The requested channels that exist, in byte order.
    pub channels: Vec<&'s str>,
}

impl<'s> Requested<'s> {
    /// The parts that exist, if the catalogs can answer.
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
