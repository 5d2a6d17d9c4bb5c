//! What a search for ways goes over: the offers of a filter, and what binds the steps between them.

use crate::extension::Filter;
use crate::judge::Basis;
use crate::resolve::{Bounds, Effort, Guards, Offer, Query};
use olmguard_catalog::olm::Rules;

/// The offers of a filter, with the guardrails of its package in them.
#[derive(Debug)]
pub(super) struct Ground<'s> {
    pub(super) offers: Vec<Offer<'s>>,
    guards: Guards<'s>,
    rules: &'s Rules,
}

impl<'s> Ground<'s> {
    /// That of a filter; none where it does not compile, or a catalog in play cannot answer.
    pub(super) fn of(basis: Basis<'s>, filter: &Filter) -> Option<Self> {
        let query = Query::compile(filter, basis.snapshot).ok()?;
        let offers = query.offers(&query.in_play(basis.snapshot)).ok()?;
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, &offers);
        Some(Self {
            offers,
            guards: guards.with_bypass(filter.bypasses()),
            rules: basis.snapshot.rules(),
        })
    }

    /// By what ways are bound beside the edges; what looks for them pays from this effort.
    pub(super) fn bounds<'a>(&'a self, effort: &'a Effort<'_>) -> Bounds<'a, 's> {
        Bounds {
            rules: self.rules,
            guards: &self.guards,
            effort: Some(effort),
        }
    }
}
