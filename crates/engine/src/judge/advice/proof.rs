//! Asks the decision table about a suggestion.

use crate::extension::{Filter, Policy};
use crate::judge::advice::{BypassHelps, pin};
use crate::judge::filter_question::FilterQuestion;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::rule::rule_question;
use crate::judge::walk::StepsAhead;
use crate::judge::{Basis, Request, Verdict};
use crate::resolve::{Choice, Effort, Origin};
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::Package;
use olmguard_catalog::version::crd;

/// Asks the decision table about changes of one request.
#[derive(Debug)]
pub(super) struct Prover<'a, 's> {
    pub(super) basis: Basis<'s>,
    pub(super) request: Request<'a>,
    /// What each proof is paid from.
    pub(super) effort: &'a Effort<'a>,
    /// What one proof for the requested package costs.
    pub(super) cost: usize,
    installed: ReadInstalled<'a>,
}

impl<'a, 's> Prover<'a, 's> {
    /// About changes of this request.
    pub(super) fn of(basis: Basis<'s>, request: &Request<'a>, effort: &'a Effort<'a>) -> Self {
        Self {
            basis,
            request: *request,
            effort,
            cost: cost(basis.snapshot, &request.filter.package),
            installed: ReadInstalled::of(request.installed, basis.snapshot.rules()),
        }
    }

    /// Where upgrade edges start, if something readable is installed and they bind the request.
    pub(super) fn origin(&self) -> Option<&Origin<'a>> {
        self.installed().filter(|_| !self.request.filter.bypasses())
    }

    /// What is installed, if it is readable.
    pub(super) fn installed(&self) -> Option<&Origin<'a>> {
        self.installed.origin()
    }

    /// What an edit to this filter resolves to, if it is allowed.
    pub(super) fn admits(&self, filter: &Filter) -> Option<Choice<'s>> {
        self.admits_from(filter, &self.installed)
    }

    /// What an edit to this range resolves to, if the API accepts the range and the edit is allowed.
    pub(super) fn admits_range(&self, range: &str) -> Option<Choice<'s>> {
        self.admits(&self.ranged(range)?)
    }

    /// The request with this range, if the API accepts it.
    fn ranged(&self, range: &str) -> Option<Filter> {
        let fits = crd::fits_length(range) && crd::fits_pattern(range);
        fits.then(|| self.request.filter.with_version(range))
    }

    /// Whether every step is allowed and resolves to its bundle, each installed for the next.
    pub(super) fn admits_path(&self, steps: &[Choice<'_>]) -> bool {
        let Some((first, rest)) = steps.split_first() else {
            return true;
        };
        let start = self.step(*first, &self.installed);
        let end = rest
            .iter()
            .fold(start, |installed, step| self.step(*step, &installed?));
        end.is_some()
    }

    /// The steps that OLM makes automatically after an edit to a range; absent if the edit is not allowed, nothing is
    /// installed, or the effort ends.
    pub(super) fn walk(&self, range: &str) -> Option<Vec<Choice<'s>>> {
        let filter = self.ranged(range)?;
        let question = self.asked(&filter)?;
        self.resolved(&question, &self.installed)?;
        matches!(self.installed, ReadInstalled::Bundle(_)).then_some(())?;
        let steps = StepsAhead::of(&question, &self.installed).choices();
        let paid = |step: Choice<'s>| {
            let can = self.effort.affords(self.cost) && self.effort.pay(self.cost);
            can.then_some(step)
        };
        steps.map(paid).collect()
    }

    /// Whether the bypass would let the request through.
    pub(super) fn bypass(&self) -> BypassHelps {
        let filter = self.request.filter;
        let bypassing = filter.with_policy(Policy::SelfCertified);
        if filter.bypasses() || self.admits(&bypassing).is_none() {
            BypassHelps::No
        } else {
            BypassHelps::Yes
        }
    }

    fn admits_from(&self, filter: &Filter, installed: &ReadInstalled<'_>) -> Option<Choice<'s>> {
        self.resolved(&self.asked(filter)?, installed)
    }

    /// A filter, put to the catalogs; none if the effort ends or it does not compile.
    fn asked<'f>(&self, filter: &'f Filter) -> Option<FilterQuestion<'f, 's>> {
        let cost = if filter.package == self.request.filter.package {
            self.cost
        } else {
            cost(self.basis.snapshot, &filter.package)
        };
        self.effort.pay(cost).then_some(())?;
        FilterQuestion::of(self.basis, filter).ok()
    }

    /// What an edit to the filter of a question resolves to, if it is allowed.
    fn resolved(
        &self,
        question: &FilterQuestion<'_, 's>,
        installed: &ReadInstalled<'_>,
    ) -> Option<Choice<'s>> {
        let ruled = rule_question(question, installed, self.request.context);
        ruled
            .resolved()
            .filter(|_| ruled.ruling.token().verdict() == Verdict::Allow)
    }

    /// What is installed after a step.
    fn step(&self, step: Choice<'_>, installed: &ReadInstalled<'_>) -> Option<ReadInstalled<'s>> {
        let pinned = self.request.filter.with_version(&pin(step)?);
        let reached = self.admits_from(&pinned, installed)?;
        let origin = Origin::of_choice(reached, self.basis.snapshot.rules())?;
        (reached == step).then_some(ReadInstalled::Bundle(Ok(origin)))
    }
}

/// The cost of one proof, in compared bundles. The number of successors is not known before the proof: it
/// counts as an eighth of the package.
fn cost(snapshot: &Snapshot, package: &str) -> usize {
    let loaded = snapshot.catalogs().iter().filter_map(CatalogState::loaded);
    let packages = loaded.filter_map(|catalog| catalog.package(package)?.ok());
    let cost = |package: &Package| COMPILING + package.successors_cost(package.bundle_count() / 8);
    packages.map(cost).sum()
}

/// The cost to compile a request, in compared bundles.
const COMPILING: usize = 16;
