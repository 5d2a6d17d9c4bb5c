//! What changed, in words: every sentence of `olmguard diff`.

use std::fmt::Write as _;

use super::change::{Change, ChangeKind, Level, ToldBundle, What, Who};
use super::{Generation, PackageDiff};
use olmguard_catalog::version::go;

/// How many lines of one kind are told of one package, before the rest is counted only.
const SHOWN: usize = 20;

/// All of it, a paragraph for each package; what is let through is told as well.
pub fn text(diffs: &[PackageDiff], generation: Generation) -> String {
    let mut text = String::new();
    for diff in diffs {
        line(&mut text, &format!("package {}", go::escape(&diff.name)));
        for changes in diff
            .changes
            .chunk_by(|one, other| one.kind() == other.kind())
        {
            let Some(first) = changes.first() else {
                continue;
            };
            line(&mut text, &format!("  {}", heading(first.kind())));
            for change in changes.iter().take(SHOWN) {
                let said = sentence(change);
                if !said.is_empty() {
                    line(&mut text, &format!("    {said}"));
                }
            }
            if let Some(more) = changes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                line(
                    &mut text,
                    &format!("    and {more} more; -o json tells all"),
                );
            }
        }
        line(&mut text, "");
    }
    line(&mut text, &summary(diffs, generation));
    text
}

/// How many changes there are, in one line.
pub fn summary(diffs: &[PackageDiff], generation: Generation) -> String {
    let changes = || diffs.iter().flat_map(|diff| &diff.changes);
    let of = |level| {
        changes()
            .filter(|change| change.kind().level() == level)
            .count()
    };
    let users = match generation {
        Generation::V0 => "OLM v0",
        Generation::V1 => "OLM v1",
    };
    if changes().next().is_none() {
        return format!("nothing changes for users of {users}");
    }
    format!(
        "for users of {users}: {} harmful, {} to notice, {} good; in {} package{}",
        of(Level::Harmful),
        of(Level::Notice),
        of(Level::Good),
        diffs.len(),
        if diffs.len() == 1 { "" } else { "s" },
    )
}

fn heading(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::PackageRemoved => {
            "REMOVED: nobody can install it, and what is installed gets no update"
        }
        ChangeKind::PackageUnreadable => "UNREADABLE: OLM cannot decode it any more",
        ChangeKind::NewlyStranded => "NEWLY STRANDED: no higher version in one step any more",
        ChangeKind::OtherBundle => {
            "OTHER BUNDLE: a version that people may have is not what it was"
        }
        ChangeKind::ChannelRemoved => "CHANNEL REMOVED: whoever asks for it finds nothing",
        ChangeKind::SuccessorsLost => "SUCCESSORS LOST: left to itself, it ends lower than before",
        ChangeKind::BundleRemoved => "BUNDLE REMOVED: whoever is pinned to it finds nothing",
        ChangeKind::PickChanged => "by itself, where nothing is pinned",
        ChangeKind::Deprecated => "deprecated now",
        ChangeKind::DefaultChannelChanged => "default channel",
        ChangeKind::SuccessorsChanged => "successors",
        ChangeKind::NoLongerStranded => "no longer stranded",
        ChangeKind::Undeprecated => "no longer deprecated",
        ChangeKind::PackageReadable => "can be decoded again",
        ChangeKind::PackageAdded => "new",
        ChangeKind::ChannelAdded => "new channel",
        ChangeKind::BundleAdded => "new bundle",
    }
}

/// One change on one line; empty where the heading says it all.
pub fn sentence(change: &Change) -> String {
    match change {
        Change::PackageRemoved
        | Change::PackageUnreadable
        | Change::PackageReadable
        | Change::PackageAdded => String::new(),
        Change::NewlyStranded { who, before } => {
            format!("{}: could go to {}", subject(who), names(before))
        }
        Change::NoLongerStranded { who, after } => {
            format!("{}: can go to {}", subject(who), names(after))
        }
        Change::SuccessorsLost { who, lost, left } => {
            format!(
                "{}: not to {}; still to {}",
                subject(who),
                names(lost),
                names(left)
            )
        }
        Change::SuccessorsChanged { who, lost, new } => match (&lost[..], &new[..]) {
            ([], new) => format!("{}: also to {}", subject(who), names(new)),
            (lost, []) => format!("{}: not to {}", subject(who), names(lost)),
            (lost, new) => format!(
                "{}: to {} instead of {}",
                subject(who),
                names(new),
                names(lost)
            ),
        },
        Change::PickChanged { who, before, after } => {
            let place = |pick: &Option<Box<str>>| match pick {
                Some(name) => format!("goes to {}", go::escape(name)),
                None => "stays".to_owned(),
            };
            format!(
                "{}: {}, {} before",
                subject(who),
                place(after),
                place(before)
            )
        }
        Change::OtherBundle { before, after } => other_bundle(before, after),
        Change::BundleRemoved { bundle } | Change::BundleAdded { bundle } => held(bundle),
        Change::ChannelRemoved { channel } | Change::ChannelAdded { channel } => {
            go::escape(channel)
        }
        Change::DefaultChannelChanged { before, after } => {
            format!("{}, {} before", or_none(after), or_none(before))
        }
        Change::Deprecated { what, message } => match go::escape(message).trim() {
            "" => thing(what),
            message => format!("{}: {message}", thing(what)),
        },
        Change::Undeprecated { what } => thing(what),
    }
}

fn subject(who: &Who) -> String {
    let name = go::escape(&who.name);
    match &who.channel {
        None => name,
        Some(channel) => format!("{name} in channel {}", go::quote(channel)),
    }
}

fn other_bundle(before: &ToldBundle, after: &ToldBundle) -> String {
    if before.name != after.name {
        return format!("{} is {} now", held(before), go::escape(&after.name));
    }
    if before.version != after.version {
        let version = after.version.as_deref().unwrap_or("of no version");
        return format!("{} is {} now", held(before), go::escape(version));
    }
    let (was, is) = (go::quote(&before.image), go::quote(&after.image));
    format!("{} has image {is} now, {was} before", held(before))
}

fn held(bundle: &ToldBundle) -> String {
    let name = go::escape(&bundle.name);
    match &bundle.version {
        Some(version) => format!("{name} ({})", go::escape(version)),
        None => name,
    }
}

fn thing(what: &What) -> String {
    match what {
        What::Package => "the package".to_owned(),
        What::Channel(name) => format!("channel {}", go::quote(name)),
        What::Bundle(name) => format!("bundle {}", go::escape(name)),
    }
}

fn or_none(channel: &str) -> String {
    if channel.is_empty() {
        "none".to_owned()
    } else {
        go::quote(channel)
    }
}

fn names(names: &[Box<str>]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    names.join(", ")
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes every write");
}
