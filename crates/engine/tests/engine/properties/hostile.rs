//! Names, ranges, versions and catalogs of hostile characters and lengths.

use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape, UnknownCause};
use olmguard_engine::judge::{Basis, Edit, Requester};
use olmguard_engine::snapshot::{Age, CatalogState, Content, Currency, OnOldCatalog, Snapshot};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use olmguard_fixtures::question::{answer_to, content, rules};

/// A request and catalogs in which every text is hostile.
#[derive(Clone, Debug)]
pub(crate) struct Hostile {
    spec: Value,
    installed: Installed,
    catalogs: Vec<(String, i32, String)>,
    broken: Option<String>,
    image_ref: String,
    truth: (Currency, Age),
}

impl Hostile {
    pub(crate) fn answer(&self) -> Answer {
        answer_to(&self.snapshot(), &self.spec, &self.installed)
    }

    /// The answer to an object of any content.
    pub(crate) fn answer_to_object(object: &Value) -> Answer {
        let extension = Extension::read(Shape::V1, object);
        let edit = Edit {
            new: &extension,
            old: None,
            installed: &extension.installed,
            schema: &[],
            requester: Requester::unknown(),
        };
        answer(Basis::without_policies(&Snapshot::default()), &edit)
    }

    fn snapshot(&self) -> Snapshot {
        let rules = rules("1.11", &[]);
        let states = self.catalogs.iter().map(|(name, priority, fbc)| {
            let mut state = CatalogState::named(name, content(fbc, &rules));
            state.priority = *priority;
            state.image_ref = Some(format!("image@{}", self.image_ref));
            state.last_unpacked = Some(self.image_ref.clone());
            (state.currency, state.age) = self.truth;
            state
        });
        let broken = self
            .broken
            .iter()
            .map(|error| CatalogState::named("broken", Content::Unreadable(error.clone())));
        Snapshot::new(rules.clone(), states.chain(broken))
    }
}

pub(crate) fn hostile() -> impl Strategy<Value = Hostile> {
    (name(), vec((name(), version()), 1..4), vec(name(), 0..3)).prop_flat_map(
        |(package, bundles, channels)| {
            let fbc = fbc(package.clone(), bundles.clone(), channels.clone());
            let parts = (
                spec(package, channels),
                installed(bundles),
                vec((name(), 0..2_i32, fbc), 0..3),
                option::weighted(0.1, name()),
                name(),
                (select(CURRENCIES), select(AGES)),
            );
            parts.prop_map(
                |(spec, installed, catalogs, broken, image_ref, truth)| Hostile {
                    spec,
                    installed,
                    catalogs,
                    broken,
                    image_ref,
                    truth,
                },
            )
        },
    )
}

/// An object whose fields have any type.
pub(crate) fn object() -> impl Strategy<Value = Value> {
    let catalog =
        vec((field(), any_value()), 0..4).prop_map(|fields| fields.into_iter().collect::<Value>());
    (name(), catalog, any_value(), name()).prop_map(|(name, catalog, status, kind)| {
        json!({"apiVersion": kind, "kind": kind, "metadata": {"name": name},
            "spec": {"source": {"sourceType": "Catalog", "catalog": catalog}},
            "status": {"install": {"bundle": status}}})
    })
}

fn field() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "packageName",
        "version",
        "channels",
        "channel",
        "selector",
        "upgradeConstraintPolicy",
    ];
    prop_oneof![3 => select(KNOWN).prop_map(str::to_owned), 1 => name()]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        name().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        vec(name(), 0..3).prop_map(Value::from),
        (name(), name()).prop_map(|(key, value)| json!({key: value})),
        (name(), name()).prop_map(|(key, value)| json!({"matchLabels": {key: value}})),
        Just(Value::Null),
    ]
}

fn spec(package: String, channels: Vec<String>) -> impl Strategy<Value = Value> {
    let package = prop_oneof![4 => Just(package), 1 => name()];
    let channels = vec(
        prop_oneof![
            Just(channels.concat()),
            select([channels, vec![String::new()]].concat()),
            name()
        ],
        0..3,
    );
    let range = option::of(prop_oneof![
        version(),
        name(),
        version().prop_map(|v| format!("<{v}"))
    ]);
    let policy = select(&["CatalogProvided", "SelfCertified", "Ignore"][..]);
    (
        package,
        range,
        channels,
        policy,
        option::weighted(0.1, (name(), name())),
    )
        .prop_map(|(package, range, channels, policy, label)| {
            let selector = label.map(|(key, value)| json!({"matchLabels": {key: value}}));
            json!({"packageName": package, "version": range, "channels": channels,
                "upgradeConstraintPolicy": policy, "selector": selector})
        })
}

fn installed(bundles: Vec<(String, String)>) -> impl Strategy<Value = Installed> {
    let of = |(name, version): (String, String)| {
        Installed::Bundle(InstalledBundle {
            name: Some(name),
            version,
            release: None,
        })
    };
    let stranger = (
        option::of(name()),
        prop_oneof![version(), name()],
        option::of(name()),
    );
    prop_oneof![
        2 => Just(Installed::Nothing),
        4 => select(bundles).prop_map(of),
        2 => stranger.prop_map(|(name, version, release)| {
            Installed::Bundle(InstalledBundle { name, version, release })
        }),
        1 => vec(name(), 1..40).prop_map(|bundles| Installed::Unknown(UnknownCause::Several { bundles })),
    ]
}

/// A catalog with these bundles, an edge from each bundle to every other one, and deprecations.
fn fbc(
    package: String,
    bundles: Vec<(String, String)>,
    channels: Vec<String>,
) -> impl Strategy<Value = String> {
    (name(), any::<bool>(), any::<bool>()).prop_map(move |(message, has_edges, is_dependent)| {
        let mut lines = Vec::new();
        let names: Vec<&String> = bundles.iter().map(|(name, _)| name).collect();
        let skips = if has_edges { names.clone() } else { Vec::new() };
        let entries: Vec<_> = names.iter().map(|name| json!({"name": name, "skips": skips})).collect();
        for (name, version) in &bundles {
            let mut properties =
                vec![json!({"type": "olm.package", "value": {"packageName": package, "version": version}})];
            if is_dependent {
                properties.push(json!({"type": "olm.constraint", "value": {}}));
            }
            lines.push(json!({"schema": "olm.bundle", "package": package, "name": name, "properties": properties}));
        }
        for channel in &channels {
            lines.push(json!({"schema": "olm.channel", "package": package, "name": channel, "entries": entries}));
        }
        let of = |schema: &str, name: &String| json!({"reference": {"schema": schema, "name": name}, "message": message});
        let deprecations: Vec<_> = names.iter().map(|name| of("olm.bundle", name))
            .chain(channels.iter().map(|name| of("olm.channel", name)))
            .chain([json!({"reference": {"schema": "olm.package"}, "message": message})])
            .collect();
        lines.push(json!({"schema": "olm.deprecations", "package": package, "entries": deprecations}));
        crate::properties::world::text(&lines)
    })
}

/// A text of hostile characters, or a long text.
fn name() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a",
        "operator",
        "\n",
        "\r",
        "\t",
        "\0",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{2028}",
        "\u{85}",
        "\"",
        "\\",
        "ä",
        "漢字",
        "👩‍👩‍👧",
        "\u{fffd}",
        " [Resolved]",
        "refused: ",
        "%s",
        "...",
        "\u{7f}",
    ];
    let pieces = vec(select(PIECES), 1..8).prop_map(|pieces| pieces.concat());
    prop_oneof![
        4 => pieces.clone(),
        2 => (pieces, 1..200_usize).prop_map(|(piece, times)| piece.repeat(times)),
        1 => any::<String>(),
        2 => Just("name".to_owned()),
    ]
}

fn version() -> impl Strategy<Value = String> {
    let prerelease =
        (1..120_usize).prop_map(|length| format!("1.0.0-{}", "rc.".repeat(length) + "1"));
    prop_oneof![
        4 => (0..3_u8, 0..3_u8).prop_map(|(major, minor)| format!("{major}.{minor}.0")),
        1 => Just(format!("{0}.{0}.{0}", u64::MAX)),
        1 => prerelease,
        1 => name(),
    ]
}

const CURRENCIES: &[Currency] = &[Currency::Current, Currency::Superseded];

const AGES: &[Age] = &[
    Age::Allowed,
    Age::Old(OnOldCatalog::Warn),
    Age::Old(OnOldCatalog::Undecided),
];
