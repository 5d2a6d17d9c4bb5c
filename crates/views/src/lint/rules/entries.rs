//! Rules about single entries: their names, `skips` and `skipRange`, and the edges they define.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::lint::check::{ChannelCheck, Check, EntryCheck};
use crate::lint::finding::{Report, Words};
use crate::lint::rule::{RuleItem, rule};
use crate::lint::view::{EntryView, PackageView, Step};
use crate::lint::words::{NAMED, escaped, names, q, range};
use crate::see::EdgeField;
use olmguard_catalog::version::comparator::VersionCut;
use olmguard_catalog::version::go::escape;
use olmguard_catalog::version::suggestion::{self, Suggestion};
use olmguard_catalog::version::{Membership, SkipRange, SkipRangeError, Version, meaning};
use olmguard_engine::explain::range::suggestion as suggestion_words;
use olmguard_engine::explain::text::and_more;
use olmguard_engine::resolve::semver;

pub(super) const ENTRY_WITHOUT_NAME: RuleItem =
    rule!("entry-without-name", Model, Error).on(Check::Entry(|check, report| {
        if check.view.entry.name.is_empty() {
            let message = format!(
                "an entry of channel {} has no name; add the name of its bundle",
                q(check.channel.name())
            );
            // Without a bundle, opm reports that the bundle is missing.
            let upstream = check.view.bundle.map(|_| "name must be set".to_owned());
            report.say(check.view.entry.spot, Words { message, upstream });
        }
    }));

pub(super) const EMPTY_SKIP: RuleItem =
    rule!("empty-skip", Model, Error).on(Check::Entry(|check, report| {
        let entry = check.view.entry;
        let skips = entry.skips.iter().enumerate();
        for (index, skip) in skips.filter(|(_, skip)| skip.text.is_empty()) {
            report.say_opm(
                skip.spot.or(entry.spot),
                format!(
                    "skips[{index}] of entry {} is empty; remove it",
                    q(&entry.name)
                ),
                format!("skip[{index}] is empty"),
            );
        }
    }));

pub(super) const INVALID_SKIP_RANGE: RuleItem =
    rule!("invalid-skip-range", Model, Error).on(Check::Entry(|check, report| {
        let entry = check.view.entry;
        let (name, text) = (q(&entry.name), &*entry.skip_range.text);
        if let Some(Err(error)) = &check.view.range {
            let (at, hint) = (error.fault().at, range_hint(text, error));
            let fault = escape(&error.to_string()).replace("\\\"", "\"");
            report.say_opm(
                entry.skip_range.spot,
                format!(
                    "the skipRange {} of entry {name} is not valid at byte {at}: {fault}; {hint}",
                    range(text)
                ),
                format!("invalid skipRange {}: {error}", q(text)),
            );
        }
    }));

/// Suggests the nearest valid range, or gives a hint at the fault.
fn range_hint(text: &str, error: &SkipRangeError) -> String {
    let nearest = suggestion::skip_range(text).map(Suggestion::Range);
    nearest.map_or_else(
        || hint(text, error).to_owned(),
        |range| suggestion_words(&range),
    )
}

fn hint(text: &str, error: &SkipRangeError) -> &'static str {
    let begin = text.get(error.fault().at..).unwrap_or_default();
    let version = begin.trim_start_matches(['<', '>', '=', '!', ' ']);
    if version.starts_with('v') {
        "write versions without v"
    } else if text.contains(',') {
        "a space means AND, a comma does not"
    } else if text.contains(['^', '~']) {
        "^ and ~ are not supported: write >=1.2.0 <2.0.0"
    } else {
        "write comparators with full versions, such as >=1.0.0 <1.2.3"
    }
}

/// Meaning of a `skipRange` that can be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::lint) enum Meaning {
    /// OLM panics when it compares a version with the range.
    Crash,
    Nothing,
    /// Every version below some version, and possibly others.
    VersionsFromLowest,
    Versions,
}

impl Meaning {
    pub(in crate::lint) fn of(range: &SkipRange) -> Self {
        if range.otherwise() == Membership::Crashes {
            return Self::Crash;
        }
        match meaning::skip_range(range).as_deref().map(<[_]>::first) {
            Ok(None) => Self::Nothing,
            Ok(Some(first)) if first.span.lower == VersionCut::bottom() => Self::VersionsFromLowest,
            // The meaning is not computed for very many comparators: no real range has so many.
            Ok(Some(_)) | Err(_) => Self::Versions,
        }
    }
}

impl EntryCheck<'_, '_> {
    /// Returns the range, if it matches versions.
    fn matching_range(&self) -> Option<&SkipRange> {
        let matches = !matches!(self.meaning, Some(Meaning::Crash | Meaning::Nothing));
        self.view.readable_range().filter(|_| matches)
    }

    /// Reports a sentence whose subject is the range.
    fn say_of_range(&self, rest: &str, report: &mut Report<'_, '_>) {
        let entry = self.view.entry;
        let (range, name) = (range(&entry.skip_range.text), q(&entry.name));
        let message = format!("the skipRange {range} of entry {name} {rest}");
        report.say(entry.skip_range.spot, message);
    }
}

pub(super) const SKIP_RANGE_CRASHES: RuleItem =
    rule!("skip-range-crashes", Users, Error).on(Check::Entry(|check, report| {
        if check.meaning == Some(Meaning::Crash) {
            let rest = "has nothing between two ||, so OLM panics; remove the empty alternative";
            check.say_of_range(rest, report);
        }
    }));

pub(super) const SKIP_RANGE_MATCHES_NOTHING: RuleItem =
    rule!("skip-range-matches-nothing", Users, Warning).on(Check::Entry(|check, report| {
        if check.meaning == Some(Meaning::Nothing) {
            let rest = "matches no version: a space means AND; join alternatives with ||";
            check.say_of_range(rest, report);
        }
    }));

pub(super) const SKIP_RANGE_OPEN_BELOW: RuleItem =
    rule!("skip-range-open-below", Users, Note).on(Check::Entry(|check, report| {
        if check.meaning == Some(Meaning::VersionsFromLowest) {
            check.say_of_range("has no lower bound; add one", report);
        }
    }));

pub(super) const SKIP_RANGE_OPEN_ABOVE: RuleItem = rule!("skip-range-open-above", Users, Warning)
    .on(Check::Entry(|check, report| {
        if check.matching_range().is_some_and(SkipRange::is_open_above) {
            check.say_of_range("has no upper bound; add one", report);
        }
    }));

pub(super) const SKIP_RANGE_TAKES_ITSELF: RuleItem = rule!("skip-range-takes-itself", Users, Note)
    .on(Check::Entry(|check, report| {
        let package = check.channel.facts.package;
        let own = check.view.bundle.and_then(|bundle| package.version(bundle));
        let both = check.matching_range().zip(own);
        if both.is_some_and(|(range, own)| range.takes(own) == Membership::Holds) {
            let rest = "matches the version of the entry; end the range below it";
            check.say_of_range(rest, report);
        }
    }));

pub(super) const SKIP_RANGE_TAKES_NONE: RuleItem =
    rule!("skip-range-takes-none", Users, Note).on(Check::Channel(|channel, report| {
        // The range might match a bundle that cannot be read.
        let facts = channel.facts;
        if !facts.steps.has_ranges || !facts.package.unread.bundles.is_empty() {
            return;
        }
        let entries = channel.view.entries.iter();
        let none: Vec<_> = entries.filter(|view| takes_none(channel, view)).collect();
        if let Some(first) = none.first() {
            let message = format!(
                "in channel {} the skipRange of {} matches no other bundle of the package: correct \
                 if older versions were removed",
                q(channel.name()),
                names(none.iter().map(|view| &*view.entry.name))
            );
            report.say(first.entry.skip_range.spot, message);
        }
    }));

/// Whether the range of an entry matches versions, but no other bundle.
fn takes_none(channel: &ChannelCheck<'_, '_>, view: &EntryView<'_>) -> bool {
    let Some(range) = view.readable_range() else {
        return false;
    };
    let bundles = channel.facts.package.bundles.iter().enumerate();
    let others = bundles.filter(|(index, _)| view.bundle != Some(*index));
    let mut versions = others.filter_map(|(_, bundle)| bundle.version.as_ref());
    let is_empty = meaning::skip_range(range).is_ok_and(|intervals| intervals.is_empty());
    !is_empty && versions.all(|version| range.takes(version) == Membership::HoldsNot)
}

// === Rules about single edges: down, to prereleases, and across incompatible versions ===

/// A step from a bundle with a known version.
#[derive(Clone, Copy)]
pub(in crate::lint) struct KnownStep<'f> {
    from: usize,
    old: &'f Version,
    /// Whether the bundle is lower or higher than the entry.
    order: Ordering,
    step: Step,
}

/// The version of an entry, and the steps to it.
pub(in crate::lint) type StepsTo<'f> = (&'f Version, Vec<KnownStep<'f>>);

/// Groups the steps of a channel between known versions by entry.
pub(in crate::lint) fn known_steps<'f>(
    package: &'f PackageView<'_>,
    steps: &[(usize, Step)],
) -> Vec<StepsTo<'f>> {
    let mut by_entry = BTreeMap::<usize, StepsTo<'_>>::new();
    for (from, step) in steps {
        let (from, step) = (*from, *step);
        let versions = package.version(from).zip(package.version(step.to));
        if let Some(((old, new), order)) = versions.zip(package.compare(from, step.to)) {
            let (_, steps) = by_entry.entry(step.entry).or_insert((new, Vec::new()));
            steps.push(KnownStep {
                from,
                old,
                order,
                step,
            });
        }
    }
    by_entry.into_values().collect()
}

pub(super) const EDGE_GOES_DOWN: RuleItem =
    rule!("edge-goes-down", Users, Warning).on(Check::Channel(|channel, report| {
        for (_, steps) in &channel.known_steps {
            for field in [EdgeField::Replaces, EdgeField::Skips, EdgeField::SkipRange] {
                let of_field = steps.iter().filter(|known| known.step.kind == field);
                let down = of_field.filter(|known| known.order.is_gt());
                let down: Vec<_> = down.copied().collect();
                goes_down(channel, &down, report);
            }
        }
    }));

fn goes_down(channel: &ChannelCheck<'_, '_>, down: &[KnownStep<'_>], report: &mut Report<'_, '_>) {
    let Some((first, others)) = down.split_first() else {
        return;
    };
    let (facts, field) = (channel.facts, first.step.kind.as_str());
    let others = match others {
        [] => String::new(),
        others => format!(
            ", {}",
            names(others.iter().map(|known| facts.name(known.from)))
        ),
    };
    let message = format!(
        "{field} of entry {} ({}) makes an edge from a higher version: {} ({}){others}; remove the \
         edge, or fix the versions",
        q(facts.name(first.step.to)),
        facts.package.label(first.step.to),
        q(facts.name(first.from)),
        facts.package.label(first.from)
    );
    report.say(facts.spot_of(&first.step), message);
}

pub(super) const PRERELEASE_EDGE: RuleItem =
    rule!("prerelease-edge", Users, Warning).on(Check::Channel(|channel, report| {
        for (to, steps) in &channel.known_steps {
            let from_release = steps.iter().filter(|known| {
                known.order.is_lt() && to.is_prerelease() && !known.old.is_prerelease()
            });
            to_prerelease(channel, to, from_release.copied().collect(), report);
        }
    }));

fn to_prerelease(
    channel: &ChannelCheck<'_, '_>,
    to: &Version,
    mut from_release: Vec<KnownStep<'_>>,
    report: &mut Report<'_, '_>,
) {
    let Some(first) = from_release.first().map(|known| known.step) else {
        return;
    };
    let (facts, spot) = (channel.facts, channel.facts.spot_of(&first));
    from_release.sort_by(|a, b| b.old.cmp_precedence(a.old));
    from_release.dedup_by_key(|known| known.from);
    let edges = format!(
        "entry {} ({}) is a prerelease and has edges from releases: {}",
        q(facts.name(first.to)),
        escaped(to),
        names(from_release.iter().map(|known| facts.name(known.from)))
    );
    if is_of_prereleases(channel) {
        let message = format!(
            "{edges}; channel {} is for prereleases, but OLM v1 also uses the edge for extensions \
             without channels",
            q(channel.name())
        );
        report.note(spot, message);
    } else {
        report.say(spot, format!("{edges}; keep it in a separate channel"));
    }
}

/// Whether a channel is for prereleases: its head is one, and it is not the default channel.
fn is_of_prereleases(channel: &ChannelCheck<'_, '_>) -> bool {
    let package = channel.facts.package;
    let head = channel
        .head()
        .and_then(|view| package.version(view.bundle?));
    let default = package.package.map(|own| &*own.default_channel.text);
    head.is_some_and(Version::is_prerelease) && default != Some(channel.name())
}

pub(super) const MAJOR_EDGE: RuleItem =
    rule!("major-edge", Users, Warning).on(Check::Channel(major_edges));

/// Reports steps that semver calls incompatible, the first one of each entry.
fn major_edges(channel: &ChannelCheck<'_, '_>, report: &mut Report<'_, '_>) {
    let facts = channel.facts;
    let steps = channel.known_steps.iter().filter_map(|(new, steps)| {
        let mut steps = steps.iter();
        steps.find(|known| known.order.is_lt() && semver::line_left(known.old, new).is_some())
    });
    let steps: Vec<_> = steps.collect();
    let Some(first) = steps.first() else {
        return;
    };
    let shown = steps.iter().take(NAMED).map(|known| {
        let (from, to) = (facts.name(known.from), facts.name(known.step.to));
        format!("from {} to {}", q(from), q(to))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let shown = and_more(shown, steps.len().saturating_sub(NAMED));
    let message = format!(
        "channel {} has upgrades between incompatible versions: {shown}",
        q(channel.name())
    );
    report.say(facts.spot_of(&first.step), message);
}
