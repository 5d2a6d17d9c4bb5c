//! Rows 10a to 15, and 18: what OLM chooses among the candidates.

use std::cmp::Ordering;

use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::case::Case;
use crate::judge::{AllowedChange, Jump, RuledEdit, Ruling};
use crate::resolve::{Choice, ChoiceError, Match, Origin, choose};

/// Row 10a: a candidate on which OLM crashes before it finds an edge.
pub(super) fn broken_skip_range<'s>(case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    let mut matches = case.matches.iter();
    matches.find_map(|found| {
        let first = found.crashing?;
        Some(Ruling::BrokenSkipRange(found.offer.choice(first)))
    })
}

/// Rows 11 to 15 and 18: whatever the choice comes to, one of them fits.
pub(super) fn chosen<'s>(case: &mut Case<'_, 's>) -> RuledEdit<'s> {
    let resolved = match choose(&case.matches) {
        Ok(resolved) => resolved,
        Err(error) => {
            let ruling = refusal(case, error);
            return case.with_evidence(ruling);
        }
    };
    let allowed = how(case, resolved.choice);
    let mut ruled = case.with_evidence(Ruling::Allowed(allowed, resolved.choice));
    ruled.deprecations_of = resolved.deprecations_of;
    ruled
}

fn refusal<'s>(case: &Case<'_, 's>, error: ChoiceError<'s>) -> Ruling<'s> {
    match error {
        ChoiceError::Nothing => no_successor(case),
        ChoiceError::Ambiguous(left) => Ruling::AmbiguousCatalogs(left),
        ChoiceError::BundleVersion(choice, error) => Ruling::BundleVersionInvalid(choice, error),
        ChoiceError::Dependency(choice, kind) => Ruling::UnsupportedDependency(choice, kind),
    }
}

/// Rows 11 and 12. Only an origin takes candidates away, so there is one.
fn no_successor<'s>(case: &Case<'_, 's>) -> Ruling<'s> {
    let candidates = || {
        let offers = case.offers();
        offers.flat_map(|offer| offer.candidates.iter().map(|index| offer.choice(index)))
    };
    let older = |choice: Choice<'s>| {
        let origin = case.origin();
        origin.is_some_and(|origin| origin.is_newer_than(choice.package, choice.index))
    };
    let count = candidates().count();
    match foremost(&case.matches) {
        Some(best) if candidates().all(older) => Ruling::Downgrade(best, count),
        Some(best) => Ruling::NotASuccessor(best, count),
        None => Ruling::VersionNotFound {
            nearest: Vec::new(),
        },
    }
}

fn how<'s>(case: &Case<'_, 's>, choice: Choice<'s>) -> AllowedChange {
    match (case.installed, case.origin()) {
        (ReadInstalled::Nothing, _) => AllowedChange::Resolved,
        (_, None) => AllowedChange::Bypassed(Jump::Unknown),
        (_, Some(origin)) if origin.is_at(choice.bundle()) => AllowedChange::Unchanged,
        (_, Some(origin)) if is_successor(case, choice, origin) => AllowedChange::Resolved,
        (_, Some(origin)) => AllowedChange::Bypassed(jump(choice, origin)),
    }
}

/// Without a bypass nothing else is left to choose from.
fn is_successor<'s>(case: &Case<'_, 's>, choice: Choice<'s>, origin: &Origin<'_>) -> bool {
    let mut offers = case.offers();
    let offer = offers.find(|offer| choice.is_of(offer.catalog));
    !case.question.filter.bypasses()
        || offer.is_some_and(|offer| offer.accepts(choice.index, origin))
}

/// The bundle to name for all candidates: the one that would be chosen if no edge counted; failing
/// that, the best of the first catalog.
fn foremost<'s>(matches: &[Match<'_, 's>]) -> Option<Choice<'s>> {
    let free = matches.iter();
    let free: Vec<_> = free
        .map(|found| Match::without_edges(found.offer))
        .collect();
    match choose(&free) {
        Ok(resolved) => Some(resolved.choice),
        Err(_) => free.iter().find_map(|found| {
            let best = found.offer.package.preferred(&found.matched)?;
            Some(found.offer.choice(best))
        }),
    }
}

fn jump(choice: Choice<'_>, origin: &Origin<'_>) -> Jump {
    let (Some(here), Ok(there)) = (origin.version(), &choice.bundle().version) else {
        return Jump::Unknown;
    };
    match there.version.cmp_precedence(&here.version) {
        Ordering::Less => Jump::Downgrade,
        Ordering::Equal => Jump::Sideways,
        Ordering::Greater => Jump::Leap,
    }
}
