//! A question about one package: the request, the installed bundle, the offers of the catalogs, and the path to another
//! bundle.
//!
//! The results are facts; `versions`, `path` and `explain` turn them into text.

mod guarded;
mod path;
mod step;

use serde_json::Value;

use crate::extension::{Extension, Filter, Installed, InstalledBundle, Policy, Shape};
use crate::judge::{
    Basis, CatalogKnowledge, Edit, ForbiddenStep, FoundAdvice, Judgement, NamingError, Requester,
    StatedInstalled, Stop, Token, Verdict, Walk, advise, as_set_now, judge, target, walk,
};
use crate::resolve::{
    Bounds, CatalogEdge, Choice, EditContext, Guards, InstallBound, InstallContext,
    MatchingPolicies, Offer, Origin, Violation,
};
use olmguard_catalog::version::{Release, Version};

pub use crate::inquiry::guarded::{ForbiddenPath, GuardedSteps, MOST_BENDS};
pub use crate::inquiry::path::{SoughtPath, UninstallableStep};
pub use crate::inquiry::step::{Need, PinnedStep};

/// A question that the catalogs can answer.
#[derive(Debug)]
pub struct Inquiry<'a> {
    /// The facts and policies that the question is judged by.
    pub basis: Basis<'a>,
    /// The request, without its range.
    pub filter: &'a Filter,
    /// The offers of the selected catalogs.
    pub offers: Vec<Offer<'a>>,
    /// The guardrails on steps to these offers.
    pub guards: Guards<'a>,
    /// The installed bundle.
    pub installed: InstalledBundle,
    /// How well the catalogs know the installed bundle.
    pub known: CatalogKnowledge,
    /// The facts that upgrade policies also read, and the installation settings of the extension if they are known.
    pub context: EditContext<'a>,
    policies: MatchingPolicies<'a, 'a>,
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum NotAnswered<'a> {
    /// OLM resolves nothing from these facts, whatever the edit is. Contains the judgement of one edit.
    Refused(Box<Decision<'a>>),
    /// The text does not identify an installed bundle.
    From(NamingError),
    /// The text does not identify a target.
    To(NamingError),
}

impl<'a> Inquiry<'a> {
    /// Gathers the facts.
    ///
    /// # Errors
    /// Fails if no catalog has the package, a selected catalog cannot answer, or the installed bundle is unknown.
    pub fn of(
        basis: Basis<'a>,
        filter: &'a Filter,
        said: &StatedInstalled,
        context: EditContext<'a>,
    ) -> Result<Self, NotAnswered<'a>> {
        let offers = Offer::of(basis.snapshot, filter);
        let Some(offers) = offers.filter(|offers| !offers.is_empty()) else {
            let stranger = said.called(said.bundle.clone());
            let decision = Decision::new(basis, filter, &stranger, context);
            return Err(NotAnswered::Refused(Box::new(decision)));
        };
        let named = said.find(basis.snapshot.rules(), &offers);
        let named = named.map_err(NotAnswered::From)?;
        let guards = basis.guards_on(&filter.package, &offers);
        Ok(Self {
            basis,
            filter,
            policies: basis.policies_on(filter, context),
            context,
            offers,
            guards: guards.with_bypass(filter.bypasses()),
            installed: named.installed,
            known: named.known,
        })
    }

    /// The bundles that the target identifies.
    ///
    /// # Errors
    /// Fails if there are none.
    pub fn target(&self, text: &str) -> Result<Vec<Choice<'a>>, NotAnswered<'a>> {
        let rules = self.basis.snapshot.rules();
        target(text, self.filter, &self.offers, rules).map_err(NotAnswered::To)
    }

    /// The origin of edges, if the installed version can be read.
    pub fn origin(&self) -> Option<Origin<'_>> {
        Origin::read(&self.installed, self.basis.snapshot.rules()).ok()
    }

    /// The bounds of a path, in addition to edges.
    pub fn bounds(&self) -> Bounds<'_, 'a> {
        Bounds {
            rules: self.basis.snapshot.rules(),
            guards: &self.guards,
            policies: Some(&self.policies),
            install: self.install_bound(),
            effort: None,
        }
    }

    /// The bundles that OLM does not install, as far as the installation settings of the extension are known.
    fn install_bound(&self) -> Option<InstallBound<'_>> {
        InstallBound::of(
            Some(self.install_context()),
            self.basis.snapshot,
            &self.offers,
        )
    }

    fn install_context(&self) -> InstallContext<'_> {
        let install = self.context.install;
        install.unwrap_or_else(InstallContext::of_unknown)
    }

    /// The context of a step of a path. Installation settings that are not known forbid only what all settings forbid.
    fn step_context(&self) -> EditContext<'_> {
        EditContext {
            install: Some(self.install_context()),
            ..self.context
        }
    }

    /// The automatic upgrades under the request.
    pub fn walk(&self) -> Walk<'a> {
        let install = Some(self.install_context());
        walk(self.basis, self.filter, install, &self.installed)
    }

    /// The violations of guardrails by a step along an edge.
    pub fn violations(&self, from: &Version, to: &Choice<'a>) -> Vec<Violation<'a>> {
        self.guards.violations(from, to, CatalogEdge::Present)
    }

    /// The step, if guardrails forbid it and the bypass does not lift the violation.
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

    /// Whether the requested channels have an edge to a bundle.
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
        self.decide_after(filter, &self.installed)
    }

    /// Judges the edit that sets this filter while another bundle is installed.
    pub fn decide_after(&self, filter: &Filter, installed: &InstalledBundle) -> Decision<'a> {
        Decision::new(self.basis, filter, installed, self.context)
    }

    /// Whether upgrade edges do not apply to the extension, so one edit can reach any version.
    pub fn is_free(&self) -> bool {
        self.filter.policy == Policy::SelfCertified
    }
}

/// Whether an edit resolves to this bundle. Several releases of one version can have the same name.
pub fn is_given(to: &Choice<'_>, resolved: &Choice<'_>) -> bool {
    to.is_of(resolved.catalog)
        && to.bundle().name == resolved.bundle().name
        && release(to) == release(resolved)
}

/// The release; `None` if it is empty.
fn release(choice: &Choice<'_>) -> Option<String> {
    let read = choice.version_release()?;
    let release = read.release.as_ref();
    release
        .filter(|release| !release.is_empty())
        .map(Release::to_string)
}

// === The judgement of an edit that sets a filter ===

/// The judgement of an edit that sets a filter.
#[derive(Debug)]
pub struct Decision<'a> {
    basis: Basis<'a>,
    extension: Extension,
    requester: Requester,
    judgement: Judgement<'a>,
}

impl<'a> Decision<'a> {
    /// Judges the edit that sets `filter` while a bundle is installed.
    pub fn new(
        basis: Basis<'a>,
        filter: &Filter,
        installed: &InstalledBundle,
        context: EditContext<'_>,
    ) -> Self {
        let mut extension = Extension::read(Shape::V1, &Value::Null);
        extension.filter = Ok(filter.clone());
        extension.installed = Installed::Bundle(installed.clone());
        if let Some(known) = context.install {
            extension.install = Some(known.request.clone());
        }
        extension.subject = context.subject.clone();
        let requester = context.requester.clone();
        let judgement = judge(basis, &as_set_now(&extension, &requester));
        Self {
            basis,
            extension,
            requester,
            judgement,
        }
    }

    /// The outcome of the edit.
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict()
    }

    /// Whether the edit is undecided only because the content of a catalog could not be read.
    pub fn rests_on_bad_input(&self) -> bool {
        self.judgement.ruled.ruling.rests_on_bad_input()
    }

    /// The row of the decision table that answered.
    pub fn token(&self) -> Token {
        self.judgement.token()
    }

    /// The bundle that the edit resolves to, whether or not it is allowed.
    pub fn resolved(&self) -> Option<Choice<'a>> {
        let resolved = self.judgement.ruled.resolved();
        resolved.filter(|choice| choice.bundle().version.is_ok())
    }

    /// The bundle that the edit installs.
    pub fn given(&self) -> Option<Choice<'a>> {
        self.resolved().filter(|_| self.verdict() == Verdict::Allow)
    }

    /// The advice on a refusal, found by a search.
    pub fn advice(&self) -> FoundAdvice<'a> {
        let edit = self.edit();
        let advise = |request| {
            let ruled = &self.judgement.ruled;
            advise(self.basis, edit.new, &request, ruled, &Stop::default())
        };
        edit.request().map(advise).unwrap_or_default()
    }

    /// The judgement itself.
    pub fn judgement(&self) -> &Judgement<'a> {
        &self.judgement
    }

    /// The edit that was judged.
    pub fn edit(&self) -> Edit<'_> {
        as_set_now(&self.extension, &self.requester)
    }
}
