//! The nightly audit of a cluster in `deploy/audit`, and the add-on in `deploy/fleet` that deploys it to many clusters.
//!
//! The template of the add-on is generated from the objects of the audit. `OLMGUARD_BLESS=1` writes it again.

use std::fmt::Write as _;
use std::process::Command;

use olmguard::manifest::documents;
use olmguard_fixtures::committed::compare;
use serde_json::{Value, json};

use crate::manifests::read;

#[test]
fn the_add_on_carries_the_objects_of_the_audit() {
    let committed = read("deploy/fleet/addon-template.yaml");
    let (head, _) = committed.split_once(LIST).expect("a list");
    let mut template = format!("{head}{LIST}");
    for file in FILES {
        for document in read(&format!("deploy/audit/{file}")).split("---\n") {
            item(&mut template, document);
        }
    }
    compare("deploy/fleet/addon-template.yaml", &template);
    let template = objects("deploy/fleet/addon-template.yaml");
    let carried = template[0].pointer("/spec/agentSpec/workload/manifests");
    let objects: Vec<_> = FILES
        .iter()
        .flat_map(|file| objects(&format!("deploy/audit/{file}")))
        .collect();
    assert_eq!(carried, Some(&Value::Array(objects)));
}

#[test]
fn the_objects_of_the_add_on_name_each_other() {
    let add_on = objects("deploy/fleet/cluster-management-addon.yaml").remove(0);
    let template = objects("deploy/fleet/addon-template.yaml").remove(0);
    let placement = objects("deploy/fleet/placement.yaml");
    assert_eq!(add_on["metadata"]["name"], template["spec"]["addonName"]);
    let config = &add_on["spec"]["supportedConfigs"][0]["defaultConfig"];
    assert_eq!(config["name"], template["metadata"]["name"]);
    let [namespace, binding, placement] = &placement[..] else {
        panic!("{placement:?}")
    };
    let strategy = &add_on["spec"]["installStrategy"]["placements"][0];
    for field in ["name", "namespace"] {
        assert_eq!(strategy[field], placement["metadata"][field], "{field}");
    }
    let place = &namespace["metadata"]["name"];
    for object in [binding, placement] {
        assert_eq!(&object["metadata"]["namespace"], place);
    }
    // A binding has the name of its cluster set.
    assert_eq!(binding["metadata"]["name"], binding["spec"]["clusterSet"]);
    assert_eq!(
        placement["spec"]["clusterSets"],
        json!([binding["spec"]["clusterSet"]])
    );
    let job = objects("deploy/audit/cronjob.yaml").remove(0);
    let watched = &template["spec"]["agentSpec"]["manifestConfigs"][0]["resourceIdentifier"];
    for field in ["name", "namespace"] {
        assert_eq!(watched[field], job["metadata"][field], "{field}");
    }
}

/// The container runs this version with existing flags. Each exit code except 4 and those of a crash ends the Job.
#[test]
fn the_job_runs_an_audit() {
    let job = objects("deploy/audit/cronjob.yaml").remove(0);
    let pod = job
        .pointer("/spec/jobTemplate/spec/template/spec")
        .expect("a pod");
    let container = &pod["containers"][0];
    let image = format!("olmguard:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(container["image"], json!(image));
    let args = container["args"].as_array().expect("a list");
    let args: Vec<_> = args
        .iter()
        .map(|arg| arg.as_str().expect("a text"))
        .collect();
    let mut audit = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let ran = audit
        .args(args)
        .arg("--kubeconfig=gone")
        .env_clear()
        .output();
    let ran = ran.expect("olmguard starts");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(
        stderr.starts_with("error: kubeconfig gone: no such file"),
        "{stderr}"
    );
    let rule = job.pointer("/spec/jobTemplate/spec/podFailurePolicy/rules/0/onExitCodes");
    let rule = rule.expect("a rule");
    assert_eq!(rule["containerName"], container["name"]);
    assert_eq!(rule["values"], json!([1, 2, 3]));
}

/// The limits are those of the webhook, because the audit loads the same catalogs.
#[test]
fn the_pod_is_limited_as_the_pods_of_the_webhook_are() {
    let job = objects("deploy/audit/cronjob.yaml").remove(0);
    let pod = job
        .pointer("/spec/jobTemplate/spec/template/spec")
        .expect("a pod");
    let webhook = objects("deploy/base/deployment.yaml").remove(0);
    let mut other = webhook
        .pointer("/spec/template/spec")
        .expect("a pod")
        .clone();
    // This is for volumes, which the audit does not have.
    let context = other["securityContext"].as_object_mut().expect("an object");
    context.remove("fsGroup");
    assert_eq!(pod["securityContext"], other["securityContext"]);
    for field in ["securityContext", "resources"] {
        let of = |pod: &Value| pod["containers"][0][field].clone();
        assert_eq!(of(pod), of(&other), "{field}");
    }
    assert_eq!(job["spec"]["concurrencyPolicy"], "Forbid");
    for field in [
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ] {
        assert!(job["spec"][field].is_u64(), "{field}");
    }
    assert!(
        job.pointer("/spec/jobTemplate/spec/activeDeadlineSeconds")
            .is_some()
    );
}

/// Writes an item of the list of manifests. Comments stay before the first key.
fn item(template: &mut String, document: &str) {
    let mut has_begun = false;
    for line in document.lines() {
        let begin = if has_begun || line.starts_with('#') {
            "  "
        } else {
            "- "
        };
        has_begun |= !line.starts_with('#');
        writeln!(template, "        {begin}{line}").expect("a String takes every write");
    }
}

fn objects(file: &str) -> Vec<Value> {
    let text = read(file);
    let objects = documents(text.as_bytes());
    objects.map(|object| object.expect("YAML").value).collect()
}

/// The line that ends the template's own part.
const LIST: &str = "      manifests:\n";

/// The objects in the order in which they are created.
const FILES: [&str; 4] = [
    "namespace.yaml",
    "rbac.yaml",
    "network-policy.yaml",
    "cronjob.yaml",
];
