//! The pictures of the design.

mod histories;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use olmguard_catalog::graph::version_in_name;

/// Channels as the tests write them: `2<1!0,x` replaces 1 and skips 0 and x.
fn channel(entries: &[&str]) -> Channel {
    let entries = entries.iter().map(|text| entry(text)).collect();
    Channel::empty("etcd", "alpha").with(entries)
}

fn entry(text: &str) -> Entry {
    let (text, skips) = text.split_once('!').unwrap_or((text, ""));
    let (name, replaces) = text.split_once('<').unwrap_or((text, ""));
    let full = |version: &str| Box::from(format!("etcd.v{version}"));
    let mut entry = Entry::named(&full(name));
    entry.replaces = (!replaces.is_empty()).then(|| full(replaces));
    entry.skips = skips
        .split(',')
        .filter(|skip| !skip.is_empty())
        .map(full)
        .collect();
    entry
}

fn written(channel: &Channel) -> Vec<String> {
    let short = |name: &str| name.trim_start_matches("etcd.v").to_owned();
    let line = |entry: &Entry| {
        let replaces = entry
            .replaces
            .iter()
            .map(|name| format!("<{}", short(name)));
        let skips: Vec<_> = entry.skips.iter().map(|name| short(name)).collect();
        let skips = (!skips.is_empty()).then(|| format!("!{}", skips.join(",")));
        let range = entry.skip_range.iter().map(|range| format!(" {range}"));
        let parts = replaces.chain(skips).chain(range).collect::<String>();
        format!("{}{parts}", short(&entry.name))
    };
    channel.entries.iter().map(line).collect()
}

fn added(old: &Channel, version: &str, manner: Manner) -> Result<Outcome, ZStreamError> {
    let parsed = Version::parse(version).unwrap();
    let name = format!("etcd.v{version}");
    let release = Release {
        name: &name,
        version: &parsed,
    };
    add(old, release, manner, &version_in_name)
}

#[track_caller]
fn becomes(old: &[&str], version: &str, manner: Manner, new: &[&str]) {
    let outcome = added(&channel(old), version, manner).unwrap();
    assert_eq!(written(&outcome.channel), new, "{version} into {old:?}");
    assert_eq!(naive_fault(&outcome.channel), None);
}

#[test]
fn the_picture_of_the_seeds() {
    let old = ["0.6.1", "0.9.0<0.6.1", "0.9.2<0.9.0!0.9.1"];
    let new = ["0.6.1", "0.9.0<0.6.1", "0.9.3<0.9.0!0.9.1,0.9.2"];
    becomes(&old, "0.9.3", Manner::Skips, &new);
    let first = ["0.6.1", "0.9.0<0.6.1"];
    becomes(
        &first,
        "0.9.2",
        Manner::Skips,
        &["0.6.1", "0.9.0<0.6.1", "0.9.2<0.9.0"],
    );
}

#[test]
fn a_patch_to_an_older_minor_goes_below_the_newer_one() {
    let old = ["1.2.0", "1.2.1<1.2.0", "1.3.0<1.2.1"];
    let new = ["1.2.0", "1.3.0<1.2.2", "1.2.2<1.2.0!1.2.1"];
    becomes(&old, "1.2.2", Manner::Skips, &new);
    let ranged = [
        "1.2.0",
        "1.2.1<1.2.0",
        "1.3.0<1.2.2",
        "1.2.2<1.2.1 >=1.2.0 <1.2.2",
    ];
    becomes(&old, "1.2.2", Manner::Range, &ranged);
}

#[test]
fn the_first_release_of_a_minor_replaces_the_head() {
    becomes(&[], "1.0.0", Manner::Skips, &["1.0.0"]);
    for manner in [Manner::Skips, Manner::Range] {
        becomes(&["1.0.0"], "1.1.0", manner, &["1.0.0", "1.1.0<1.0.0"]);
    }
}

#[test]
fn a_skipped_release_is_no_way_in() {
    let old = ["0.8.0", "0.9.0", "0.9.1<0.8.0!0.9.0"];
    let new = ["0.8.0", "0.9.1<0.8.0", "0.9.2<0.9.1!0.9.0"];
    becomes(&old, "0.9.2", Manner::Skips, &new);
}

#[test]
fn a_side_arm_is_put_into_the_main_line() {
    let old = [
        "1.1.0",
        "1.2.0<1.1.0",
        "1.2.1<1.2.0",
        "1.3.0<1.1.0!1.2.0,1.2.1",
    ];
    let new = ["1.1.0", "1.2.0<1.1.0", "1.3.0<1.2.2", "1.2.2<1.2.0!1.2.1"];
    becomes(&old, "1.2.2", Manner::Skips, &new);
}

#[test]
fn what_an_entry_that_leaves_skipped_is_skipped_by_the_release() {
    let old = ["0.8.0", "0.9.0<0.8.0", "0.9.1<0.9.0!0.8.5,1.0.0"];
    let new = ["0.8.0", "0.9.0<0.8.0", "0.9.2<0.9.0!0.9.1,0.8.5,1.0.0"];
    becomes(&old, "0.9.2", Manner::Skips, &new);
    let withdrawn = ["0.9.0", "1.0.0<0.9.0", "0.9.1<0.9.0!1.0.0"];
    let new = ["0.9.0", "1.0.0", "0.9.2<0.9.0!0.9.1,1.0.0"];
    becomes(&withdrawn, "0.9.2", Manner::Skips, &new);
}

#[test]
fn a_release_without_a_place_is_refused() {
    let rows: [(&[&str], &str, &str); 7] = [
        (
            &["1.0.0", "1.1.0!1.0.0", "1.2.0!1.1.0"],
            "1.0.1",
            "only entries that are skipped themselves replace or skip the releases of 1.0: expected an \
             entry on the way to the head that skips them",
        ),
        (
            &["1.0.0"],
            "1.0.0",
            "\"etcd.v1.0.0\" is in the channel already: expected a new release",
        ),
        (
            &["1.0.1", "1.0.2<1.0.1!1.0.4"],
            "1.0.3",
            "version 1.0.3 is not above \"etcd.v1.0.4\", version 1.0.4: expected the highest of its minor",
        ),
        (
            &["1.3.0"],
            "1.2.0",
            "version 1.2.0 begins a minor below the head \"etcd.v1.3.0\": expected a version above the \
             head, or of a minor that has an entry in the channel",
        ),
        (
            &["1.0.0", "2.0.0"],
            "2.0.1",
            "multiple channel heads found in graph: etcd.v1.0.0, etcd.v2.0.0; mend the channel first, as \
             opm validate wants it",
        ),
        (
            &["2.0.0", "1.0.0<2.0.0"],
            "2.0.1",
            "the channel leads from \"etcd.v2.0.0\" down to \"etcd.v1.0.0\": expected each entry above \
             the one it replaces",
        ),
        (
            &["1.0.0<1.1.0", "1.1.0<1.0.0"],
            "2.0.1",
            "no channel head found in graph; mend the channel first, as opm validate wants it",
        ),
    ];
    for (old, version, expected) in rows {
        let error = added(&channel(old), version, Manner::Skips).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_main_line_is_what_opm_validate_takes() {
    let rows: [(&[&str], &str); 6] = [
        (&["1.0.0", "2.0.0!1.0.0", "3.0.0!2.0.0", "4.0.0<3.0.0"], ""),
        (
            &["1.0.0", "2.0.0<1.0.0", "3.0.0!2.0.0"],
            "stranded bundles: etcd.v1.0.0",
        ),
        (
            &["1.0.0", "2.0.0<1.0.0", "3.0.0<2.0.0!2.0.0"],
            "stranded bundles: etcd.v1.0.0",
        ),
        (
            &["1.0.0<3.0.0", "3.0.0<1.0.0!2.0.0"],
            "no channel head found in graph",
        ),
        (
            &["4.0.0<4.0.0", "5.0.0<4.0.0"],
            "etcd.v4.0.0 -> etcd.v4.0.0",
        ),
        (
            &["1.0.0", "3.0.0<1.0.0!2.0.0", "4.0.0<1.0.0"],
            "etcd.v3.0.0, etcd.v4.0.0",
        ),
    ];
    for (entries, end) in rows {
        let fault = channel(entries).main_line().err();
        let fault = fault.map(|fault| fault.to_string()).unwrap_or_default();
        assert!(
            fault.ends_with(end) && fault.is_empty() == end.is_empty(),
            "{entries:?}: {fault}"
        );
    }
}

/// What `opm validate` says of a channel, in the plainest way.
fn naive_fault(channel: &Channel) -> Option<String> {
    let names: BTreeSet<_> = channel.entries.iter().map(|entry| &*entry.name).collect();
    let skipped: BTreeSet<_> = channel
        .entries
        .iter()
        .flat_map(|entry| &entry.skips)
        .collect();
    let replaced: BTreeMap<_, _> = channel
        .entries
        .iter()
        .map(|entry| (&*entry.name, &entry.replaces))
        .collect();
    let is_left = |name: &str| channel.entries.iter().any(|entry| entry.leaves(name));
    let heads: Vec<_> = names.iter().filter(|name| !is_left(name)).collect();
    let [head] = heads[..] else {
        return Some(format!("heads {heads:?}"));
    };
    let mut visited = BTreeSet::from([*head]);
    let mut at = *head;
    while let Some(Some(next)) = replaced.get(at) {
        if skipped.contains(next) || !names.contains(&**next) {
            break;
        }
        if !visited.insert(&**next) {
            return Some(format!("cycle at {next}"));
        }
        at = next;
    }
    let stranded = names
        .iter()
        .find(|name| !visited.contains(*name) && !skipped.contains(&Box::from(**name)));
    stranded.map(|name| format!("stranded {name}"))
}
