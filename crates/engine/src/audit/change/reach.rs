//! The newest version, and the edits to the newest version that can be reached, before and after.

use std::cmp::Ordering;

use crate::audit::change::Difference;
use crate::audit::change::moves::{are_alike, is_same};
use crate::audit::{Audit, NextEdit, Onward, Place};
use crate::resolve::Choice;

/// Where the edits of an extension end.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a, 's> {
    place: &'a Place<'s>,
}

impl<'a, 's> Reach<'a, 's> {
    /// Where they end by an audit; absent if it has no place.
    pub fn of(audit: &'a Audit<'s>) -> Option<Self> {
        audit.place.as_ref().map(|place| Self { place })
    }

    /// The edits, if there are any.
    pub fn next(self) -> Option<&'a NextEdit<'s>> {
        match &self.place.onward {
            Onward::Now(next) | Onward::Later(next, _) => Some(next),
            Onward::Newest
            | Onward::Forbidden(_)
            | Onward::OtherChannels(_)
            | Onward::Tied
            | Onward::Stranded
            | Onward::NotFound => None,
        }
    }

    /// The bundle that the last of them installs.
    pub fn end(self) -> Option<Choice<'s>> {
        self.next()?.path.last().copied()
    }

    /// The path that is closed, and why.
    fn closed(self) -> Option<(Difference, &'a [Choice<'s>])> {
        match &self.place.onward {
            Onward::Forbidden(path) => Some((Difference::PathForbidden, path)),
            Onward::OtherChannels(path) => Some((Difference::ChannelEnds, path)),
            Onward::Tied => Some((Difference::Ambiguous, &[])),
            Onward::Stranded => Some((Difference::Stranded, &[])),
            Onward::NotFound => Some((Difference::PathUnknown, &[])),
            Onward::Newest | Onward::Now(_) | Onward::Later(..) => None,
        }
    }
}

/// What is different of where the edits end.
pub(super) fn difference(before: &Audit<'_>, after: &Audit<'_>) -> Option<Difference> {
    let (before, after) = (Reach::of(before), Reach::of(after)?);
    let ends = (before.and_then(Reach::end), after.end());
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
    let versions = [before, after].map(|choice| choice.bundle().version.as_ref().ok());
    let [Some(before), Some(after)] = versions else {
        return None;
    };
    match after.cmp_precedence(before) {
        Ordering::Greater => Some(Difference::ReachGained),
        Ordering::Less => Some(Difference::ReachLost),
        Ordering::Equal => None,
    }
}

fn of_paths(before: Reach<'_, '_>, after: Reach<'_, '_>) -> Option<Difference> {
    let (old, new) = (before.next()?, after.next()?);
    let is_same = are_alike(&old.path, &new.path)
        && old.one_edit == new.one_edit
        && before.opening() == after.opening();
    (!is_same).then_some(Difference::OtherPath)
}

/// A path that is closed now: whether it was closed before, and by the same.
fn begins(
    before: Option<Reach<'_, '_>>,
    (why, path): (Difference, &[Choice<'_>]),
) -> Option<Difference> {
    match before.and_then(Reach::closed) {
        Some((was, old)) if was == why => (!are_alike(old, path)).then_some(Difference::OtherPath),
        _ => Some(why),
    }
}

fn newest(before: Reach<'_, '_>, after: Reach<'_, '_>) -> Option<Difference> {
    let is_same = match (before.place.newest, after.place.newest) {
        (Some(old), Some(new)) => is_same(old, new),
        (old, new) => old.is_none() && new.is_none(),
    };
    (!is_same).then_some(Difference::Newest)
}

impl<'a> Reach<'a, '_> {
    fn opening(self) -> Option<&'a olmguard_policy::Opening> {
        match &self.place.onward {
            Onward::Later(_, opening) => Some(opening),
            _ => None,
        }
    }
}
