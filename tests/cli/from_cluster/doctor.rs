//! `olmguard doctor`: its findings in a cluster, and its exit code.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::guarded::{
    CONFIGURATION, DEPLOYMENT, PROXY, REVIEWS, SERVICE, SLICES, VERSION, certificates,
    configuration, deployment, says_of_itself, scene, slices, status,
};
use super::scene::{Ran, Scene};
use olmguard_support::api_server::EXTENSIONS;
use olmguard_support::schema::assert_fits;

fn doctor(scene: &Scene, flags: &[&str]) -> Ran {
    scene.run(&[&["doctor", "--kubeconfig=kubeconfig"], flags].concat())
}

/// Returns the state, the check, and the start of the finding, of all checks that are not healthy.
fn ill(ran: &Ran) -> Vec<String> {
    let is_ill = |line: &&str| {
        ["warn ", "unknown ", "fail "]
            .iter()
            .any(|state| line.starts_with(state))
    };
    ran.stdout
        .lines()
        .filter(is_ill)
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_guard_that_is_well_is_told_check_by_check() {
    let ran = doctor(&scene(), &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let (expiry, others): (Vec<_>, Vec<_>) =
        ran.stdout.lines().partition(|line| line.contains("expiry"));
    let begin = "ok       expiry          the certificate of olmguard-1 is valid until \
                 4096-01-01T00:00:00Z, for ";
    assert_eq!(expiry.len(), 1);
    assert!(expiry[0].starts_with(begin), "{}", expiry[0]);
    let (proof, others): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|line| line.contains("round-trip"));
    assert!(
        proof[0].starts_with("ok       round-trip      denied within "),
        "{}",
        proof[0]
    );
    assert!(proof[0].ends_with("[InvalidSelector]"), "{}", proof[0]);
    let expected = format!(
        "\
ok       configuration   olmguard has the webhook validate.olmguard.dev
ok       shipped         as this version ships it
ok       failure-policy  Ignore: API servers allow an edit without a message if they cannot call olmguard
ok       timeout         5 s
ok       service         olmguard-system/olmguard, ClusterIP, port 443 forwards to 9443
ok       endpoints       1 ready: olmguard-1 (10.0.0.1)
ok       deployment      olmguard-system/olmguard, 1 of 1 ready
ok       replica         olmguard-1: ready
ok       version         olmguard-1: {VERSION}
ok       catalogs        olmguard-1: 1 of 1 loaded
ok       olm             olmguard-1: OLM 1.11 (image tag v1.11.0), no feature gates
ok       ca-bundle       trusts the certificate of olmguard-1
ok       server-name     the certificate of olmguard-1 is for olmguard.olmguard-system.svc
ok       permissions     system:serviceaccount:olmguard-system:olmguard has all 19 rights that it needs
ok       policies        none in this cluster

17 ok"
    );
    assert_eq!(others.join("\n"), expected);
}

#[test]
fn nothing_is_changed_and_the_creation_is_a_dry_run() {
    let scene = scene();
    doctor(&scene, &[]);
    let asked = scene.api.asked();
    let writes = asked.iter().filter(|(method, _)| method != "GET");
    let mut writes: Vec<_> = writes
        .map(|(method, path)| (method.as_str(), path.as_str()))
        .collect();
    writes.dedup();
    assert_eq!(writes, [("POST", REVIEWS), ("POST", EXTENSIONS)]);
    let queries = scene.api.queries(EXTENSIONS);
    assert_eq!(queries, ["dryRun=All"]);
}

#[test]
fn json_tells_the_same_and_fits_its_schema() {
    let scene = scene();
    scene.api.put(CONFIGURATION, &configuration(None));
    let ran = doctor(&scene, &["-o", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("schemas/olmguard.doctor.v1.json", &report);
    assert_eq!(
        report["summary"],
        json!({"ok": 16, "warn": 0, "unknown": 1, "fail": 1})
    );
    let checks = report["checks"].as_array().expect("a list");
    let bundle = checks
        .iter()
        .find(|one| one["check"] == "ca-bundle")
        .expect("it is there");
    assert_eq!(bundle["state"], "fail");
    assert_eq!(bundle["found"], "the webhook has no caBundle");
}

#[test]
fn a_bundle_of_another_authority_and_a_webhook_that_was_changed_are_told() {
    let scene = scene();
    let mut changed = configuration(Some(&certificates("other").ca));
    let webhook = &mut changed["webhooks"][0];
    webhook["rules"][0]["operations"] = json!(["CREATE"]);
    webhook["failurePolicy"] = json!("Fail");
    webhook["timeoutSeconds"] = json!(30);
    scene.api.put(CONFIGURATION, &changed);
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(1));
    let ill = ill(&ran);
    let begins = [
        "fail     shipped         rules is [{\"apiGroups\":[\"olm.operatorframework.io\"],",
        "warn     timeout         30 s, this version ships 5 s",
        "fail     ca-bundle       does not trust the certificate of olmguard-1: it is issued by \
         CN=guard, but the trusted CAs are CN=other",
    ];
    assert_eq!(ill.len(), begins.len(), "{ill:#?}");
    for (line, begin) in ill.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
    let note =
        "ok       failure-policy  Fail: API servers deny an edit if they cannot call olmguard\n";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
}

#[test]
fn a_guard_that_only_observes_is_a_warning() {
    let scene = scene();
    scene.api.answer(EXTENSIONS, StatusCode::CREATED, "{}");
    scene.api.warn(
        EXTENSIONS,
        "allowed in observe mode: a \"b\" [InvalidSelector]",
    );
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ill(&ran),
        [
            "warn     round-trip      called, but olmguard only observes: allowed in observe mode: \
             a \"b\" [InvalidSelector]"
        ]
    );
    assert_eq!(doctor(&scene, &["--warn-as-error"]).code, Some(1));
}

#[test]
fn an_edit_that_goes_through_with_nothing_said_is_a_failure() {
    let scene = scene();
    scene.api.answer(EXTENSIONS, StatusCode::CREATED, "{}");
    scene.api.put(DEPLOYMENT, &deployment(0));
    scene.api.put(SLICES, &json!({"items": [], "metadata": {}}));
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(1));
    let cause = "cause  failurePolicy Ignore hides that the call failed; the likely cause is \
                 endpoints (the Service has no endpoints), deployment (olmguard-system/olmguard, 0 \
                 of 1 ready)\n";
    assert!(ran.stdout.contains(cause), "{}", ran.stdout);
}

#[test]
fn objects_that_are_not_there_are_failures() {
    let scene = scene();
    for path in [CONFIGURATION, SERVICE, DEPLOYMENT] {
        let gone = status(404, "NotFound", "not found");
        scene.api.answer(path, StatusCode::NOT_FOUND, &gone);
    }
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ill(&ran)[..3],
        [
            "fail     configuration   ValidatingWebhookConfiguration \"olmguard\" does not exist",
            "fail     service         Service olmguard-system/olmguard does not exist",
            "warn     deployment      Deployment olmguard-system/olmguard does not exist",
        ]
    );
}

#[test]
fn what_may_not_be_seen_is_unknown_and_no_failure_of_the_guard() {
    let scene = scene();
    let paths = [CONFIGURATION, SERVICE, SLICES, DEPLOYMENT, REVIEWS];
    for path in paths {
        let no = status(403, "Forbidden", "no");
        scene.api.answer(path, StatusCode::FORBIDDEN, &no);
    }
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(0), "the proof is there: {}", ran.stdout);
    assert!(
        ill(&ran).iter().all(|line| line.starts_with("unknown ")),
        "{}",
        ran.stdout
    );
    let no = "clusterextensions.olm.operatorframework.io is forbidden: User \"eve\" cannot create \
              resource \"clusterextensions\" in API group \"olm.operatorframework.io\"";
    scene.api.answer(
        EXTENSIONS,
        StatusCode::FORBIDDEN,
        &status(403, "Forbidden", no),
    );
    assert_eq!(doctor(&scene, &[]).code, Some(4));
    assert_eq!(doctor(&scene, &["--warn-as-error"]).code, Some(1));
}

#[test]
fn a_replica_without_a_pod_is_asked_at_its_address() {
    let scene = scene();
    scene.api.put(SLICES, &slices(&Value::Null, "127.0.0.1"));
    let certificates = certificates("guard");
    scene
        .api
        .put(CONFIGURATION, &configuration(Some(&certificates.ca)));
    says_of_itself(&scene, "", &certificates.chain);
    let port = format!("--health-port={}", scene.api.port);
    let ran = doctor(&scene, &[&port]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ill(&ran), Vec::<String>::new());
    assert!(
        ran.stdout.contains("replica         127.0.0.1: ready\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_proxy_that_is_forbidden_says_so() {
    let scene = scene();
    scene.api.put(
        SLICES,
        &slices(&json!({"kind": "Pod", "name": "olmguard-1"}), "127.0.0.1"),
    );
    let no = status(403, "Forbidden", "pods \"olmguard-1:1\" is forbidden");
    let path = PROXY.replace(":8080", ":1");
    scene
        .api
        .answer(&format!("{path}/readyz"), StatusCode::FORBIDDEN, &no);
    let ran = doctor(&scene, &["--health-port=1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert_eq!(
        ill(&ran)[0],
        "unknown  replica         olmguard-1 could not be checked: the API server answers 403: pods \
         \"olmguard-1:1\" is forbidden"
    );
    let command = "run    kubectl auth can-i get pods --subresource=proxy -n olmguard-system\n";
    assert!(ran.stdout.contains(command), "{}", ran.stdout);
}

#[test]
fn a_replica_is_asked_for_json() {
    let scene = scene();
    doctor(&scene, &[]);
    let path = format!("{PROXY}/readyz");
    assert_eq!(scene.api.queries(&path), ["format=json"]);
}

#[test]
fn a_replica_of_a_release_that_answers_in_text_is_told_as_such() {
    let scene = scene();
    let text = "ready\n[+] catalogs: 0 of 1 loaded\n[+] olm: not known yet\n";
    let path = format!("{PROXY}/readyz");
    scene.api.answer(&path, StatusCode::OK, text);
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert_eq!(
        ill(&ran),
        [
            "unknown  replica         olmguard-1: cannot read the answer to /readyz?format=json: \
             the answer has no JSON form"
        ]
    );
    let command = "run    kubectl get deployment olmguard -n olmguard-system -o wide\n";
    assert!(ran.stdout.contains(command), "{}", ran.stdout);
    assert!(!ran.stdout.contains("0 of 1 loaded"), "{}", ran.stdout);
}

/// The proxy passes on a response that is not a Status of the API server.
#[test]
fn a_replica_that_is_not_ready_says_why() {
    let scene = scene();
    let leaving = json!({
        "schema": "olmguard.readiness/v1", "ready": false, "reason": "shutting down", "checks": [],
    });
    let path = format!("{PROXY}/readyz");
    let code = StatusCode::SERVICE_UNAVAILABLE;
    scene.api.answer(&path, code, &leaving.to_string());
    let ran = doctor(&scene, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert_eq!(
        ill(&ran)[0],
        "fail     replica         olmguard-1: not ready: shutting down"
    );
}

#[test]
fn other_names_are_asked_for() {
    let scene = scene();
    let flags = [
        "--namespace=a",
        "--service=b",
        "--deployment=c",
        "--webhook-configuration=d",
    ];
    let ran = doctor(&scene, &flags);
    assert_eq!(ran.code, Some(1));
    let asked = scene.api.asked();
    for path in [
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/d",
        "/api/v1/namespaces/a/services/b",
        "/apis/apps/v1/namespaces/a/deployments/c",
        "/apis/discovery.k8s.io/v1/namespaces/a/endpointslices",
    ] {
        assert!(
            asked.iter().any(|(_, asked)| asked == path),
            "{path}: {asked:?}"
        );
    }
    for bad in [
        "--namespace=",
        "--namespace=a.b",
        "--service=A",
        "--health-port=0x",
    ] {
        assert_eq!(doctor(&scene, &[bad]).code, Some(2), "{bad}");
    }
}

#[test]
fn a_cluster_that_does_not_know_who_asks_cannot_be_asked() {
    let scene = scene();
    let who = status(401, "Unauthorized", "Unauthorized");
    scene.api.answer("/version", StatusCode::UNAUTHORIZED, &who);
    let ran = doctor(&scene, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""));
    let expected = "error: cannot ask the API server: the API server answers 401: Unauthorized\n";
    assert_eq!(ran.stderr, expected);
}

/// The page shows the output, except for times.
#[test]
fn the_page_shows_what_is_printed() {
    let scene = scene();
    scene.api.answer(EXTENSIONS, StatusCode::CREATED, "{}");
    scene.api.put(
        CONFIGURATION,
        &configuration(Some(&certificates("other").ca)),
    );
    let printed = doctor(&scene, &[]).stdout;
    let page = include_str!("../../../docs/doctor.md");
    let block = page.split("```console\n$ olmguard doctor\n").nth(1);
    let block = block.and_then(|rest| rest.split("```").next());
    let timeless = |text: &str| {
        let lines = text
            .lines()
            .map(|line| match line.split_once(" is valid until ") {
                Some((begin, _)) => begin.to_owned(),
                None => line.to_owned(),
            });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(timeless(block.expect("an example")), timeless(&printed));
}

/// With `--metrics-listen`, the health port has no metrics.
#[test]
fn a_replica_whose_metrics_are_elsewhere_tells_its_version_all_the_same() {
    let scene = scene();
    let none = "not found: metrics are served over TLS, on --metrics-listen\n";
    let metrics = format!("{PROXY}/metrics");
    scene.api.answer(&metrics, StatusCode::NOT_FOUND, none);
    assert!(!doctor(&scene, &[]).stdout.contains(VERSION));
    let version = format!("{PROXY}/version");
    let text = format!("olmguard {VERSION}\n");
    scene.api.answer(&version, StatusCode::OK, &text);
    let ran = doctor(&scene, &[]);
    let said = format!("ok       version         olmguard-1: {VERSION}\n");
    assert!(ran.stdout.contains(&said), "{ran:?}");
}
