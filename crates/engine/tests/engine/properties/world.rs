//! Small random catalogs of package `P`, and requests for it.

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use olmguard_catalog::version::{LegacyRelease, ReleaseLimit, VersionRelease};
use olmguard_engine::extension::{Installed, InstalledBundle};
use olmguard_engine::snapshot::{CatalogState, Currency, Snapshot};
use olmguard_fixtures::question::{content, rules};

/// Versions close enough that edges, releases and equal versions often meet.
const VERSIONS: &[&str] = &[
    "1.0.0",
    "1.0.0+1",
    "1.0.0+2",
    "1.0.1",
    "1.1.0",
    "2.0.0-rc.1",
    "2.0.0",
    "broken",
];

const CHANNELS: &[&str] = &["alpha", "beta", "stable"];

const SKIP_RANGES: &[&str] = &[
    "<1.1.0",
    ">=1.0.0 <2.0.0",
    ">1.0.1",
    "no range",
    "<1.0.0 || || >1.0.1",
];

const RANGES: &[&str] = &[
    "1.0.0", "1.1.0", "2.0.0", "<1.1.0", ">=1.0.1", "1.x", "9.x", "foobar",
];

/// One to three catalogs.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) catalogs: Vec<RandomCatalog>,
}

#[derive(Clone, Debug)]
pub(crate) struct RandomCatalog {
    name: &'static str,
    priority: i32,
    pub(crate) blobs: Vec<Value>,
}

/// A request, and the installed version if a bundle is installed.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    range: Option<&'static str>,
    pub(crate) channels: Vec<String>,
    bypasses: bool,
    is_installed: bool,
    version: &'static str,
}

impl World {
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.snapshot_of(text)
    }

    /// The same, each catalog being so.
    pub(crate) fn snapshot_at(&self, currency: Currency) -> Snapshot {
        let snapshot = self.snapshot();
        let states = snapshot.catalogs().iter().cloned();
        let states = states.map(|state| CatalogState { currency, ..state });
        Snapshot::new(snapshot.rules().clone(), states)
    }

    pub(crate) fn snapshot_of(&self, text: impl Fn(&[Value]) -> String) -> Snapshot {
        let rules = rules("1.11", &[]);
        let states = self.catalogs.iter().map(|catalog| {
            let content = content(&text(&catalog.blobs), &rules);
            let mut state = CatalogState::named(catalog.name, content);
            state.priority = catalog.priority;
            state
        });
        Snapshot::new(rules.clone(), states)
    }
}

impl Asked {
    pub(crate) fn spec(&self) -> Value {
        let policy = if self.bypasses {
            "SelfCertified"
        } else {
            "CatalogProvided"
        };
        json!({"packageName": "P", "version": self.range, "channels": self.channels,
            "upgradeConstraintPolicy": policy})
    }

    pub(crate) fn installed(&self) -> Installed {
        if !self.is_installed {
            return Installed::Nothing;
        }
        Installed::Bundle(InstalledBundle {
            name: Some(self.name()),
            version: self.version.to_owned(),
            release: None,
        })
    }

    pub(crate) fn name(&self) -> String {
        name(self.version)
    }

    pub(crate) fn version(&self) -> VersionRelease {
        let legacy = LegacyRelease::Read(ReleaseLimit::Bytes20);
        VersionRelease::parse_legacy(self.version, legacy).expect("a readable version")
    }
}

pub(crate) fn text(blobs: &[Value]) -> String {
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    lines.join("\n")
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let catalog = |name| {
        (0..2_i32, blobs()).prop_map(move |(priority, blobs)| RandomCatalog {
            name,
            priority,
            blobs,
        })
    };
    let catalogs = (
        catalog("a"),
        weighted(0.6, catalog("b")),
        weighted(0.3, catalog("c")),
    );
    catalogs.prop_map(|(a, b, c)| World {
        catalogs: std::iter::once(a).chain(b).chain(c).collect(),
    })
}

pub(crate) fn asked() -> impl Strategy<Value = Asked> {
    let readable = VERSIONS
        .iter()
        .copied()
        .filter(|version| *version != "broken");
    let channels = subsequence([CHANNELS, &["missing"]].concat(), 0..3);
    (
        weighted(0.6, select(RANGES)),
        channels,
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.7),
        select(readable.chain(["3.0.0"]).collect::<Vec<_>>()),
    )
        .prop_map(|(range, channels, bypasses, is_installed, version)| Asked {
            channels: channels.into_iter().map(str::to_owned).collect(),
            range,
            bypasses,
            is_installed,
            version,
        })
}

/// The blobs of `P`; sometimes none at all.
pub(crate) fn blobs() -> impl Strategy<Value = Vec<Value>> {
    let parts = (
        subsequence(VERSIONS, 1..VERSIONS.len()),
        subsequence(CHANNELS, 0..=CHANNELS.len()).prop_flat_map(channels),
        weighted(0.5, deprecations()),
        weighted(0.2, select(VERSIONS)),
    );
    let blobs = parts.prop_map(|(versions, channels, deprecations, dependent)| {
        let bundles = versions
            .iter()
            .map(|version| bundle(version, dependent == Some(*version)));
        channels
            .into_iter()
            .chain(bundles)
            .chain(deprecations)
            .collect()
    });
    prop_oneof![1 => Just(Vec::new()), 9 => blobs]
}

fn channels(names: Vec<&'static str>) -> impl Strategy<Value = Vec<Value>> {
    let channel = |name| {
        prop::collection::vec(entry(), 0..5).prop_map(move |entries| {
            json!({"schema": "olm.channel", "package": "P", "name": name, "entries": entries})
        })
    };
    names.into_iter().map(channel).collect::<Vec<_>>()
}

fn entry() -> impl Strategy<Value = Value> {
    let parts = (
        select(VERSIONS),
        weighted(0.5, select(VERSIONS)),
        subsequence(VERSIONS, 0..3),
        weighted(0.3, select(SKIP_RANGES)),
    );
    parts.prop_map(|(version, replaces, skips, skip_range)| {
        let mut entry = serde_json::Map::from_iter([("name".to_owned(), json!(name(version)))]);
        let skips: Vec<_> = skips.into_iter().map(name).collect();
        let fields = [
            ("replaces", replaces.map(|version| json!(name(version)))),
            ("skips", (!skips.is_empty()).then(|| json!(skips))),
            ("skipRange", skip_range.map(|range| json!(range))),
        ];
        let written = fields
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        entry.extend(written);
        Value::Object(entry)
    })
}

fn deprecations() -> impl Strategy<Value = Value> {
    let parts = (
        subsequence(VERSIONS, 0..4),
        subsequence(CHANNELS, 0..2),
        any::<bool>(),
    );
    parts.prop_map(|(versions, channels, package)| {
        let of = |schema: &str, name: &str| {
            json!({"reference": {"schema": schema, "name": name}, "message": format!("{name} is old")})
        };
        let bundles = versions.into_iter().map(|version| of("olm.bundle", &name(version)));
        let channels = channels.into_iter().map(|channel| of("olm.channel", channel));
        let package = package.then(|| json!({"reference": {"schema": "olm.package"}, "message": "old"}));
        let entries: Vec<_> = bundles.chain(channels).chain(package).collect();
        json!({"schema": "olm.deprecations", "package": "P", "entries": entries})
    })
}

fn bundle(version: &str, is_dependent: bool) -> Value {
    let mut properties =
        vec![json!({"type": "olm.package", "value": {"packageName": "P", "version": version}})];
    if is_dependent {
        properties.push(json!({"type": "olm.gvk.required", "value": {}}));
    }
    json!({"schema": "olm.bundle", "package": "P", "name": name(version), "properties": properties})
}

fn name(version: &str) -> String {
    format!("P.v{version}")
}

// === The same blobs in another order: of blobs, of lists whose order has no meaning, and of keys
// ===

/// The text of a catalog with its parts in an order that a seed determines.
pub(crate) fn shuffled(blobs: &[Value], seed: u64) -> String {
    let mut random = Random(seed);
    let mut texts: Vec<String> = blobs.iter().map(|blob| random.written(blob)).collect();
    random.shuffle(&mut texts);
    texts.join("\n")
}

/// A splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, items: &mut [String]) {
        items.sort_by_cached_key(|_| self.next());
    }

    fn written(&mut self, value: &Value) -> String {
        match value {
            Value::Object(fields) => {
                let field = |(key, value)| {
                    format!(
                        "{}: {}",
                        Value::from(String::clone(key)),
                        self.written(value)
                    )
                };
                let mut fields: Vec<String> = fields.iter().map(field).collect();
                self.shuffle(&mut fields);
                format!("{{{}}}", fields.join(", "))
            }
            Value::Array(items) => {
                let mut items: Vec<String> = items.iter().map(|item| self.written(item)).collect();
                self.shuffle(&mut items);
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
}
