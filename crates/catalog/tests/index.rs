//! Checks that the index answers like a plain scan, on random packages of up to 2,000 bundles:
//! which bundles are successors, and which ones are in a range.
//!
//! The index stores the answers for the versions of bundles, up to 256 versions times 256 ranges.
//! Small packages are below this limit, and large ones above it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::ops::Range;

use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::{Constraint, Masterminds, Membership, SkipRange, Version};
use olmguard_catalog::{
    AskedChannels, Bundle, BundleIndex, BundleSet, Catalog, CatalogBuilder, Package, fbc,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The installed bundle.
#[derive(Clone, Debug)]
enum Installed {
    /// A bundle of the package, by its position.
    Bundle(prop::sample::Index),
    /// The version of one bundle, the name of another one.
    Mixed([prop::sample::Index; 2]),
    /// Any version, with a name or without.
    Other(String, Option<&'static str>),
}

fn installed() -> impl Strategy<Value = Installed> {
    let name = prop::sample::select(&[None, Some(""), Some("b1"), Some("stranger")][..]);
    prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(Installed::Bundle),
        1 => any::<[prop::sample::Index; 2]>().prop_map(Installed::Mixed),
        3 => (other_version(), name).prop_map(|(version, name)| Installed::Other(version, name)),
    ]
}

impl Installed {
    /// The name and the version; `None` if the package has no bundle, or the version cannot be
    /// read.
    fn read(&self, package: &Package) -> Option<(Option<String>, Version)> {
        let bundles: Vec<_> = package.bundles().map(|(_, bundle)| bundle).collect();
        let (named, versioned) = match self {
            Self::Other(version, name) => {
                return Some((name.map(str::to_owned), Version::parse(version).ok()?));
            }
            _ if bundles.is_empty() => return None,
            Self::Bundle(at) => (at, at),
            Self::Mixed([named, versioned]) => (named, versioned),
        };
        let version = versioned.get(&bundles).version.as_ref().ok()?;
        let name = named.get(&bundles).name.to_string();
        Some((Some(name), version.version.clone()))
    }
}

fn catalog(text: &str) -> Catalog {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog", text.as_bytes(), &mut builder).expect("a catalog");
    builder.finish().expect("no bound")
}

/// The channels that a request can name: all, one, or several. A name may not be a channel.
fn asked() -> Vec<Vec<String>> {
    let names = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
    let [first, second, third, _] = CHANNELS;
    vec![
        Vec::new(),
        names(&[first]),
        names(&[third, first, "no channel"]),
        names(&[second, second]),
        names(&["no channel"]),
    ]
}

fn members(set: &BundleSet) -> Vec<u32> {
    set.iter().map(BundleIndex::get).collect()
}

/// Compares both answers for every installed bundle, and for every choice of channels.
fn agrees(drawn: &Drawn, installed: &[Installed]) -> Result<(), TestCaseError> {
    let catalog = catalog(&drawn.fbc());
    let package = catalog.package("p").expect("it").expect("decoded");
    prop_assert_eq!(package.bundle_count(), drawn.bundles.len());
    let scan = Scan::of(drawn, package);
    for (name, version) in installed.iter().filter_map(|one| one.read(package)) {
        for names in asked() {
            let asked = package.ask_channels(&names);
            prop_assert_eq!(asked == AskedChannels::All, names.is_empty());
            let found = package.successors(name.as_deref(), &version, &asked);
            let found = [members(&found.edges), members(&found.crashes)];
            let expected = scan.successors(name.as_deref(), &version, &names);
            prop_assert_eq!(&found, &expected, "{:?} {} in {:?}", name, version, names);
            let place = package.first_of(&version);
            let edge =
                |(bundle, _)| package.edge_to(bundle, (name.as_deref(), &version), place, &asked);
            let found = [Membership::Holds, Membership::Crashes].map(|answer| {
                let all = package.bundles().filter(|bundle| edge(*bundle) == answer);
                all.map(|(bundle, _)| bundle.get()).collect::<Vec<_>>()
            });
            prop_assert_eq!(
                found,
                expected,
                "one by one: {:?} {} in {:?}",
                name,
                version,
                names
            );
        }
    }
    Ok(())
}

fn some_installed() -> impl Strategy<Value = Vec<Installed>> {
    prop::collection::vec(installed(), 12)
}

proptest! {
    #[test]
    fn a_range_keeps_the_versions_that_match(
        drawn in drawn(0..100), ranges in prop::collection::vec(request(), 20),
    ) {
        let catalog = catalog(&drawn.fbc());
        let package = catalog.package("p").expect("it").expect("decoded");
        for release in [Masterminds::V3_3_0, Masterminds::V3_3_1, Masterminds::V3_4, Masterminds::V3_5] {
            for range in ranges.iter().filter_map(|range| Constraint::parse(range, release).ok()) {
                let matches = |bundle: &Bundle| {
                    bundle.version.as_ref().is_ok_and(|it| range.matches(&it.version))
                };
                let expected = package.bundles().filter(|(_, bundle)| matches(bundle));
                let expected: Vec<_> = expected.map(|(index, _)| index.get()).collect();
                prop_assert_eq!(members(&package.in_range(&range)), expected, "{:?}", range);
            }
        }
    }

    #[test]
    fn a_small_package_answers_as_a_scan(
        drawn in drawn(0..40), installed in some_installed(),
    ) {
        agrees(&drawn, &installed)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_package_around_the_bound_answers_as_a_scan(
        drawn in drawn(200..320), installed in some_installed(),
    ) {
        agrees(&drawn, &installed)?;
    }

    #[test]
    fn a_large_package_answers_as_a_scan(
        drawn in drawn(600..2001), installed in some_installed(),
    ) {
        agrees(&drawn, &installed)?;
    }
}

// === The successor rule without an index: every entry is tested ===

/// The entries of a package, as its author writes them.
struct Scan<'d>(Vec<ScannedEntry<'d>>);

struct ScannedEntry<'d> {
    entry: &'d DrawnEntry,
    /// The position of the bundle that the entry names.
    to: u32,
    /// The range, if it can be read.
    range: Option<SkipRange>,
}

impl<'d> Scan<'d> {
    /// The entries that name a bundle. OLM knows no other successors.
    fn of(drawn: &'d Drawn, package: &Package) -> Self {
        let bundles = package.bundles();
        let places: HashMap<&str, u32> = bundles
            .map(|(index, bundle)| (&*bundle.name, index.get()))
            .collect();
        let entries = drawn.entries.iter().filter_map(|entry| {
            let to = *places.get(&*entry.name)?;
            let range = entry.range.as_ref();
            let range = range.and_then(|text| SkipRange::parse(text).ok());
            Some(ScannedEntry { entry, to, range })
        });
        Self(entries.collect())
    }

    /// The positions of the successors, and of the bundles for which OLM crashes. No channel means
    /// every channel.
    fn successors(
        &self,
        name: Option<&str>,
        version: &Version,
        channels: &[String],
    ) -> [Vec<u32>; 2] {
        let (mut edges, mut crashes) = (BTreeSet::new(), BTreeSet::new());
        let is_asked = |one: &&ScannedEntry<'_>| {
            channels.is_empty() || channels.iter().any(|name| name == one.entry.channel)
        };
        for one in self.0.iter().filter(is_asked) {
            let range = one.range.as_ref().map(|range| range.takes(version));
            if name.is_some_and(|name| one.entry.starts_at(name))
                || range == Some(Membership::Holds)
            {
                edges.insert(one.to);
            } else if range == Some(Membership::Crashes) {
                crashes.insert(one.to);
            }
        }
        let crashes = crashes.difference(&edges).copied().collect();
        [edges.into_iter().collect(), crashes]
    }
}

impl DrawnEntry {
    /// Whether `replaces` or `skips` has this name. An entry without `replaces` replaces the empty
    /// name.
    fn starts_at(&self, name: &str) -> bool {
        self.replaces.as_deref().unwrap_or_default() == name
            || self.skips.iter().any(|skipped| skipped == name)
    }
}

// === Random packages ===

/// The channels of every package.
const CHANNELS: [&str; 4] = ["a", "b", "c", "d"];

/// A package as its author writes it.
#[derive(Clone, Debug)]
struct Drawn {
    /// The versions of the bundles `b0`, `b1` and so on. Some are not valid, and some are equal.
    bundles: Vec<String>,
    entries: Vec<DrawnEntry>,
}

/// An entry of a channel. Its names may not be names of bundles.
#[derive(Clone, Debug)]
struct DrawnEntry {
    channel: &'static str,
    name: String,
    replaces: Option<String>,
    skips: Vec<String>,
    range: Option<String>,
}

/// A package with this many bundles, and up to twice as many entries.
fn drawn(sizes: Range<usize>) -> impl Strategy<Value = Drawn> {
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

/// The name of a bundle. About one name in ten has no bundle.
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
fn other_version() -> impl Strategy<Value = String> {
    let tails = &["", "", "", "-0", "-rc.1", "-rc.2", "+1", "+7.a", "+git"][..];
    let parts = (0_u64..3, 0_u64..400, prop::sample::select(tails));
    prop_oneof![
        8 => parts.prop_map(|(minor, patch, tail)| format!("0.{minor}.{patch}{tail}")),
        1 => prop::sample::select(&["0.0.0-0", "0.0.0", "9.0.0"][..]).prop_map(str::to_owned),
    ]
}

impl Drawn {
    /// The package `p` as JSON lines.
    fn fbc(&self) -> String {
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

// === Random ranges of all kinds, valid or not: `skipRange`s, and versions of a request ===

const OPERATORS: &[&str] = &["", "=", "<", "<=", ">", ">=", "!=", "!"];
const TAILS: &[&str] = &["", "", "", "-0", "-rc.1", "-rc.1.b", "+7", "-rc.1+git"];

/// Ranges with a wildcard, without an end, without a version, and texts that are not valid ranges.
const SPECIAL: &[&str] = &[
    "0.1.x",
    "0.x",
    ">=0.1.x",
    "<=0.1.x",
    "!=0.1.x",
    ">0.0.0",
    ">=0.0.0-0",
    "<9.0.0",
    ">=0.2.0 <0.1.0",
    "not a range",
    "v0.1.0",
    ">=",
    "|| <0.1.0",
    ">=0.0.1 <0.1.0 ||",
    " ",
];

/// The text between two groups. OLM crashes on an empty group, unless an earlier group includes the version.
const BETWEEN: &[&str] = &[" || ", " || ", " || || "];

/// One comparator. There are few versions, so ends coincide with each other and with bundles.
fn comparator() -> impl Strategy<Value = String> {
    let tail = prop::sample::select(TAILS);
    let operator = prop::sample::select(OPERATORS);
    (operator, 0_u64..3, 0_u64..400, tail)
        .prop_map(|(operator, minor, patch, tail)| format!("{operator}0.{minor}.{patch}{tail}"))
}

/// Comparators that must all match: usually a range as authors write it.
fn group() -> impl Strategy<Value = String> {
    let tails = [prop::sample::select(TAILS), prop::sample::select(TAILS)];
    let usual = (0_u64..3, 0_u64..400, 0_u64..3, 0_u64..400, tails);
    prop_oneof![
        4 => usual.prop_map(|(from, lowest, to, end, [low, high])| {
            format!(">=0.{from}.{lowest}{low} <0.{to}.{end}{high}")
        }),
        1 => prop::collection::vec(comparator(), 1..4).prop_map(|all| all.join(" ")),
    ]
}

fn range() -> impl Strategy<Value = String> {
    let between = prop::sample::select(BETWEEN);
    prop_oneof![
        8 => group(),
        1 => (group(), between, group()).prop_map(|(one, or, other)| format!("{one}{or}{other}")),
        1 => prop::sample::select(SPECIAL).prop_map(str::to_owned),
    ]
}

const REQUEST_OPERATORS: &[&str] = &["", "=", "<", "<=", ">", ">=", "!=", "~", "^"];
const COMPONENTS: &[&str] = &["0", "1", "2", "x"];

/// One comparator of a request, with two or three components.
fn request_comparator() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(REQUEST_OPERATORS);
    let minor = prop::sample::select(COMPONENTS);
    let tail = prop::sample::select(TAILS);
    let patch = prop::option::of(0_u64..400);
    (operator, minor, patch, tail).prop_map(|(operator, minor, patch, tail)| match patch {
        Some(patch) => format!("{operator}0.{minor}.{patch}{tail}"),
        None => format!("{operator}0.{minor}"),
    })
}

/// The `version` of a request.
fn request() -> impl Strategy<Value = String> {
    let group = prop::collection::vec(request_comparator(), 1..3).prop_map(|all| all.join(", "));
    prop::collection::vec(group, 1..4).prop_map(|all| all.join(" || "))
}
