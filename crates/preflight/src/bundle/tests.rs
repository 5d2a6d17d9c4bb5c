//! Each validator on a bundle of a few lines.

use serde_json::json;

use super::*;

fn csv(spec: &Value) -> Value {
    json!({"kind": "ClusterServiceVersion", "metadata": {"name": "p.v1"}, "spec": spec})
}

fn said(package: &str, objects: Vec<Value>) -> Vec<String> {
    let bundle = RegistryBundle::of(package, objects).unwrap();
    bundle
        .faults(11)
        .into_iter()
        .map(|fault| fault.upstream)
        .collect()
}

#[test]
fn a_bundle_needs_a_csv_and_the_last_one_counts() {
    assert_eq!(
        RegistryBundle::of("p", [json!({"kind": "Role"})]).unwrap_err(),
        NoBundle::NoCsv
    );
    let mut unread = csv(&json!({}));
    unread["metadata"]["annotations"] = json!({"olm.properties": "{"});
    assert_eq!(
        RegistryBundle::of("p", [unread]).unwrap_err(),
        NoBundle::Properties
    );
    let mut last = csv(&json!({"version": "2.0.0"}));
    last["metadata"]["name"] = json!("p.v2");
    let bundle = RegistryBundle::of("p", [csv(&json!({})), last]).unwrap();
    assert_eq!((bundle.name(), bundle.version()), ("p.v2", "2.0.0"));
}

#[test]
fn names_are_checked_once_and_in_order() {
    let deployments = json!([{"name": "b"}, {"name": "A"}, {"name": "b"}]);
    let spec = json!({"install": {"spec": {"deployments": deployments}},
        "customresourcedefinitions": {"owned": [{"name": "w"}, {"name": "x"}, {"name": "w"}]}});
    let crd = json!({"kind": "CustomResourceDefinition", "metadata": {"name": "x"}});
    let said = said(
        "",
        vec![
            csv(&spec),
            crd.clone(),
            crd,
            json!({"kind": "Pod", "metadata": {"name": "a"}}),
        ],
    );
    let starts = [
        "cluster service version contains duplicate strategy deployment spec 'b'",
        "invalid cluster service version strategy deployment name 'A': a lowercase RFC 1123 subdomain",
        "bundle contains duplicate custom resource definition 'x'",
        "cluster service definition references owned custom resource definition 'w' not found in bundle",
        "package name is empty",
        "unsupported resource \"a\" with kind \"Pod\"",
    ];
    assert_eq!(said.len(), starts.len(), "{said:?}");
    for (line, start) in said.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn webhooks_are_checked() {
    let webhook = |kind: &str, name: &str| {
        json!({"type": kind, "generateName": name, "deploymentName": "d", "conversionCRDs": ["w"],
            "rules": [{"apiGroups": ["*", "admissionregistration.k8s.io"], "resources": ["pods", "*"]}]})
    };
    let spec = json!({"webhookdefinitions": [
        webhook("ConversionWebhook", "c"), webhook("ConversionWebhook", "c"),
        webhook("ValidatingAdmissionWebhook", "v-")]});
    let said = said("p", vec![csv(&spec)]);
    let expected = [
        "bundle contains conversion webhook \"c\" and supports install modes []",
        "webhook of type 'ConversionWebhook' with name 'c' references non-existent deployment 'd'",
        "webhook of type 'ValidatingAdmissionWebhook' with name 'v-' references",
        "duplicate webhook 'c' of type 'ConversionWebhook'",
        "webhook of type 'ValidatingAdmissionWebhook' has invalid name 'v-': a lowercase",
        "conversion webhooks [c,c] reference same custom resource definition 'w'",
        "conversion webhook 'c' references custom resource definition 'w' not owned bundle",
        "cannot reference API group \"*\"",
        "cannot reference resource \"*\" for API group \"admissionregistration.k8s.io\"",
    ];
    assert!(
        !webhooks::is_configuration("*s")
            && webhooks::is_configuration("MutatingWebhookConfigurations")
    );
    for text in expected {
        assert!(
            said.iter().any(|line| line.contains(text)),
            "{text}: {said:#?}"
        );
    }
}

#[test]
fn a_conversion_webhook_needs_the_mode_of_all_namespaces_alone() {
    let webhooks = ["b", "a"].map(|name| {
        json!({"type": "ConversionWebhook", "generateName": name, "deploymentName": "d",
            "conversionCRDs": ["y", name, "x"]})
    });
    let said = |modes: &[&str]| {
        let modes = modes
            .iter()
            .map(|mode| json!({"type": mode, "supported": true}));
        let spec = json!({"installModes": modes.collect::<Vec<_>>(), "webhookdefinitions": webhooks,
            "install": {"spec": {"deployments": [{"name": "d"}]}}});
        said("p", vec![csv(&spec)])
    };
    let foreign = |webhook: &str, crd: &str| {
        format!(
            "conversion webhook '{webhook}' references custom resource definition '{crd}' not owned bundle"
        )
    };
    let all = said(&["AllNamespaces"]);
    assert_eq!(
        all[2..],
        [
            ("a", "a"),
            ("a", "x"),
            ("a", "y"),
            ("b", "b"),
            ("b", "x"),
            ("b", "y")
        ]
        .map(|(webhook, crd)| foreign(webhook, crd))
    );
    let other = said(&["Cluster", "AllNamespaces"]);
    let start = "bundle contains conversion webhook \"b\" and supports install modes [AllNamespaces Cluster] - ";
    assert!(
        other.iter().any(|line| line.starts_with(start)),
        "{other:#?}"
    );
}

#[test]
fn a_wrong_name_is_said_once_with_all_that_is_wrong() {
    let name = "A".repeat(254);
    let webhook =
        json!({"type": "ValidatingAdmissionWebhook", "generateName": name, "deploymentName": "d"});
    let spec = json!({"webhookdefinitions": [webhook, webhook],
        "install": {"spec": {"deployments": [{"name": "d"}]}}});
    let said = said("p", vec![csv(&spec)]);
    let wrong: Vec<_> = said
        .iter()
        .filter(|line| line.contains("has invalid name"))
        .collect();
    let [wrong] = wrong.as_slice() else {
        panic!("{wrong:#?}");
    };
    assert!(
        wrong.contains(": a lowercase RFC 1123 subdomain"),
        "{wrong}"
    );
    assert!(
        wrong.ends_with(",must be no more than 253 characters"),
        "{wrong}"
    );
}

#[test]
fn before_1_9_kinds_are_refused_after_all_validators() {
    let pod = json!({"kind": "Pod", "metadata": {"name": "a"}});
    let said = |package: &str| {
        let bundle = RegistryBundle::of(package, [csv(&json!({})), pod.clone()]).unwrap();
        let faults = bundle.faults(8).into_iter();
        faults.map(|fault| fault.upstream).collect::<Vec<_>>()
    };
    assert_eq!(said(""), ["package name is empty"]);
    assert_eq!(
        said("p"),
        ["bundle contains unsupported resource: Name: a, Kind: Pod"]
    );
}

#[test]
fn releases_that_are_known_to_refuse_a_kind_do() {
    for (kind, last) in [
        ("PodMonitor", 5),
        ("NetworkPolicy", 2),
        ("ConsolePlugin", 2),
    ] {
        let object = json!({"kind": kind, "metadata": {"name": "a"}});
        let bundle = RegistryBundle::of("p", [csv(&json!({})), object]).unwrap();
        let refuses = |minor| !bundle.faults(minor).is_empty();
        assert_eq!([last, last + 1].map(refuses), [true, false], "{kind}");
    }
}

#[test]
fn before_1_6_it_does_not_matter_what_webhooks_are_for() {
    let webhook = json!({"type": "ValidatingAdmissionWebhook", "generateName": "v.example.com", "deploymentName": "x",
        "rules": [{"apiGroups": ["*"], "resources": ["*"]}]});
    let said = |listed: &[&str], minor| {
        let modes = listed.iter();
        let modes = modes.map(|mode| json!({"type": mode, "supported": *mode == "AllNamespaces"}));
        let spec =
            json!({"webhookdefinitions": [webhook], "installModes": modes.collect::<Vec<_>>()});
        let bundle = RegistryBundle::of("p", [csv(&spec)]).unwrap();
        let faults = bundle.faults(minor).into_iter();
        faults.map(|fault| fault.upstream).collect::<Vec<_>>()
    };
    let deployment = "webhook of type 'ValidatingAdmissionWebhook' with name 'v.example.com' references non-existent deployment 'x'";
    let rule = "webhook \"v.example.com\" contains forbidden rule: admission webhook rules cannot reference API group \"*\"";
    let all = &["AllNamespaces"];
    assert_eq!(said(all, 2), [""; 0]);
    assert_eq!(said(all, 3), [deployment]);
    assert_eq!(said(all, 6), [deployment, rule]);
    // The rule counts even modes that are listed as not supported.
    let modes =
        "bundle contains webhook definitions but supported install modes beyond AllNamespaces";
    let both = &["AllNamespaces", "OwnNamespace"];
    assert_eq!(said(both, 5), [modes, deployment]);
    assert_eq!(said(&[], 5), [modes, deployment]);
    assert_eq!(said(both, 6), [deployment, rule]);
}

#[test]
fn the_name_of_an_admission_webhook_has_three_segments() {
    let named = |names: &[&str]| {
        let webhooks = names.iter().zip(KINDS.iter().cycle());
        let webhooks = webhooks.map(|(name, kind)| json!({"type": kind, "generateName": name}));
        let csv = csv(&json!({"webhookdefinitions": webhooks.collect::<Vec<_>>()}));
        RegistryBundle::of("p", [csv]).unwrap()
    };
    for (names, short) in [
        (&["v.p.io", "m.p.io", "a.b.c.d"][..], &[][..]),
        (&["v.p", "m.p.io", "c"], &["v.p"]),
        (&["z", "a-", "c", "z"], &["a", "z"]),
        (&["v.p.io-", "m.p-"], &["m.p"]),
    ] {
        let bundle = named(names);
        assert_eq!(bundle.short_webhook_names(3), short, "{names:?}");
        let kept = bundle.without_schemas();
        assert_eq!(kept.short_webhook_names(11), short, "{names:?}");
        assert_eq!(bundle.short_webhook_names(2), [""; 0], "{names:?}");
    }
}

const KINDS: [&str; 3] = [
    "ValidatingAdmissionWebhook",
    "MutatingAdmissionWebhook",
    "ConversionWebhook",
];
