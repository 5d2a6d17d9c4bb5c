//! The entries of a channel with a release in its minor.

use std::collections::BTreeSet;

use super::Manner;
use super::stream::Stream;
use crate::author::channel::Entry;

/// The entries, and those that left.
pub(super) fn rewrite(stream: &Stream<'_>, manner: Manner) -> (Vec<Entry>, Vec<Entry>) {
    let Some(anchor) = anchor(stream, manner) else {
        return (first_of_minor(stream), Vec::new());
    };
    let leaves = |entry: &Entry| {
        manner == Manner::Skips && stream.has(&entry.name) && *entry.name != *anchor.name
    };
    let (removed, mut kept): (Vec<_>, Vec<_>) =
        stream.channel.entries.iter().cloned().partition(leaves);
    let adopted = adopted(stream, &removed, &kept);
    let handed_over = lead_on(stream, &mut kept, anchor, &adopted);
    let mut release = Entry::named(stream.release.name);
    release.replaces = Some(anchor.name.clone());
    let skipped = stream.names().filter(|name| match manner {
        Manner::Skips => **name != *anchor.name,
        Manner::Range => handed_over.contains(*name) && **name != *anchor.name,
    });
    release.skips = stream.in_order(skipped);
    release.skips.extend(adopted);
    if manner == Manner::Range {
        release.skip_range = Some(range(stream));
    }
    if let (Manner::Skips, Some(entry)) = (manner, named(&mut kept, &anchor.name)) {
        settle(stream, entry);
    }
    kept.push(release);
    (kept, removed)
}

/// The entry of the minor that the release replaces: of the main line, or of any where none is on it.
fn anchor<'a>(stream: &Stream<'a>, manner: Manner) -> Option<&'a Entry> {
    let pick = |mut entries: Vec<&'a Entry>| match manner {
        Manner::Skips => entries.into_iter().next(),
        Manner::Range => entries.pop(),
    };
    let main = stream.entries().filter(|entry| stream.is_main(entry));
    pick(main.collect()).or_else(|| pick(stream.entries().collect()))
}

/// The entries with the release above the head.
fn first_of_minor(stream: &Stream<'_>) -> Vec<Entry> {
    let mut release = Entry::named(stream.release.name);
    release.replaces = stream.head.map(Box::from);
    let mut entries = stream.channel.entries.clone();
    entries.push(release);
    entries
}

/// Names beyond the minor that entries which leave replace or skip, and no entry of the main line that
/// stays: the release skips them.
fn adopted(stream: &Stream<'_>, removed: &[Entry], kept: &[Entry]) -> Vec<Box<str>> {
    let kept = kept.iter().filter(|entry| stream.is_main(entry));
    let provided: BTreeSet<_> = kept.flat_map(Entry::left).collect();
    let left: BTreeSet<_> = removed.iter().flat_map(Entry::left).collect();
    let orphans = left
        .into_iter()
        .filter(|name| !stream.has(name) && !provided.contains(name));
    orphans.map(Box::from).collect()
}

/// Lets what is beyond the minor lead on from the release; the names of the minor that nothing skips
/// any more are handed over to it.
fn lead_on(
    stream: &Stream<'_>,
    kept: &mut [Entry],
    anchor: &Entry,
    adopted: &[Box<str>],
) -> BTreeSet<Box<str>> {
    let release: Box<str> = stream.release.name.into();
    let beyond = |entry: &&mut Entry| !stream.has(&entry.name);
    let mut handed_over = BTreeSet::new();
    let mut is_met = stream.head.is_some_and(|head| stream.has(head));
    let mut above = None;
    for entry in kept.iter_mut().filter(beyond) {
        let is_main = stream.is_main(entry);
        if entry.replaces.as_ref().is_some_and(|name| stream.has(name)) {
            is_met |= is_main;
            let is_adopted = adopted.contains(&entry.name);
            entry.replaces = (!is_adopted).then(|| release.clone());
        }
        let (of_minor, others) = entry.skips.drain(..).partition(|name| stream.has(name));
        entry.skips = others;
        let of_minor: Vec<_> = of_minor;
        if !of_minor.is_empty() {
            let here = stream.place(entry).map(|place| (place, entry.name.clone()));
            above = above.max(here);
        }
        handed_over.extend(of_minor);
    }
    if let (false, Some((_, above))) = (is_met, above) {
        insert_below(kept, &above, &anchor.name, release);
        handed_over.extend(stream.names().map(Box::from));
    }
    handed_over
}

/// Puts anchor and release into the main line below an entry that skipped the minor.
fn insert_below(kept: &mut [Entry], above: &str, anchor: &str, release: Box<str>) {
    let Some(above) = named(kept, above) else {
        return;
    };
    let below = above.replaces.replace(release);
    if let Some(anchor) = named(kept, anchor) {
        anchor.replaces = below;
    }
}

/// Takes the names of its own minor out of the anchor's edges: the release skips them.
fn settle(stream: &Stream<'_>, anchor: &mut Entry) {
    anchor.skips.retain(|name| !stream.has(name));
    anchor.replaces.take_if(|name| stream.has(name));
}

fn named<'a>(entries: &'a mut [Entry], name: &str) -> Option<&'a mut Entry> {
    entries.iter_mut().find(|entry| *entry.name == *name)
}

fn range(stream: &Stream<'_>) -> Box<str> {
    let version = stream.release.version;
    let (major, minor) = (version.major(), version.minor());
    format!(">={major}.{minor}.0 <{version}").into()
}
