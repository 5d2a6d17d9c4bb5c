//! What this replica has seen of each authority itself, by a clock that nobody sets.

use std::time::SystemTime;

use tokio::time::Instant;

use crate::tls::self_managed::authority::Authority;
use crate::tls::self_managed::stage::{SeenSince, Term};

/// What one replica goes by: its clock, and what it has seen.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    /// The time of day.
    pub(super) now: SystemTime,
    /// The same moment by the clock that nobody sets.
    pub(super) at: Instant,
    pub(super) history: &'a AuthorityHistory,
    /// Who signed what is served here.
    pub(super) own: Option<&'a Authority>,
}

/// What was seen of the authorities that are stored now. It begins anew with each start.
#[derive(Default)]
pub(super) struct AuthorityHistory(Vec<SeenAuthority>);

struct SeenAuthority {
    of: Authority,
    published: Option<Instant>,
    marked: Option<Instant>,
    /// When its mark was taken away again.
    needed: Option<Instant>,
}

impl View<'_> {
    pub(super) fn term(&self, authority: &Authority) -> Term {
        let (not_before, not_after) = authority.validity();
        Term {
            not_before,
            not_after,
            published: authority.published,
            is_leaving: authority.is_leaving,
            is_ours: self.own.is_some_and(|own| own.is(authority)),
            seen: self.history.of(authority, self.at),
        }
    }
}

impl AuthorityHistory {
    /// These are stored now.
    pub(super) fn stored(&mut self, authorities: &[Authority], now: Instant) {
        let entries = authorities
            .iter()
            .map(|one| SeenAuthority::new(one, self.entry(one), now));
        self.0 = entries.collect();
    }

    /// All that are stored have been published.
    pub(super) fn published(&mut self, now: Instant) {
        for entry in &mut self.0 {
            entry.published.get_or_insert(now);
        }
    }

    fn of(&self, authority: &Authority, now: Instant) -> SeenSince {
        let Some(entry) = self.entry(authority) else {
            return SeenSince::default();
        };
        let ago = |since: Instant| now - since;
        SeenSince {
            published: entry.published.map(ago).unwrap_or_default(),
            marked: entry.marked.map(ago).unwrap_or_default(),
            needed: entry.needed.map(ago),
        }
    }

    fn entry(&self, authority: &Authority) -> Option<&SeenAuthority> {
        self.0.iter().find(|entry| entry.of.is(authority))
    }
}

impl SeenAuthority {
    fn new(authority: &Authority, known: Option<&Self>, now: Instant) -> Self {
        let marked = known.and_then(|entry| entry.marked);
        let needed = known.and_then(|entry| entry.needed);
        let is_objection = marked.is_some() && !authority.is_leaving;
        Self {
            of: authority.clone(),
            published: known.and_then(|entry| entry.published),
            marked: authority.is_leaving.then(|| marked.unwrap_or(now)),
            needed: if is_objection { Some(now) } else { needed },
        }
    }
}
