//! The differences between two audits of one extension: before and after its catalogs change.
//!
//! ```text
//! before, after --outcome--> is the spec allowed?
//!               --moves----> the automatic upgrades of OLM, and their images
//!               --reach----> the newest version, and the edits to the newest reachable version
//!               --differences--> package, channels, installed bundle, deprecations, bypass
//! ```
//!
//! A fact that is missing after the change hides all others, so it is the only difference. If the fact is missing
//! before the change, everything found after the change counts as new.
//!
//! Invariant: audits with equal verdicts, reasons, concerns, moves and edits have no difference, and all others have at
//! least one. Texts of authors, such as the message of a deprecation, are not compared.

mod sides;

use crate::audit::Audit;
use crate::judge::{Basis, Edit, Ruling, Verdict, denied_steps};
use crate::resolve::{Choice, PolicyFinding};

use olmguard_catalog::word_set;
use sides::AuditPair;

/// The differences after a change, the worst first.
pub fn differences(before: &Audit<'_>, after: &Audit<'_>) -> Vec<Difference> {
    let sides = AuditPair::of(before, after);
    let all = Difference::ALL.iter().copied();
    let found = all.filter(|difference| sides.have(*difference));
    match sides.outcomes {
        (SpecOutcome::NotJudged, _) | (_, SpecOutcome::NotJudged) => Vec::new(),
        (_, SpecOutcome::Undecided) => found.filter(|found| found.is_of_verdict()).collect(),
        _ => found.collect(),
    }
}

impl<'s> Audit<'s> {
    /// The bundles that OLM installs next without an edit, in order.
    pub fn moves(&self) -> Vec<Choice<'s>> {
        match &self.automatic {
            Some(walk) => walk.steps.clone(),
            None => self.judgement.ruled.resolved().into_iter().collect(),
        }
    }

    /// The requested channels that exist before the change but not after it.
    pub fn lost_channels(&self, after: &Audit<'_>) -> Vec<&'s str> {
        let (Some(before), Some(after)) = (&self.requested, &after.requested) else {
            return Vec::new();
        };
        let is_lost = |name: &&str| !after.channels.contains(name);
        before.channels.iter().copied().filter(is_lost).collect()
    }
}

// === Differences: a closed set of words, used as labels by reports and pipelines ===

word_set! {
    /// One difference after a change. The worst is first.
    pub enum Difference {
        /// No selected catalog has the package any more.
        PackageGone => "package_gone",
        /// A requested channel no longer exists.
        ChannelGone => "channel_gone",
        /// OLM can no longer choose between several catalogs.
        Ambiguous => "ambiguous",
        /// OLM no longer resolves anything for the spec.
        Unresolvable => "unresolvable",
        /// OLM now takes a step automatically that guardrails forbid.
        ForbiddenMove => "forbidden_move",
        /// Guardrails or upgrade policies now forbid the bundle that the spec resolves to.
        Forbidden => "forbidden",
        /// OLM cannot install the bundle that the spec now resolves to, or possibly cannot.
        NotInstallable => "not_installable",
        /// OLM now upgrades automatically from a release to a prerelease.
        MovesToPrerelease => "moves_to_prerelease",
        /// A fact is now missing.
        Undecided => "undecided",
        /// No selected catalog has the installed bundle any more.
        BundleGone => "bundle_gone",
        /// No newer version can be reached any more.
        Stranded => "stranded",
        /// Guardrails or upgrade policies now forbid each path to a newer version.
        PathForbidden => "path_forbidden",
        /// OLM no longer installs a bundle on the path to a newer version, and no other path exists.
        PathNotInstallable => "path_not_installable",
        /// Only other channels now have a newer version.
        ChannelEnds => "channel_ends",
        /// The newest reachable version is lower than before.
        ReachLost => "reach_lost",
        /// A bundle that OLM installs or keeps has another image.
        OtherImage => "other_image",
        /// The package is deprecated now.
        PackageDeprecated => "package_deprecated",
        /// The installed bundle is deprecated now.
        BundleDeprecated => "bundle_deprecated",
        /// A requested channel is deprecated now.
        ChannelDeprecated => "channel_deprecated",
        /// OLM now upgrades automatically to other bundles.
        Moves => "moves",
        /// OLM no longer upgrades automatically.
        Stays => "stays",
        /// The spec has the same verdict for another reason.
        OtherReason => "other_reason",
        /// The spec has another answer without the bypass.
        Bypass => "bypass",
        /// The same version is now reached by other edits.
        OtherPath => "other_path",
        /// The search for a path now ends at its limit.
        PathUnknown => "path_unknown",
        /// The newest version is another one, and the edits do not end at it.
        Newest => "newest",
        /// The newest reachable version is higher than before.
        ReachGained => "reach_gained",
        /// The spec was denied and is allowed now.
        Allowed => "allowed",
        /// Nothing prevents the installation of the resolved bundle any more.
        Installable => "installable",
        /// No fact is missing any more.
        Decided => "decided",
        /// OLM no longer takes a step automatically that guardrails forbid.
        NoForbiddenMove => "no_forbidden_move",
        /// A requested channel exists now.
        ChannelBack => "channel_back",
        /// A selected catalog has the installed bundle now.
        BundleBack => "bundle_back",
        /// Something is no longer deprecated.
        Undeprecated => "undeprecated",
    }
}

impl Difference {
    /// Whether the difference concerns only the verdict.
    fn is_of_verdict(self) -> bool {
        matches!(self, Self::Undecided | Self::OtherReason)
    }
}

// === The outcome of a spec, as far as a comparison needs it ===

/// The outcome of a spec.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SpecOutcome {
    /// The spec is allowed.
    Allowed,
    /// OLM resolves nothing for the spec.
    Unresolvable,
    /// Rules of authors or administrators forbid the spec.
    Forbidden,
    /// A fact is missing.
    Undecided,
    /// The spec is not judged.
    NotJudged,
}

impl SpecOutcome {
    fn of(audit: &Audit<'_>) -> Self {
        match (audit.judgement.verdict(), &audit.judgement.ruled.ruling) {
            (Verdict::Allow, _) => Self::Allowed,
            (Verdict::Deny, Ruling::Guardrail(_) | Ruling::Policy(_)) => Self::Forbidden,
            (Verdict::Deny, _) => Self::Unresolvable,
            (Verdict::Undecided, _) => Self::Undecided,
            (Verdict::NotJudged, _) => Self::NotJudged,
        }
    }
}

// === The automatic upgrades, before and after ===

/// The automatic upgrades before and after a change.
#[derive(Debug)]
pub struct Moves<'b, 'a> {
    /// The bundles before the change, in order.
    pub before: Vec<Choice<'b>>,
    /// The bundles after the change, in order.
    pub after: Vec<Choice<'a>>,
}

impl<'b, 'a> Moves<'b, 'a> {
    /// The automatic upgrades according to two audits.
    pub fn of(before: &Audit<'b>, after: &Audit<'a>) -> Self {
        Self {
            before: before.moves(),
            after: after.moves(),
        }
    }

    /// Whether both sides have the same bundles, regardless of their images.
    fn are_alike(&self) -> bool {
        are_alike(&self.before, &self.after)
    }
}

/// The bundles that OLM installs or keeps both before and after a change, in both states, if their images differ.
pub fn other_images<'b, 'a>(
    before: &Audit<'b>,
    after: &Audit<'a>,
) -> Vec<(Choice<'b>, Choice<'a>)> {
    let (olds, news) = (named(before), named(after));
    let pairs = news.into_iter().filter_map(|new| {
        let old = olds.iter().find(|old| is_same(**old, new))?;
        Some((*old, new))
    });
    pairs
        .filter(|(old, new)| old.bundle().image != new.bundle().image)
        .collect()
}

/// Each bundle that the spec resolves to or that OLM installs automatically, once.
fn named<'s>(audit: &Audit<'s>) -> Vec<Choice<'s>> {
    let mut named: Vec<Choice<'s>> = Vec::new();
    let resolved = audit.judgement.ruled.resolved();
    for choice in resolved.into_iter().chain(audit.moves()) {
        if !named.iter().any(|known| is_same(*known, choice)) {
            named.push(choice);
        }
    }
    named
}

/// Whether two lists name the same bundles in the same order.
fn are_alike(one: &[Choice<'_>], other: &[Choice<'_>]) -> bool {
    let pairs = || one.iter().zip(other);
    one.len() == other.len() && pairs().all(|(one, other)| is_same(*one, *other))
}

/// Whether two choices have the same name and the same version.
fn is_same(one: Choice<'_>, other: Choice<'_>) -> bool {
    let (one, other) = (one.bundle(), other.bundle());
    let is_same_version = match (&one.version, &other.version) {
        (Ok(one), Ok(other)) => {
            one.cmp_precedence(other).is_eq() && one.version.build() == other.version.build()
        }
        (one, other) => one.is_err() && other.is_err(),
    };
    one.name == other.name && is_same_version
}

// === The automatic step after a change that an upgrade policy denies ===

/// The first step that OLM takes automatically after a change but not before it, and that an upgrade policy denies.
///
/// Only rules about the bundle count. Windows, ranges, the override and users concern edits of the extension, and OLM
/// takes this step without an edit. A step that is denied both before and after the change does not hide later steps.
/// If the spec was undecided before, there is no evidence.
pub fn denied_step<'s>(
    edit: &Edit<'_>,
    before: &Audit<'_>,
    (basis, after): (Basis<'s>, &Audit<'s>),
) -> Option<PolicyFinding<'s>> {
    let old = before.automatic.as_ref()?;
    let was_taken = |to: Choice<'_>| old.steps.iter().any(|step| is_same(*step, to));
    let was_known = before.judgement.verdict() != Verdict::Undecided;
    let walk = after.automatic.as_ref()?;
    if !was_known || walk.steps.iter().all(|step| was_taken(*step)) {
        return None;
    }
    let request = edit.request()?;
    let denied = denied_steps(basis, &request, request.installed.bundle()?);
    denied.into_iter().find(|found| !was_taken(found.to))
}
