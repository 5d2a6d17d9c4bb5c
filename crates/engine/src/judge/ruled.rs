//! The row that answered, with all that was found before it.

use std::mem;

use crate::judge::forbidden::{ForbiddenStep, UnjudgedSteps};
use crate::judge::{AllowedChange, Exemption, OutdatedCatalogs, Ruling};
use crate::resolve::{Choice, Match, PolicyFinding};
use crate::snapshot::CatalogState;
use olmguard_catalog::{BundleSet, Package};

/// The row that answered, and what was found before it.
#[derive(Debug)]
pub struct RuledEdit<'s> {
    /// The row.
    pub ruling: Ruling<'s>,
    /// In each catalog that was walked: the bundles left of the package. Empty where the walk did
    /// not get so far.
    pub matched: Vec<MatchedBundles<'s>>,
    /// The catalog whose deprecations operator-controller takes over into the conditions.
    pub deprecations_of: Option<&'s CatalogState>,
    /// The steps that guardrails would forbid if the bypass did not lift them.
    pub lifted: Vec<ForbiddenStep<'s>>,
    /// Why guardrails were not put to every step, where something of them binds.
    pub unjudged: Option<UnjudgedSteps>,
    /// The rules of upgrade policies that the edit, or a step after it, violates and that only warn.
    pub policy_warnings: Vec<PolicyFinding<'s>>,
    /// How many steps upgrade policies were put to, if not to all.
    pub unpoliced: Option<usize>,
}

/// What the filters left in one catalog.
#[derive(Clone, Debug)]
pub struct MatchedBundles<'s> {
    /// The catalog.
    pub catalog: &'s CatalogState,
    /// The package in it.
    pub package: &'s Package,
    /// The bundles in the asked channels and in the range.
    pub candidates: BundleSet,
    /// Those of them that upgrade edges leave.
    pub left: BundleSet,
}

impl<'s> RuledEdit<'s> {
    /// The bundle that the edit resolves to, whether or not it may.
    pub fn resolved(&self) -> Option<Choice<'s>> {
        match &self.ruling {
            Ruling::Allowed(_, choice) => Some(*choice),
            Ruling::Guardrail(forbidden) => Some(forbidden.resolved),
            Ruling::Policy(refusal) => Some(refusal.resolved),
            Ruling::PoliciesUnknown(unlisted) => Some(unlisted.resolved),
            _ => None,
        }
    }

    /// The catalog that the answer rests on: the one of the bundle it is about, otherwise the only one with matches.
    pub fn cited_catalog(&self) -> Option<&'s CatalogState> {
        match &self.ruling {
            Ruling::Allowed(_, choice)
            | Ruling::Downgrade(choice, _)
            | Ruling::NotASuccessor(choice, _)
            | Ruling::BrokenSkipRange(choice)
            | Ruling::BundleVersionInvalid(choice, _)
            | Ruling::UnsupportedDependency(choice, _) => Some(choice.catalog),
            Ruling::Guardrail(forbidden) => Some(forbidden.to.catalog),
            Ruling::Policy(refusal) => Some(refusal.resolved.catalog),
            Ruling::PoliciesUnknown(unlisted) => Some(unlisted.resolved.catalog),
            Ruling::CatalogNotLoaded(failed) => Some(failed.catalog),
            Ruling::CatalogOutdated(outdated) => match outdated.catalogs() {
                [only] => Some(only),
                _ => None,
            },
            _ => match self.matched.as_slice() {
                [only] => Some(only.catalog),
                _ => None,
            },
        }
    }

    /// The ruling on an edit that only turns the bypass off, from the ruling without the bypass: the edit passes, unless
    /// a rule forbids the step that OLM then takes. Warnings about that step are kept.
    pub(super) fn of_stricter(self) -> Self {
        if self.ruling.forbids_move() {
            return self;
        }
        let passed = Self::from(Ruling::NotJudged(Exemption::Stricter));
        match self.ruling {
            Ruling::Allowed(change, _) if change != AllowedChange::Unchanged => Self {
                unjudged: self.unjudged,
                policy_warnings: self.policy_warnings,
                unpoliced: self.unpoliced,
                ..passed
            },
            _ => passed,
        }
    }
}

impl<'s> From<Ruling<'s>> for RuledEdit<'s> {
    fn from(ruling: Ruling<'s>) -> Self {
        Self {
            ruling,
            matched: Vec::new(),
            deprecations_of: None,
            lifted: Vec::new(),
            unjudged: None,
            policy_warnings: Vec::new(),
            unpoliced: None,
        }
    }
}

impl<'s> From<OutdatedCatalogs<'s>> for RuledEdit<'s> {
    fn from(outdated: OutdatedCatalogs<'s>) -> Self {
        Ruling::CatalogOutdated(outdated).into()
    }
}

impl<'s> MatchedBundles<'s> {
    /// What is left of a match, which is over: its bundles are taken.
    pub(super) fn of(found: &mut Match<'_, 's>) -> Self {
        Self {
            catalog: found.offer.catalog,
            package: found.offer.package,
            candidates: found.offer.candidates.clone(),
            left: mem::take(&mut found.matched),
        }
    }
}
