//! Effects of the CSV, the settings and the other objects of the cluster.

use super::*;

// === The CSV ===

#[test]
fn api_services_and_webhooks_are_found_in_the_csv_too() {
    let off: &[&str] = &[
        "WebhookProviderCertManager=false",
        "WebhookProviderOpenshiftServiceCA=false",
    ];
    let webhooks = json!({"installModes": [{"type": "AllNamespaces", "supported": true}],
        "webhookdefinitions": [{"generateName": "w"}]});
    let services = json!({"apiservicedefinitions": {"owned": [{"name": "v1.example.com"}]}});
    let of = |spec: &Value| {
        scene(ALL)
            .with(automatic("p.v1.2.0"))
            .with(group(&json!([])))
            .with(csv("p.v1.2.0", spec))
    };
    of(&webhooks).gives("can_move", [&[], &["certificates"], &[]]);
    of(&webhooks)
        .olm("1.11", Some(off))
        .gives("cannot_move", [&["webhooks-unsupported"], &[], &[]]);
    of(&services).gives("cannot_move", [&["apiservices-unsupported"], &[], &[]]);
}

#[test]
fn an_api_service_in_the_catalog_is_named_once() {
    let owned = json!({"apiServiceDefinitions": {"owned": [{"name": "a"}]}});
    let spec = json!({"apiservicedefinitions": {"owned": [{"name": "a"}]}});
    let scene = Scene {
        csv: owned,
        ..scene(ALL)
    };
    let scene = scene.with(automatic("p.v1.2.0")).with(group(&json!([])));
    scene
        .with(csv("p.v1.2.0", &spec))
        .gives("cannot_move", [&["Preflight"], &[], &[]]);
}

#[test]
fn crds_are_marked_for_helm_and_stop_boxcutter() {
    let spec = json!({"installModes": [{"type": "AllNamespaces", "supported": true}],
        "customresourcedefinitions": {"owned": [{"name": "w.example.com"}, {"name": "$(x)"}]}});
    let of = || {
        scene(ALL)
            .with(automatic("p.v1.2.0"))
            .with(group(&json!([])))
            .with(csv("p.v1.2.0", &spec))
    };
    let report = of().gives("can_move", [&[], &["boxcutter-off"], &[]]);
    let commands: Vec<_> = report
        .steps
        .iter()
        .flat_map(|step| &step.commands)
        .collect();
    let expected = "kubectl annotate crd w.example.com meta.helm.sh/release-name=p \
        meta.helm.sh/release-namespace=ns --overwrite";
    assert!(
        commands.iter().any(|command| *command == expected),
        "{commands:?}"
    );
    assert!(
        !commands.iter().any(|command| command.contains('$')),
        "{commands:?}"
    );
    for (setting, verdict, obstacles) in [
        (
            "BoxcutterRuntime=true",
            "cannot_move",
            &["crds-not-adopted"][..],
        ),
        ("BoxcutterRuntime=false", "can_move", &[][..]),
    ] {
        let of = of().olm("1.11", Some(&[setting]));
        of.gives(verdict, [obstacles, &[], &[]]);
    }
}

#[test]
fn a_csv_that_failed_or_is_missing_is_said() {
    let of = |csv: Value| {
        scene(ALL)
            .with(automatic("p.v1.2.0"))
            .with(group(&json!([])))
            .with(csv)
    };
    let spec = json!({"installModes": [{"type": "AllNamespaces", "supported": true}]});
    let failed = object(
        "ClusterServiceVersion",
        "p.v1.2.0",
        &spec,
        &json!({"phase": "Failed"}),
    );
    of(failed).gives("can_move", [&[], &[], &["csv-not-succeeded"]]);
    let missing = of(csv("other.v1", &spec)).without_csv();
    missing.gives("undecided", [&["csv-missing"], &[], &[]]);
}

#[test]
fn copies_count_for_nothing() {
    let mut copy = csv("p.v1.2.0", &json!({}));
    copy["metadata"]["labels"] = json!({"olm.copiedFrom": "elsewhere"});
    let mut objects = ClassicObjects::default();
    assert_eq!(objects.add(&copy), Ok(()));
    let key = ObjectKey {
        namespace: "ns".to_owned(),
        name: "p.v1.2.0".to_owned(),
    };
    assert!(objects.csv(&key).is_none());
}

// === Settings ===

#[test]
fn settings_become_a_deployment_config_where_a_gate_allows_it() {
    let config = json!({"env": [{"name": "A", "value": "1"}], "selector": {"matchLabels": {"a": "b"}},
        "tolerations": [], "nodeSelector": null});
    let of = || {
        scene(ALL)
            .with(subscription(&json!({"config": config}), "p.v1.2.0"))
            .with(group(&json!([])))
    };
    let deployment = json!({"deploymentConfig": {"env": [{"name": "A", "value": "1"}]}});
    let needs: &[&str] = &["feature-gate", "config-field"];
    let report = of().gives("can_move", [&[], needs, &["settings-lost"]]);
    assert_eq!(at(&report, INLINE), deployment);
    assert!(
        report.changes[0]
            .text
            .ends_with("does not take them: selector"),
        "{report:?}"
    );
    let on: &[&str] = &["DeploymentConfig=true"];
    let report = of()
        .olm("1.11", Some(on))
        .gives("can_move", [&[], &["config-field"], &["settings-lost"]]);
    assert_eq!(at(&report, INLINE), deployment);
    for (release, gates) in [
        ("1.11", Some(&["DeploymentConfig=false"][..])),
        ("1.8", None),
    ] {
        let report = of().olm(release, gates).only();
        assert_eq!(
            (report.verdict, at(&report, "/spec/config")),
            ("can_move", Value::Null)
        );
        let lost = report
            .changes
            .iter()
            .find(|one| one.id == "settings-lost")
            .unwrap();
        assert!(
            lost.text.ends_with("does not take them: env, selector"),
            "{lost:?}"
        );
    }
}

#[test]
fn a_service_account_is_needed_before_1_11() {
    let of = |release| {
        scene(ALL)
            .olm(release, None)
            .with(automatic("p.v1.2.0"))
            .with(group(&json!([])))
    };
    let report = of("1.10").gives("can_move", [&[], &["service-account"], &[]]);
    assert_eq!(at(&report, "/spec/serviceAccount/name"), "p-installer");
    let report = of("1.11").gives("can_move", [&[], &[], &[]]);
    assert_eq!(at(&report, "/spec/serviceAccount"), Value::Null);
}

// === The rest of the cluster ===

#[test]
fn a_package_is_installed_once() {
    let mut other = automatic("p.v1.2.0");
    other["metadata"]["namespace"] = json!("b");
    let report = scene(ALL).with(automatic("p.v1.2.0")).with(other).report();
    assert_eq!(report.count(MoveVerdict::Cannot), 2);
    assert!(
        report.subscriptions[0].obstacles[0]
            .text
            .starts_with("ns/sub also requests the package")
    );
    let extension = json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "mine"}, "spec": {"source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}}}});
    let scene = Scene {
        extensions: vec![extension],
        ..scene(ALL)
    };
    let scene = scene.with(automatic("p.v1.2.0")).with(group(&json!([])));
    scene.gives("cannot_move", [&["extension-exists"], &[], &[]]);
}

#[test]
fn a_dependency_and_a_dead_end_are_said() {
    let mut generated = subscription(&json!({"channel": "old"}), "p.v1.0.0");
    generated["metadata"]["annotations"] = json!({"olm.generated-by": "install-x"});
    let scene = scene(ALL).with(generated).with(group(&json!([])));
    scene.gives("can_move", [&[], &[], &["dependency"]]);
}

// === Other rules ===

#[test]
fn manual_approval_without_a_version_is_said() {
    let manual = json!({"installPlanApproval": "Manual"});
    let mut waiting = subscription(&manual, "");
    waiting["status"] = json!({});
    let scene = scene(ALL).with(waiting).with(group(&json!([])));
    scene.gives("can_move", [&[], &[], &["no-approval"]]);
}

/// operator-controller before 1.9 without the gate silently ignores the namespace.
#[test]
fn a_namespace_that_a_release_ignores_is_not_promised() {
    let both: &[&str] = &["AllNamespaces", "OwnNamespace"];
    let of = |gates| {
        scene(both)
            .olm("1.7", gates)
            .with(automatic("p.v1.2.0"))
            .with(group(&json!(["ns"])))
    };
    let needs: &[&str] = &["feature-gate", "config-field", "service-account"];
    of(None).gives("can_move", [&[], needs, &[]]);
    let off: &[&str] = &["SingleOwnNamespaceInstallSupport=false"];
    let report = of(Some(off));
    let report = report.gives(
        "can_move",
        [&[], &["service-account"], &["watches-all-namespaces"]],
    );
    assert_eq!(at(&report, "/spec/config"), Value::Null);
}

#[test]
fn an_operator_of_one_namespace_at_the_head_is_not_pinned() {
    let scene = scene(&["OwnNamespace"]).with(automatic("p.v1.2.0"));
    let report = scene.with(group(&json!(["ns"]))).only();
    assert_eq!(at(&report, VERSION), Value::Null, "{report:?}");
}

#[test]
fn two_operator_groups_are_as_good_as_none() {
    let mut second = group(&json!(["ns"]));
    second["metadata"]["name"] = json!("second");
    let scene = scene(ALL).with(automatic("p.v1.2.0")).with(second);
    let scene = scene.with(group(&json!([])));
    scene.gives("can_move", [&[], &[], &["namespaces-assumed"]]);
}
