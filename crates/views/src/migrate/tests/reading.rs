//! Reading of objects, and the texts of the report.

use super::*;

// === Reading ===

#[test]
fn what_cannot_be_used_names_its_field() {
    let mut cases = Vec::new();
    for (path, value) in [
        ("/metadata/namespace", json!("")),
        ("/metadata/namespace", json!("a b")),
        ("/metadata/name", json!("; rm")),
        ("/spec/name", Value::Null),
        ("/spec/channel", json!(1)),
        ("/spec/config", json!([])),
        ("/status/installedCSV", json!("a/../b")),
    ] {
        let mut object = automatic("p.v1.0.0");
        *object.pointer_mut(path).unwrap_or(&mut Value::Null) = value.clone();
        if path == "/spec/config" {
            object["spec"]["config"] = value;
        }
        let error = ClassicObjects::default()
            .add(&object)
            .unwrap_err()
            .to_string();
        cases.push(error);
    }
    assert_eq!(
        cases,
        [
            "Subscription \"sub\": metadata.namespace is \"\": expected a string that is not empty",
            "Subscription \"sub\": metadata.namespace is \"a b\": expected a DNS label",
            "Subscription: metadata.name is \"; rm\": expected a DNS subdomain",
            "Subscription \"sub\": spec.name is null: expected a string that is not empty",
            "Subscription \"sub\": spec.channel is 1: expected a string",
            "Subscription \"sub\": spec.config is a list: expected an object",
            "Subscription \"sub\": status.installedCSV is \"a/../b\": expected a DNS subdomain",
        ]
    );
}

#[test]
fn one_object_can_be_given_twice_and_two_cannot() {
    let mut objects = ClassicObjects::default();
    assert_eq!(objects.add(&automatic("p.v1.0.0")), Ok(()));
    assert_eq!(objects.add(&automatic("p.v1.0.0")), Ok(()));
    let error = objects.add(&automatic("p.v1.1.0")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Subscription \"sub\" in namespace \"ns\" is defined twice, with different content: give one cluster at a time"
    );
    assert_eq!(objects.add(&json!({"kind": "Pod"})), Ok(()));
}

#[test]
fn a_selector_counts_by_what_it_selects() {
    let selecting = |status: &Value| {
        let spec = json!({"selector": {"matchLabels": {"a": "b"}}});
        let group = object("OperatorGroup", "group", &spec, status);
        let both = scene(&["AllNamespaces", "OwnNamespace", "SingleNamespace"]);
        both.with(automatic("p.v1.2.0")).with(group).only()
    };
    assert_eq!(selecting(&json!({})).obstacles[0].id, "namespace-unknown");
    let found = selecting(&json!({"namespaces": ["app"]}));
    assert_eq!(at(&found, INLINE), json!({"watchNamespace": "app"}));
    assert!(selecting(&json!({"namespaces": [""]})).changes.is_empty());
    // That OLM cannot watch all namespaces is no obstacle as long as another scope may be meant.
    let narrow = scene(&["OwnNamespace", "SingleNamespace"]);
    let found = narrow.with(automatic("p.v1.2.0")).only();
    let obstacles = found.obstacles.iter().map(|one| one.id);
    assert_eq!(obstacles.collect::<Vec<_>>(), ["namespace-unknown"]);
}

// === Words ===

#[test]
fn the_text_says_the_result_first() {
    let spec = json!({"installModes": [{"type": "AllNamespaces", "supported": true}],
        "customresourcedefinitions": {"owned": [{"name": "w.example.com"}]}});
    let report = scene(ALL)
        .with(automatic("p.v1.0.0"))
        .with(group(&json!([])))
        .with(csv("p.v1.0.0", &spec))
        .report();
    let expected = "\
1 Subscription to OLM 1.11: 1 can move

ns/sub (p 1.0.0): can move to OLM v1
Catalog       hub, for CatalogSource olm/hub
Upgrades      automatic without the version: 1.1.0 -> 1.2.0
";
    let text = report.to_text().to_string();
    assert!(text.starts_with(expected), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    let empty = scene(ALL).report();
    assert_eq!(empty.to_text().to_string(), "no Subscription\n");
}

#[test]
fn a_manifest_says_why_it_is_so() {
    let report = scene(ALL)
        .olm("1.10", None)
        .with(automatic("p.v1.0.0"))
        .with(group(&json!(["ns"])))
        .report();
    let moved: Vec<_> = report.extensions().collect();
    assert_eq!(
        moved[0].comment,
        [
            "Subscription ns/sub of package p",
            "selector: ClusterCatalog hub for CatalogSource olm/hub",
            "version: the version of OLM v0; remove it after the installation, for",
            "automatic upgrades",
            "Needed: ServiceAccount p-installer, which can create and manage each object of",
            "the bundle, and has all permissions that the bundle grants",
            "Changes: the operator watches all namespaces, no longer only ns",
        ]
    );
    assert_eq!(report.refusals().count(), 0);
}

// === Any JSON ===

/// Collects the paths of all values below this one.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let below: Vec<_> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(items) => (0..)
            .zip(items)
            .map(|(index, item): (usize, _)| (index.to_string(), item))
            .collect(),
        _ => Vec::new(),
    };
    for (key, value) in below {
        paths(value, &format!("{at}/{key}"), found);
    }
}

/// Another value in any place of an object is either refused or reported.
#[test]
fn any_value_in_any_place_is_refused_or_reported() {
    let spec = json!({"installModes": [{"type": "OwnNamespace", "supported": true}],
        "customresourcedefinitions": {"owned": [{"name": "w.example.com"}]},
        "apiservicedefinitions": {"owned": []}, "webhookdefinitions": [{"generateName": "w"}]});
    let config = json!({"config": {"env": [], "selector": {}, "nodeSelector": {"a": "b"}}});
    let objects = [
        subscription(&config, "p.v1.0.0"),
        csv("p.v1.0.0", &spec),
        group(&json!(["ns"])),
        object(
            "CatalogSource",
            "hub",
            &json!({"image": "x:1"}),
            &Value::Null,
        ),
    ];
    let values = [
        Value::Null,
        json!(true),
        json!(-1.5e300),
        json!(""),
        json!("\u{202e}\n: é"),
        json!([[]]),
        json!({"": {}}),
    ];
    let mut reported = 0;
    for (place, whole) in objects.iter().enumerate() {
        let mut all = Vec::new();
        paths(whole, "", &mut all);
        for (path, value) in all
            .iter()
            .flat_map(|path| values.iter().map(move |it| (path, it)))
        {
            let mut changed = objects.clone();
            if let Some(at) = changed[place].pointer_mut(path) {
                *at = value.clone();
            }
            let mut known = ClassicObjects::default();
            let errors = changed.iter().filter_map(|it| known.add(it).err());
            let errors: Vec<_> = errors.map(|error| error.to_string()).collect();
            assert!(
                errors.iter().all(|text| !text.contains('\u{202e}')),
                "{errors:?}"
            );
            let mut scene = scene(&["OwnNamespace"]);
            scene.objects = changed.to_vec();
            scene.has_csvs = false;
            if errors.is_empty() {
                let text = scene.report().to_text().to_string();
                assert!(!text.contains('\u{202e}'), "{text}");
                reported += 1;
            }
        }
    }
    assert!(reported > 200, "{reported}");
}
