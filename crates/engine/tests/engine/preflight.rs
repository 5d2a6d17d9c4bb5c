//! Row 15a: the checks of operator-controller on the chosen bundle, by feature gates, release and configuration.

mod contents;
mod onward;

use olmguard_catalog::olm::{Gates, OlmRelease, PreflightMode, Rules};
use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, ExemptionKind, Requester, Token};
use olmguard_engine::snapshot::{CatalogState, Currency, Snapshot};
use olmguard_fixtures::question::{ask, content};
use olmguard_fixtures::written::written;
use olmguard_preflight::content::BundleContents;
use serde_json::{Value, json};

/// An operator-controller, with one bundle of each kind.
struct Cluster {
    rules: Rules,
    bundle: Value,
    /// The facts in the catalog about 1.0.0, if any.
    older: Option<Value>,
    /// Whether 1.2.0, which can be installed, replaces that bundle.
    has_newer: bool,
    contents: BundleContents,
}

const UNKNOWN: Option<&[&str]> = None;
const OFF: Option<&[&str]> = Some(&[]);
const ON: Option<&[&str]> = Some(&["SingleOwnNamespaceInstallSupport=true"]);

impl Cluster {
    /// An operator-controller 1.11 with these feature gates, or with unknown gates.
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

    /// The same operator-controller, with the contents of its bundles' images.
    fn with_contents(self, contents: BundleContents) -> Self {
        Self { contents, ..self }
    }

    /// The same operator-controller, with these facts about 1.0.0 too.
    fn describing(self, csv: &Value) -> Self {
        let older = json!({"type": "olm.csv.metadata", "value": csv});
        Self {
            older: Some(older),
            ..self
        }
    }

    /// The same operator-controller, with 1.2.0.
    fn with_newer(self) -> Self {
        Self {
            has_newer: true,
            ..self
        }
    }

    /// The same operator-controller, with another preflight mode.
    fn with(self, preflight: PreflightMode) -> Self {
        Self {
            rules: self.rules.with_preflight(preflight),
            ..self
        }
    }

    /// Every operator-controller can install 1.0.0; 1.1.0 has the facts of this cluster's bundle.
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

    /// The answer to an update between two objects, with this version installed.
    fn updated(&self, old: &Extension, new: &Extension, installed: &str) -> Answer {
        self.answer(new, Some(old), &bundle_of(installed))
    }
}

/// The bundle with this version, as installed.
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

/// Boxcutter looks for a Helm release of that name only in some releases, so such a name alone is only a warning.
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
    // A range that keeps the installed bundle and its configuration is not a move.
    let wider = extension("ext", ">=1.1.0", &watching("a"));
    assert_eq!(
        cluster.updated(&watched, &wider, "1.1.0").token,
        Token::Unchanged
    );
}

/// Advice never suggests a value that is set already.
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

/// An answer names no feature gate and no field that the release does not have.
#[test]
fn what_helps_is_there_in_the_release() {
    let needed = |release: &str, gates: &[&str], bundle: &Value| {
        let olm = release.parse().expect("a release");
        let gates = Gates::parse(gates.iter().copied(), olm).expect("gates of the release");
        let cluster = Cluster {
            rules: Rules::new(olm, gates),
            bundle: bundle.clone(),
            ..Cluster::new(UNKNOWN, &Value::Null)
        };
        let to = |range: &str| extension("ext", range, &Value::Null);
        let answer = cluster.updated(&to("1.0.0"), &to("1.x"), "1.0.0");
        answer.needed.expect("something")
    };
    let own = json!({"type": "olm.csv.metadata", "value": modes(&["OwnNamespace"])});
    let gate = "SingleOwnNamespaceInstallSupport";
    for (release, expected) in [
        (
            "1.1",
            format!(
                "To install it, update OLM to 1.2 or later and turn on its feature gate {gate}."
            ),
        ),
        (
            "1.4",
            format!(
                "Set the annotation olm.operatorframework.io/watch-namespace to ns, and turn on {gate}, a feature gate of \
                 operator-controller."
            ),
        ),
        (
            "1.5",
            format!(
                "Set spec.config.inline.watchNamespace to ns, and turn on {gate}, a feature gate of operator-controller."
            ),
        ),
    ] {
        assert_eq!(needed(release, &[], &own), expected);
    }
    let mut csv = modes(&["AllNamespaces"]);
    csv["webhookdefinitions"] =
        json!([{"generateName": "a.b.c", "type": "ValidatingAdmissionWebhook"}]);
    let csv = json!({"kind": "ClusterServiceVersion", "spec": csv}).to_string();
    let manifests = json!({"type": "olm.bundle.object", "value": {"data": csv.as_bytes()}});
    assert_eq!(
        needed("1.2", &[], &manifests),
        "To install it, update OLM to 1.3 or later and turn on its feature gate WebhookProviderCertManager."
    );
    assert_eq!(
        needed("1.3", &[], &manifests),
        "To install it, turn on WebhookProviderCertManager, a feature gate of operator-controller."
    );
}

#[test]
fn what_is_wrong_with_the_configuration_is_what_to_correct() {
    let gates: &[&str] = &[
        "DeploymentConfig=true",
        "SingleOwnNamespaceInstallSupport=true",
    ];
    let all = modes(&["AllNamespaces", "OwnNamespace", "SingleNamespace"]);
    let needed = |gates, inline: Value| {
        let config = json!({"configType": "Inline", "inline": inline});
        Cluster::new(Some(gates), &all).created(&config).needed
    };
    for (inline, expected) in [
        (
            json!({"foo": 1, "bar": 1}),
            "Remove \"bar\", \"foo\" from spec.config.inline.",
        ),
        (
            json!({"deploymentConfig": {"watchNamespace": "x"}, "watchNamespace": "y"}),
            "Remove \"watchNamespace\" from spec.config.inline.deploymentConfig.",
        ),
        (
            json!({"deploymentConfig": 5, "watchNamespace": "A"}),
            "Correct spec.config.inline.deploymentConfig.",
        ),
        (
            json!({"deploymentConfig": 5}),
            "Correct spec.config.inline.deploymentConfig.",
        ),
        (
            json!({"deploymentConfig": {"resources": {"limits": {"cpu": "zz"}}}}),
            "Correct spec.config.inline.deploymentConfig.",
        ),
        (
            json!({"watchNamespace": "A"}),
            "The bundle takes any namespace as watchNamespace, or none.",
        ),
    ] {
        assert_eq!(needed(gates, inline).as_deref(), Some(expected));
    }
    assert_eq!(
        needed(
            ON.expect("gates"),
            json!({"deploymentConfig": {}, "foo": 1})
        )
        .as_deref(),
        Some("Remove \"deploymentConfig\", \"foo\" from spec.config.inline.")
    );
    assert_eq!(
        needed(ON.expect("gates"), json!({"deploymentConfig": {}})).as_deref(),
        Some(
            "Remove deploymentConfig, or turn on DeploymentConfig, a feature gate of operator-controller."
        )
    );
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
