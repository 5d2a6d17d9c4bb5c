//! What is due, from the authorities and the time alone: every replica comes to the same.

use std::time::{Duration, SystemTime};

use crate::tls::self_managed::{LEAF_LIFE, MARGIN, PROPAGATION};

/// When an authority is of use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Term {
    pub(super) not_before: SystemTime,
    pub(super) not_after: SystemTime,
    /// When the first bundle with it was published, if it was.
    pub(super) published: Option<SystemTime>,
}

/// What is due.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Stage {
    /// How many of the oldest have nothing left that they signed.
    pub(super) retired: usize,
    /// Which one signs, if any can.
    pub(super) signer: Option<usize>,
    /// Whether another one is to be made.
    pub(super) next: Next,
}

/// Whether another authority is to be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    Due,
    NotYet,
}

/// What is due with these authorities, the oldest first.
pub(super) fn stage(terms: &[Term], now: SystemTime) -> Stage {
    let is_usable = |at: &usize| terms.get(*at).is_some_and(|term| term.is_usable(now));
    let newest = (0..terms.len()).rev().find(is_usable);
    Stage {
        retired: retired(terms, now),
        signer: signer(terms, now).or(newest),
        next: match newest.and_then(|at| terms.get(at)) {
            Some(term) if !is_past_two_thirds(term.not_before, term.not_after, now) => Next::NotYet,
            Some(_) | None => Next::Due,
        },
    }
}

/// Whether it is time to renew what is valid from one moment to another.
pub(super) fn is_past_two_thirds(
    not_before: SystemTime,
    not_after: SystemTime,
    now: SystemTime,
) -> bool {
    let life = not_after.duration_since(not_before).unwrap_or_default();
    now >= not_before + life * 2 / 3
}

/// The newest that every client has had the time to learn of. There may be none, at the start or
/// after all have expired; then there is nothing to wait for.
fn signer(terms: &[Term], now: SystemTime) -> Option<usize> {
    terms
        .iter()
        .rposition(|term| term.is_usable(now) && term.has_been_published(PROPAGATION, now))
}

/// All before one that has been signing for longer than a leaf is valid. One that has expired stays
/// until then: a single replica whose clock is wrong shall not retire it for all.
fn retired(terms: &[Term], now: SystemTime) -> usize {
    let long_ago = PROPAGATION + LEAF_LIFE + MARGIN;
    let successor = terms
        .iter()
        .rposition(|term| term.is_usable(now) && term.has_been_published(long_ago, now));
    successor.unwrap_or(0)
}

impl Term {
    /// One about to expire signs nothing that lasts.
    fn is_usable(&self, now: SystemTime) -> bool {
        self.not_before <= now && now + PROPAGATION < self.not_after
    }

    fn has_been_published(&self, ago: Duration, now: SystemTime) -> bool {
        self.published
            .is_some_and(|published| published + ago <= now)
    }
}

#[cfg(test)]
mod tests;
