//! The policies of a cluster, in a check against it and in a snapshot of it.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::scene::{LIVE, Scene};

const GROUP: &str = "/apis/olmguard.dev/v1alpha1";
pub(super) const POLICIES: &str = "/apis/olmguard.dev/v1alpha1/upgradepolicies";
const GUARDRAILS: &str = "/apis/olmguard.dev/v1alpha1/upgradeguardrails";

pub(super) fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": kind,
        "metadata": {"name": name, "uid": "1", "resourceVersion": "7"},
        "spec": spec, "status": {"matched": 1},
    })
}

pub(super) fn list(objects: &[Value]) -> String {
    json!({"metadata": {"resourceVersion": "9"}, "items": objects}).to_string()
}

/// Returns a scene whose cluster has these objects and 1.2.0 installed. `a.yaml` requests 1.3.0.
fn scene(policies: &[Value], guardrails: &[Value]) -> Scene {
    let scene = Scene::new();
    scene.installed("1.2.0");
    scene.api.answer(POLICIES, StatusCode::OK, &list(policies));
    scene
        .api
        .answer(GUARDRAILS, StatusCode::OK, &list(guardrails));
    scene
}

fn patches_only() -> Value {
    object(
        "UpgradePolicy",
        "patches",
        &json!({"rules": {"step": "Patch"}}),
    )
}

fn migration() -> Value {
    let rule = json!({"id": "by-hand", "kind": "PassThrough", "via": ">=1.2.5 <1.3.0", "reason": "migrates"});
    object(
        "UpgradeGuardrails",
        "lantern",
        &json!({"package": "lantern-operator", "rules": [rule]}),
    )
}

#[test]
fn a_policy_of_the_cluster_denies_and_a_file_replaces_it() {
    let scene = scene(&[patches_only()], &[]);
    let (code, result, stderr) = scene.judged(LIVE);
    assert_eq!((code, stderr.as_str()), (Some(1), ""));
    assert_eq!(result["token"], "Policy");
    assert_eq!(result["policies"][0]["policy"], "patches");
    let wider = object(
        "UpgradePolicy",
        "patches",
        &json!({"rules": {"step": "Minor"}}),
    );
    scene.write("wider.yaml", &wider.to_string());
    assert_eq!(
        scene.token(&["--policy=wider.yaml"]),
        (Some(0), "Resolved".to_owned())
    );
    assert_eq!(
        scene.token(&["-f=wider.yaml"]),
        (Some(0), "Resolved".to_owned())
    );
}

#[test]
fn guardrails_of_the_cluster_are_named_by_their_object() {
    let scene = scene(&[], &[migration()]);
    let (code, result, _) = scene.judged(LIVE);
    assert_eq!((code, &result["token"]), (Some(1), &json!("Guardrail")));
    let message = result["message"].as_str().expect("a text");
    let by = "by an administrator, in UpgradeGuardrails lantern";
    assert!(message.contains(by), "{message}");
}

#[test]
fn a_snapshot_has_the_policies_as_they_were_written() {
    let scene = scene(&[patches_only()], &[migration()]);
    let save = ["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];
    let ran = scene.run(&save);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout, "saved: 1 catalog, 1 with content, 2 policies\n");
    let (live, saved) = (
        scene.judged(LIVE),
        scene.judged(&["--snapshot=saved", "--installed=a=1.2.0"]),
    );
    assert_eq!(live, saved);
    assert_eq!(live.0, Some(1));
    let shown = scene.run(&["snapshot", "show", "saved"]).stdout;
    let policies = "Policies  UpgradePolicy patches, UpgradeGuardrails lantern\n";
    assert!(shown.contains(policies), "{shown}");
}

#[test]
fn policies_that_may_not_be_listed_leave_the_answer_open() {
    let scene = scene(&[patches_only()], &[]);
    scene.api.answer(POLICIES, StatusCode::FORBIDDEN, "no");
    let kinds = json!({"kind": "APIResourceList", "groupVersion": "olmguard.dev/v1alpha1", "resources": [
        {"name": "upgradepolicies", "singularName": "", "namespaced": false, "kind": "UpgradePolicy", "verbs": ["list"]},
    ]});
    scene.api.answer(GROUP, StatusCode::OK, &kinds.to_string());
    let told = "policies are unknown: cannot list upgradepolicies.olmguard.dev: the API server answers \
                403: no; grant the verb \"list\" on them\n";
    let (code, result, stderr) = scene.judged(LIVE);
    assert_eq!(
        (code, &result["token"]),
        (Some(4), &json!("PoliciesUnknown"))
    );
    assert_eq!(result["verdict"], "undecided");
    assert!(stderr.contains(told), "{stderr}");
    let ran = scene.run(&["snapshot", "save", "--kubeconfig=kubeconfig", "saved"]);
    assert_eq!(ran.code, Some(4));
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let (code, result, stderr) = scene.judged(&["--snapshot=saved", "--installed=a=1.2.0"]);
    assert_eq!(
        (code, &result["token"]),
        (Some(4), &json!("PoliciesUnknown"))
    );
    assert!(stderr.contains(told), "{stderr}");
}

#[test]
fn a_cluster_without_the_kinds_has_no_policies() {
    let scene = scene(&[], &[]);
    for path in [POLICIES, GUARDRAILS] {
        scene.api.answer(path, StatusCode::FORBIDDEN, "no");
    }
    assert_eq!(scene.token(&[]), (Some(0), "Resolved".to_owned()));
}

/// The replicas report in the status that the API server does not check the permission. The policy then denies, here
/// too.
#[test]
fn a_policy_whose_permission_is_not_checked_denies_as_in_the_cluster() {
    let reported = |observed: u64| {
        let mut policy = object(
            "UpgradePolicy",
            "bypass",
            &json!({"rules": {"bypass": "ByPermission"}}),
        );
        policy["metadata"]["generation"] = json!(2);
        policy["status"] = json!({"conditions": [{
            "type": "Accepted", "status": "False", "reason": "PermissionNotChecked",
            "observedGeneration": observed,
        }]});
        policy
    };
    let current = scene(&[reported(2)], &[]);
    let live = current.judged(LIVE);
    assert_eq!((live.0, &live.1["token"]), (Some(1), &json!("Policy")));
    let save = ["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];
    assert_eq!(current.run(&save).code, Some(0));
    assert_eq!(
        current.judged(&["--snapshot=saved", "--installed=a=1.2.0"]),
        live
    );
    // The status belongs to an earlier spec.
    let earlier = scene(&[reported(1)], &[]);
    assert_eq!(earlier.token(&[]), (Some(0), "Resolved".to_owned()));
}

/// The answer of a suite must not depend on the day.
#[test]
fn a_suite_needs_a_time_for_the_windows_of_a_snapshot() {
    let windows = json!({"rules": {"windows": [{"schedule": "0 22 * * *", "duration": "1h"}]}});
    let scene = scene(&[object("UpgradePolicy", "nights", &windows)], &[]);
    let save = ["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];
    assert_eq!(scene.run(&save).code, Some(0));
    let suite = |at: &str| {
        format!(
            "schema: olmguard.test/v1\nsnapshot: saved\n{at}cases:\n- name: at night\n  extension: {{catalog: \
             {{packageName: lantern-operator, version: 1.3.0}}}}\n  installed: {{version: 1.2.0}}\n  \
             expect: {{verdict: deny}}\n"
        )
    };
    scene.write("suite.yaml", &suite(""));
    let ran = scene.run(&["test", "suite.yaml"]);
    let why = "error: suite.yaml: at is missing: expected the time of the edits, because the snapshot has upgrade \
               policies with windows\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), why));
    scene.write("suite.yaml", &suite("at: 2026-11-20T09:00:00Z\n"));
    assert_eq!(scene.run(&["test", "suite.yaml"]).code, Some(0));
    let each = suite("").replace(
        "- name: at night",
        "- name: at night\n  at: 2026-11-20T09:00:00Z",
    );
    scene.write("suite.yaml", &each);
    assert_eq!(scene.run(&["test", "suite.yaml"]).code, Some(0));
}
