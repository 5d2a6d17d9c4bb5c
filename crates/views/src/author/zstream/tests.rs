//! The examples of the design, and random histories.

use std::collections::{BTreeMap, BTreeSet};

use olmguard_catalog::graph::version_in_name;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::author::channel::AuthoredChannel;
use crate::author::zstream::{Manner, *};

/// Parses channels: `2<1!0,x` replaces 1 and skips 0 and x.
fn channel(entries: &[&str]) -> AuthoredChannel {
    let entries = entries.iter().map(|text| entry(text)).collect();
    AuthoredChannel::empty("etcd", "alpha").with(entries)
}

fn entry(text: &str) -> AuthoredEntry {
    let (text, skips) = text.split_once('!').unwrap_or((text, ""));
    let (name, replaces) = text.split_once('<').unwrap_or((text, ""));
    let full = |version: &str| Box::from(format!("etcd.v{version}"));
    let mut entry = AuthoredEntry::named(&full(name));
    entry.replaces = (!replaces.is_empty()).then(|| full(replaces));
    entry.skips = skips
        .split(',')
        .filter(|skip| !skip.is_empty())
        .map(full)
        .collect();
    entry
}

fn written(channel: &AuthoredChannel) -> Vec<String> {
    let short = |name: &str| name.trim_start_matches("etcd.v").to_owned();
    let line = |entry: &AuthoredEntry| {
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

fn added(
    old: &AuthoredChannel,
    version: &str,
    manner: Manner,
) -> Result<ZStreamOutcome, ZStreamError> {
    let parsed = Version::parse(version).unwrap();
    let name = format!("etcd.v{version}");
    let release = StreamRelease {
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

/// Whether an entry replaces or skips a name.
fn leaves(entry: &AuthoredEntry, name: &str) -> bool {
    entry.left().any(|left| left == name)
}

/// Whether any entry skips a name.
fn skips(channel: &AuthoredChannel, name: &str) -> bool {
    let mut skips = channel.entries.iter().flat_map(|entry| &entry.skips);
    skips.any(|skipped| **skipped == *name)
}

/// A naive version of the checks of `opm validate`.
fn naive_fault(channel: &AuthoredChannel) -> Option<String> {
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
    let is_left = |name: &str| channel.entries.iter().any(|entry| leaves(entry, name));
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

// === The properties of the generator, over random histories ===

/// One step of a history: the minor that gets a release, and how.
#[derive(Clone, Debug)]
enum Step {
    /// A release of the next minor or major above the head, which replaces the head.
    Up { major: bool },
    /// A release above the head that skips some of the main line. The skipped entries can leave the channel.
    Jump {
        over: usize,
        leave: bool,
        minor: bool,
    },
    /// A patch release, made by the generator, for a minor that has an entry.
    Patch { minor: Index, by: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<bool>().prop_map(|major| Step::Up { major }),
        (1_usize..4, any::<bool>(), any::<bool>()).prop_map(|(over, leave, minor)| Step::Jump {
            over,
            leave,
            minor
        }),
        (any::<Index>(), 1_u64..3).prop_map(|(minor, by)| Step::Patch { minor, by }),
    ]
}

/// A channel with a history of up to fourteen releases. opm accepts it, and every name except the head has exactly one
/// replacement.
fn history() -> impl Strategy<Value = AuthoredChannel> {
    proptest::collection::vec(step(), 1..14).prop_map(|steps| {
        steps.iter().fold(channel(&["0.1.0"]), |channel, step| {
            taken(&channel, step).unwrap_or(channel)
        })
    })
}

fn taken(old: &AuthoredChannel, step: &Step) -> Option<AuthoredChannel> {
    let line: Vec<_> = old.main_line().unwrap().into_iter().cloned().collect();
    let head = version_in_name(&line.first()?.name)?;
    match step {
        Step::Up { major } => {
            let next = if *major {
                format!("{}.0.0", head.major() + 1)
            } else {
                format!("{}.{}.0", head.major(), head.minor() + 1)
            };
            Some(added(old, &next, Manner::Skips).unwrap().channel)
        }
        Step::Jump { over, leave, minor } => {
            let next = match minor {
                true => format!("{}.{}.0", head.major(), head.minor() + 1),
                false => format!("{}.{}.{}", head.major(), head.minor(), head.patch() + 1),
            };
            let mut release = entry(&next);
            release.replaces = line.get(*over).map(|entry| entry.name.clone());
            release.skips = line
                .iter()
                .take(*over)
                .map(|entry| entry.name.clone())
                .collect();
            if release.replaces.is_none() {
                // The release takes over the edges of the tail.
                let tail = line.last()?;
                release.replaces.clone_from(&tail.replaces);
            }
            // The release also skips what the newly skipped entries skipped.
            let jumped = line.iter().take(*over);
            let orphans: Vec<_> = jumped.flat_map(|entry| entry.skips.clone()).collect();
            let mut entries = old.entries.clone();
            entries.retain(|entry| !(*leave && release.skips.contains(&entry.name)));
            release.skips.extend(orphans);
            entries.push(release);
            Some(old.with(entries))
        }
        Step::Patch { minor, by } => {
            let (major, minor) = *minor.get(&minors(old));
            let next = above(old, major, minor, *by);
            Some(added(old, &next, Manner::Skips).unwrap().channel)
        }
    }
}

/// Returns the minors that have an entry.
fn minors(channel: &AuthoredChannel) -> Vec<(u64, u64)> {
    let versions = channel
        .entries
        .iter()
        .map(|entry| version_in_name(&entry.name).unwrap());
    let minors: BTreeSet<_> = versions
        .map(|version| (version.major(), version.minor()))
        .collect();
    minors.into_iter().collect()
}

/// Returns a version above all versions of a minor.
fn above(channel: &AuthoredChannel, major: u64, minor: u64, by: u64) -> String {
    let known = channel
        .known_names()
        .into_iter()
        .filter_map(version_in_name);
    let of_minor = known.filter(|version| (version.major(), version.minor()) == (major, minor));
    let highest = of_minor.map(|version| version.patch()).max().unwrap_or(0);
    format!("{major}.{minor}.{}", highest + by)
}

/// Counts for each name the entries that replace or skip it and are not skipped.
fn replacements(channel: &AuthoredChannel) -> BTreeMap<String, usize> {
    let counted = channel
        .entries
        .iter()
        .filter(|entry| !skips(channel, &entry.name));
    let counted: Vec<_> = counted.collect();
    let count = |name: &str| counted.iter().filter(|entry| leaves(entry, name)).count();
    let names = channel.known_names().into_iter();
    names.map(|name| (name.to_owned(), count(name))).collect()
}

fn head_of(channel: &AuthoredChannel) -> String {
    channel.main_line().unwrap()[0].name.to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn zp_1_to_5_hold_of_random_histories(old in history(), minor: Index, by in 1_u64..4) {
        prop_assert_eq!(naive_fault(&old), None);
        let (major, minor) = *minor.get(&minors(&old));
        let version = above(&old, major, minor, by);
        let outcome = added(&old, &version, Manner::Skips).unwrap();
        let (new, name) = (&outcome.channel, format!("etcd.v{version}"));
        // ZP5: opm accepts the channel.
        prop_assert_eq!(naive_fault(new), None, "{:?} -> {:?}", written(&old), written(new));
        // ZP1 and ZP2: every name known before, and every name known now, has exactly one replacement.
        let replacements = replacements(new);
        let head = head_of(new);
        for known in old.known_names().into_iter().chain(new.known_names()) {
            let expected = usize::from(known != head);
            prop_assert_eq!(replacements.get(known).copied(), Some(expected), "{}: {:?} -> {:?}", known, written(&old), written(new));
        }
        // ZP3: every release of the minor is upgraded to the new one in one step.
        let of_minor = |name: &&str| version_in_name(name).is_some_and(|v| (v.major(), v.minor()) == (major, minor));
        let release = new.entry(&name).unwrap();
        for known in old.known_names().into_iter().filter(of_minor) {
            prop_assert!(leaves(release, known), "{}", known);
        }
        prop_assert!(!skips(new, &name));
        // ZP4: no new entries appear except the release, and removed ones do not return.
        let entries: BTreeSet<_> = old.entries.iter().map(|entry| &entry.name).collect();
        for entry in &new.entries {
            prop_assert!(*entry.name == *name || entries.contains(&entry.name), "{}", entry.name);
        }
        for removed in &outcome.removed {
            prop_assert!(new.entry(&removed.name).is_none() && replacements.contains_key(&*removed.name));
        }
    }

    #[test]
    fn with_a_range_nobody_leaves_and_all_of_the_minor_come_in_one_hop(
        old in history(), minor: Index, by in 1_u64..4,
    ) {
        let (major, minor) = *minor.get(&minors(&old));
        let version = above(&old, major, minor, by);
        let outcome = added(&old, &version, Manner::Range).unwrap();
        let new = &outcome.channel;
        prop_assert_eq!(naive_fault(new), None, "{:?} -> {:?}", written(&old), written(new));
        prop_assert!(outcome.removed.is_empty());
        let release = new.entry(&format!("etcd.v{version}")).unwrap();
        prop_assert!(!skips(new, &release.name));
        let range = olmguard_catalog::version::SkipRange::parse(release.skip_range.as_deref().unwrap()).unwrap();
        for known in old.known_names() {
            let known = version_in_name(known).unwrap();
            let is_of_minor = (known.major(), known.minor()) == (major, minor);
            let taken = range.takes(&known) == olmguard_catalog::version::Membership::Holds;
            prop_assert_eq!(taken, is_of_minor, "{}", known);
        }
        let before: BTreeSet<_> = old.known_names().into_iter().collect();
        let after: BTreeSet<_> = new.known_names().into_iter().collect();
        prop_assert!(before.is_subset(&after));
    }
}
