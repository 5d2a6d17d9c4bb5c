//! Row 15a: what operator-controller checks of the bundle that it has chosen, by gates, release and configuration.

mod contents;

use olmguard_catalog::olm::{Gates, OlmRelease, PreflightMode, Rules};
use olmguard_engine::audit::{Audit, Concern, Difference, Onward, as_set_now, differences};
use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, ExemptionKind, Requester, Token, WalkEnd, pin};
use olmguard_engine::snapshot::{CatalogState, Currency, Snapshot};
use olmguard_fixtures::question::{ask, content};
use olmguard_fixtures::written::written;
use olmguard_preflight::content::BundleContents;
use serde_json::{Value, json};

/// An operator-controller, and one bundle of each kind.
struct Cluster {
    rules: Rules,
    bundle: Value,
    /// What the catalog says of 1.0.0, if anything.
    older: Option<Value>,
    /// Whether 1.2.0, which can be installed, replaces that bundle.
    has_newer: bool,
    contents: BundleContents,
}

const UNKNOWN: Option<&[&str]> = None;
const OFF: Option<&[&str]> = Some(&[]);
const ON: Option<&[&str]> = Some(&["SingleOwnNamespaceInstallSupport=true"]);

impl Cluster {
    /// An operator-controller 1.11 with these gates, or with gates that are not known.
    fn new(gates: Option<&[&str]>, csv: &Value) -> Self {
        let olm = OlmRelease::default();
        let gates = gates
            .map(|gates| Gates::parse(gates.iter().copied(), olm).expect("gates of the release"));
        Self {
            rules: Rules::new(olm, gates.unwrap_or_default()),
            bundle: json!({"type": "olm.csv.metadata", "value": csv}),
            older: None,
            has_newer: false,
            contents: BundleContents::default(),
        }
    }

    /// The same with what is in the images of its bundles.
    fn with_contents(self, contents: BundleContents) -> Self {
        Self { contents, ..self }
    }

    /// The same with these facts of 1.0.0 too.
    fn describing(self, csv: &Value) -> Self {
        let older = json!({"type": "olm.csv.metadata", "value": csv});
        Self {
            older: Some(older),
            ..self
        }
    }

    /// The same with 1.2.0.
    fn with_newer(self) -> Self {
        Self {
            has_newer: true,
            ..self
        }
    }

    /// The same with another use of what is found.
    fn with(self, preflight: PreflightMode) -> Self {
        Self {
            rules: self.rules.with_preflight(preflight),
            ..self
        }
    }

    /// 1.0.0 can be installed by every operator-controller, 1.1.0 has the facts of this cluster's bundle.
    fn snapshot(&self) -> Snapshot {
        let bundle = |version: &str, image: &str, more: Option<&Value>| {
            let package =
                json!({"type": "olm.package", "value": {"packageName": "P", "version": version}});
            let properties: Vec<_> = [Some(&package), more].into_iter().flatten().collect();
            json!({"schema": "olm.bundle", "package": "P", "name": format!("P.v{version}"), "image": image,
                "properties": properties})
        };
        let entries = [
            json!({"name": "P.v1.0.0"}),
            json!({"name": "P.v1.1.0", "replaces": "P.v1.0.0"}),
            json!({"name": "P.v1.2.0", "replaces": "P.v1.1.0"}),
        ];
        let entries = entries.get(..2 + usize::from(self.has_newer));
        let image = self.bundle.pointer("/value/image").and_then(Value::as_str);
        let image = image.unwrap_or("example.com/p:1.1.0");
        let newer = bundle("1.2.0", "example.com/p:1.2.0", None);
        let blobs = [
            json!({"schema": "olm.package", "name": "P"}),
            json!({"schema": "olm.channel", "package": "P", "name": "stable", "entries": entries}),
            bundle("1.0.0", "example.com/p:1.0.0", self.older.as_ref()),
            bundle("1.1.0", image, Some(&self.bundle)),
        ];
        let newer = self.has_newer.then_some(&newer);
        let text: String = blobs.iter().chain(newer).map(Value::to_string).collect();
        let of = ask(&[("c", 0, &written("stable: 1.0.0"))]);
        let state = of.snapshot().catalog("c").cloned().expect("the catalog");
        let content = content(&text, &self.rules);
        let snapshot = Snapshot::new(self.rules.clone(), vec![CatalogState { content, ..state }]);
        snapshot.with_contents(self.contents.clone())
    }

    fn answer(&self, new: &Extension, old: Option<&Extension>, installed: &Installed) -> Answer {
        let edit = Edit {
            new,
            old,
            installed,
            schema: &[],
            requester: Requester::unknown(),
        };
        answer(Basis::without_policies(&self.snapshot()), &edit)
    }

    /// The answer to a new extension with this configuration.
    fn created(&self, config: &Value) -> Answer {
        self.answer(
            &extension("ext", ">=1.0.0", config),
            None,
            &Installed::Nothing,
        )
    }

    /// The answer to an update from one to the other, with this version installed.
    fn updated(&self, old: &Extension, new: &Extension, installed: &str) -> Answer {
        self.answer(new, Some(old), &bundle_of(installed))
    }
}

/// The bundle of this version, installed.
fn bundle_of(version: &str) -> Installed {
    Installed::Bundle(InstalledBundle {
        name: Some(format!("P.v{version}")),
        version: version.to_owned(),
        release: None,
    })
}

fn extension(name: &str, range: &str, config: &Value) -> Extension {
    let object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "config": config,
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "P", "version": range}}},
    });
    Extension::read(Shape::V1, &object)
}

fn watching(namespace: &str) -> Value {
    json!({"configType": "Inline", "inline": {"watchNamespace": namespace}})
}

fn modes(names: &[&str]) -> Value {
    let mode = |name: &&str| json!({"type": name, "supported": true});
    json!({"installModes": names.iter().map(mode).collect::<Vec<_>>()})
}

fn checks(answer: &Answer) -> Vec<&'static str> {
    answer.checks.iter().map(|check| check.as_str()).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_denial_needs_every_setting_that_is_possible() {
    let own = || modes(&["OwnNamespace"]);
    let none = Value::Null;
    let rows: [(&str, Cluster, Value, Token, &[&str]); 13] = [
        (
            "all",
            Cluster::new(UNKNOWN, &modes(&["AllNamespaces"])),
            none.clone(),
            Token::Resolved,
            &[],
        ),
        (
            "own, no config: off refuses the mode, on the configuration",
            Cluster::new(UNKNOWN, &own()),
            none.clone(),
            Token::Preflight,
            &["install-mode-unsupported", "config-required"],
        ),
        (
            "own, off",
            Cluster::new(OFF, &own()),
            none.clone(),
            Token::Preflight,
            &["install-mode-unsupported"],
        ),
        (
            "own, on",
            Cluster::new(ON, &own()),
            none.clone(),
            Token::Preflight,
            &["config-required"],
        ),
        (
            "own, config, on",
            Cluster::new(ON, &own()),
            watching("ns"),
            Token::Resolved,
            &[],
        ),
        (
            "own, config, off",
            Cluster::new(OFF, &own()),
            watching("ns"),
            Token::Preflight,
            &["install-mode-unsupported"],
        ),
        (
            "own, config: the gate may be on",
            Cluster::new(UNKNOWN, &own()),
            watching("ns"),
            Token::Resolved,
            &["install-mode-unsupported"],
        ),
        (
            "own, another namespace: both refuse it",
            Cluster::new(UNKNOWN, &own()),
            watching("other"),
            Token::Preflight,
            &["install-mode-unsupported", "config-invalid"],
        ),
        (
            "only several namespaces",
            Cluster::new(UNKNOWN, &modes(&["MultiNamespace"])),
            none.clone(),
            Token::Preflight,
            &["install-mode-unsupported"],
        ),
        (
            "no modes",
            Cluster::new(ON, &json!({})),
            none.clone(),
            Token::Preflight,
            &["install-mode-unsupported"],
        ),
        (
            "all, and a namespace to watch",
            Cluster::new(UNKNOWN, &modes(&["AllNamespaces"])),
            watching("ns"),
            Token::Preflight,
            &["config-invalid"],
        ),
        (
            "APIServices",
            Cluster::new(
                UNKNOWN,
                &json!({"installModes": [{"type": "AllNamespaces", "supported": true}],
                "apiServiceDefinitions": {"owned": [{"name": "v1.a"}]}}),
            ),
            none.clone(),
            Token::Preflight,
            &["apiservices-unsupported"],
        ),
        (
            "deploymentConfig: its gate may be on",
            Cluster::new(UNKNOWN, &modes(&["AllNamespaces"])),
            json!({"configType": "Inline", "inline": {"deploymentConfig": {}}}),
            Token::Resolved,
            &["deployment-config-off"],
        ),
    ];
    for (why, cluster, config, token, expected) in rows {
        let answer = cluster.created(&config);
        assert_eq!(
            (answer.token, checks(&answer).as_slice()),
            (token, expected),
            "{why}"
        );
        assert_eq!(
            answer.warnings.is_empty(),
            token == Token::Preflight || expected.is_empty(),
            "{why}"
        );
    }
}

#[test]
fn a_property_that_cannot_be_read_and_a_bundle_without_one_say_nothing() {
    for csv in [json!({"installModes": 5}), json!("x")] {
        let answer = Cluster::new(UNKNOWN, &csv).created(&Value::Null);
        assert_eq!((answer.token, checks(&answer).len()), (Token::Resolved, 0));
    }
}

#[test]
fn a_csv_among_the_manifests_says_what_its_metadata_would() {
    let json = |data: &[u8]| json!({"data": base64_simd::STANDARD.encode_to_string(data)});
    let manifest = |kind: &str, spec: Value| json!({"kind": kind, "spec": spec}).to_string();
    let csv = |spec| manifest("ClusterServiceVersion", spec);
    let own = csv(modes(&["OwnNamespace"]));
    let yaml = "kind: ClusterServiceVersion\nspec:\n  installModes: [{type: OwnNamespace, supported: true}]\n";
    let api = json!({"installModes": [{"type": "AllNamespaces", "supported": true}],
        "apiservicedefinitions": {"owned": [{"name": "v1.a"}]}});
    let none = csv(json!({}));
    let refuses: &[&str] = &["install-mode-unsupported"];
    for (object, expected) in [
        (json(own.as_bytes()), refuses),
        (json(yaml.as_bytes()), refuses),
        (json!({"data": own.as_bytes()}), refuses),
        (json(none.as_bytes()), refuses),
        (json(csv(api).as_bytes()), &["apiservices-unsupported"]),
        (json(csv(modes(&["AllNamespaces"])).as_bytes()), &[]),
        (json(csv(json!({"installModes": 5})).as_bytes()), &[]),
        (
            json(manifest("ConfigMap", json!({"of": "ClusterServiceVersion"})).as_bytes()),
            &[],
        ),
        (json(br#"{"kind": "ClusterServiceVersion", "#), &[]),
    ] {
        let cluster = Cluster {
            bundle: json!({"type": "olm.bundle.object", "value": object}),
            ..Cluster::new(OFF, &Value::Null)
        };
        let answer = cluster.created(&Value::Null);
        assert_eq!(checks(&answer), expected, "{object}");
    }
}

#[test]
fn webhooks_are_known_from_manifests_alone() {
    let webhooks = json!([{"generateName": "a.b.c", "type": "ValidatingAdmissionWebhook"}]);
    let mut spec = modes(&["AllNamespaces"]);
    for (name, expected) in [
        ("webhookdefinitions", vec!["webhooks-unsupported"]),
        ("other", vec![]),
    ] {
        spec[name] = webhooks.clone();
        let csv = json!({"kind": "ClusterServiceVersion", "spec": spec}).to_string();
        let cluster = Cluster {
            bundle: json!({"type": "olm.bundle.object", "value": {"data": csv.as_bytes()}}),
            ..Cluster::new(
                Some(&[
                    "WebhookProviderCertManager=false",
                    "WebhookProviderOpenshiftServiceCA=false",
                ]),
                &Value::Null,
            )
        };
        assert_eq!(checks(&cluster.created(&Value::Null)), expected, "{name}");
        spec = modes(&["AllNamespaces"]);
    }
}

#[test]
fn the_image_must_be_whole() {
    let with_image = |image: &str| json!({"image": image, "installModes": [{"type": "AllNamespaces", "supported": true}]});
    for (image, token) in [
        ("example.com/p:1", Token::Resolved),
        ("example.com/p", Token::Preflight),
        ("team/p:1", Token::Preflight),
        ("", Token::Resolved),
    ] {
        let answer = Cluster::new(UNKNOWN, &with_image(image)).created(&Value::Null);
        assert_eq!(answer.token, token, "{image}");
    }
    let answer = Cluster::new(UNKNOWN, &with_image("team/p:1")).created(&Value::Null);
    assert_eq!(
        answer.message.unwrap(),
        "P: install of >=1.0.0 refused: the image reference of P.v1.1.0 does not name its registry and repository in full \
         [Preflight]\n\
         Check: image-ref-invalid\n\
         Fix: set spec.source.catalog.version to \"1.0.0\"\n\
         Catalog: c\n\
         OLM: error for resolved bundle \"P.v1.1.0\" with version \"1.1.0\": error parsing image reference \
         \"team/p:1\": repository name must be canonical\n\
         Help: olmguard explain Preflight"
    );
}

#[test]
fn olms_text_is_that_of_the_release() {
    let csv = json!({"image": "team/p:1", "installModes": [{"type": "AllNamespaces", "supported": true}]});
    let upstream = |release: &str| {
        let rules = Rules::new(release.parse().expect("a release"), Gates::default());
        let cluster = Cluster {
            rules,
            ..Cluster::new(UNKNOWN, &csv)
        };
        cluster.created(&Value::Null).upstream.expect("a text")
    };
    let resolved = "for resolved bundle \"P.v1.1.0\" with version \"1.1.0\"";
    for release in ["1.0", "1.2"] {
        let text = upstream(release);
        assert!(
            text.ends_with(&format!("repository name must be canonical {resolved}")),
            "{text}"
        );
    }
    for release in ["1.3", "1.11"] {
        let text = upstream(release);
        assert!(text.starts_with(&format!("error {resolved}: ")), "{text}");
    }
}

#[test]
fn a_name_counts_when_the_extension_is_made() {
    let cluster = |gates| Cluster::new(gates, &modes(&["AllNamespaces"]));
    let boxcutter: Option<&[&str]> = Some(&["BoxcutterRuntime=true"]);
    for (length, gates, token, expected) in [
        (41, UNKNOWN, Token::Resolved, 0),
        (42, UNKNOWN, Token::Resolved, 1),
        (42, OFF, Token::Preflight, 1),
        (53, boxcutter, Token::Resolved, 0),
        (54, boxcutter, Token::Resolved, 1),
        (63, boxcutter, Token::Resolved, 1),
        (64, boxcutter, Token::Preflight, 1),
        (64, UNKNOWN, Token::Preflight, 1),
    ] {
        let new = extension(&"n".repeat(length), "1.0.0", &Value::Null);
        let answer = cluster(gates).answer(&new, None, &Installed::Nothing);
        assert_eq!(
            (answer.token, checks(&answer).len()),
            (token, expected),
            "{length}"
        );
        let again = cluster(gates).updated(
            &new,
            &extension(&"n".repeat(length), "1.1.0", &Value::Null),
            "1.0.0",
        );
        assert_eq!(again.token, Token::Resolved, "{length}");
    }
}

/// Boxcutter looks for a Helm release of that name only in some releases, so such a name alone is a warning.
#[test]
fn a_name_that_is_perhaps_too_long_hides_no_image_that_cannot_be_used() {
    let image = json!({"image": "team/p:1", "installModes": [{"type": "AllNamespaces", "supported": true}]});
    let cluster = Cluster::new(Some(&["BoxcutterRuntime=true"]), &image);
    let new = extension(&"n".repeat(60), "1.1.0", &Value::Null);
    let answer = cluster.answer(&new, None, &Installed::Nothing);
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Preflight, &["image-ref-invalid"][..])
    );
}

#[test]
fn what_is_installed_stays_and_its_configuration_is_checked_when_it_changes() {
    let cluster = Cluster::new(OFF, &modes(&["AllNamespaces"]));
    let plain = extension("ext", "1.1.0", &Value::Null);
    let watched = extension("ext", "1.1.0", &watching("a"));
    let labelled = extension("ext", "1.1.0", &watching("a"));
    let kept = cluster.updated(&watched, &labelled, "1.1.0");
    assert_eq!(kept.exemption.unwrap().kind, ExemptionKind::Unchanged);
    let changed = cluster.updated(&plain, &watched, "1.1.0");
    assert_eq!(
        (changed.token, checks(&changed).as_slice()),
        (Token::Preflight, &["config-invalid"][..])
    );
    let removed = cluster.updated(&watched, &plain, "1.1.0");
    assert_eq!(removed.exemption.unwrap().kind, ExemptionKind::Reconfigured);
    // An extension that does not resolve can still be configured.
    let gone = |config: &Value| extension("ext", "9.0.0", config);
    let answer = cluster.updated(&gone(&watching("a")), &gone(&Value::Null), "1.1.0");
    assert_eq!(answer.exemption.unwrap().kind, ExemptionKind::Reconfigured);
    // A range that stays where it is, with the configuration that it has, is no move.
    let wider = extension("ext", ">=1.1.0", &watching("a"));
    assert_eq!(
        cluster.updated(&watched, &wider, "1.1.0").token,
        Token::Unchanged
    );
}

/// Nothing is advised that is there.
#[test]
fn with_the_gate_on_only_the_configuration_is_missing() {
    let cluster = Cluster::new(
        Some(&["SingleOwnNamespaceInstallSupport=true"]),
        &modes(&["OwnNamespace"]),
    );
    let untyped = json!({"inline": {"watchNamespace": "ns"}});
    for config in [Value::Null, untyped] {
        let message = cluster.created(&config).message.unwrap();
        let expected = "P: install of >=1.0.0 refused: spec.config is not valid: required field \"watchNamespace\" is missing \
             [Preflight]\n\
             Check: config-required\n\
             Set spec.config.inline.watchNamespace to ns, with configType Inline.\n";
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_move_is_denied_and_the_way_out_leads_elsewhere() {
    let cluster = Cluster::new(UNKNOWN, &modes(&["OwnNamespace"]));
    let old = extension("ext", "1.0.0", &Value::Null);
    let answer = cluster.updated(&old, &extension("ext", "1.x", &Value::Null), "1.0.0");
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.x refused: P.v1.1.0 does not support the install mode AllNamespaces [Preflight]\n\
         Check: install-mode-unsupported, config-required\n\
         Set spec.config.inline.watchNamespace to ns, and turn on SingleOwnNamespaceInstallSupport, a feature gate of \
         operator-controller.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    assert_eq!(answer.resolved.unwrap().version, "1.1.0");
    assert_eq!(answer.upstream, None);
}

#[test]
fn warnings_take_the_place_of_a_denial() {
    let cluster = || Cluster::new(OFF, &modes(&["OwnNamespace"]));
    let warned = cluster().with(PreflightMode::Warn).created(&Value::Null);
    assert_eq!(warned.token, Token::Resolved);
    assert_eq!(
        warned.warnings,
        [
            "OLM will not install this: P.v1.1.0 does not support the install mode AllNamespaces \
          [install-mode-unsupported]"
        ]
    );
    let off = cluster().with(PreflightMode::Off).created(&Value::Null);
    assert_eq!(
        (off.token, off.warnings.len(), off.checks.len()),
        (Token::Resolved, 0, 0)
    );
    let may = Cluster::new(UNKNOWN, &modes(&["OwnNamespace"])).created(&watching("ns"));
    assert_eq!(
        may.warnings,
        [
            "OLM might not install this: P.v1.1.0 does not support the install mode AllNamespaces \
          [install-mode-unsupported]"
        ]
    );
}

#[test]
fn content_that_is_superseded_only_warns() {
    let cluster = Cluster::new(OFF, &modes(&["OwnNamespace"]));
    let mut states = cluster.snapshot().catalogs().to_vec();
    for state in &mut states {
        state.currency = Currency::Superseded;
    }
    let new = extension("ext", ">=1.0.0", &Value::Null);
    let edit = Edit {
        new: &new,
        old: None,
        installed: &Installed::Nothing,
        schema: &[],
        requester: Requester::unknown(),
    };
    let snapshot = Snapshot::new(cluster.rules.clone(), states);
    let answer = answer(Basis::without_policies(&snapshot), &edit);
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Resolved, &["install-mode-unsupported"][..])
    );
}

// === What an audit sees of it ===

#[test]
fn an_audit_tells_what_can_no_longer_be_installed_and_what_can_again() {
    use Difference::{Allowed, Installable, NotInstallable};
    let good = || Cluster::new(UNKNOWN, &modes(&["AllNamespaces", "OwnNamespace"]));
    let perhaps = || Cluster::new(UNKNOWN, &modes(&["OwnNamespace"]));
    let never = || Cluster::new(UNKNOWN, &modes(&["MultiNamespace"]));
    let rows: [(Cluster, Cluster, &[Difference]); 7] = [
        (good(), good(), &[]),
        (good(), perhaps(), &[NotInstallable]),
        (good(), never(), &[NotInstallable]),
        (perhaps(), never(), &[NotInstallable]),
        (perhaps(), good(), &[Installable]),
        (never(), good(), &[Allowed]),
        (never(), perhaps(), &[Allowed]),
    ];
    let mut extension = extension("ext", "1.x", &watching("ns"));
    extension.installed = bundle_of("1.0.0");
    let requester = Requester::unknown();
    let edit = as_set_now(&extension, requester);
    let words = [NotInstallable, Installable, Allowed];
    for (at, (before, after, expected)) in rows.into_iter().enumerate() {
        let snapshots = [before.snapshot(), after.snapshot()];
        let [before, after] = snapshots
            .each_ref()
            .map(|snapshot| Audit::of(Basis::without_policies(snapshot), &edit));
        let mut found = differences(&before, &after);
        found.retain(|found| words.contains(found));
        assert_eq!(found, expected, "row {at}");
        let is_named = after.concerns().contains(&Concern::NotInstallable);
        assert_eq!(is_named, !checks_of(&after).is_empty(), "row {at}");
        assert!(
            !after.concerns().contains(&Concern::Unresolvable),
            "row {at}"
        );
    }
}

/// OLM prefers 1.2.0, which it does not install, to 1.1.5.
#[test]
fn one_edit_is_not_enough_for_a_way_around_a_bundle() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.1.5 replaces 1.1.0; 1.2.0 replaces 1.1.0; \
                 1.3.0 replaces 1.2.0 skips 1.1.5";
    let advice = |more: &str| {
        let lines = format!("{lines}\n{more}");
        let question = ask(&[("c", 0, &written(&lines))]);
        question.installed("1.0.0").range("1.3.0").answer().advice
    };
    let free = advice("");
    assert_eq!(free.path, ["1.0.0", "1.1.0", "1.2.0", "1.3.0"]);
    assert!(free.one_edit.is_some());
    let closed = advice("(requires): 1.2.0 olm.csv.metadata");
    assert_eq!(closed.path, ["1.0.0", "1.1.0", "1.1.5", "1.3.0"]);
    assert_eq!(closed.one_edit, None);
}

/// OLM ends before it, and the next edit leads around it or nowhere.
#[test]
fn a_bundle_that_is_not_installed_ends_the_upgrades_of_an_audit() {
    let requester = Requester::unknown();
    let seen = |lines: &str, range: &str| {
        let question = ask(&[("c", 0, &written(lines))]);
        let mut extension = extension("ext", range, &Value::Null);
        extension.installed = bundle_of("1.0.0");
        let snapshot = question.snapshot();
        let basis = Basis::without_policies(&snapshot);
        let audit = Audit::of(basis, &as_set_now(&extension, requester));
        let walk = audit.automatic.as_ref().expect("a walk");
        let is_ended = matches!(walk.end, WalkEnd::NotInstalled(_));
        let onward = match &audit.place.as_ref().expect("a place").onward {
            Onward::Now(next) => next.path.as_slice(),
            Onward::NotInstallable(found) => &[found.refused],
            _ => &[],
        };
        let onward: Vec<_> = onward.iter().filter_map(|step| pin(*step)).collect();
        let concerns: Vec<_> = audit.concerns().into_iter().map(Concern::as_str).collect();
        (concerns, walk.steps.len(), is_ended, onward)
    };
    let of = |concerns: &[&'static str], walk, is_ended, onward: &[&str]| {
        let onward = onward.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        (concerns.to_vec(), walk, is_ended, onward)
    };
    let chain = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";
    let without = |version| format!("{chain}\n(requires): {version} olm.csv.metadata");
    let open = ">=1.0.0";
    let closed = ["not_installable", "path_not_installable", "unbounded"];
    assert_eq!(
        seen(&without("1.1.0"), open),
        of(&closed, 0, true, &["1.1.0"])
    );
    let closed = ["path_not_installable"];
    assert_eq!(
        seen(&without("1.1.0"), "1.0.0"),
        of(&closed, 0, false, &["1.1.0"])
    );
    let moves = ["moves", "unbounded"];
    assert_eq!(
        seen(&without("1.2.0"), open),
        of(&moves, 1, true, &["1.1.0"])
    );
    assert_eq!(seen(chain, open), of(&moves, 2, false, &["1.1.0", "1.2.0"]));
    let around = format!("{}\nb: 1.2.0 replaces 1.0.0", without("1.1.0"));
    assert_eq!(
        seen(&around, "1.0.0"),
        of(&["behind"], 0, false, &["1.2.0"])
    );
}

/// Edges lead on, so it is not for the author of the catalog to add one.
#[test]
fn a_bundle_on_the_way_that_is_not_installed_is_named() {
    let cluster = Cluster::new(OFF, &modes(&["OwnNamespace"])).with_newer();
    let [old, new] = ["1.0.0", "1.2.0"].map(|pin| extension("ext", pin, &Value::Null));
    let answer = cluster.updated(&old, &new, "1.0.0");
    assert_eq!(answer.token, Token::NotASuccessor);
    let message = answer.message.expect("a message");
    let blocked = "Blocked by: P.v1.1.0 does not support the install mode AllNamespaces. ";
    assert!(
        message.contains("No upgrade path from 1.0.0 to 1.2.0 that OLM can install.\n")
            && message.contains(blocked),
        "{message}"
    );
    let installable = Cluster::new(OFF, &modes(&["AllNamespaces"])).with_newer();
    let answer = installable.updated(&old, &new, "1.0.0");
    assert_eq!(answer.advice.path, ["1.0.0", "1.1.0", "1.2.0"]);
}

fn checks_of(audit: &Audit<'_>) -> Vec<&'static str> {
    let refusal = audit.not_installable();
    let checks = refusal.map(|refusal| refusal.faults.checks());
    let checks = checks.unwrap_or_default().into_iter();
    checks
        .map(olmguard_preflight::PreflightCheck::as_str)
        .collect()
}
