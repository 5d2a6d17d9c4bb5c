//! The version, the catalog and the namespaces of the extension.

use super::*;
use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::{Moment, UpgradePolicy};

// === The version ===

#[test]
fn automatic_at_the_head_is_not_pinned() {
    let report = scene(ALL)
        .with(automatic("p.v1.2.0"))
        .with(group(&json!([])))
        .gives("can_move", [&[], &[], &[]]);
    assert_eq!(
        report.extension,
        Some(json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": {"name": "p"},
            "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {
                "packageName": "p", "channels": ["stable"],
                "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": "hub"}},
            }}},
        }))
    );
    assert!(report.upgrades.is_empty());
}

#[test]
fn automatic_behind_the_head_is_pinned_until_it_is_installed() {
    let scene = scene(ALL)
        .with(automatic("p.v1.0.0"))
        .with(group(&json!([])));
    let report = scene.gives("can_move", [&[], &[], &[]]);
    assert_eq!(at(&report, VERSION), "1.0.0");
    let upgrades: Vec<_> = report.upgrades.iter().map(BundleReport::label).collect();
    assert_eq!(upgrades, ["1.1.0", "1.2.0"]);
    assert!(
        report
            .steps
            .iter()
            .any(|step| step.text.starts_with("Remove the version"))
    );
}

/// Policies see later upgrades in the namespace of the extension, by the same user, at the same time.
#[test]
fn policies_that_match_the_extension_bind_the_upgrades_that_follow() {
    let policy = UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": "nights"},
        "spec": {"match": {"namespaces": ["ns"]}, "rules": {
            "versions": {"deny": "1.2.0"},
            "windows": [{"schedule": "0 22 * * *", "duration": "1h"}],
        }},
    }));
    let policies = Policies {
        upgrades: UpgradePolicies::of([policy]),
        ..Policies::default()
    };
    let night = Requester {
        at: Moment::parse("2026-11-20T22:30:00Z").unwrap(),
        ..Requester::unknown().clone()
    };
    let manual = json!({"installPlanApproval": "Manual"});
    let scene = scene(ALL)
        .with(subscription(&manual, "p.v1.0.0"))
        .with(group(&json!([])));
    let report = scene.report_under(&policies, &night);
    let [only] = report.subscriptions.as_slice() else {
        panic!("{report:?}");
    };
    let upgrades: Vec<_> = only.upgrades.iter().map(BundleReport::label).collect();
    assert_eq!(
        (only.verdict, &*upgrades),
        ("can_move", &["1.1.0".to_owned()][..])
    );
}

#[test]
fn manual_approval_pins_also_if_another_subscription_has_it() {
    let manual = json!({"installPlanApproval": "Manual"});
    let scene_of = |more: &Value| {
        scene(ALL)
            .with(subscription(more, "p.v1.2.0"))
            .with(group(&json!([])))
    };
    let report = scene_of(&manual).gives("can_move", [&[], &[], &[]]);
    assert_eq!(
        (at(&report, VERSION), report.approval),
        (json!("1.2.0"), "Manual")
    );
    let lower = scene_of(&json!({"installPlanApproval": "manual"})).only();
    assert_eq!(lower.approval, "Automatic", "only the exact word counts");
    let spec = json!({"name": "q", "source": "hub", "sourceNamespace": "olm", "installPlanApproval": "Manual"});
    let other = object("Subscription", "z-other", &spec, &json!({}));
    let report = scene_of(&json!({})).with(other).report();
    let sub = report
        .subscriptions
        .iter()
        .find(|one| one.name == "sub")
        .unwrap();
    assert_eq!(
        (at(sub, VERSION), sub.changes[0].id),
        (json!("1.2.0"), "manual-namespace")
    );
}

#[test]
fn a_subscription_that_waits_for_its_first_approval_starts_where_it_would() {
    let spec = json!({"name": "p", "source": "hub", "sourceNamespace": "olm", "channel": "stable",
        "startingCSV": "p.v1.1.0", "installPlanApproval": "Manual"});
    let waiting = object(
        "Subscription",
        "sub",
        &spec,
        &json!({"state": "UpgradePending"}),
    );
    let report = scene(ALL)
        .with(waiting)
        .with(group(&json!([])))
        .gives("can_move", [&[], &[], &["upgrade-pending"]]);
    assert_eq!(at(&report, VERSION), "1.1.0");
    assert_eq!(report.installed, None);
}

/// The `InstallPlan` was made while the Subscription was manual.
#[test]
fn an_install_plan_can_wait_for_an_approval_under_an_automatic_subscription() {
    let mut pending = automatic("p.v1.0.0");
    pending["status"]["state"] = "UpgradePending".into();
    let scene = scene(ALL).with(pending).with(group(&json!([])));
    let report = scene.gives("can_move", [&[], &[], &["upgrade-pending"]]);
    let place = |begin: &str| {
        let mut steps = report.steps.iter();
        steps.position(|step| step.text.starts_with(begin))
    };
    assert_eq!(place("Approve what OLM v0 waits for"), Some(0));
    let [subscription, plans] = ["Delete the Subscription", "Delete the InstallPlans"]
        .map(|begin| place(begin).expect(begin));
    assert_eq!(plans, subscription + 1);
}

#[test]
fn without_a_status_it_is_undecided() {
    let mut object = automatic("p.v1.0.0");
    object.as_object_mut().unwrap().remove("status");
    scene(ALL)
        .with(object)
        .with(group(&json!([])))
        .gives("undecided", [&["status-missing"], &[], &[]]);
}

// === The catalog ===

#[test]
fn what_no_catalog_has_is_refused_with_what_replaces_it() {
    let report = scene(ALL)
        .with(automatic("p.v0.9.0"))
        .with(group(&json!([])));
    let report = report.gives("cannot_move", [&["installed-not-in-catalog"], &[], &[]]);
    assert!(
        report.obstacles[0]
            .text
            .contains("first upgrade with OLM v0 to p.v1.0.0")
    );
    assert_eq!((report.extension, report.steps.len()), (None, 0));
}

#[test]
fn the_decision_table_refuses_what_check_would() {
    let rows = [
        (json!({"name": "q"}), "PackageNotFound"),
        (json!({"channel": "gone"}), "ChannelNotFound"),
        (json!({"channel": "old"}), "NotInChannel"),
        (json!({"channel": "Not_A_Channel"}), "InvalidSpec"),
    ];
    for (more, token) in rows {
        let scene = scene(ALL)
            .with(subscription(&more, "p.v1.1.0"))
            .with(group(&json!([])));
        scene.gives("cannot_move", [&[token], &[], &[]]);
    }
}

#[test]
fn declared_dependencies_are_refused() {
    for kind in ["olm.package.required", "olm.gvk.required", "olm.constraint"] {
        let mut scene = scene(ALL)
            .with(automatic("p.v1.2.0"))
            .with(group(&json!([])));
        scene.more = vec![json!({"type": kind, "value": {}})];
        scene.gives("cannot_move", [&["UnsupportedDependency"], &[], &[]]);
    }
}

#[test]
fn a_catalog_source_is_found_by_name_or_by_image() {
    for (source, name) in [
        ("hub", "hub"),
        ("hub", "openshift-hub"),
        ("hub-catalog", "hub"),
    ] {
        let object = subscription(&json!({"source": source}), "p.v1.2.0");
        let scene = Scene {
            catalog: name,
            ..scene(ALL)
        };
        let report = scene
            .with(object)
            .with(group(&json!([])))
            .gives("can_move", [&[], &[], &[]]);
        assert_eq!(report.catalog.as_deref(), Some(name));
    }
    let object = subscription(&json!({"source": "other"}), "p.v1.2.0");
    let scene = scene(ALL).with(object).with(group(&json!([])));
    let report = scene.gives("can_move", [&[], &[], &["catalog-not-matched"]]);
    assert_eq!(at(&report, "/spec/source/catalog/selector"), Value::Null);
}

#[test]
fn an_image_is_compared_without_tag_and_digest() {
    let snapshot = Snapshot::new(
        Rules::default(),
        [CatalogState {
            image_ref: Some("example.com:5000/index@sha256:1a".to_owned()),
            ..CatalogState::named("renamed", content("", &Rules::default()))
        }],
    );
    let mut objects = ClassicObjects::default();
    let source = object(
        "CatalogSource",
        "src",
        &json!({"image": "example.com:5000/index:v4"}),
        &json!({}),
    );
    objects.add(&source).unwrap();
    let facts = MigrationFacts {
        basis: Basis::without_policies(&snapshot),
        requester: Requester::unknown(),
        objects: &objects,
        extensions: &[],
    };
    let key = |name: &str| ObjectKey {
        namespace: "ns".to_owned(),
        name: name.to_owned(),
    };
    assert_eq!(
        catalog(facts.basis.snapshot, facts.objects, &key("src")),
        Some("renamed")
    );
    assert_eq!(
        catalog(facts.basis.snapshot, facts.objects, &key("other")),
        None
    );
}

// === Namespaces ===

/// Install modes, target namespaces, the configuration, and the ids of obstacles, needs and changes.
type ScopeRow = (
    &'static [&'static str],
    Value,
    Value,
    [&'static [&'static str]; 3],
);

#[test]
fn the_scope_of_the_operator_is_kept_or_said_to_change() {
    let both: &'static [&str] = &["AllNamespaces", "OwnNamespace", "SingleNamespace"];
    let watch = |name: &str| json!({"watchNamespace": name});
    let config: &'static [&str] = &["config-field"];
    let widened: &'static [&str] = &["watches-all-namespaces"];
    let rows: [ScopeRow; 6] = [
        (ALL, json!([]), Value::Null, [&[], &[], &[]]),
        (both, json!(["ns"]), watch("ns"), [&[], config, &[]]),
        (both, json!(["app"]), watch("app"), [&[], config, &[]]),
        (ALL, json!(["ns"]), Value::Null, [&[], &[], widened]),
        (both, json!(["a", "b"]), Value::Null, [&[], &[], widened]),
        (
            &["OwnNamespace"],
            json!(["ns"]),
            watch("ns"),
            [&[], &["feature-gate", "config-field"], &[]],
        ),
    ];
    for (modes, targets, inline, ids) in rows {
        let scene = scene(modes)
            .with(automatic("p.v1.2.0"))
            .with(group(&targets));
        let report = scene.gives("can_move", ids);
        assert_eq!(at(&report, INLINE), inline, "{modes:?} {targets}");
    }
}

#[test]
fn several_namespaces_without_all_are_refused() {
    let scene = scene(&["OwnNamespace", "MultiNamespace"]).with(automatic("p.v1.2.0"));
    let scene = scene.with(group(&json!(["a", "b"])));
    let report = scene.only();
    assert_eq!(report.verdict, "cannot_move");
    assert!(
        report
            .obstacles
            .iter()
            .any(|one| one.id == "several-namespaces"),
        "{report:?}"
    );
}

#[test]
fn an_unknown_scope_is_assumed_only_if_it_does_not_matter() {
    let of = |modes: &[&str]| scene(modes).with(automatic("p.v1.2.0"));
    of(ALL).gives("can_move", [&[], &[], &["namespaces-assumed"]]);
    let own =
        of(&["OwnNamespace"]).gives("can_move", [&[], &["feature-gate", "config-field"], &[]]);
    assert_eq!(at(&own, INLINE), json!({"watchNamespace": "ns"}));
    let single = of(&["SingleNamespace"]).only();
    assert!(
        single
            .obstacles
            .iter()
            .any(|one| one.id == "namespace-unknown"),
        "{single:?}"
    );
}

#[test]
fn without_the_gate_a_bundle_of_one_namespace_is_refused() {
    let off: &[&str] = &["SingleOwnNamespaceInstallSupport=false"];
    let scene = scene(&["OwnNamespace"])
        .olm("1.11", Some(off))
        .with(automatic("p.v1.2.0"));
    scene
        .with(group(&json!(["ns"])))
        .gives("cannot_move", [&["Preflight"], &["config-field"], &[]]);
}

#[test]
fn before_the_configuration_an_annotation_names_the_namespace() {
    let on: &[&str] = &["SingleOwnNamespaceInstallSupport=true"];
    let scene = scene(&["OwnNamespace"])
        .olm("1.4", Some(on))
        .with(automatic("p.v1.2.0"));
    let report = scene
        .with(group(&json!(["ns"])))
        .gives("can_move", [&[], &["service-account"], &[]]);
    assert_eq!(
        at(&report, "/metadata/annotations"),
        json!({"olm.operatorframework.io/watch-namespace": "ns"})
    );
    assert_eq!(at(&report, "/spec/config"), Value::Null);
}

#[test]
fn a_long_package_has_a_name_that_the_secret_of_a_release_takes() {
    let name = |package: &str| {
        let mut objects = ClassicObjects::default();
        let long = subscription(&json!({"name": package}), "p.v1.2.0");
        objects.add(&long).unwrap();
        let subscription = objects.subscriptions().next().unwrap();
        let draft = ExtensionDraft::new(subscription, None, &Rules::default());
        draft.name().into_owned()
    };
    let longest = "p".repeat(39);
    assert_eq!(name(&longest), longest);
    for (package, expected) in [
        (
            "operator-of-the-lights-and-of-the-shore-a",
            "operator-of-the-lights-and-of-a7e82db7",
        ),
        (
            "operator-of-the-lights-and-of-the-shore-b",
            "operator-of-the-lights-and-of-a8e82f4a",
        ),
        (
            "operator-of-the-sea-and-lights.-on-the-shore",
            "operator-of-the-sea-and-lights-853e2573",
        ),
    ] {
        assert_eq!(name(package), expected);
        assert!(expected.len() <= 39, "{expected}");
    }
}
