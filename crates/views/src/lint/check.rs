//! The checks: the input of each kind, and the order in which they run.
//!
//! The check of a rule gets one item at a time: a fault of reading, a catalog, a package, a channel, and so on.

use std::collections::HashSet;

use crate::lint::chain::{Chain, ChannelFault};
use crate::lint::finding::{Findings, Report, Words};
use crate::lint::guarded::GuardedPackage;
use crate::lint::rule::Rule;
use crate::lint::rules::deprecations;
use crate::lint::rules::entries::{Meaning, StepsTo, known_steps};
use crate::lint::rules::reading::{self, Omission};
use crate::lint::rules::targets::{Stranger, Target, strangers};
use crate::lint::view::{ChannelView, EntryView, PackageView, Step, Steps, View};
use crate::lint::written::{Bundle, Deprecation, LoadFaultKind, Spot};
use crate::lint::{PolicyPart, WrittenPolicy};
use crate::see::EdgeField;

/// The check of a rule, by its input.
pub(super) enum Check {
    /// A file or a blob that cannot be read. The check returns a sentence if its rule is about the fault.
    Fault(fn(&FaultCheck<'_>) -> Option<Words>),
    /// A catalog. The package of a finding is the argument of [`Report::of`].
    Catalog(fn(&View<'_>, &mut Report<'_, '_>)),
    /// A package, defined or not.
    Package(fn(&PackageCheck<'_, '_>, &mut Report<'_, '_>)),
    Channel(fn(&ChannelCheck<'_, '_>, &mut Report<'_, '_>)),
    Entry(fn(&EntryCheck<'_, '_>, &mut Report<'_, '_>)),
    /// A bundle of a defined package. If the name of the package has a typo, another rule reports it.
    Bundle(fn(&BundleCheck<'_, '_>, &mut Report<'_, '_>)),
    Deprecation(fn(&DeprecationCheck<'_, '_>, &mut Report<'_, '_>)),
    /// A package with guardrails that can be read.
    Guarded(fn(&GuardedPackage<'_, '_>, &mut Report<'_, '_>)),
    /// An object of an administrator. The check returns a sentence if its rule is about the object.
    Policy(fn(&PolicyCheck<'_>) -> Option<String>),
    /// An omission of lint, with its package. The check returns the sentence.
    Omission(fn(Omission, &str) -> String),
}

/// A file or a blob that cannot be read.
pub(super) struct FaultCheck<'f> {
    pub(super) what: &'f LoadFaultKind,
    pub(super) package: &'f str,
    pub(super) file: &'f str,
    /// Whether the fault is in the guardrails of an administrator.
    pub(super) is_imposed: bool,
}

/// A package, with the facts that several checks need.
pub(super) struct PackageCheck<'f, 'w> {
    pub(super) catalog: &'f View<'w>,
    /// Views of all catalogs, including this one.
    pub(super) all: &'f [View<'w>],
    pub(super) package: &'f PackageView<'w>,
    pub(super) steps: Steps<'w>,
    steps_by_channel: Vec<Vec<(usize, Step)>>,
    chains: Vec<Option<Result<Chain<'f, 'w>, ChannelFault>>>,
    strangers: Vec<Vec<(Target<'w>, Stranger<'w>)>>,
    /// Schemas and names of the deprecations.
    deprecated: HashSet<(&'w str, &'w str)>,
}

/// A channel of a package.
pub(super) struct ChannelCheck<'f, 'w> {
    pub(super) facts: &'f PackageCheck<'f, 'w>,
    pub(super) index: usize,
    pub(super) view: &'f ChannelView<'w>,
    /// Order of the channel. `None` if the channel has no entries.
    pub(super) chain: Option<&'f Result<Chain<'f, 'w>, ChannelFault>>,
    /// Steps that the entries allow, each with its start node.
    pub(super) steps: &'f [(usize, Step)],
    /// Steps between known versions.
    pub(super) known_steps: Vec<StepsTo<'f>>,
    /// Names in the entries that are not bundles of the package.
    pub(super) strangers: &'f [(Target<'w>, Stranger<'w>)],
}

/// An entry of a channel.
pub(super) struct EntryCheck<'f, 'w> {
    pub(super) channel: &'f ChannelCheck<'f, 'w>,
    pub(super) view: &'f EntryView<'w>,
    /// Meaning of the `skipRange`, if it can be read.
    pub(super) meaning: Option<Meaning>,
}

/// A bundle of a package.
pub(super) struct BundleCheck<'f, 'w> {
    pub(super) facts: &'f PackageCheck<'f, 'w>,
    pub(super) bundle: &'w Bundle,
    pub(super) is_in_channel: bool,
}

/// An entry of an `olm.deprecations` that names a package.
pub(super) struct DeprecationCheck<'f, 'w> {
    pub(super) package: &'f PackageView<'w>,
    pub(super) index: usize,
    pub(super) entry: &'w Deprecation,
}

/// An object of an administrator, and the packages that exist.
pub(super) struct PolicyCheck<'p> {
    pub(super) written: &'p WrittenPolicy<'p>,
    pub(super) packages: &'p [&'p str],
    pub(super) has_catalogs: bool,
}

/// Runs every check on one of several catalogs.
pub(super) fn run<'w>(view: &View<'w>, all: &[View<'w>], findings: &mut Findings<'_>) {
    for rule in Rule::all() {
        let mut report = Report::new(findings, rule, "");
        match rule.item().check {
            Check::Fault(check) => reading::report_faults(view.written, check, &mut report),
            Check::Catalog(check) => check(view, &mut report),
            Check::Deprecation(check) => run_on_deprecations(view, check, &mut report),
            _ => {}
        }
    }
    for package in view.packages.values() {
        let facts = PackageCheck::of(package, view, all, findings);
        run_on_package(&facts, findings);
        if let Some(guarded) = GuardedPackage::of(&facts, findings) {
            run_on_guarded(&guarded, findings);
        }
    }
}

fn run_on_deprecations(
    view: &View<'_>,
    check: fn(&DeprecationCheck<'_, '_>, &mut Report<'_, '_>),
    report: &mut Report<'_, '_>,
) {
    for blob in deprecations::with_package(view) {
        if let Some(package) = view.packages.get(&*blob.package) {
            for (index, entry) in blob.entries.iter().enumerate() {
                let entry = DeprecationCheck {
                    package,
                    index,
                    entry,
                };
                check(&entry, &mut report.of(package.name));
            }
        }
    }
}

fn run_on_package(facts: &PackageCheck<'_, '_>, findings: &mut Findings<'_>) {
    let (channels, bundles) = (facts.channels(), facts.bundles());
    let entries: Vec<_> = channels.iter().flat_map(ChannelCheck::entries).collect();
    for rule in Rule::all() {
        let mut report = Report::new(findings, rule, facts.package.name);
        match rule.item().check {
            Check::Package(check) => check(facts, &mut report),
            Check::Channel(check) => channels.iter().for_each(|one| check(one, &mut report)),
            Check::Entry(check) => entries.iter().for_each(|one| check(one, &mut report)),
            Check::Bundle(check) => bundles.iter().for_each(|one| check(one, &mut report)),
            _ => {}
        }
    }
}

fn run_on_guarded(guarded: &GuardedPackage<'_, '_>, findings: &mut Findings<'_>) {
    for rule in Rule::all() {
        if let Check::Guarded(check) = rule.item().check {
            let package = guarded.facts.package.name;
            check(guarded, &mut Report::new(findings, rule, package));
        }
    }
}

impl<'f, 'w> PackageCheck<'f, 'w> {
    fn of(
        package: &'f PackageView<'w>,
        catalog: &'f View<'w>,
        all: &'f [View<'w>],
        findings: &mut Findings<'_>,
    ) -> Self {
        let steps = Steps::of(package);
        let deprecations = package.deprecations.iter().flat_map(|all| &all.entries);
        let deprecated = deprecations.map(|entry| (&*entry.schema, &*entry.name));
        let facts = Self {
            catalog,
            all,
            package,
            steps_by_channel: steps.by_channel(package.channels.len()),
            steps,
            chains: package.channels.iter().map(Chain::of).collect(),
            strangers: strangers(catalog, package, findings),
            deprecated: deprecated.collect(),
        };
        if let Some(omission) = facts.omission() {
            findings.leave_out(package.spot(), package.name, omission);
        }
        facts
    }

    fn omission(&self) -> Option<Omission> {
        if !self.steps.has_ranges {
            Some(Omission::Ranges)
        } else if !self.can_follow_paths() {
            Some(Omission::Paths)
        } else {
            None
        }
    }

    fn channels(&'f self) -> Vec<ChannelCheck<'f, 'w>> {
        let channels = self.package.channels.iter().enumerate();
        let orders = self.chains.iter().zip(&self.steps_by_channel);
        let facts = channels.zip(orders).zip(&self.strangers);
        let checks = facts.map(
            |(((index, view), (chain, steps)), strangers)| ChannelCheck {
                facts: self,
                index,
                view,
                chain: chain.as_ref(),
                steps,
                known_steps: known_steps(self.package, steps),
                strangers,
            },
        );
        checks.collect()
    }

    fn bundles(&'f self) -> Vec<BundleCheck<'f, 'w>> {
        let package = self.package;
        let entries = package.channels.iter().flat_map(|view| &view.entries);
        let in_channels: HashSet<_> = entries.filter_map(|view| view.bundle).collect();
        let bundles = package.bundles.iter().enumerate();
        let bundles = bundles.filter(|_| self.catalog.defines(package.name));
        let checks = bundles.map(|(index, view)| BundleCheck {
            facts: self,
            bundle: view.bundle,
            is_in_channel: in_channels.contains(&index),
        });
        checks.collect()
    }

    /// Returns the name of a node.
    pub(super) fn name(&self, node: usize) -> &str {
        self.steps.names.get(node).copied().unwrap_or_default()
    }

    pub(super) fn is_deprecated(&self, schema: &str, name: &str) -> bool {
        self.deprecated.contains(&(schema, name))
    }

    /// Whether every edge is known. The edges of a blob that cannot be read are not.
    pub(super) fn has_all_edges(&self) -> bool {
        let unread = &self.package.unread;
        self.steps.has_ranges && unread.channels.is_empty() && unread.bundles.is_empty()
    }

    /// Returns the place of the edge of a step.
    pub(super) fn spot_of(&self, step: &Step) -> Spot {
        let channel = self.package.channels.get(step.channel);
        let Some(view) = channel.and_then(|channel| channel.entries.get(step.entry)) else {
            return self.package.spot();
        };
        let entry = view.entry;
        let part = match step.kind {
            EdgeField::Replaces => Some(&entry.replaces),
            EdgeField::SkipRange => Some(&entry.skip_range),
            EdgeField::Skips => entry.skips.get(step.skip),
        };
        part.map_or(entry.spot, |part| part.spot.or(entry.spot))
    }
}

impl<'f, 'w> ChannelCheck<'f, 'w> {
    fn entries(&'f self) -> impl Iterator<Item = EntryCheck<'f, 'w>> {
        let entries = self.view.entries.iter();
        entries.map(move |view| EntryCheck {
            channel: self,
            view,
            meaning: view.readable_range().map(Meaning::of),
        })
    }

    pub(super) fn name(&self) -> &'w str {
        &self.view.channel.name
    }

    pub(super) fn spot(&self) -> Spot {
        self.view.channel.spot
    }

    /// Returns the order of the channel, if opm finds one.
    pub(super) fn chain(&self) -> Option<&'f Chain<'f, 'w>> {
        self.chain?.as_ref().ok()
    }

    /// Returns why opm finds no order.
    pub(super) fn fault(&self) -> Option<&'f ChannelFault> {
        self.chain?.as_ref().err()
    }

    pub(super) fn head(&self) -> Option<&'f EntryView<'w>> {
        self.chain()?.head()
    }

    /// Returns the place of an entry, or the place of the channel if there is no such entry.
    pub(super) fn spot_of(&self, entry: &str) -> Spot {
        let view = self.view.entry(entry);
        view.map_or(self.spot(), |view| view.entry.spot)
    }

    /// Returns the place of the last entry of a cycle, which starts and ends with the same name.
    pub(super) fn end_of_cycle(&self, cycle: &[impl AsRef<str>]) -> Spot {
        let last = cycle.iter().rev().nth(1);
        last.map_or(self.spot(), |name| self.spot_of(name.as_ref()))
    }
}

impl<'p> PolicyCheck<'p> {
    /// Returns the package that the object applies to.
    pub(super) fn package(&self) -> Option<&'p str> {
        match self.written.part {
            PolicyPart::Package(name) => Some(name),
            PolicyPart::Unread(_) => None,
        }
    }
}
