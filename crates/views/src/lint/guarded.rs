//! The guardrails of a package, if they can be read, and the steps that they apply to.
//!
//! This module does not evaluate rules: [`olmguard_engine::resolve::Alone`] checks the steps, and the ranges of
//! [`olmguard_catalog::guardrail`] know their versions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::check::PackageCheck;
use super::finding::Findings;
use super::view::Step;
use super::written::{self, Spot};
use crate::lint::rules::reading::Omission;
use olmguard_catalog::guardrail::{Guardrails, Rule};
use olmguard_catalog::version::Version;
use olmguard_engine::resolve::{Alone, ViolatedRule};

pub(super) struct GuardedPackage<'f, 'w> {
    pub(super) facts: &'f PackageCheck<'f, 'w>,
    pub(super) written: &'w written::Guardrails,
    pub(super) guardrails: &'w Guardrails,
    pub(super) alone: Alone<'f>,
    /// Upward steps from each node.
    pub(super) upwards: BTreeMap<usize, Upwards<'f>>,
    /// Version of each node, if known.
    versions: Vec<Option<Cow<'f, Version>>>,
}

/// Upgrades from one node, by target bundle.
pub(super) type Upwards<'f> = BTreeMap<usize, JudgedEdges<'f>>;

/// The edges to one bundle.
pub(super) struct JudgedEdges<'f> {
    pub(super) edges: Vec<Step>,
    /// First rule that forbids the step. `None` if the step is allowed.
    pub(super) against: Option<ViolatedRule<'f>>,
}

impl<'f, 'w> GuardedPackage<'f, 'w> {
    /// Evaluates the guardrails of a package. Returns `None` if they cannot be read or are too much work.
    pub(super) fn of(facts: &'f PackageCheck<'f, 'w>, findings: &mut Findings<'_>) -> Option<Self> {
        let (written, guardrails) = facts.package.guardrails.read()?;
        if let Some(omission) = too_much(facts, guardrails, findings) {
            findings.leave_out(written.spot, facts.package.name, omission);
            return None;
        }
        let pool = bundles(facts).map(|(_, version, is_deprecated)| (version, is_deprecated));
        let mut guarded = Self {
            facts,
            written,
            guardrails,
            alone: Alone::over(guardrails, pool),
            upwards: BTreeMap::new(),
            versions: facts.steps.versions(facts.package),
        };
        guarded.upwards = guarded.judged();
        Some(guarded)
    }

    /// Checks every upward step between known versions.
    fn judged(&self) -> BTreeMap<usize, Upwards<'f>> {
        let mut judged = BTreeMap::<usize, Upwards<'_>>::new();
        for (node, step) in self.facts.steps.all() {
            let versions = (self.version(node), self.version(step.to));
            let (Some(from), Some(to)) = versions else {
                continue;
            };
            if to.cmp_precedence(from).is_gt() {
                let upwards = judged.entry(node).or_default();
                let judged = upwards.entry(step.to).or_insert_with(|| JudgedEdges {
                    edges: Vec::new(),
                    against: self.alone.violated(from, to).into_iter().next(),
                });
                judged.edges.push(step);
            }
        }
        judged
    }

    /// Returns the bundles whose version is known, and whether each is deprecated.
    pub(super) fn bundles(&self) -> impl Iterator<Item = (&'f str, &'f Version, bool)> + Clone {
        bundles(self.facts)
    }

    /// Returns the versions that users can have installed.
    pub(super) fn installed(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().flatten().map(|version| &**version)
    }

    pub(super) fn version(&self, node: usize) -> Option<&Version> {
        self.versions.get(node)?.as_deref()
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &'w Rule> {
        self.guardrails.rules.iter()
    }

    /// Returns the place of a rule.
    pub(super) fn spot(&self, rule: &Rule) -> Spot {
        let mut rules = self.written.rules.iter();
        let written = rules.find(|written| written.id == rule.id);
        written.map_or(self.written.spot, |rule| rule.spot)
    }
}

fn too_much(
    facts: &PackageCheck<'_, '_>,
    guardrails: &Guardrails,
    findings: &mut Findings<'_>,
) -> Option<Omission> {
    let work = facts.steps.count() + facts.steps.names.len();
    let work = work.saturating_mul(guardrails.comparators());
    let work = work.saturating_add(guardrails.hint_comparisons());
    if work > WORK {
        Some(Omission::GuardedSteps)
    } else if findings.may_compare(work) {
        None
    } else {
        Some(Omission::GuardedPackage)
    }
}

fn bundles<'f>(
    facts: &PackageCheck<'f, '_>,
) -> impl Iterator<Item = (&'f str, &'f Version, bool)> + Clone {
    facts.package.bundles.iter().filter_map(|view| {
        let (name, version) = (&*view.bundle.name, view.version.as_ref()?);
        Some((name, version, facts.is_deprecated("olm.bundle", name)))
    })
}

/// Maximum work in one package: steps and names, times the comparators of the guardrails, plus the comparisons between
/// ends of ranges.
const WORK: usize = 20_000_000;
