//! A question about one package: what is asked for, what is installed, what the catalogs offer; and how to
//! get from here to there.
//!
//! Facts come out, no words: `versions`, `path` and `explain` say them.

mod decision;
mod guarded;
mod path;
mod step;

pub use decision::Decision;
pub use guarded::{ForbiddenPath, GuardedSteps, MOST_BENDS};
pub use path::SoughtPath;
pub use step::{Need, PinnedStep};

use crate::extension::{Filter, InstalledBundle, Policy};
use crate::judge::{Basis, CatalogKnowledge, ForbiddenStep, NamingError, StatedInstalled, target};
use crate::resolve::{
    Bounds, CatalogEdge, Choice, EditContext, Guards, MatchingPolicies, Offer, Origin, Query,
    Violation,
};
use olmguard_catalog::version::{Release, Version};

/// A question that the catalogs can answer.
#[derive(Debug)]
pub struct Inquiry<'a> {
    /// The facts and policies that it is judged by.
    pub basis: Basis<'a>,
    /// What is asked for, any range aside.
    pub filter: &'a Filter,
    /// What the catalogs that count offer.
    pub offers: Vec<Offer<'a>>,
    /// The guardrails over steps to these offers.
    pub guards: Guards<'a>,
    /// What is installed.
    pub installed: InstalledBundle,
    /// How well the catalogs know it.
    pub known: CatalogKnowledge,
    /// What upgrade policies decide by besides.
    pub context: EditContext<'a>,
    policies: MatchingPolicies<'a, 'a>,
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum NotAnswered<'a> {
    /// OLM resolves nothing from these facts, whatever the edit is: one edit, judged.
    Refused(Box<Decision<'a>>),
    /// It is not known what is installed by this text.
    From(NamingError),
    /// It is not known which bundles this text means.
    To(NamingError),
}

impl<'a> Inquiry<'a> {
    /// Gathers the facts.
    ///
    /// # Errors
    /// If no catalog has the package, or one that counts cannot answer, or it is not known what is
    /// installed.
    pub fn of(
        basis: Basis<'a>,
        filter: &'a Filter,
        said: &StatedInstalled,
        context: EditContext<'a>,
    ) -> Result<Self, NotAnswered<'a>> {
        let query = Query::compile(filter, basis.snapshot).ok();
        let offers = query.and_then(|query| query.offers(&query.in_play(basis.snapshot)).ok());
        let Some(offers) = offers.filter(|offers| !offers.is_empty()) else {
            let stranger = InstalledBundle {
                name: said.bundle.clone(),
                version: said.text.clone(),
                release: said.release.clone(),
            };
            let decision = Decision::new(basis, filter, &stranger, context);
            return Err(NotAnswered::Refused(Box::new(decision)));
        };
        let named = said.find(basis.snapshot, filter, &offers);
        let named = named.map_err(NotAnswered::From)?;
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, &offers);
        let rules = basis.snapshot.rules();
        let upgrades = &basis.policies.upgrades;
        Ok(Self {
            basis,
            filter,
            policies: MatchingPolicies::of(upgrades, filter, context, rules.masterminds),
            context,
            offers,
            guards: guards.with_bypass(filter.bypasses()),
            installed: named.installed,
            known: named.known,
        })
    }

    /// The bundles that are meant by where to go.
    ///
    /// # Errors
    /// If none is.
    pub fn target(&self, text: &str) -> Result<Vec<Choice<'a>>, NotAnswered<'a>> {
        let rules = self.basis.snapshot.rules();
        target(text, self.filter, &self.offers, rules).map_err(NotAnswered::To)
    }

    /// Where edges start, if the installed version can be read.
    pub fn origin(&self) -> Option<Origin<'_>> {
        Origin::read(&self.installed, self.basis.snapshot.rules()).ok()
    }

    /// What bounds a path besides the edges.
    pub fn bounds(&self) -> Bounds<'_, 'a> {
        Bounds {
            rules: self.basis.snapshot.rules(),
            guards: &self.guards,
            policies: Some(&self.policies),
            effort: None,
        }
    }

    /// Why guardrails forbid a step along an edge, if they do.
    pub fn violations(&self, from: &Version, to: &Choice<'a>) -> Vec<Violation<'a>> {
        self.guards.violations(from, to, CatalogEdge::Present)
    }

    /// A step, if guardrails forbid it and the bypass does not lift that.
    fn forbidden(
        &self,
        from: &Version,
        to: &Choice<'a>,
        edge: CatalogEdge,
    ) -> Option<ForbiddenStep<'a>> {
        let violations = self.guards.violations(from, to, edge);
        let holds = violations.iter().any(|found| !self.guards.lift(found));
        let violations = holds.then_some(violations)?;
        ForbiddenStep::of(*to, from, *to, violations)
    }

    /// Whether there is an edge to a bundle in the requested channels.
    fn leads(&self, origin: &Origin<'_>, to: &Choice<'a>) -> bool {
        let mut offers = self.offers.iter();
        let offer = offers.find(|offer| to.is_of(offer.catalog));
        offer.is_some_and(|offer| {
            let edges = origin.successors(offer.package, &offer.asked).edges;
            edges.contains(to.index)
        })
    }

    /// Judges the edit that sets this filter.
    pub fn decide(&self, filter: &Filter) -> Decision<'a> {
        Decision::new(self.basis, filter, &self.installed, self.context)
    }

    /// Whether upgrade edges do not bind the extension, so that one edit leads anywhere.
    pub fn is_free(&self) -> bool {
        self.filter.policy == Policy::SelfCertified
    }
}

/// Whether a bundle is what an edit resolves to; releases of one version can have one name.
pub fn is_given(to: &Choice<'_>, resolved: &Choice<'_>) -> bool {
    to.is_of(resolved.catalog)
        && to.bundle().name == resolved.bundle().name
        && release(to) == release(resolved)
}

/// An empty release is none.
fn release(choice: &Choice<'_>) -> Option<String> {
    let read = choice.bundle().version.as_ref().ok()?;
    let release = read.release.as_ref();
    release
        .filter(|release| !release.is_empty())
        .map(Release::to_string)
}
