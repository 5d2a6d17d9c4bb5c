//! The differences between two audits, one by one.

use std::cmp::Ordering;

use crate::audit::change::{Difference, Moves, SpecOutcome, are_alike, is_same, other_images};
use crate::audit::{Audit, Deprecations, NextEdit, Onward, Place};
use crate::judge::{ForbiddenStep, Token};
use crate::resolve::Choice;
use olmguard_policy::Opening;

/// Two audits, with the outcomes of the spec in both.
pub(super) struct AuditPair<'a, 'b, 's> {
    before: &'a Audit<'b>,
    after: &'a Audit<'s>,
    pub(super) outcomes: (SpecOutcome, SpecOutcome),
    /// The difference between the ends of the edits, if any.
    reach: Option<Difference>,
}

impl<'a, 'b, 's> AuditPair<'a, 'b, 's> {
    pub(super) fn of(before: &'a Audit<'b>, after: &'a Audit<'s>) -> Self {
        Self {
            before,
            after,
            outcomes: (SpecOutcome::of(before), SpecOutcome::of(after)),
            reach: difference(before, after),
        }
    }

    /// Whether the spec no longer resolves, and no other difference names the reason.
    fn is_unresolvable(&self) -> bool {
        let is_resolved = self.after.judgement.token() == Token::Preflight;
        let is_named = self.package_is_gone() || self.is_ambiguous() || is_resolved;
        self.becomes(SpecOutcome::Unresolvable) && !is_named
    }

    /// Whether the bundle cannot be installed, before and after.
    fn are_not_installable(&self) -> (bool, bool) {
        let [before, after] = [self.before, self.after].map(|it| it.not_installable().is_some());
        (before, after)
    }

    /// Whether the bundle is not installable only since the change, or only since then certainly.
    fn is_not_installable(&self) -> bool {
        let is_denied = |audit: &Audit<'_>| audit.judgement.token() == Token::Preflight;
        let is_new = self.are_not_installable() == (false, true);
        is_new || (is_denied(self.after) && !is_denied(self.before))
    }

    /// Whether the bundle has become installable although the spec was already allowed.
    fn is_installable(&self) -> bool {
        let is_resolved = self.after.judgement.ruled.resolved().is_some();
        let is_new = self.are_not_installable() == (true, false);
        is_new && is_resolved && !self.becomes(SpecOutcome::Allowed)
    }

    /// Whether the audits have this difference.
    pub(super) fn have(&self, difference: Difference) -> bool {
        match difference {
            Difference::PackageGone => self.package_is_gone(),
            Difference::ChannelGone => !self.before.lost_channels(self.after).is_empty(),
            Difference::ChannelBack => !self.after.lost_channels(self.before).is_empty(),
            Difference::Ambiguous => self.is_ambiguous() || self.reach == Some(difference),
            Difference::Unresolvable => self.is_unresolvable(),
            Difference::Forbidden => self.becomes(SpecOutcome::Forbidden),
            Difference::Undecided => self.becomes(SpecOutcome::Undecided),
            Difference::Allowed => self.becomes(SpecOutcome::Allowed) && !self.was_undecided(),
            Difference::Decided => self.was_undecided(),
            Difference::OtherReason => self.has_other_reason(),
            Difference::ForbiddenMove => !forbidden(self.after).is_empty() && self.steps_differ(),
            Difference::NotInstallable => self.is_not_installable(),
            Difference::Installable => self.is_installable(),
            Difference::MovesToPrerelease => {
                self.after.to_prerelease.is_some() && self.before.to_prerelease.is_none()
            }
            Difference::NoForbiddenMove => forbidden(self.after).is_empty() && self.steps_differ(),
            Difference::BundleGone => self.has_bundle() == (Some(true), Some(false)),
            Difference::BundleBack => self.has_bundle() == (Some(false), Some(true)),
            Difference::OtherImage => !other_images(self.before, self.after).is_empty(),
            Difference::PackageDeprecated
            | Difference::BundleDeprecated
            | Difference::ChannelDeprecated => self.deprecates(difference),
            Difference::Undeprecated => self.undeprecates(),
            Difference::Moves => self.moves_differ() && !self.after.moves().is_empty(),
            Difference::Stays => self.moves_differ() && self.after.moves().is_empty(),
            Difference::Bypass => self.before.without_bypass != self.after.without_bypass,
            Difference::Stranded
            | Difference::PathForbidden
            | Difference::PathNotInstallable
            | Difference::ChannelEnds
            | Difference::ReachLost
            | Difference::ReachGained
            | Difference::OtherPath
            | Difference::PathUnknown
            | Difference::Newest => self.reach == Some(difference),
        }
    }

    fn becomes(&self, outcome: SpecOutcome) -> bool {
        let (before, after) = self.outcomes;
        before != outcome && after == outcome
    }

    fn was_undecided(&self) -> bool {
        self.outcomes.0 == SpecOutcome::Undecided
    }

    fn tokens(&self) -> (Token, Token) {
        (self.before.judgement.token(), self.after.judgement.token())
    }

    fn package_is_gone(&self) -> bool {
        let has = |audit: &Audit<'_>| Some(audit.requested.as_ref()?.has_package);
        has(self.before) != Some(false) && has(self.after) == Some(false)
    }

    fn is_ambiguous(&self) -> bool {
        let (before, after) = self.tokens();
        before != Token::AmbiguousCatalogs && after == Token::AmbiguousCatalogs
    }

    /// Whether the reason differs. An allowed spec has no reason, and its bundle counts as a move.
    fn has_other_reason(&self) -> bool {
        let (before, after) = self.outcomes;
        let (old, new) = self.tokens();
        let is_named = self.package_is_gone() || self.is_ambiguous();
        before == after && before != SpecOutcome::Allowed && old != new && !is_named
    }

    fn moves_differ(&self) -> bool {
        !Moves::of(self.before, self.after).are_alike()
    }

    fn steps_differ(&self) -> bool {
        let (before, after) = (forbidden(self.before), forbidden(self.after));
        let starts = before.iter().map(|step| step.from.to_string());
        let is_same = starts.eq(after.iter().map(|step| step.from.to_string()));
        !(is_same && are_alike(&ends(before), &ends(after)))
    }

    /// Whether a selected catalog has the installed bundle, before and after.
    fn has_bundle(&self) -> (Option<bool>, Option<bool>) {
        let has = |place: &Option<Place<'_>>| Some(!place.as_ref()?.installed.is_empty());
        (has(&self.before.place), has(&self.after.place))
    }

    fn deprecates(&self, what: Difference) -> bool {
        let (old, new) = (deprecated(self.before, what), deprecated(self.after, what));
        new.iter().any(|name| !old.contains(name))
    }

    /// Whether something is no longer deprecated in a catalog that still has the bundle.
    fn undeprecates(&self) -> bool {
        let kinds = [
            Difference::PackageDeprecated,
            Difference::BundleDeprecated,
            Difference::ChannelDeprecated,
        ];
        let is_there = self.has_bundle().1 == Some(true);
        is_there
            && kinds.iter().any(|what| {
                let new = deprecated(self.after, *what);
                let old = deprecated(self.before, *what);
                old.iter().any(|name| !new.contains(name))
            })
    }
}

/// The steps that OLM takes automatically and that guardrails forbid.
fn forbidden<'a, 's>(audit: &'a Audit<'s>) -> &'a [ForbiddenStep<'s>] {
    let walk = audit.automatic.as_ref();
    walk.map_or(&[], |walk| &walk.forbidden)
}

fn ends<'s>(steps: &[ForbiddenStep<'s>]) -> Vec<Choice<'s>> {
    steps.iter().map(|step| step.to).collect()
}

/// The names of the deprecated channels. For a package or a bundle, one empty name if it is deprecated.
fn deprecated<'s>(audit: &Audit<'s>, what: Difference) -> Vec<&'s str> {
    let Some(Place { deprecations, .. }) = &audit.place else {
        return Vec::new();
    };
    let Deprecations {
        is_of_bundle,
        of_package,
        of_channels,
    } = deprecations;
    match what {
        Difference::PackageDeprecated => of_package.iter().map(|_| "").collect(),
        Difference::BundleDeprecated => is_of_bundle.then_some("").into_iter().collect(),
        _ => of_channels.iter().map(|(name, _)| *name).collect(),
    }
}

// === The newest version, and the edits to the newest reachable version, before and after ===

impl<'s> Place<'s> {
    /// The edits, if there are any.
    pub fn next(&self) -> Option<&NextEdit<'s>> {
        match &self.onward {
            Onward::Now(next) | Onward::Later(next, _) => Some(next),
            Onward::Newest
            | Onward::Forbidden(_)
            | Onward::NotInstallable(_)
            | Onward::OtherChannels(_)
            | Onward::Tied
            | Onward::Stranded
            | Onward::NotFound => None,
        }
    }

    /// The bundle that the last edit installs.
    pub fn end(&self) -> Option<Choice<'s>> {
        self.next()?.path.last().copied()
    }

    /// The blocked path, with the difference that names the reason.
    fn closed(&self) -> Option<(Difference, &[Choice<'s>])> {
        match &self.onward {
            Onward::Forbidden(path) => Some((Difference::PathForbidden, path)),
            Onward::NotInstallable(found) => Some((Difference::PathNotInstallable, &found.path)),
            Onward::OtherChannels(path) => Some((Difference::ChannelEnds, path)),
            Onward::Tied => Some((Difference::Ambiguous, &[])),
            Onward::Stranded => Some((Difference::Stranded, &[])),
            Onward::NotFound => Some((Difference::PathUnknown, &[])),
            Onward::Newest | Onward::Now(_) | Onward::Later(..) => None,
        }
    }

    fn opening(&self) -> Option<&Opening> {
        match &self.onward {
            Onward::Later(_, opening) => Some(opening),
            _ => None,
        }
    }
}

/// The difference between the ends of the edits.
pub(super) fn difference(before: &Audit<'_>, after: &Audit<'_>) -> Option<Difference> {
    let (before, after) = (before.place.as_ref(), after.place.as_ref()?);
    let ends = (before.and_then(Place::end), after.end());
    let found = match ends {
        (Some(old), Some(new)) => of_ends(old, new).or_else(|| of_paths(before?, after)),
        (None, Some(_)) => Some(Difference::ReachGained),
        (old, None) => match after.closed() {
            Some(closed) => begins(before, closed),
            None => old.map(|_| Difference::ReachLost),
        },
    };
    found.or_else(|| newest(before?, after))
}

fn of_ends(before: Choice<'_>, after: Choice<'_>) -> Option<Difference> {
    let (before, after) = (before.version_release()?, after.version_release()?);
    match after.cmp_precedence(before) {
        Ordering::Greater => Some(Difference::ReachGained),
        Ordering::Less => Some(Difference::ReachLost),
        Ordering::Equal => None,
    }
}

fn of_paths(before: &Place<'_>, after: &Place<'_>) -> Option<Difference> {
    let (old, new) = (before.next()?, after.next()?);
    let is_same = are_alike(&old.path, &new.path)
        && old.one_edit == new.one_edit
        && before.opening() == after.opening();
    (!is_same).then_some(Difference::OtherPath)
}

/// The difference for a path that is blocked after the change. It may have been blocked before, for the same reason.
fn begins(
    before: Option<&Place<'_>>,
    (why, path): (Difference, &[Choice<'_>]),
) -> Option<Difference> {
    match before.and_then(Place::closed) {
        Some((was, old)) if was == why => (!are_alike(old, path)).then_some(Difference::OtherPath),
        _ => Some(why),
    }
}

fn newest(before: &Place<'_>, after: &Place<'_>) -> Option<Difference> {
    let is_same = match (before.newest, after.newest) {
        (Some(old), Some(new)) => is_same(old, new),
        (old, new) => old.is_none() && new.is_none(),
    };
    (!is_same).then_some(Difference::Newest)
}
