//! Rules about the names, entries and heads of channels, as `opm validate` checks them. Upstream: `ConvertToModel`,
//! [`alpha/declcfg/declcfg_to_model.go`]; `Validate` of `Channel`, [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

use std::cmp::Ordering;

use crate::lint::chain::ChannelFault;
use crate::lint::check::{ChannelCheck, Check};
use crate::lint::finding::{Report, Words};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::words::{meant, names, path, q};

pub(super) const CHANNEL_OF_UNKNOWN_PACKAGE: RuleItem =
    rule!("channel-of-unknown-package", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let channels = catalog.written.channels.iter();
        for channel in channels.filter(|channel| !catalog.defines(&channel.package)) {
            let near = report.findings.guess(&channel.package, catalog.defined());
            let (package, name) = (q(&channel.package), q(&channel.name));
            report.of(&channel.package).say_opm(
                channel.spot,
                format!(
                    "channel {name} belongs to package {package}, which is not defined; {}",
                    meant(near, "add its olm.package")
                ),
                format!("unknown package {package} for channel {name}"),
            );
        }
    }));

pub(super) const CHANNEL_WITHOUT_NAME: RuleItem = rule!("channel-without-name", Conversion, Error)
    .on(Check::Catalog(|catalog, report| {
        let channels = catalog.written.channels.iter();
        for channel in channels.filter(|channel| channel.name.is_empty()) {
            let package = q(&channel.package);
            let fix = match &channel.stray_key {
                Some(key) => {
                    let name = q(&key.text);
                    format!("rename the key \"channel\" to \"name\": name: {name}")
                }
                None => "add a name".to_owned(),
            };
            report.of(&channel.package).say_opm(
                channel.spot,
                format!("a channel of package {package} has no name; {fix}"),
                format!("package {package} contains channel with no name"),
            );
        }
    }));

pub(super) const DUPLICATE_CHANNEL: RuleItem =
    rule!("duplicate-channel", Conversion, Error).on(Check::Catalog(|catalog, report| {
        let channels = catalog.written.channels.iter();
        let named = channels.filter(|channel| !channel.name.is_empty());
        let keyed = named.map(|channel| {
            let package = &*channel.package;
            ((package, &*channel.name), channel.spot, package)
        });
        report.say_seconds(keyed, |(package, channel)| {
            let (package, channel) = (q(package), q(channel));
            Words::with(
                format!(
                    "channel {channel} of package {package} is defined a second time; merge the \
                     entries"
                ),
                format!("package {package} has duplicate channel {channel}"),
            )
        });
    }));

pub(super) const DUPLICATE_ENTRY: RuleItem =
    rule!("duplicate-entry", Conversion, Error).on(Check::Catalog(|catalog, report| {
        for channel in &catalog.written.channels {
            let package = &*channel.package;
            let entries = channel.entries.iter();
            let keyed = entries.map(|entry| (&*entry.name, entry.spot, package));
            report.say_seconds(keyed, |entry| {
                let (package, channel, entry) = (q(package), q(&channel.name), q(entry));
                Words::with(
                    format!("channel {channel} has a second entry {entry}; merge the two"),
                    format!(
                        "invalid package {package}, channel {channel}: duplicate entry {entry}"
                    ),
                )
            });
        }
    }));

pub(super) const CHANNEL_KEY: RuleItem =
    rule!("channel-key", Users, Warning).on(Check::Catalog(|catalog, report| {
        let channels = catalog.written.channels.iter();
        for channel in channels.filter(|channel| !channel.name.is_empty()) {
            if let Some(key) = &channel.stray_key {
                let message = format!(
                    "channel {} has a key \"channel\" with {}, which has no effect: the key for \
                     the name of a channel is \"name\"",
                    q(&channel.name),
                    q(&key.text)
                );
                report.of(&channel.package).say(key.spot, message);
            }
        }
    }));

pub(super) const CHANNEL_WITHOUT_ENTRIES: RuleItem = rule!("channel-without-entries", Model, Error)
    .on(Check::Channel(|channel, report| {
        if channel.chain.is_none() {
            let name = q(channel.name());
            report.say_opm(
                channel.spot(),
                format!("channel {name} has no entries; add some, or remove it"),
                "channel must contain at least one bundle",
            );
        }
    }));

pub(super) const ENTRY_WITHOUT_BUNDLE: RuleItem =
    rule!("entry-without-bundle", Conversion, Error).on(Check::Channel(entry_without_bundle));

/// Reports entries without a bundle, with the text of opm.
///
/// opm only remembers the last channel of a package. For entries of other channels, it reports what the missing bundle
/// does not have. Bundles of a misspelt package and bundles that cannot be read have other findings.
fn entry_without_bundle(channel: &ChannelCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let (facts, package) = (channel.facts, channel.facts.package);
    let is_elsewhere = |name: &str| {
        let homes = facts.catalog.homes.get(name);
        let mut homes = homes.into_iter().flatten();
        let is_misplaced = homes.any(|home| !facts.catalog.defines(home));
        is_misplaced || package.unread.bundles.may_have(name)
    };
    let entries = channel.view.entries.iter();
    let without = entries.filter(|view| view.bundle.is_none() && !is_elsewhere(&view.entry.name));
    let mut without = without.map(|view| view.entry);
    let Some(first) = without.next() else {
        return;
    };
    let rest = without.map(|entry| &*entry.name);
    let mut entries: Vec<_> = std::iter::once(&*first.name).chain(rest).collect();
    entries.sort_unstable();
    let upstream = if channel.index + 1 == package.channels.len() {
        format!(
            "no olm.bundle blobs found in package {} for olm.channel entries [{}]",
            q(package.name),
            entries.join(" ")
        )
    } else {
        "must be exactly one property with type \"olm.package\"".to_owned()
    };
    let message = format!(
        "channel {} has entries without a bundle: {}; add the bundles, or remove the entries",
        q(channel.name()),
        names(entries)
    );
    report.say(first.spot, Words::with(message, upstream));
}

pub(super) const NO_CHANNEL_HEAD: RuleItem =
    rule!("no-channel-head", Model, Error).on(Check::Channel(|channel, report| {
        if let Some(ChannelFault::NoHead) = channel.fault() {
            report.say_opm(
                channel.spot(),
                format!(
                    "channel {} has no head, because every entry is replaced or skipped; remove \
                     the edge that points back",
                    q(channel.name())
                ),
                "no channel head found in graph",
            );
        }
    }));

pub(super) const SEVERAL_CHANNEL_HEADS: RuleItem =
    rule!("several-channel-heads", Model, Error).on(Check::Channel(|channel, report| {
        if let Some(ChannelFault::Heads { heads }) = channel.fault() {
            report.say_opm(
                channel.spot(),
                format!(
                    "channel {} has {} heads: {}; let the newest replace or skip the others",
                    q(channel.name()),
                    heads.len(),
                    names(heads.iter().map(|head| &**head))
                ),
                format!(
                    "multiple channel heads found in graph: {}",
                    heads.join(", ")
                ),
            );
        }
    }));

pub(super) const REPLACES_CYCLE: RuleItem =
    rule!("replaces-cycle", Model, Error).on(Check::Channel(|channel, report| {
        if let Some(ChannelFault::Cycle { cycle }) = channel.fault() {
            report.say_opm(
                channel.end_of_cycle(cycle),
                format!(
                    "entries of channel {} replace each other in a cycle: {}; remove the replaces \
                     that names the same version or a higher one",
                    q(channel.name()),
                    path(cycle)
                ),
                format!(
                    "detected cycle in replaces chain of upgrade graph: {}",
                    cycle.join(" -> ")
                ),
            );
        }
    }));

pub(super) const STRANDED_BUNDLE: RuleItem =
    rule!("stranded-bundle", Model, Error).on(Check::Channel(|channel, report| {
        let Some(ChannelFault::Stranded { stranded }) = channel.fault() else {
            return;
        };
        for (index, bundle) in stranded.iter().enumerate() {
            // opm has one message for all bundles, which the first finding has.
            let all = if index == 0 {
                stranded.join(", ")
            } else {
                String::new()
            };
            report.say_opm(
                channel.spot_of(bundle),
                format!(
                    "entry {} of channel {} is neither in the replaces chain of the head nor \
                     skipped; let an entry of the chain replace it, or let the head skip it",
                    q(bundle),
                    q(channel.name())
                ),
                format!("channel contains one or more stranded bundles: {all}"),
            );
        }
    }));

pub(super) const HEAD_NOT_HIGHEST: RuleItem =
    rule!("head-not-highest", Users, Warning).on(Check::Channel(head_not_highest));

fn head_not_highest(channel: &ChannelCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let (facts, package) = (channel.facts, channel.facts.package);
    let head = channel.head().and_then(|view| view.bundle);
    let bundles = channel.view.entries.iter().filter_map(|view| view.bundle);
    let versions = bundles.filter(|index| package.version(*index).is_some());
    let highest = versions.max_by(|a, b| package.compare(*a, *b).unwrap_or(Ordering::Equal));
    let (Some(head), Some(higher)) = (head, highest) else {
        return;
    };
    if package.compare(higher, head) == Some(Ordering::Greater) {
        let message = format!(
            "the head of channel {} is {} ({}), but {} ({}) is higher: OLM v0 installs the head, \
             OLM v1 the highest version",
            q(channel.name()),
            q(facts.name(head)),
            package.label(head),
            q(facts.name(higher)),
            package.label(higher)
        );
        report.say(channel.spot(), message);
    }
}
