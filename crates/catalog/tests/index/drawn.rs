//! Random packages.

use std::fmt::Write;
use std::ops::Range;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ranges::range;

/// The channels of every package.
pub(crate) const CHANNELS: [&str; 4] = ["a", "b", "c", "d"];

/// A package as its author writes it.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The versions of the bundles `b0`, `b1` and so on. Some are not valid, and some are equal.
    pub(crate) bundles: Vec<String>,
    pub(crate) entries: Vec<DrawnEntry>,
}

/// An entry of a channel. Its names can be names of no bundle.
#[derive(Clone, Debug)]
pub(crate) struct DrawnEntry {
    pub(crate) channel: &'static str,
    pub(crate) name: String,
    pub(crate) replaces: Option<String>,
    pub(crate) skips: Vec<String>,
    pub(crate) range: Option<String>,
}

/// A package of so many bundles, with up to twice as many entries.
pub(crate) fn drawn(sizes: Range<usize>) -> impl Strategy<Value = Drawn> {
    sizes.prop_flat_map(|size| {
        let entries = prop::collection::vec(entry(size), 0..=2 * size);
        let bundles = prop::collection::vec(bundle_version(), size);
        (bundles, entries).prop_map(|(bundles, entries)| Drawn { bundles, entries })
    })
}

fn entry(size: usize) -> impl Strategy<Value = DrawnEntry> {
    let channel = prop::sample::select(&CHANNELS[..]);
    let names = || name(size);
    let replaces = prop::option::of(names());
    let skips = prop::collection::vec(names(), 0..3);
    let range = prop::option::weighted(0.8, range());
    let parts = (channel, names(), replaces, skips, range);
    parts.prop_map(|(channel, name, replaces, skips, range)| DrawnEntry {
        channel,
        name,
        replaces,
        skips,
        range,
    })
}

/// The name of a bundle. About one name in ten is of no bundle.
fn name(size: usize) -> impl Strategy<Value = String> {
    (0..size + size / 10 + 1).prop_map(|at| format!("b{at}"))
}

fn bundle_version() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => other_version(),
        1 => prop::sample::select(&["", "1.0", "v1.0.0"][..]).prop_map(str::to_owned),
    ]
}

/// A valid version, perhaps of a bundle. Build metadata can be a release.
pub(crate) fn other_version() -> impl Strategy<Value = String> {
    let tails = &["", "", "", "-0", "-rc.1", "-rc.2", "+1", "+7.a", "+git"][..];
    let parts = (0_u64..3, 0_u64..400, prop::sample::select(tails));
    prop_oneof![
        8 => parts.prop_map(|(minor, patch, tail)| format!("0.{minor}.{patch}{tail}")),
        1 => prop::sample::select(&["0.0.0-0", "0.0.0", "9.0.0"][..]).prop_map(str::to_owned),
    ]
}

impl Drawn {
    /// The package `p` as JSON lines.
    pub(crate) fn fbc(&self) -> String {
        let package = json!({"schema": "olm.package", "name": "p", "defaultChannel": "a"});
        let channels = CHANNELS.iter().map(|channel| self.channel(channel));
        let bundles = self.bundles.iter().enumerate().map(|(at, version)| {
            let value = json!({"packageName": "p", "version": version});
            json!({"schema": "olm.bundle", "package": "p", "name": format!("b{at}"),
                "properties": [{"type": "olm.package", "value": value}]})
        });
        let mut text = String::new();
        for blob in [package].into_iter().chain(channels).chain(bundles) {
            writeln!(text, "{blob}").expect("memory");
        }
        text
    }

    fn channel(&self, channel: &str) -> Value {
        let entries = self.entries.iter().filter(|entry| entry.channel == channel);
        let entries: Vec<Value> = entries.map(DrawnEntry::json).collect();
        json!({"schema": "olm.channel", "package": "p", "name": channel, "entries": entries})
    }
}

impl DrawnEntry {
    fn json(&self) -> Value {
        json!({"name": self.name, "replaces": self.replaces, "skips": self.skips, "skipRange": self.range})
    }
}
