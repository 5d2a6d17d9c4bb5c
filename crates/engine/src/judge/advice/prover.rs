//! Checks suggestions against the decision table, and bounds the search for them.

use crate::extension::{Filter, Policy};
use crate::judge::advice::{BypassHelps, fits, pin};
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rule::rule_question;
use crate::judge::walk::StepsAhead;
use crate::judge::{Basis, PreflightRefusal, Request, Ruling, Verdict};
use crate::resolve::{
    Bounds, Choice, EditContext, Effort, Guards, InstallBound, InstallContext, KnownRefusals,
    MatchingPolicies, Offer, Origin, Query,
};
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::Package;
use olmguard_catalog::olm::PreflightMode;
use olmguard_catalog::version::crd;

/// Evaluates the decision table for variations of one request.
#[derive(Debug)]
pub(super) struct Prover<'a, 's> {
    pub(super) basis: Basis<'s>,
    pub(super) request: Request<'a>,
    /// The effort that each check draws on.
    pub(super) effort: &'a Effort<'a>,
    /// The cost of one check for the requested package.
    pub(super) cost: usize,
    installed: ReadInstalled<'a>,
}

impl<'a, 's> Prover<'a, 's> {
    /// The prover for variations of this request.
    pub(super) fn of(basis: Basis<'s>, request: &Request<'a>, effort: &'a Effort<'a>) -> Self {
        Self {
            basis,
            request: *request,
            effort,
            cost: cost(basis.snapshot, &request.filter.package),
            installed: ReadInstalled::of(request.installed, basis.snapshot.rules()),
        }
    }

    /// The installed bundle, if it is readable and upgrade edges apply to the request.
    pub(super) fn origin(&self) -> Option<&Origin<'a>> {
        self.installed().filter(|_| !self.request.filter.bypasses())
    }

    /// The installed bundle, if it is readable.
    pub(super) fn installed(&self) -> Option<&Origin<'a>> {
        self.installed.origin()
    }

    /// The bundle that an edit to this filter resolves to, if the edit is allowed.
    pub(super) fn admits(&self, filter: &Filter) -> Option<Choice<'s>> {
        self.admits_from(filter, &self.installed)
    }

    /// The bundle that an edit to this range resolves to, if the API accepts the range and the edit is allowed.
    pub(super) fn admits_range(&self, range: &str) -> Option<Choice<'s>> {
        self.admits(&self.ranged(range)?)
    }

    /// The request with this range, if the API accepts it.
    fn ranged(&self, range: &str) -> Option<Filter> {
        let fits = crd::fits_length(range) && crd::fits_pattern(range);
        fits.then(|| self.request.filter.with_version(range))
    }

    /// Whether every step is allowed and resolves to its bundle, with the bundle of the previous step installed.
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

    /// The steps that OLM takes automatically after an edit to a range. `None` if the edit is not allowed, nothing is
    /// installed, OLM does not install one of the bundles, or the effort is used up. The `known` bundles count as
    /// installable, because a search has checked each of them.
    pub(super) fn walk(&self, range: &str, known: &[Choice<'_>]) -> Option<Vec<Choice<'s>>> {
        let filter = self.ranged(range)?;
        let question = self.asked(&filter)?;
        self.resolved(&question, &self.installed)?;
        matches!(self.installed, ReadInstalled::Bundle(_)).then_some(())?;
        let install = self.request.context.install;
        let bound = InstallBound::of(install, self.basis.snapshot, question.offers());
        let is_refused = |step: &Choice<'s>| {
            let bound = bound.filter(|_| !known.contains(step));
            bound.is_some_and(|bound| bound.refuses(step, self.basis.snapshot.rules()))
        };
        let steps = StepsAhead::of(&question, &self.installed).choices();
        let paid = |step: Choice<'s>| {
            let can = self.effort.affords(self.cost) && self.effort.pay(self.cost);
            can.then_some(step).filter(|step| !is_refused(step))
        };
        steps.map(paid).collect()
    }

    /// Whether the bypass would make the request pass.
    pub(super) fn bypass(&self) -> BypassHelps {
        let filter = self.request.filter;
        let bypassing = filter.with_policy(Policy::SelfCertified);
        if filter.bypasses() || self.admits(&bypassing).is_none() {
            return BypassHelps::No;
        }
        let policies = self.basis.policies_on(&bypassing, self.request.context);
        if policies.need_permission() {
            BypassHelps::WithPermission
        } else {
            BypassHelps::Yes
        }
    }

    fn admits_from(&self, filter: &Filter, installed: &ReadInstalled<'_>) -> Option<Choice<'s>> {
        self.resolved(&self.asked(filter)?, installed)
    }

    /// A filter with the offers of the catalogs for it; `None` if the effort is used up or the filter does not compile.
    fn asked<'f>(&self, filter: &'f Filter) -> Option<FilterQuestion<'f, 's>> {
        let cost = if filter.package == self.request.filter.package {
            self.cost
        } else {
            cost(self.basis.snapshot, &filter.package)
        };
        self.effort.pay(cost).then_some(())?;
        FilterQuestion::of(self.basis, filter).ok()
    }

    /// The bundle that the filter of a question resolves to, if the edit is allowed.
    fn resolved(
        &self,
        question: &FilterQuestion<'_, 's>,
        installed: &ReadInstalled<'_>,
    ) -> Option<Choice<'s>> {
        let ruled = rule_question(question, installed, self.request.context, 1);
        ruled
            .resolved()
            .filter(|_| ruled.ruling.token().verdict() == Verdict::Allow)
    }

    /// Why OLM does not install the bundle of a step, if this is the reason that the edit pinning it is refused.
    pub(super) fn uninstallable(
        &self,
        from: &Origin<'_>,
        step: Choice<'_>,
    ) -> Option<PreflightRefusal<'s>> {
        let pinned = self.request.filter.with_version(&pin(step)?);
        let from = ReadInstalled::Bundle(Ok(from.clone()));
        let ruled = rule_question(&self.asked(&pinned)?, &from, self.request.context, 1);
        match ruled.ruling {
            Ruling::Preflight(refusal) => Some(*refusal),
            _ => None,
        }
    }

    /// The installed bundle after a step.
    fn step(&self, step: Choice<'_>, installed: &ReadInstalled<'_>) -> Option<ReadInstalled<'s>> {
        let pinned = self.request.filter.with_version(&pin(step)?);
        let reached = self.admits_from(&pinned, installed)?;
        let origin = Origin::of_choice(reached, self.basis.snapshot.rules())?;
        (reached == step).then_some(ReadInstalled::Bundle(Ok(origin)))
    }
}

/// The cost of one check, in compared bundles. The number of successors is not known before the check; an eighth of the
/// package is assumed.
fn cost(snapshot: &Snapshot, package: &str) -> usize {
    let loaded = snapshot.catalogs().iter().filter_map(CatalogState::loaded);
    let packages = loaded.filter_map(|catalog| catalog.package(package)?.ok());
    let cost = |package: &Package| COMPILING + package.successors_cost(package.bundle_count() / 8);
    packages.map(cost).sum()
}

/// The cost to compile a request, in compared bundles.
const COMPILING: usize = 16;

// === The scope of a search for paths: the offers of a filter, and the rules for the steps between them ===

/// The offers of a filter, with the guardrails of its package and the policies that match it.
#[derive(Debug)]
pub(super) struct Ground<'a, 's> {
    pub(super) offers: Vec<Offer<'s>>,
    guards: Guards<'s>,
    /// The policies that match the request.
    pub(super) policies: MatchingPolicies<'a, 's>,
    /// The installation settings; absent if the rules do not deny a bundle that cannot be installed.
    install: Option<InstallContext<'a>>,
    /// The bundles that a search has visited and that OLM does not install.
    pub(super) refusals: KnownRefusals,
    snapshot: &'s Snapshot,
}

impl<'a, 's> Ground<'a, 's> {
    /// The ground of a filter; `None` if the filter does not compile or a selected catalog cannot answer.
    pub(super) fn of(
        basis: Basis<'s>,
        filter: &'a Filter,
        context: EditContext<'a>,
    ) -> Option<Self> {
        let offers = offers(basis, filter)?;
        let guards = basis.guards_on(&filter.package, &offers);
        let rules = basis.snapshot.rules();
        Some(Self {
            policies: basis.policies_on(filter, context),
            install: context
                .install
                .filter(|_| rules.preflight == PreflightMode::Deny),
            refusals: KnownRefusals::default(),
            snapshot: basis.snapshot,
            offers,
            guards: guards.with_bypass(filter.bypasses()),
        })
    }

    /// Whether each edit of a path that the search found is allowed. If only edges apply, the search decides as the
    /// rows do. Guardrails also check the steps that OLM takes after an edit, so with guardrails the edits are checked
    /// again.
    pub(super) fn admits(&self, prover: &Prover<'_, '_>, path: &[Choice<'_>]) -> bool {
        if !self.binds_by_edges_alone(prover.effort) {
            return prover.admits_path(path);
        }
        path.iter().all(|step| step.version().is_some_and(fits))
    }

    /// Whether only edges apply, so the edits of a path need no further check.
    pub(super) fn binds_by_edges_alone(&self, effort: &Effort<'_>) -> bool {
        self.bounds(effort).are_edges_alone()
    }

    /// The rules for paths in addition to edges. A search within them draws on this effort.
    pub(super) fn bounds<'b>(&'b self, effort: &'b Effort<'_>) -> Bounds<'b, 's> {
        Bounds {
            rules: self.snapshot.rules(),
            guards: &self.guards,
            policies: Some(&self.policies),
            install: InstallBound::of(self.install, self.snapshot, &self.offers)
                .map(|bound| bound.remembering(&self.refusals)),
            effort: Some(effort),
        }
    }
}

/// The offers of a filter; `None` if the filter does not compile, or a selected catalog cannot answer or is too old.
pub(super) fn offers<'s>(basis: Basis<'s>, filter: &Filter) -> Option<Vec<Offer<'s>>> {
    let query = Query::compile(filter, basis.snapshot).ok()?;
    let in_play = query.in_play(basis.snapshot);
    in_play.too_old().is_empty().then_some(())?;
    query.offers(&in_play).ok()
}
