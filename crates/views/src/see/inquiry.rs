//! A question about one package: what is asked for, what is installed, and what the catalogs offer.

use crate::see::Decision;
use olmguard_catalog::version::Version;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::extension::{Filter, InstalledBundle};
use olmguard_engine::judge::{Basis, CatalogKnowledge, Nameless, StatedInstalled, Verdict, target};
use olmguard_engine::resolve::{
    Bounds, CatalogEdge, Choice, Guards, Offer, Origin, Query, Violation,
};

/// A question whose facts are to be had.
#[derive(Debug)]
pub struct Inquiry<'a> {
    pub(crate) basis: Basis<'a>,
    /// What is asked for, any range aside.
    pub(crate) filter: &'a Filter,
    pub(crate) offers: Vec<Offer<'a>>,
    /// What is said of steps to these offers.
    pub(crate) guards: Guards<'a>,
    pub(crate) installed: InstalledBundle,
    pub(crate) known: CatalogKnowledge,
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum NotAnswered {
    /// OLM resolves nothing from these facts, whatever the edit.
    Refused {
        /// What becomes of any edit.
        verdict: Verdict,
        /// Why, in one line.
        why: String,
    },
    /// It is not known what is installed by this text.
    From(Nameless),
    /// It is not known where this text leads.
    To(Nameless),
}

impl<'a> Inquiry<'a> {
    /// Gathers what there is to know.
    ///
    /// # Errors
    /// If no catalog has the package, or one in play cannot answer, or it is not known what is
    /// installed.
    pub fn of(
        basis: Basis<'a>,
        filter: &'a Filter,
        said: &StatedInstalled,
    ) -> Result<Self, NotAnswered> {
        let query = Query::compile(filter, basis.snapshot).ok();
        let offers = query.and_then(|query| query.offers(&query.in_play(basis.snapshot)).ok());
        let Some(offers) = offers.filter(|offers| !offers.is_empty()) else {
            let stranger = InstalledBundle {
                name: said.bundle.clone(),
                version: said.text.clone(),
                release: said.release.clone(),
            };
            let decision = Decision::new(basis, filter, &stranger);
            return Err(NotAnswered::Refused {
                verdict: decision.verdict(),
                why: decision.line().unwrap_or_default(),
            });
        };
        let named = said.find(basis.snapshot, filter, &offers);
        let named = named.map_err(NotAnswered::From)?;
        let guards = Guards::of(&basis.policies.guardrails, &filter.package, &offers);
        Ok(Self {
            basis,
            filter,
            offers,
            guards: guards.with_bypass(filter.bypasses()),
            installed: named.installed,
            known: named.known,
        })
    }

    /// The bundles that are meant by where to go.
    pub(crate) fn target(&self, text: &str) -> Result<Vec<Choice<'a>>, NotAnswered> {
        let rules = self.basis.snapshot.rules();
        target(text, self.filter, &self.offers, rules).map_err(NotAnswered::To)
    }

    /// Where edges start, if the installed version can be read.
    pub(crate) fn origin(&self) -> Option<Origin<'_>> {
        Origin::read(&self.installed, self.basis.snapshot.rules()).ok()
    }

    /// By what ways are bound beside the edges.
    pub(crate) fn bounds(&self) -> Bounds<'_, 'a> {
        Bounds {
            rules: self.basis.snapshot.rules(),
            guards: &self.guards,
            effort: None,
        }
    }

    /// Why guardrails forbid a step along an edge, if they do.
    pub(crate) fn violations(&self, from: &Version, to: &Choice<'a>) -> Vec<Violation<'a>> {
        self.guards.violations(from, to, CatalogEdge::Present)
    }

    /// A step, if guardrails forbid it and no bypass lifts that.
    pub(crate) fn forbidden(
        &self,
        from: &Version,
        to: &Choice<'a>,
        edge: CatalogEdge,
    ) -> Option<ForbiddenReport> {
        let violations = self.guards.violations(from, to, edge);
        let holds = violations.iter().any(|found| !self.guards.lift(found));
        let report = || ForbiddenReport::found(from, to, &violations, self.filter.policy);
        holds.then(report).flatten()
    }

    /// Whether the catalog of a bundle has an edge that leads there.
    pub(crate) fn edge(&self, origin: &Origin<'_>, to: &Choice<'a>) -> CatalogEdge {
        let mut offers = self.offers.iter();
        let offer = offers.find(|offer| to.is_of(offer.catalog));
        let leads = offer.is_some_and(|offer| {
            let edges = origin.successors(offer.package, &offer.asked).edges;
            edges.contains(to.index)
        });
        if leads {
            CatalogEdge::Present
        } else {
            CatalogEdge::Absent
        }
    }

    /// What becomes of an edit to this filter.
    pub(crate) fn decide(&self, filter: &Filter) -> Decision<'a> {
        Decision::new(self.basis, filter, &self.installed)
    }

    /// What the catalogs do not know of the question.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = super::missing_channels(self.filter, &self.offers);
        notes.extend(super::known(self.known).map(str::to_owned));
        notes
    }
}
