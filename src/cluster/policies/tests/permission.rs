//! Whether the API server asks for the permission `bypass`.

use super::*;

const REGISTRATION: &str = "admissionregistration.k8s.io/v1";
const POLICIES_OF_API: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS_OF_API: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

fn expected() -> ExpectedPermission {
    ExpectedPermission {
        policies: vec![json!({"failurePolicy": "Fail"})],
        binding: json!({"validationActions": ["Deny"]}),
    }
}

fn object(spec: &Value) -> Value {
    json!({"metadata": {"name": BYPASS}, "spec": spec})
}

/// Waits until the one policy has this fault, or none.
async fn is_faulty(scene: &Scene, fault: Option<&str>) {
    let begun = Instant::now();
    loop {
        let current = scene.store.current().load_full();
        let policy = current.upgrades.iter().next();
        let found = policy.map(|policy| policy.faults().first().map(ToString::to_string));
        if found
            .as_ref()
            .is_some_and(|found| found.as_deref() == fault)
        {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_mins(10),
            "{found:?}, expected {fault:?}"
        );
        sleep(Duration::from_millis(10)).await;
    }
}

const NOT_CHECKED: &str = "spec.rules.bypass: ByPermission needs the ValidatingAdmissionPolicy of olmguard, \
     which is not in use here: install it, or write Deny";

#[tokio::test(start_paused = true)]
async fn by_permission_is_accepted_where_the_api_server_asks() {
    let api = cluster();
    api.serve(
        REGISTRATION,
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
    );
    api.serve(
        REGISTRATION,
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
    );
    api.put(
        UPGRADE_POLICIES,
        policy("a", &json!({"bypass": "ByPermission"})),
    );
    let scene = Scene::expecting(api, expected());
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    scene
        .api
        .put(POLICIES_OF_API, object(&expected().policies[0]));
    sleep(Duration::from_secs(1)).await;
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    scene.api.put(BINDINGS_OF_API, object(&expected().binding));
    is_faulty(&scene, None).await;
    // Somebody has switched it off.
    scene.api.put(
        BINDINGS_OF_API,
        object(&json!({"validationActions": ["Audit"]})),
    );
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    scene.api.put(BINDINGS_OF_API, object(&expected().binding));
    is_faulty(&scene, None).await;
    scene.api.delete(POLICIES_OF_API, BYPASS);
    is_faulty(&scene, Some(NOT_CHECKED)).await;
}

#[tokio::test(start_paused = true)]
async fn by_permission_is_not_accepted_where_that_cannot_be_known() {
    let api = cluster();
    api.put(
        UPGRADE_POLICIES,
        policy("a", &json!({"bypass": "ByPermission"})),
    );
    let scene = Scene::expecting(api, expected());
    is_faulty(&scene, Some(NOT_CHECKED)).await;
    let mut reports = scene.reports.clone();
    reports.changed().await.expect("it goes on");
    let words = "0 UpgradePolicy accepted, 1 not accepted and denying upgrades; the first: a: ";
    let words = format!("{words}{NOT_CHECKED}; 0 UpgradeGuardrails accepted");
    scene.says(Ok(&words)).await;
}
