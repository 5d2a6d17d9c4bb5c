//! `skipRange`s that can be read: what they take.

use super::PackageCheck;
use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::{ChannelView, EntryView, PackageView};
use crate::lint::words;
use olmguard_catalog::version::interval::VersionCut;
use olmguard_catalog::version::{Membership, SkipRange, meaning};

pub(super) fn check(facts: &PackageCheck<'_, '_>, report: &mut Findings<'_>) {
    let package = facts.package;
    for channel in &package.channels {
        for view in &channel.entries {
            if let Some(range) = view.readable_range() {
                entry(package, view, range, report);
            }
        }
        // A bundle that cannot be read may be what a range takes.
        if facts.steps.has_ranges && package.unread.bundles.is_empty() {
            takes_none(package, channel, report);
        }
    }
}

fn entry(
    package: &PackageView<'_>,
    view: &EntryView<'_>,
    range: &SkipRange,
    report: &mut Findings<'_>,
) {
    let (name, spot) = (&*view.entry.name, view.entry.skip_range.spot);
    let text = range.as_str();
    let mut say = |rule, words| report.say(rule, spot, package.name, words);
    if range.otherwise() == Membership::Crashes {
        say(
            Rule::SkipRangeCrashes,
            words::skip_range_crashes(name, text),
        );
        return;
    }
    // What a range of very many comparators means is not worked out: nobody writes one.
    let intervals = meaning::skip_range(range);
    match intervals.as_deref().map(<[_]>::first) {
        Ok(None) => {
            say(
                Rule::SkipRangeMatchesNothing,
                words::skip_range_matches_nothing(name, text),
            );
            return;
        }
        Ok(Some(first)) if first.span.lower == VersionCut::bottom() => {
            say(
                Rule::SkipRangeOpenBelow,
                words::skip_range_open(name, text, "lower"),
            );
        }
        Ok(Some(_)) | Err(_) => {}
    }
    if range.is_open_above() {
        say(
            Rule::SkipRangeOpenAbove,
            words::skip_range_open(name, text, "upper"),
        );
    }
    let own = view.bundle.and_then(|bundle| package.version(bundle));
    if own.is_some_and(|own| range.takes(own) == Membership::Holds) {
        say(
            Rule::SkipRangeTakesItself,
            words::skip_range_takes_itself(name, text),
        );
    }
}

/// Entries of a channel whose range takes no other bundle, told together.
fn takes_none(package: &PackageView<'_>, channel: &ChannelView<'_>, report: &mut Findings<'_>) {
    let none = channel.entries.iter().filter(|view| {
        let range = view.readable_range();
        range.is_some_and(|range| {
            let mut others = package.bundles.iter().enumerate();
            let is_empty = meaning::skip_range(range).is_ok_and(|all| all.is_empty());
            !is_empty
                && !others.any(|(index, bundle)| {
                    let version = bundle.version.as_ref();
                    view.bundle != Some(index)
                        && version.is_some_and(|v| range.takes(v) != Membership::HoldsNot)
                })
        })
    });
    let none: Vec<_> = none.collect();
    if let Some(first) = none.first() {
        let names: Vec<_> = none.iter().map(|view| &*view.entry.name).collect();
        let words = words::skip_range_takes_none(&channel.channel.name, &names);
        let spot = first.entry.skip_range.spot;
        report.say(Rule::SkipRangeTakesNone, spot, package.name, words);
    }
}
