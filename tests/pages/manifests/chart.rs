//! The manifests rendered from the values of the Helm chart, beyond what `cargo xtask render` compares with kustomize.
//!
//! Helm is searched in the directories of `OLMGUARD_E2E_BIN`, then on the PATH.
#![expect(clippy::print_stdout, reason = "a run says what it left out")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use olmguard::manifest::documents;
use olmguard_support::programs::find;
use serde_json::{Value, json};

use crate::manifests::{ROOT, read};

#[test]
fn guardrails_are_mounted_where_the_flag_names_them() {
    let Some(rendered) = rendered(&json!({ "guardrails": guardrails() })) else {
        return;
    };
    let objects = rendered.expect("objects");
    let map = object(&objects, "ConfigMap", "olmguard-guardrails");
    let text = map["data"]["guardrails.yaml"].as_str().expect("a text");
    let read: Vec<_> = parsed(text);
    assert_eq!(Value::from(read), guardrails());
    let pod = &object(&objects, "Deployment", "olmguard")["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let mount = named(&container["volumeMounts"], "guardrails");
    let flag = named(&container["env"], "OLMGUARD_GUARDRAILS");
    let directory = mount["mountPath"].as_str().expect("a path");
    assert_eq!(flag["value"], format!("{directory}/guardrails.yaml"));
    // A file mounted with subPath is never updated.
    assert!(mount.get("subPath").is_none(), "{mount}");
    let volume = named(&pod["volumes"], "guardrails");
    assert_eq!(volume["configMap"]["name"], map["metadata"]["name"]);
}

#[test]
fn guardrails_in_two_places_are_refused() {
    let values =
        json!({ "guardrails": guardrails(), "settings": { "guardrails": "/more/g.yaml" } });
    refused(&values, "guardrails and settings.guardrails are both set");
}

#[test]
fn more_volumes_are_mounted() {
    let values = json!({
        "extraVolumes": [{ "name": "more", "configMap": { "name": "rules" } }],
        "extraVolumeMounts": [{ "name": "more", "mountPath": "/more" }],
    });
    let Some(rendered) = rendered(&values) else {
        return;
    };
    let objects = rendered.expect("objects");
    let pod = &object(&objects, "Deployment", "olmguard")["spec"]["template"]["spec"];
    assert_eq!(named(&pod["volumes"], "more")["configMap"]["name"], "rules");
    let mounts = &pod["containers"][0]["volumeMounts"];
    assert_eq!(named(mounts, "more")["mountPath"], "/more");
}

#[test]
fn a_typo_is_refused() {
    for (values, expected) in [
        (json!({ "settings": { "moed": "observe" } }), "moed"),
        (json!({ "settings": { "mode": "obsrve" } }), "settings.mode"),
        (
            json!({ "settings": { "shutdown-delay": 10 } }),
            "shutdown-delay",
        ),
        // YAML reads this as the number 1.1.
        (json!({ "settings": { "olm-release": 1.1 } }), "olm-release"),
        (
            json!({ "guardrails": [{ "schema": "olmguard.guardrails.v1alpha1" }] }),
            "package",
        ),
        (json!({ "extraVolume": [] }), "extraVolume"),
    ] {
        refused(&values, expected);
    }
}

#[test]
fn prometheus_gets_its_objects_with_the_labels_that_it_selects() {
    let on = json!({ "enabled": true, "labels": { "release": "prometheus" } });
    let values = json!({ "metrics": { "serviceMonitor": on, "prometheusRule": on } });
    let Some(rendered) = rendered(&values) else {
        return;
    };
    let objects = rendered.expect("objects");
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        let labels = &object(&objects, kind, "olmguard")["metadata"]["labels"];
        assert_eq!(labels["release"], "prometheus", "{kind}");
    }
    let rules = parsed(&read("deploy/monitoring/olmguard-rules.yaml"));
    let spec = &object(&objects, "PrometheusRule", "olmguard")["spec"];
    assert_eq!(spec, &rules[0]);
}

#[test]
fn metrics_over_tls_with_a_self_managed_certificate_need_a_named_ca() {
    let mut values =
        json!({ "metrics": { "secure": true, "serviceMonitor": { "enabled": true } } });
    refused(&values, "metrics.serviceMonitor.ca is empty");
    let ca = json!({ "configMap": { "name": "ca", "key": "ca.crt" } });
    values["metrics"]["serviceMonitor"]["ca"] = ca.clone();
    let Some(rendered) = rendered(&values) else {
        return;
    };
    let objects = rendered.expect("objects");
    let monitor = object(&objects, "ServiceMonitor", "olmguard");
    assert_eq!(monitor["spec"]["endpoints"][0]["tlsConfig"]["ca"], ca);
}

/// A new user needs no more commands than the page promises.
#[test]
fn the_page_installs_in_a_few_commands() {
    for (heading, most) in [("Install in three commands", 3), ("Install on kind", 5)] {
        let commands = commands("docs/install.md", heading);
        assert!(commands.len() <= most, "{heading}: {commands:?}");
        let install = commands.iter().find(|command| command.starts_with("helm"));
        let values = install.and_then(|line| line.split_once("--set "));
        let (_, values) = values.expect("values");
        let values = values.split(',').filter_map(|value| value.split_once('='));
        for (name, value) in values {
            let path = name.replace('.', "/properties/");
            let schema: Value =
                serde_json::from_str(&read("deploy/chart/values.schema.json")).expect("JSON");
            let known = schema.pointer(&format!("/properties/{path}"));
            let known = known.unwrap_or_else(|| panic!("no value {name}"));
            assert!(jsonschema::is_valid(known, &json!(value)), "{name}={value}");
        }
    }
}

/// Returns the commands of a section, each on one line.
fn commands(page: &str, heading: &str) -> Vec<String> {
    let page = read(page);
    let (_, section) = page
        .split_once(&format!("\n## {heading}\n"))
        .expect(heading);
    let (_, block) = section.split_once("```sh\n").expect("commands");
    let (block, _) = block.split_once("```").expect("the end of the commands");
    let lines = block.replace(" \\\n", "");
    lines.lines().map(str::to_owned).collect()
}

/// The schema of the values has the keys and the kinds of guardrails.
#[test]
fn the_values_know_every_key_of_guardrails() {
    let json = |file: &str| -> Value { serde_json::from_str(&read(file)).expect("JSON") };
    let schema = json("schemas/olmguard.guardrails.v1alpha1.json");
    let values = json("deploy/chart/values.schema.json");
    let document = &values["properties"]["guardrails"]["items"];
    assert_eq!(keys(document), keys(&schema));
    for field in ["schema", "package", "graph"] {
        for keyword in ["const", "enum"] {
            let of = |schema: &Value| schema["properties"][field].get(keyword).cloned();
            assert_eq!(of(document), of(&schema), "{field}");
        }
    }
    let rules = &document["properties"]["rules"];
    assert_eq!(rules["maxItems"], schema["properties"]["rules"]["maxItems"]);
    let kinds = |rule: &Value| rule["properties"]["kind"]["enum"].clone();
    assert_eq!(kinds(&rules["items"]), kinds(&schema["$defs"]["rule"]));
    let defs = schema["$defs"].as_object().expect("kinds");
    let of_kinds: BTreeSet<_> = defs.values().flat_map(keys).collect();
    assert_eq!(keys(&rules["items"]), of_kinds);
}

fn keys(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(key, _)| key.clone()).collect()
}

/// Returns the objects of the chart with these values or the error of Helm, or `None` without Helm.
fn rendered(values: &Value) -> Option<Result<Vec<Value>, String>> {
    let Some(helm) = find("helm") else {
        println!("left out: helm, in no directory of OLMGUARD_E2E_BIN and not on the PATH");
        return None;
    };
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), values.to_string()).expect("a file");
    let output = Command::new(helm)
        .args(["template", "olmguard", "deploy/chart"])
        .args(["--namespace", "olmguard-system", "--kube-version", "1.30.0"])
        .arg("--values")
        .arg(file.path())
        .current_dir(ROOT)
        .output()
        .expect("helm starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(if output.status.success() {
        Ok(parsed(&text(&output.stdout)))
    } else {
        Err(text(&output.stderr))
    })
}

#[track_caller]
fn refused(values: &Value, expected: &str) {
    let Some(rendered) = rendered(values) else {
        return;
    };
    let said = rendered.expect_err("helm refuses these values");
    assert!(said.contains(expected), "{said}");
}

#[track_caller]
fn object<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let mut found = objects
        .iter()
        .filter(|object| object["kind"] == kind)
        .filter(|object| {
            object
                .pointer("/metadata/name")
                .is_some_and(|found| found == name)
        });
    found.next().expect("an object of this kind and name")
}

#[track_caller]
fn named<'l>(list: &'l Value, name: &str) -> &'l Value {
    let mut list = list.as_array().expect("a list").iter();
    list.find(|one| one["name"] == name).expect(name)
}

fn parsed(text: &str) -> Vec<Value> {
    let objects = documents(text.as_bytes());
    let objects = objects.map(|object| object.expect("YAML").value);
    objects.filter(|object| !object.is_null()).collect()
}

fn guardrails() -> Value {
    json!([
        {
            "schema": "olmguard.guardrails.v1alpha1",
            "package": "lantern-operator",
            "rules": [
                { "id": "via", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0-0", "reason": "1.3 migrates" },
                { "id": "slowly", "kind": "MaxMinorStep", "step": 1 },
            ],
        },
        { "schema": "olmguard.guardrails.v1alpha1", "package": "other" },
    ])
}
