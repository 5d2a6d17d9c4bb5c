//! What an author says of upgrade steps: whether it can be read, and what it does to users.
//!
//! What a rule forbids is never worked out here: steps are judged by [`crate::resolve::Alone`], and what a range holds
//! by the ranges of [`crate::guardrail`].

mod blobs;
mod rules;
mod steps;

use std::borrow::Cow;

use super::Facts;
use crate::graph::version_in_name;
use crate::guardrail::Guardrails;
use crate::lint::Rule;
use crate::lint::finding::Report;
use crate::lint::words;
use crate::lint::written::{self, Spot};
use crate::version::Version;

pub(super) use blobs::check as blobs;

/// The guardrails of a package that can be read, and what they are about.
struct Guarded<'f, 'v, 'w> {
    facts: &'f Facts<'v, 'w>,
    written: &'w written::Guardrails,
    guardrails: &'w Guardrails,
    /// The version of each node, as far as it is known.
    versions: Vec<Option<Cow<'f, Version>>>,
}

pub(super) fn check(facts: &Facts<'_, '_>, report: &mut Report<'_>) {
    let Some((written, guardrails)) = facts.package.guardrails.read() else {
        return;
    };
    let package = facts.package.name;
    let work = facts.steps.count() + facts.steps.names.len();
    if work.saturating_mul(guardrails.comparators()) > WORK {
        let words = words::too_many_guarded_steps(package);
        report.say(Rule::LintLimit, written.spot, package, words);
        return;
    }
    let guarded = Guarded {
        facts,
        written,
        guardrails,
        versions: versions(facts),
    };
    rules::check(&guarded, report);
    steps::check(&guarded, report);
}

/// A name that only edges speak of was a version once: the one that it says.
fn versions<'f>(facts: &'f Facts<'_, '_>) -> Vec<Option<Cow<'f, Version>>> {
    let bundles = facts.package.bundles.iter();
    let bundles = bundles.map(|view| view.version.as_ref().map(Cow::Borrowed));
    let removed = facts.steps.names.iter().skip(facts.package.bundles.len());
    let removed = removed.map(|name| version_in_name(name).map(Cow::Owned));
    bundles.chain(removed).collect()
}

impl<'f> Guarded<'f, '_, '_> {
    /// The bundles whose version is known, and whether each is deprecated.
    fn bundles(&self) -> impl Iterator<Item = (&'f str, &'f Version, bool)> + Clone {
        let facts = self.facts;
        facts.package.bundles.iter().filter_map(|view| {
            let (name, version) = (&*view.bundle.name, view.version.as_ref()?);
            let is_deprecated = facts.deprecated.contains(&("olm.bundle", name));
            Some((name, version, is_deprecated))
        })
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

/// How much is compared in one package: steps and names, times what each is compared with.
const WORK: usize = 20_000_000;
