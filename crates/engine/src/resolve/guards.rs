//! Guardrails over the offers of a package: which steps somebody forbids, and who.
//!
//! Each step is checked by itself, without the other steps of a path. Rules only forbid, so their order and
//! that of those who say them changes nothing but the order of what is told. Steps downwards, and to
//! another bundle of one version, are no business of a rule.

mod alone;
mod pool;
mod step;

use crate::resolve::semver::Hindrance;
use crate::resolve::{Choice, Offer};
use crate::snapshot::CatalogState;
use olmguard_catalog::guardrail::{
    AdministratorGuardrails, BaseGraph, Guardrails, Rule, UnreadGuardrails,
};
use olmguard_catalog::version::Version;

pub use alone::Alone;
use pool::Pool;
use step::forbidden;

/// Everything that is said of the steps of one package, by the offers that a step can lead to.
#[derive(Debug, Default)]
pub struct Guards<'s> {
    offers: Vec<GuardedCatalog<'s>>,
    weight: usize,
    /// Whether steps are allowed that only what the bypass lifts forbids.
    bypasses: bool,
}

/// What is said of the steps to the bundles of one catalog.
#[derive(Debug)]
struct GuardedCatalog<'s> {
    catalog: &'s CatalogState,
    said: Vec<Statement<'s>>,
    pool: Pool<'s>,
}

/// What one of those who may says.
#[derive(Clone, Copy, Debug)]
struct Statement<'s> {
    by: GuardedBy<'s>,
    stated: Result<&'s Guardrails, &'s UnreadGuardrails>,
}

/// Who says it.
#[derive(Clone, Copy, Debug)]
pub enum GuardedBy<'s> {
    /// The author of the package, in the catalog that the step leads to.
    Author(&'s CatalogState),
    /// An administrator, in this place.
    Administrator(&'s str),
}

/// One reason why a step is forbidden.
#[derive(Clone, Copy, Debug)]
pub struct Violation<'s> {
    /// Who says so.
    pub by: GuardedBy<'s>,
    /// What.
    pub of: ViolatedRule<'s>,
}

/// What a step goes against.
#[derive(Clone, Copy, Debug)]
pub enum ViolatedRule<'s> {
    /// A rule. Of several waypoints the first that is passed by counts.
    Rule(&'s Rule),
    /// That steps from a version that is no prerelease to one need to be allowed where the edge is one
    /// of the semver rules, in this base graph.
    Prerelease(BaseGraph),
    /// This base graph: it has no such edge, for this reason.
    Graph(BaseGraph, Hindrance),
    /// Guardrails that cannot be read.
    Unread(&'s UnreadGuardrails),
}

/// Whether the catalog has an edge for a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CatalogEdge {
    /// It has.
    Present,
    /// It has none: the bypass or the semver rules make the step.
    Absent,
}

impl<'s> Guards<'s> {
    /// What is said of the steps of a package to any of these offers.
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
                pool: Pool::of(offer),
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

    /// The same for an extension that sets the bypass, or does not.
    #[must_use]
    pub fn with_bypass(self, bypasses: bool) -> Self {
        Self { bypasses, ..self }
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.offers.is_empty()
    }

    /// Whether the bypass is set and lifts this.
    pub fn lift(&self, violation: &Violation<'_>) -> bool {
        self.bypasses && !violation.holds_with_bypass()
    }

    /// Whether some step to this bundle could be forbidden: with the bypass, by what it does not lift.
    pub(crate) fn bind(&self, to: &Choice<'s>) -> bool {
        let said = self.guarded(to).map_or(&[][..], |guarded| &guarded.said);
        said.iter().any(|said| said.binds(self.bypasses))
    }

    /// How many comparators a step is compared with at most.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Every reason why a step is forbidden: those of the author first, the rules in byte order of
    /// their ids.
    pub fn violations(
        &self,
        from: &Version,
        to: &Choice<'s>,
        edge: CatalogEdge,
    ) -> Vec<Violation<'s>> {
        let Some((guarded, target)) = self.target(to) else {
            return Vec::new();
        };
        let said = guarded.said.iter();
        let violations = said.flat_map(|said| {
            let by = said.by;
            let step = step::GuardedStep {
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

    /// Whether nobody forbids a step along an edge of the catalog, or what counts as one.
    pub fn allow(&self, from: Option<&Version>, to: &Choice<'s>) -> bool {
        let violations = |from| self.violations(from, to, CatalogEdge::Present);
        self.is_empty()
            || from.is_none_or(|from| violations(from).iter().all(|found| self.lift(found)))
    }

    fn target(&self, to: &Choice<'s>) -> Option<(&GuardedCatalog<'s>, &'s Version)> {
        let guarded = self.guarded(to)?;
        let bundle = to.package.bundle(to.index);
        Some((guarded, &bundle.version.as_ref().ok()?.version))
    }

    /// What is said of the steps to the bundles of this one's catalog.
    fn guarded(&self, to: &Choice<'s>) -> Option<&GuardedCatalog<'s>> {
        let mut offers = self.offers.iter();
        offers.find(|offer| to.is_of(offer.catalog))
    }
}

impl Statement<'_> {
    /// Whether it could forbid a step, of an extension that sets the bypass or does not.
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
    /// Whether it holds though the extension sets the bypass.
    pub fn holds_with_bypass(&self) -> bool {
        match (self.by, self.of) {
            (GuardedBy::Author(_), _) => false,
            (GuardedBy::Administrator(_), ViolatedRule::Rule(rule)) => !rule.bypassable,
            (GuardedBy::Administrator(_), _) => true,
        }
    }

    /// What a rule is called; `None` for what is no rule.
    pub fn rule(&self) -> Option<&str> {
        match self.of {
            ViolatedRule::Rule(rule) => Some(&rule.id),
            ViolatedRule::Prerelease(_) | ViolatedRule::Graph(..) | ViolatedRule::Unread(_) => None,
        }
    }
}

/// How many comparators of guardrails, and steps of the rules of policies, the steps of one question are compared
/// with: an edit may be waiting for the answer.
pub const MOST_COMPARISONS: usize = 1 << 24;
