//! Every sentence of `olmguard diff`.

use super::{Change, ChangeKind, Level, PackageDiff, ReportedBundle, Who};
use crate::see::Generation;
use olmguard_catalog::version::go;
use olmguard_engine::explain::text::{counted, names};
use olmguard_report::{Text, Tone};

/// Maximum number of lines per kind and package. The rest is only counted.
const SHOWN: usize = 20;

/// Maximum number of extension names per line. The rest is only counted.
const SHOWN_NAMES: usize = 5;

/// Renders all changes, one paragraph per package, including the changes that are allowed.
pub fn text(packages: &[PackageDiff], generation: Generation) -> String {
    let mut text = Text::default();
    text.line(Tone::Plain, summary(packages, generation));
    for package in packages {
        text.end_line();
        text.line(
            Tone::Plain,
            format!("package {}", go::escape(&package.name)),
        );
        let concerning = package.changes.partition_point(Change::is_concerning);
        let (concerning, others) = package.changes.split_at(concerning);
        kinds(&mut text, concerning);
        if !(concerning.is_empty() || others.is_empty()) {
            text.line(Tone::Plain, "  No installed extension is concerned by:");
        }
        kinds(&mut text, others);
    }
    text.to_string()
}

/// Writes one paragraph per kind.
fn kinds(text: &mut Text, changes: &[Change]) {
    for of_kind in changes.chunk_by(|one, other| one.kind == other.kind) {
        let Some(first) = of_kind.first() else {
            continue;
        };
        text.line(Tone::Plain, format!("  {}", heading(first.kind)));
        for words in of_kind.iter().take(SHOWN).map(weighed) {
            if !words.is_empty() {
                text.line(Tone::Plain, format!("    {words}"));
            }
        }
        if let Some(more) = of_kind.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let rest = format!("    and {more} more; use -o json to see all");
            text.line(Tone::Plain, rest);
        }
    }
}

/// Formats a change and the extensions that it concerns, on one line.
fn weighed(change: &Change) -> String {
    let sentence = sentence(change);
    match concerned(change) {
        None => sentence,
        Some(concerned) if sentence.is_empty() => concerned,
        Some(concerned) => format!("{sentence}; {concerned}"),
    }
}

/// Formats the installed extensions that a change concerns, if any.
fn concerned(change: &Change) -> Option<String> {
    let names = change
        .extensions
        .as_ref()
        .filter(|names| !names.is_empty())?;
    let count = counted(names.len(), "installed extension");
    Some(format!("concerns {count}: {}", few(names)))
}

/// Formats the first of these names, and how many more exist.
pub fn few(names: &[Box<str>]) -> String {
    self::names(names, SHOWN_NAMES)
}

/// Summarizes the number of changes, in one line.
pub fn summary(packages: &[PackageDiff], generation: Generation) -> String {
    let changes = || packages.iter().flat_map(|package| &package.changes);
    let of = |level| {
        changes()
            .filter(|change| change.kind.level() == level)
            .count()
    };
    let users = match generation {
        Generation::V0 => "OLM v0",
        Generation::V1 => "OLM v1",
    };
    if changes().next().is_none() {
        return format!("{users} users: no changes");
    }
    let concerning = match concerning(packages) {
        None => String::new(),
        Some(count) => {
            let all = counted(changes().count(), "change");
            let verb = if count == 1 { "concerns" } else { "concern" };
            format!("; {count} of {all} {verb} installed extensions")
        }
    };
    format!(
        "{users} users: {}, {} to review, {}, in {}{concerning}",
        counted(of(Level::Harmful), "breaking change"),
        of(Level::Notice),
        counted(of(Level::Good), "improvement"),
        counted(packages.len(), "package"),
    )
}

/// Counts the changes that concern installed extensions. `None` if it is unknown what is installed.
pub fn concerning(packages: &[PackageDiff]) -> Option<usize> {
    let changes = packages.iter().flat_map(|package| &package.changes);
    let known = changes.filter(|change| change.extensions.is_some());
    let (all, concerning) = known.fold((0, 0), |(all, concerning), change| {
        (all + 1, concerning + usize::from(change.is_concerning()))
    });
    (all > 0).then_some(concerning)
}

fn heading(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::PackageRemoved => {
            "PACKAGE REMOVED: no one can install it, and installed versions get no upgrades"
        }
        ChangeKind::PackageUnreadable => "PACKAGE UNREADABLE: OLM can no longer decode it",
        ChangeKind::NewlyStranded => "NEWLY STRANDED: no upgrade to a higher version any more",
        ChangeKind::OtherBundle => {
            "OTHER BUNDLE: a version that users may have installed has changed"
        }
        ChangeKind::ChannelRemoved => "CHANNEL REMOVED: users of this channel find no bundles",
        ChangeKind::SuccessorsLost => {
            "SUCCESSORS LOST: automatic upgrades stop at a lower version than before"
        }
        ChangeKind::BundleRemoved => "BUNDLE REMOVED: users who pin this version find no bundle",
        ChangeKind::PickChanged => "automatic upgrade changed, for users who pin no version",
        ChangeKind::Deprecated => "newly deprecated",
        ChangeKind::DefaultChannelChanged => "default channel changed",
        ChangeKind::SuccessorsChanged => "successors changed",
        ChangeKind::NoLongerStranded => "no longer stranded",
        ChangeKind::Undeprecated => "no longer deprecated",
        ChangeKind::PackageReadable => "package can be decoded again",
        ChangeKind::PackageAdded => "new package",
        ChangeKind::ChannelAdded => "new channel",
        ChangeKind::BundleAdded => "new bundle",
    }
}

/// Formats one change on one line. Returns an empty string if the heading is enough.
pub fn sentence(change: &Change) -> String {
    let who = change.who.as_ref().map(subject).unwrap_or_default();
    let (before, after) = (
        names(&change.before, SHOWN_NAMES),
        names(&change.after, SHOWN_NAMES),
    );
    match change.kind {
        ChangeKind::PackageRemoved
        | ChangeKind::PackageUnreadable
        | ChangeKind::PackageReadable
        | ChangeKind::PackageAdded => String::new(),
        ChangeKind::NewlyStranded => format!("{who}: could upgrade to {before}"),
        ChangeKind::NoLongerStranded => format!("{who}: can upgrade to {after}"),
        ChangeKind::SuccessorsLost if !change.after.is_empty() => {
            format!("{who}: can no longer upgrade to {before}; still to {after}")
        }
        ChangeKind::SuccessorsChanged if change.before.is_empty() => {
            format!("{who}: can also upgrade to {after}")
        }
        ChangeKind::SuccessorsChanged if !change.after.is_empty() => {
            format!("{who}: can upgrade to {after} instead of {before}")
        }
        ChangeKind::SuccessorsLost | ChangeKind::SuccessorsChanged => {
            format!("{who}: can no longer upgrade to {before}")
        }
        ChangeKind::PickChanged => {
            let place = |pick: &[Box<str>]| match pick {
                [] => "no upgrade".to_owned(),
                pick => format!("upgrade to {}", names(pick, SHOWN_NAMES)),
            };
            let (after, before) = (place(&change.after), place(&change.before));
            format!("{who}: {after}; before: {before}")
        }
        ChangeKind::DefaultChannelChanged => {
            format!(
                "{}; before: {}",
                or_none(&change.after),
                or_none(&change.before)
            )
        }
        ChangeKind::OtherBundle => match (&change.bundle, &change.other) {
            (Some(before), Some(after)) => other_bundle(before, after),
            _ => String::new(),
        },
        ChangeKind::BundleRemoved | ChangeKind::BundleAdded => {
            change.bundle.as_ref().map(held).unwrap_or_default()
        }
        ChangeKind::ChannelRemoved | ChangeKind::ChannelAdded => change
            .channel
            .as_deref()
            .map(go::escape)
            .unwrap_or_default(),
        ChangeKind::Deprecated | ChangeKind::Undeprecated => {
            match go::escape(&change.message).trim() {
                "" => thing(change),
                message => format!("{}: {message}", thing(change)),
            }
        }
    }
}

fn subject(who: &Who) -> String {
    let name = go::escape(&who.name);
    match &who.channel {
        None => name,
        Some(channel) => format!("{name} in channel {}", go::quote(channel)),
    }
}

fn other_bundle(before: &ReportedBundle, after: &ReportedBundle) -> String {
    if before.name != after.name {
        return format!("{} is now {}", held(before), go::escape(&after.name));
    }
    if before.version != after.version {
        let version = match &after.version {
            Some(version) => format!("version {}", go::escape(version)),
            None => "no version".to_owned(),
        };
        return format!("{} now has {version}", held(before));
    }
    let [was, is] = [before, after].map(|one| go::quote(one.image.as_deref().unwrap_or_default()));
    format!("{} now has image {is}; before: {was}", held(before))
}

fn held(bundle: &ReportedBundle) -> String {
    let name = go::escape(&bundle.name);
    match &bundle.version {
        Some(version) => format!("{name} ({})", go::escape(version)),
        None => name,
    }
}

/// Names the deprecated package, channel or bundle.
fn thing(change: &Change) -> String {
    match (&change.channel, &change.bundle) {
        (Some(name), _) => format!("channel {}", go::quote(name)),
        (None, Some(bundle)) => format!("bundle {}", go::escape(&bundle.name)),
        (None, None) => "the package".to_owned(),
    }
}

fn or_none(channel: &[Box<str>]) -> String {
    let name = channel.first().filter(|name| !name.is_empty());
    name.map_or_else(|| "none".to_owned(), |name| go::quote(name))
}
