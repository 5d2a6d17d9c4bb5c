//! Rules about names in `replaces` and `skips` that are not in the package.
//!
//! A name that differs from a known one only in its digits counts as a removed version. A name that is similar to a
//! known one counts as a typo. So does the bare version of an existing bundle.

use std::collections::{HashMap, HashSet};

use crate::lint::chain::ChannelFault;
use crate::lint::check::{ChannelCheck, Check};
use crate::lint::finding::{Findings, Report};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::{ChannelView, PackageView, View};
use crate::lint::words::{names, q};
use crate::lint::written::{Entry, Text};

/// A name in a field of an entry.
#[derive(Clone, Copy)]
pub(in crate::lint) struct Target<'w> {
    entry: &'w Entry,
    field: &'static str,
    text: &'w Text,
}

impl Target<'_> {
    /// Returns the subject of a sentence about the name.
    fn subject(&self) -> String {
        let (entry, name) = (q(&self.entry.name), q(&self.text.text));
        format!("{} of entry {entry} names {name}", self.field)
    }
}

fn targets<'w>(channel: &ChannelView<'w>) -> impl Iterator<Item = Target<'w>> {
    channel.entries.iter().flat_map(|view| {
        let entry = view.entry;
        let target = move |field, text| Target { entry, field, text };
        let replaces = std::iter::once(target("replaces", &entry.replaces));
        let skips = entry.skips.iter().map(move |skip| target("skips", skip));
        let all = replaces.chain(skips);
        all.filter(|target| !target.text.text.is_empty())
    })
}

/// Meaning of a name that is not a bundle of the package.
pub(in crate::lint) enum Stranger<'w> {
    /// A bundle of this other package.
    OfPackage(&'w str),
    /// A typo of the name of this bundle.
    Misspelt(&'w str),
    Unknown,
}

/// Returns the names in each channel that are not bundles of the package.
pub(in crate::lint) fn strangers<'w>(
    view: &View<'w>,
    package: &PackageView<'w>,
    findings: &mut Findings<'_>,
) -> Vec<Vec<(Target<'w>, Stranger<'w>)>> {
    let mut known: HashSet<_> = package.by_name.keys().copied().collect();
    known.extend(&package.unread.bundles.known);
    let mut names = KnownNames::of(package.name, &known);
    let is_strange = |target: &Target<'_>| {
        let name = &*target.text.text;
        !known.contains(name) && !package.unread.bundles.may_have(name)
    };
    let channels = package.channels.iter().map(|channel| {
        let strange = targets(channel).filter(is_strange);
        let strangers = strange.filter_map(|target| {
            let name = &*target.text.text;
            let stranger = match view.homes.get(name) {
                // A bundle of a misspelt package has another finding.
                Some(homes) => Stranger::OfPackage(homes.iter().find(|home| view.defines(home))?),
                None => names
                    .meant(name, findings)
                    .map_or(Stranger::Unknown, Stranger::Misspelt),
            };
            Some((target, stranger))
        });
        strangers.collect()
    });
    channels.collect()
}

pub(super) const UNKNOWN_TARGET: RuleItem =
    rule!("unknown-target", Users, Note).on(Check::Channel(unknown_target));

fn unknown_target(channel: &ChannelCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let strangers = channel.strangers.iter();
    let unknown = strangers.filter(|(_, stranger)| matches!(stranger, Stranger::Unknown));
    let unknown: Vec<_> = unknown.map(|(target, _)| target.text).collect();
    let Some(first) = unknown.first() else {
        return;
    };
    let mut seen = HashSet::new();
    let all = unknown.iter().map(|target| &*target.text);
    let message = format!(
        "channel {} replaces or skips names that are not in the catalog: {}; correct if these \
         versions were removed",
        q(channel.name()),
        names(all.filter(|name| seen.insert(*name)))
    );
    report.say(first.spot, message);
}

pub(super) const MISSPELT_TARGET: RuleItem =
    rule!("misspelt-target", Users, Warning).on(Check::Channel(|channel, report| {
        for (target, stranger) in channel.strangers {
            if let Stranger::Misspelt(meant) = stranger {
                let (subject, meant) = (target.subject(), q(meant));
                let message =
                    format!("{subject}, which is not in the catalog; did you mean {meant}?");
                report.say(target.text.spot, message);
            }
        }
    }));

pub(super) const OTHER_PACKAGE_TARGET: RuleItem =
    rule!("other-package-target", Users, Warning).on(Check::Channel(|channel, report| {
        for (target, stranger) in channel.strangers {
            if let Stranger::OfPackage(home) = stranger {
                let (subject, home) = (target.subject(), q(home));
                let message =
                    format!("{subject}, a bundle of package {home}: edges never cross packages");
                report.say(target.text.spot, message);
            }
        }
    }));

pub(super) const TARGET_IN_OTHER_CHANNEL: RuleItem =
    rule!("target-in-other-channel", Users, Warning).on(Check::Channel(|channel, report| {
        use ChannelFault::{Heads, Stranded};
        let is_broken = matches!(channel.fault(), Some(Heads { .. } | Stranded { .. }));
        let mut seen = HashSet::new();
        for target in targets(channel.view).filter(|_| is_broken) {
            let is_own = channel.view.entry(&target.text.text).is_some();
            if !is_own && seen.insert(&target.text.text) {
                in_other_channel(channel, &target, report);
            }
        }
    }));

/// Reports a target of a broken channel that is only an entry of other channels. Its edges do not count in this one.
fn in_other_channel(
    channel: &ChannelCheck<'_, '_>,
    target: &Target<'_>,
    report: &mut Report<'_, '_>,
) {
    let others = channel.facts.package.channels.iter();
    let others = others.filter(|other| other.entry(&target.text.text).is_some());
    let others: Vec<_> = others.map(|other| &*other.channel.name).collect();
    let only = match others.as_slice() {
        [] => return,
        [only] => format!("channel {}", q(only)),
        all => format!("channels {}", names(all.iter().copied())),
    };
    let (name, subject, own) = (q(&target.text.text), target.subject(), q(channel.name()));
    let message = format!(
        "{subject}, which is only in {only}: its edges do not count in channel {own}; add an entry \
         for {name} to channel {own}"
    );
    report.say(target.text.spot, message);
}

/// The bundles of a package, indexed to find the one that an unknown name means.
struct KnownNames<'w> {
    package: &'w str,
    sorted: Vec<&'w str>,
    patterns: HashSet<&'w str>,
    versions: Versions<'w>,
    /// Results for the names that were already compared.
    compared: HashMap<&'w str, Option<&'w str>>,
}

impl<'w> KnownNames<'w> {
    fn of(package: &'w str, names: &HashSet<&'w str>) -> Self {
        let mut sorted: Vec<_> = names.iter().copied().collect();
        sorted.sort_unstable();
        Self {
            package,
            patterns: sorted.iter().map(|name| pattern(name)).collect(),
            versions: Versions::of(&sorted),
            compared: HashMap::new(),
            sorted,
        }
    }

    /// Returns the bundle of whose name this is a typo.
    fn meant(&mut self, name: &'w str, findings: &mut Findings<'_>) -> Option<&'w str> {
        *self.compared.entry(name).or_insert_with(|| {
            let is_removed = self.patterns.contains(pattern(name));
            let mut guess = || findings.guess(name, self.sorted.iter().copied());
            let same = self.versions.same(name, self.package);
            same.or_else(|| if is_removed { None } else { guess() })
        })
    }
}

/// Bundles by the version in their names, for targets that only consist of a version.
struct Versions<'n>(HashMap<String, Vec<(String, &'n str)>>);

impl<'n> Versions<'n> {
    fn of(names: &[&'n str]) -> Self {
        let mut versions = HashMap::<_, Vec<_>>::new();
        for name in names {
            let (stem, version) = stem_and_version(name);
            versions.entry(version).or_default().push((stem, *name));
        }
        Self(versions)
    }

    /// Returns the bundle whose name differs only in the prefix, a `v`, or case.
    fn same(&self, target: &str, package: &str) -> Option<&'n str> {
        let (stem, version) = stem_and_version(target);
        if version.is_empty() {
            return None;
        }
        let is_prefix = stem.is_empty() || stem == package.to_lowercase();
        let mut bundles = self.0.get(&version)?.iter();
        let bundle = bundles.find(|(own, _)| is_prefix || *own == stem);
        bundle.map(|(_, name)| *name)
    }
}

/// Splits the name of a bundle in lower case into its two parts, without a `v` and separators.
fn stem_and_version(name: &str) -> (String, String) {
    let name = name.to_lowercase();
    let (stem, version) = name.split_at(pattern(&name).len());
    let joints = ['.', '-', '_'];
    let bare = stem
        .strip_suffix('v')
        .filter(|stem| stem.is_empty() || stem.ends_with(joints));
    let stem = bare.unwrap_or(stem).trim_end_matches(joints);
    let version = version.trim_start_matches(".v");
    (stem.to_owned(), version.to_owned())
}

/// Cuts a name at the first digit of its version, or at the `.v` before it.
fn pattern(name: &str) -> &str {
    let digit = name
        .find(".v")
        .or_else(|| name.find(|c: char| c.is_ascii_digit()));
    name.get(..digit.unwrap_or(name.len())).unwrap_or(name)
}
