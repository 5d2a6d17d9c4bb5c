//! What an author says of upgrade steps: whether it can be read, and what it does to users.
//!
//! What a rule forbids is never worked out here: steps are judged by [`olmguard_engine::resolve::Alone`], and what a range holds
//! by the ranges of [`olmguard_catalog::guardrail`].

mod blobs;
mod rules;
mod steps;

use std::borrow::Cow;

use super::PackageCheck;
use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::words;
use crate::lint::written::{self, Spot};
use olmguard_catalog::graph::version_in_name;
use olmguard_catalog::guardrail::Guardrails;
use olmguard_catalog::version::Version;
use olmguard_engine::resolve::Alone;

pub(super) use blobs::check as blobs;

/// The guardrails of a package that can be read, and what they are about.
struct GuardedPackage<'f, 'v, 'w> {
    facts: &'f PackageCheck<'v, 'w>,
    written: &'w written::Guardrails,
    guardrails: &'w Guardrails,
    alone: Alone<'f>,
    /// The version of each node, as far as it is known.
    versions: Vec<Option<Cow<'f, Version>>>,
}

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let Some((written, guardrails)) = facts.package.guardrails.read() else {
        return;
    };
    let package = facts.package.name;
    let work = facts.steps.count() + facts.steps.names.len();
    let work = work.saturating_mul(guardrails.comparators());
    let work = work.saturating_add(guardrails.hint_comparisons());
    let words = if work > WORK {
        Some(words::too_many_guarded_steps(package))
    } else if report.may_compare(work) {
        None
    } else {
        Some(words::too_many_guarded_packages(package))
    };
    if let Some(words) = words {
        report.say(Rule::LintLimit, written.spot, package, words);
        return;
    }
    let pool = bundles(facts).map(|(_, version, is_deprecated)| (version, is_deprecated));
    let guarded = GuardedPackage {
        facts,
        written,
        guardrails,
        alone: Alone::over(guardrails, pool),
        versions: versions(facts),
    };
    rules::check(&guarded, report);
    steps::check(&guarded, report);
}

/// A name that only edges speak of was a version once: the one that it says.
fn versions<'f>(facts: &'f PackageCheck<'_, '_>) -> Vec<Option<Cow<'f, Version>>> {
    let bundles = facts.package.bundles.iter();
    let bundles = bundles.map(|view| view.version.as_ref().map(Cow::Borrowed));
    let removed = facts.steps.names.iter().skip(facts.package.bundles.len());
    let removed = removed.map(|name| version_in_name(name).map(Cow::Owned));
    bundles.chain(removed).collect()
}

/// The bundles whose version is known, and whether each is deprecated.
fn bundles<'f>(
    facts: &'f PackageCheck<'_, '_>,
) -> impl Iterator<Item = (&'f str, &'f Version, bool)> + Clone {
    facts.package.bundles.iter().filter_map(|view| {
        let (name, version) = (&*view.bundle.name, view.version.as_ref()?);
        let is_deprecated = facts.deprecated.contains(&("olm.bundle", name));
        Some((name, version, is_deprecated))
    })
}

impl<'f> GuardedPackage<'f, '_, '_> {
    /// As [`bundles`].
    fn bundles(&self) -> impl Iterator<Item = (&'f str, &'f Version, bool)> + Clone {
        bundles(self.facts)
    }

    /// The versions that users may have installed.
    fn installed(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().flatten().map(|version| &**version)
    }

    fn version(&self, node: usize) -> Option<&Version> {
        self.versions.get(node)?.as_deref()
    }

    fn package(&self) -> &'f str {
        self.facts.package.name
    }

    /// Where a rule stands.
    fn spot(&self, rule: &str) -> Spot {
        let mut rules = self.written.rules.iter();
        let rule = rules.find(|known| *known.id == *rule);
        rule.map_or(self.written.spot, |rule| rule.spot)
    }
}

/// How much is compared in one package: steps and names, times what each is compared with, and the ends of
/// ranges with each other.
const WORK: usize = 20_000_000;
