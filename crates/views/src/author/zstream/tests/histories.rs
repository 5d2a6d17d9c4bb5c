//! The properties of the generator, over random histories.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;

use super::{added, channel, entry, naive_fault, written};
use crate::author::channel::Channel;
use crate::author::zstream::Manner;
use olmguard_catalog::graph::version_in_name;

/// One step of a history: which minor gets a release, and how the history goes on in it.
#[derive(Clone, Debug)]
enum Step {
    /// The next minor or major above the head, which replaces the head.
    Up { major: bool },
    /// A release above the head that skips some of the main line, which may leave the channel.
    Jump {
        over: usize,
        leave: bool,
        minor: bool,
    },
    /// A patch for a minor that has an entry, by the generator.
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

/// A channel with a history of up to fourteen releases, which opm takes and in which every name but
/// the head's has exactly one replacement.
fn history() -> impl Strategy<Value = Channel> {
    proptest::collection::vec(step(), 1..14).prop_map(|steps| {
        steps.iter().fold(channel(&["0.1.0"]), |channel, step| {
            taken(&channel, step).unwrap_or(channel)
        })
    })
}

fn taken(old: &Channel, step: &Step) -> Option<Channel> {
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
                // The tail's own edges go on from the release.
                let tail = line.last()?;
                release.replaces.clone_from(&tail.replaces);
            }
            // What those skipped that are skipped now, is skipped from here.
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

/// The minors that have an entry.
fn minors(channel: &Channel) -> Vec<(u64, u64)> {
    let versions = channel
        .entries
        .iter()
        .map(|entry| version_in_name(&entry.name).unwrap());
    let minors: BTreeSet<_> = versions
        .map(|version| (version.major(), version.minor()))
        .collect();
    minors.into_iter().collect()
}

/// A version above all of a minor.
fn above(channel: &Channel, major: u64, minor: u64, by: u64) -> String {
    let known = channel
        .known_names()
        .into_iter()
        .filter_map(version_in_name);
    let of_minor = known.filter(|version| (version.major(), version.minor()) == (major, minor));
    let highest = of_minor.map(|version| version.patch()).max().unwrap_or(0);
    format!("{major}.{minor}.{}", highest + by)
}

/// How many entries that nothing skips replace or skip each name.
fn replacements(channel: &Channel) -> BTreeMap<String, usize> {
    let counted = channel
        .entries
        .iter()
        .filter(|entry| !channel.skips(&entry.name));
    let counted: Vec<_> = counted.collect();
    let count = |name: &str| counted.iter().filter(|entry| entry.leaves(name)).count();
    let names = channel.known_names().into_iter();
    names.map(|name| (name.to_owned(), count(name))).collect()
}

fn head_of(channel: &Channel) -> String {
    channel.heads().next().unwrap().name.to_string()
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
        // ZP5: opm takes it.
        prop_assert_eq!(naive_fault(new), None, "{:?} -> {:?}", written(&old), written(new));
        // ZP1 and ZP2: every name known before, and every name known now, has exactly one replacement.
        let replacements = replacements(new);
        let head = head_of(new);
        for known in old.known_names().into_iter().chain(new.known_names()) {
            let expected = usize::from(known != head);
            prop_assert_eq!(replacements.get(known).copied(), Some(expected), "{}: {:?} -> {:?}", known, written(&old), written(new));
        }
        // ZP3: every release of the minor goes there in one hop.
        let of_minor = |name: &&str| version_in_name(name).is_some_and(|v| (v.major(), v.minor()) == (major, minor));
        let release = new.entry(&name).unwrap();
        for known in old.known_names().into_iter().filter(of_minor) {
            prop_assert!(release.leaves(known), "{}", known);
        }
        prop_assert!(!new.skips(&name));
        // ZP4: what was no entry is none, and what left is none.
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
        prop_assert!(!new.skips(&release.name));
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
