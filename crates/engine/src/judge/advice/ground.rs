//! What a search for paths covers: the offers of a filter, and what binds the steps between them.

use crate::extension::Filter;
use crate::judge::Basis;
use crate::judge::advice::fits;
use crate::judge::advice::proof::Prover;
use crate::resolve::{Bounds, Choice, EditContext, Effort, Guards, MatchingPolicies, Offer, Query};
use olmguard_catalog::olm::Rules;

/// The offers of a filter, with the guardrails of its package in them and the policies that match it.
#[derive(Debug)]
pub(super) struct Ground<'a, 's> {
    pub(super) offers: Vec<Offer<'s>>,
    guards: Guards<'s>,
    policies: MatchingPolicies<'a, 's>,
    rules: &'s Rules,
}

impl<'a, 's> Ground<'a, 's> {
    /// That of a filter; none where it does not compile, or a catalog in play cannot answer.
    pub(super) fn of(
        basis: Basis<'s>,
        filter: &'a Filter,
        context: EditContext<'a>,
    ) -> Option<Self> {
        let offers = offers(basis, filter)?;
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, &offers);
        let rules = basis.snapshot.rules();
        let upgrades = &basis.policies.upgrades;
        Some(Self {
            policies: MatchingPolicies::of(upgrades, filter, context, rules.masterminds),
            offers,
            guards: guards.with_bypass(filter.bypasses()),
            rules,
        })
    }

    /// The policies that match the request.
    pub(super) fn policies(&self) -> &MatchingPolicies<'a, 's> {
        &self.policies
    }

    /// Whether each edit of a path that the search found is allowed. If only edges bind, the search decides as the rows
    /// do. Guardrails also check the steps that OLM makes after an edit, so they are put to the edits again.
    pub(super) fn admits(&self, prover: &Prover<'_, '_>, path: &[Choice<'_>]) -> bool {
        if !self.binds_by_edges_alone(prover.effort) {
            return prover.admits_path(path);
        }
        let mut versions = path.iter().map(|step| step.bundle().version.as_ref());
        versions.all(|read| read.is_ok_and(|read| fits(&read.version)))
    }

    /// Whether only edges bind, so that no edit of a path must be checked again.
    pub(super) fn binds_by_edges_alone(&self, effort: &Effort<'_>) -> bool {
        self.bounds(effort).are_edges_alone()
    }

    /// What binds paths besides the edges. A search for them pays from this effort.
    pub(super) fn bounds<'b>(&'b self, effort: &'b Effort<'_>) -> Bounds<'b, 's> {
        Bounds {
            rules: self.rules,
            guards: &self.guards,
            policies: Some(&self.policies),
            effort: Some(effort),
        }
    }
}

/// The offers of a filter; none if it does not compile, or a selected catalog cannot answer or is too old for an
/// answer.
pub(super) fn offers<'s>(basis: Basis<'s>, filter: &Filter) -> Option<Vec<Offer<'s>>> {
    let query = Query::compile(filter, basis.snapshot).ok()?;
    let in_play = query.in_play(basis.snapshot);
    in_play.too_old().is_empty().then_some(())?;
    query.offers(&in_play).ok()
}
