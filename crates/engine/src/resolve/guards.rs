//! Guardrails on the offers of a package: the steps that they forbid, and their owners.
//!
//! Each step is checked alone, regardless of the other steps of a path. Rules only forbid, so the order of rules and
//! owners affects only the order of the reasons. No rule applies to a downgrade or to another bundle of the same
//! version.

use std::collections::{BTreeMap, BTreeSet};

use crate::resolve::semver::{self, Hindrance};
use crate::resolve::{Choice, Offer};
use crate::snapshot::CatalogState;
use olmguard_catalog::guardrail::{
    Action, AdministratorGuardrails, BaseGraph, Guardrails, Passage, Rule, RuleKind,
    UnreadGuardrails,
};
use olmguard_catalog::version::Version;

/// The guardrails of one package, by the offers that a step can end in.
#[derive(Debug, Default)]
pub struct Guards<'s> {
    offers: Vec<GuardedCatalog<'s>>,
    weight: usize,
    /// Whether the bypass is set, which lifts some guardrails.
    bypasses: bool,
}

/// The guardrails for steps to the bundles of one catalog.
#[derive(Debug)]
struct GuardedCatalog<'s> {
    catalog: &'s CatalogState,
    said: Vec<Statement<'s>>,
    pool: VersionPool<'s>,
}

/// The guardrails of one owner.
#[derive(Clone, Copy, Debug)]
struct Statement<'s> {
    by: GuardedBy<'s>,
    stated: Result<&'s Guardrails, &'s UnreadGuardrails>,
}

/// The owner of guardrails.
#[derive(Clone, Copy, Debug)]
pub enum GuardedBy<'s> {
    /// The author of the package, in the catalog of the bundle that the step installs.
    Author(&'s CatalogState),
    /// An administrator, with the place of the guardrails.
    Administrator(&'s str),
}

/// One reason why a step is forbidden.
#[derive(Clone, Copy, Debug)]
pub struct Violation<'s> {
    /// The owner of the guardrail.
    pub by: GuardedBy<'s>,
    /// The rule that the step violates.
    pub of: ViolatedRule<'s>,
}

/// The rule that a step violates.
#[derive(Clone, Copy, Debug)]
pub enum ViolatedRule<'s> {
    /// A rule of the guardrails.
    Rule(&'s Rule),
    /// No rule allows the step from a release to a prerelease, and in this base graph the edge exists only by the
    /// semver rules.
    Prerelease(BaseGraph),
    /// This base graph has no edge for the step, for this reason.
    Graph(BaseGraph, Hindrance),
    /// Guardrails that cannot be read.
    Unread(&'s UnreadGuardrails),
}

/// Whether the catalog has an edge for a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CatalogEdge {
    /// The catalog has an edge for the step.
    Present,
    /// The catalog has no edge: the bypass or the semver rules allow the step.
    Absent,
}

impl<'s> Guards<'s> {
    /// The guardrails for steps to bundles of these offers.
    pub fn of(imposed: &'s AdministratorGuardrails, package: &str, offers: &[Offer<'s>]) -> Self {
        let is_free = |offer: &Offer<'_>| offer.package.guardrails().stated().is_none();
        if imposed.is_empty() && offers.iter().all(is_free) {
            return Self::default();
        }
        let by_administrators = imposed.on(package).map(|by| Statement {
            by: GuardedBy::Administrator(&by.place),
            stated: by.stated.as_ref(),
        });
        let guarded = offers.iter().filter_map(|offer| {
            let by_author = offer.package.guardrails().stated().map(|stated| Statement {
                by: GuardedBy::Author(offer.catalog),
                stated,
            });
            let said: Vec<_> = by_author
                .into_iter()
                .chain(by_administrators.clone())
                .collect();
            (!said.is_empty()).then(|| GuardedCatalog {
                catalog: offer.catalog,
                said,
                pool: VersionPool::of(offer),
            })
        });
        let offers: Vec<GuardedCatalog<'s>> = guarded.collect();
        let stated = offers.iter().flat_map(|offer| &offer.said);
        let read = stated.filter_map(|said| said.stated.ok());
        let weight = read.map(Guardrails::comparators).sum();
        Self {
            offers,
            weight,
            bypasses: false,
        }
    }

    /// The same guardrails, with or without the bypass.
    pub fn with_bypass(self, bypasses: bool) -> Self {
        Self { bypasses, ..self }
    }

    /// Whether no guardrails exist.
    pub fn is_empty(&self) -> bool {
        self.offers.is_empty()
    }

    /// Whether the bypass is set and lifts this violation.
    pub fn lift(&self, violation: &Violation<'_>) -> bool {
        self.bypasses && !violation.holds_with_bypass()
    }

    /// Whether a guardrail could forbid a step to this bundle. If the bypass is set, only guardrails that it does not
    /// lift count.
    pub(crate) fn bind(&self, to: &Choice<'s>) -> bool {
        let said = self.guarded(to).map_or(&[][..], |guarded| &guarded.said);
        said.iter().any(|said| said.binds(self.bypasses))
    }

    /// The most comparators that one step is compared with.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Every reason why a step is forbidden. Reasons of the author come first, and rules are in byte order of their
    /// ids.
    pub fn violations(
        &self,
        from: &Version,
        to: &Choice<'s>,
        edge: CatalogEdge,
    ) -> Vec<Violation<'s>> {
        let Some((guarded, target)) = self.guarded(to).zip(to.version()) else {
            return Vec::new();
        };
        let said = guarded.said.iter();
        let violations = said.flat_map(|said| {
            let by = said.by;
            let step = GuardedStep {
                from,
                to: target,
                edge,
                pool: &guarded.pool,
            };
            forbidden(&step, said.stated)
                .into_iter()
                .map(move |of| Violation { by, of })
        });
        violations.collect()
    }

    /// Whether no guardrail forbids a step along an edge of the catalog, apart from those that the bypass lifts.
    pub fn allow(&self, from: Option<&Version>, to: &Choice<'s>) -> bool {
        let violations = |from| self.violations(from, to, CatalogEdge::Present);
        self.is_empty()
            || from.is_none_or(|from| violations(from).iter().all(|found| self.lift(found)))
    }

    /// The guardrails for steps to bundles of the same catalog as this one.
    fn guarded(&self, to: &Choice<'s>) -> Option<&GuardedCatalog<'s>> {
        let mut offers = self.offers.iter();
        offers.find(|offer| to.is_of(offer.catalog))
    }
}

impl Statement<'_> {
    /// Whether these guardrails could forbid a step, with or without the bypass.
    fn binds(&self, bypasses: bool) -> bool {
        let holds = |bypassable: bool| match self.by {
            GuardedBy::Author(_) => !bypasses,
            GuardedBy::Administrator(_) => !bypasses || !bypassable,
        };
        self.stated.map_or(holds(false), |guardrails| {
            let mut rules = guardrails.rules.iter();
            (guardrails.graph != BaseGraph::Catalog && holds(false))
                || rules.any(|rule| holds(rule.bypassable))
        })
    }
}

impl Violation<'_> {
    /// Whether the violation remains if the extension sets the bypass.
    pub fn holds_with_bypass(&self) -> bool {
        match (self.by, self.of) {
            (GuardedBy::Author(_), _) => false,
            (GuardedBy::Administrator(_), ViolatedRule::Rule(rule)) => !rule.bypassable,
            (GuardedBy::Administrator(_), _) => true,
        }
    }

    /// The id of the violated rule; `None` for other reasons.
    pub fn rule(&self) -> Option<&str> {
        match self.of {
            ViolatedRule::Rule(rule) => Some(&rule.id),
            ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) | ViolatedRule::Unread(_) => None,
        }
    }
}

// === The guardrails of one package alone, over versions that need not be in an offer ===

/// Guardrails, and the existing versions.
#[derive(Debug)]
pub struct Alone<'g> {
    guardrails: &'g Guardrails,
    pool: VersionPool<'g>,
}

impl<'g> Alone<'g> {
    /// The guardrails over these versions, each with its deprecation.
    pub fn over(
        guardrails: &'g Guardrails,
        versions: impl IntoIterator<Item = (&'g Version, bool)>,
    ) -> Self {
        let pool = VersionPool::of_versions(versions);
        Self { guardrails, pool }
    }

    /// The rules that a step along an edge of the catalog violates.
    pub fn violated(&self, from: &Version, to: &Version) -> Vec<ViolatedRule<'g>> {
        forbidden(&self.step(from, to), Ok(self.guardrails))
    }

    /// Whether an upward step breaks this rule.
    pub fn breaks(&self, rule: &Rule, from: &Version, to: &Version) -> bool {
        self.step(from, to).breaks(rule)
    }

    fn step<'a>(&'a self, from: &'a Version, to: &'a Version) -> GuardedStep<'a, 'g> {
        GuardedStep {
            from,
            to,
            edge: CatalogEdge::Present,
            pool: &self.pool,
        }
    }
}

// === One step compared with the guardrails of one owner ===

/// A step, with the versions of the catalog that it ends in.
struct GuardedStep<'a, 's> {
    from: &'a Version,
    to: &'a Version,
    edge: CatalogEdge,
    pool: &'a VersionPool<'s>,
}

/// The rules that a step violates.
fn forbidden<'s>(
    step: &GuardedStep<'_, 's>,
    stated: Result<&'s Guardrails, &'s UnreadGuardrails>,
) -> Vec<ViolatedRule<'s>> {
    let is_up = step.to.cmp_precedence(step.from).is_gt();
    let guardrails = match stated {
        Ok(guardrails) => guardrails,
        Err(unread) => {
            return is_up
                .then_some(ViolatedRule::Unread(unread))
                .into_iter()
                .collect();
        }
    };
    let graph = guardrails.graph;
    let edge = base_edge(step, graph);
    let lacking = edge.err().map(|why| ViolatedRule::Graph(graph, why));
    let rules = guardrails.rules.iter().filter(|_| is_up);
    let broken = rules
        .filter(|rule| step.breaks(rule))
        .map(ViolatedRule::Rule);
    let unasked =
        (is_up && edge != Ok(BaseEdge::Catalog) && step.is_unasked_prerelease(guardrails))
            .then_some(ViolatedRule::Prerelease(graph));
    lacking.into_iter().chain(broken).chain(unasked).collect()
}

/// The kind of edge in the base graph that a step follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum BaseEdge {
    Catalog,
    Semver,
}

/// The edge of the base graph for a step. Steps to prereleases are left to the rules.
fn base_edge(step: &GuardedStep<'_, '_>, graph: BaseGraph) -> Result<BaseEdge, Hindrance> {
    let by_semver = || match semver::step(step.from, step.to) {
        Ok(()) | Err(Hindrance::Prerelease | Hindrance::Same) => Ok(BaseEdge::Semver),
        Err(hindrance) => Err(hindrance),
    };
    match (graph, step.edge) {
        (BaseGraph::Catalog, _) | (BaseGraph::CatalogOrSemver, CatalogEdge::Present) => {
            Ok(BaseEdge::Catalog)
        }
        (BaseGraph::Semver, _) | (BaseGraph::CatalogOrSemver, CatalogEdge::Absent) => by_semver(),
    }
}

impl GuardedStep<'_, '_> {
    fn breaks(&self, rule: &Rule) -> bool {
        let (from, to) = (self.from, self.to);
        match &rule.kind {
            RuleKind::PassThrough(passage) => passage.is_passed_by(from, to),
            RuleKind::Waypoints(passages) => {
                passages.iter().any(|p: &Passage| p.is_passed_by(from, to))
            }
            RuleKind::LatestPatchFirst { from: range } => {
                let leaves = (from.major(), from.minor()) != (to.major(), to.minor());
                let is_meant = || range.as_ref().is_none_or(|range| range.holds(from));
                leaves && self.pool.has_later_patch(from) && is_meant()
            }
            RuleKind::MaxMinorStep(step) => {
                let least = usize::try_from(step.get()).unwrap_or(usize::MAX);
                self.pool.has_minors_between(from, to, least)
            }
            RuleKind::Prerelease(Action::Deny) => self.is_to_prerelease(),
            RuleKind::Prerelease(Action::Allow) => false,
        }
    }

    /// Whether the step goes from a release to a prerelease while no rule mentions prereleases.
    fn is_unasked_prerelease(&self, guardrails: &Guardrails) -> bool {
        let mut rules = guardrails.rules.iter();
        self.is_to_prerelease() && !rules.any(|rule| matches!(rule.kind, RuleKind::Prerelease(_)))
    }

    fn is_to_prerelease(&self) -> bool {
        self.to.is_prerelease() && !self.from.is_prerelease()
    }
}

// === The versions that rules compare a step with ===

/// A major and a minor version.
type Minor = (u64, u64);

/// The versions of an offer in any range, arranged for the rules.
#[derive(Debug, Default)]
struct VersionPool<'s> {
    /// The minors that have a release.
    stable: BTreeSet<Minor>,
    /// The highest versions of each minor that are not deprecated.
    highest: BTreeMap<Minor, HighestVersions<'s>>,
}

/// The highest versions of one minor.
#[derive(Debug, Default)]
struct HighestVersions<'s> {
    any: Option<&'s Version>,
    stable: Option<&'s Version>,
}

impl<'s> VersionPool<'s> {
    /// The pool of the bundles in the requested channels whose versions can be read.
    fn of(offer: &Offer<'s>) -> Self {
        let members = offer.members.iter().map(|index| offer.choice(index));
        Self::of_versions(members.filter_map(|choice| {
            let is_deprecated = choice.package.is_deprecated(choice.index);
            Some((choice.version()?, is_deprecated))
        }))
    }

    /// The pool of these versions, each with its deprecation.
    fn of_versions(versions: impl IntoIterator<Item = (&'s Version, bool)>) -> Self {
        let mut pool = Self::default();
        for (version, is_deprecated) in versions {
            pool.add(version, is_deprecated);
        }
        pool
    }

    fn add(&mut self, version: &'s Version, is_deprecated: bool) {
        if !version.is_prerelease() {
            self.stable.insert(minor(version));
        }
        if is_deprecated {
            return;
        }
        let highest = self.highest.entry(minor(version)).or_default();
        raise(&mut highest.any, version);
        if !version.is_prerelease() {
            raise(&mut highest.stable, version);
        }
    }

    /// Whether the minor version of `version` has a higher version that is not deprecated. Prereleases count only if
    /// `version` is one.
    fn has_later_patch(&self, version: &Version) -> bool {
        let highest = self.highest.get(&minor(version));
        let latest = highest.and_then(|highest| {
            if version.is_prerelease() {
                highest.any
            } else {
                highest.stable
            }
        });
        latest.is_some_and(|latest| latest.cmp_precedence(version).is_gt())
    }

    /// Whether at least `least` minor versions of the same major version have a release and are strictly between two
    /// versions.
    fn has_minors_between(&self, from: &Version, to: &Version, least: usize) -> bool {
        if from.major() != to.major() || from.minor() >= to.minor() {
            return false;
        }
        let above = (from.major(), from.minor().saturating_add(1));
        let mut between = self.stable.range(above..minor(to));
        between.nth(least.saturating_sub(1)).is_some()
    }
}

fn minor(version: &Version) -> Minor {
    (version.major(), version.minor())
}

fn raise<'s>(highest: &mut Option<&'s Version>, version: &'s Version) {
    if highest.is_none_or(|highest| version.cmp_precedence(highest).is_gt()) {
        *highest = Some(version);
    }
}
