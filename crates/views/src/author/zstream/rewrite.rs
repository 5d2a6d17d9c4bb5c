//! The entries of a channel with a release in its minor.

use std::collections::BTreeSet;

use super::stream::{Entrance, Stream};
use super::{Manner, ZStreamError};
use crate::author::channel::Entry;

/// The entries, and those that left.
pub(super) fn rewrite(
    stream: &Stream<'_>,
    manner: Manner,
) -> Result<(Vec<Entry>, Vec<Entry>), ZStreamError> {
    let way = stream.way()?;
    let anchor = anchor(stream, manner, &way);
    let name = anchor.map(|anchor| &*anchor.name);
    let leaves = |entry: &Entry| {
        manner == Manner::Skips && stream.has(&entry.name) && name != Some(&*entry.name)
    };
    let (removed, mut kept): (Vec<_>, Vec<_>) =
        stream.channel.entries.iter().cloned().partition(leaves);
    let adopted = adopted(stream, &removed, &kept);
    let mut handed_over = lead_on(stream, &mut kept, &adopted);
    if let Some(entry) = name.and_then(|name| named(&mut kept, name)) {
        settle(stream, manner, entry);
    }
    if let Entrance::Arm { above } = way {
        insert_below(stream, &mut kept, above, name);
        handed_over.extend(stream.names());
    }
    let is_skipped = |skipped: &&str| {
        name != Some(skipped) && (manner == Manner::Skips || handed_over.contains(*skipped))
    };
    let mut release = Entry::named(stream.release.name);
    release.replaces = name.or(stream.head).map(Box::from);
    release.skips = stream.in_order(stream.names().filter(is_skipped));
    release.skips.extend(adopted);
    if manner == Manner::Range && anchor.is_some() {
        release.skip_range = Some(range(stream));
    }
    kept.push(release);
    Ok((kept, removed))
}

/// The entry of the minor that the release replaces: of the main line, or of any where none is on it
/// and the release does not go above the head.
fn anchor<'a>(stream: &Stream<'a>, manner: Manner, way: &Entrance<'_>) -> Option<&'a Entry> {
    let pick = |mut entries: Vec<&'a Entry>| match manner {
        Manner::Skips => entries.into_iter().next(),
        Manner::Range => entries.pop(),
    };
    match way {
        Entrance::Main => {
            let main = stream.entries().filter(|entry| stream.is_main(entry));
            pick(main.collect()).or_else(|| pick(stream.entries().collect()))
        }
        Entrance::Arm { .. } => pick(stream.entries().collect()),
        Entrance::Top => None,
    }
}

/// Names beyond the minor that entries which leave replace or skip, and no entry of the main line that
/// stays: the release skips them.
fn adopted(stream: &Stream<'_>, removed: &[Entry], kept: &[Entry]) -> Vec<Box<str>> {
    let kept = kept.iter().filter(|entry| stream.is_main(entry));
    let provided: BTreeSet<_> = kept.flat_map(Entry::left).chain(stream.head).collect();
    let left: BTreeSet<_> = removed.iter().flat_map(Entry::left).collect();
    let orphans = left
        .into_iter()
        .filter(|name| !stream.has(name) && !provided.contains(name));
    orphans.map(Box::from).collect()
}

/// Lets what is beyond the minor lead on from the release, and skip nothing of the minor; the names
/// that were skipped are handed over to the release.
fn lead_on<'a>(stream: &Stream<'a>, kept: &mut [Entry], adopted: &[Box<str>]) -> BTreeSet<&'a str> {
    let mut handed_over = BTreeSet::new();
    let is_top = matches!(stream.way(), Ok(Entrance::Top));
    for entry in kept.iter_mut().filter(|entry| !stream.has(&entry.name)) {
        if entry.replaces.as_ref().is_some_and(|name| stream.has(name)) {
            let leads_on = !is_top && !adopted.contains(&entry.name);
            let replaced = leads_on.then(|| Box::from(stream.release.name));
            handed_over.extend(stream.known(entry.replaces.as_deref()));
            entry.replaces = replaced;
        }
        let (of_minor, others) = entry.skips.drain(..).partition(|name| stream.has(name));
        entry.skips = others;
        let of_minor: Vec<Box<str>> = of_minor;
        handed_over.extend(of_minor.iter().filter_map(|name| stream.known(Some(name))));
    }
    handed_over
}

/// Takes out of the anchor's edges what has another replacement: names of its own minor, which the
/// release skips; and, if it was off the main line, whatever the main line provides for.
fn settle(stream: &Stream<'_>, manner: Manner, anchor: &mut Entry) {
    let is_main = stream.is_main(anchor);
    let is_provided = |name: &str| {
        (manner == Manner::Skips && stream.has(name)) || (!is_main && stream.is_provided(name))
    };
    anchor.skips.retain(|name| !is_provided(name));
    anchor.replaces.take_if(|name| is_provided(name));
}

/// Puts anchor and release into the main line below an entry.
fn insert_below(stream: &Stream<'_>, kept: &mut [Entry], above: &str, anchor: Option<&str>) {
    let Some(above) = named(kept, above) else {
        return;
    };
    let below = above.replaces.replace(stream.release.name.into());
    if let Some(anchor) = anchor.and_then(|anchor| named(kept, anchor)) {
        anchor.replaces = below;
    }
}

fn named<'a>(entries: &'a mut [Entry], name: &str) -> Option<&'a mut Entry> {
    entries.iter_mut().find(|entry| *entry.name == *name)
}

fn range(stream: &Stream<'_>) -> Box<str> {
    let version = stream.release.version;
    let (major, minor) = (version.major(), version.minor());
    format!(">={major}.{minor}.0 <{version}").into()
}
