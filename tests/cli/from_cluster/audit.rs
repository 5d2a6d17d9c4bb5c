//! `olmguard audit --from-cluster`, and the same audit from a snapshot of that cluster.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;
use olmguard_support::api_server::EXTENSIONS;

const AUDIT: &[&str] = &["audit", "--from-cluster", "--kubeconfig=kubeconfig"];
const SAVE: &[&str] = &["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];

/// Returns an extension as it is in a cluster, with more fields than are read.
fn running(name: &str, range: &str, installed: &str) -> Value {
    let catalog = json!({"packageName": "lantern-operator", "version": range});
    let bundle = json!({"name": format!("lantern-operator.v{installed}"), "version": installed});
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name, "annotations": {"note": "SECRET"}, "labels": {"team": "a"}},
        "spec": {
            "namespace": "lantern", "serviceAccount": {"name": "installer"}, "watchNamespaces": ["SECRET"],
            "source": {"sourceType": "Catalog", "catalog": catalog},
        },
        "status": {"install": {"bundle": bundle}},
    })
}

fn scene() -> Scene {
    let scene = Scene::new();
    let good = running("good", "1.3.0", "1.3.0");
    let mut unread = running("unread", "1.0.0", "1.0.0");
    unread["status"]["install"]["bundle"]["version"] = 1.into();
    let denied = running("denied", "1.3.0", "1.0.0");
    scene.api.extensions(&[good, unread, denied]);
    scene
}

const REPORT: &str = "\
3 extensions: 1 cannot be resolved, 1 undecided, 1 behind, 1 without findings
denied (lantern-operator): 1.0.0
  unresolvable: 1.3.0 is not a successor of 1.0.0 in catalog hub
  behind: 1.3.0 is reachable in 3 steps: set the version to \">=1.0.0 <=1.3.0\"
unread (lantern-operator): no installed bundle is known
  undecided: UNDECIDED
good (lantern-operator): 1.3.0
";

#[track_caller]
fn is_report(text: &str) {
    let (_, rest) = text.split_once("  undecided: ").expect(text);
    let (reason, _) = rest.split_once('\n').expect(text);
    assert!(reason.contains("the status is malformed"), "{reason}");
    assert_eq!(text.replace(reason, "UNDECIDED"), REPORT);
}

#[test]
fn every_extension_of_the_cluster_is_audited() {
    let scene = scene();
    let ran = scene.run(AUDIT);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(4), ""));
    is_report(&ran.stdout);
    let asked = scene.api.asked();
    assert!(asked.iter().all(|(method, _)| method == "GET"), "{asked:?}");
}

/// The role of the nightly audit allows each request that an audit makes.
#[test]
fn the_role_of_the_nightly_audit_is_enough() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/audit/rbac.yaml");
    let text = std::fs::read(file).expect("a file");
    let mut objects =
        olmguard::manifest::documents(&text).map(|object| object.expect("YAML").value);
    let role = objects.find(|object| object["kind"] == "ClusterRole");
    let rules = role.expect("a role")["rules"].clone();
    let allows = |request: &Request<'_>| {
        let has = |list: &Value, word: &str| {
            let mut words = list.as_array().into_iter().flatten();
            words.any(|found| found == word)
        };
        rules.as_array().expect("a list").iter().any(|rule| {
            let is_named = rule
                .get("resourceNames")
                .is_none_or(|names| has(names, request.name));
            has(&rule["apiGroups"], request.group)
                && has(&rule["resources"], request.resource)
                && has(&rule["verbs"], request.verb())
                && is_named
        })
    };
    let scene = scene();
    scene.run(AUDIT);
    let asked = scene.api.asked();
    let requests: Vec<_> = asked
        .iter()
        .filter_map(|(_, path)| Request::of(path))
        .collect();
    assert!(requests.len() >= 5, "{asked:?}");
    for request in requests {
        assert!(allows(&request), "{request:?}");
    }
}

/// A request for objects, as RBAC sees it.
#[derive(Debug)]
struct Request<'p> {
    group: &'p str,
    resource: &'p str,
    name: &'p str,
}

impl<'p> Request<'p> {
    /// Parses a path. Returns `None` if it is not about objects: every account may use discovery.
    fn of(path: &'p str) -> Option<Self> {
        let mut parts = path.strip_prefix("/apis/")?.split('/');
        let (group, _version, mut resource) = (parts.next()?, parts.next()?, parts.next()?);
        if resource == "namespaces" {
            let _namespace = parts.next()?;
            resource = parts.next()?;
        }
        let name = parts.next().unwrap_or_default();
        Some(Self {
            group,
            resource,
            name,
        })
    }

    fn verb(&self) -> &'static str {
        if self.name.is_empty() { "list" } else { "get" }
    }
}

/// A snapshot has only the fields from which an extension is read.
#[test]
fn a_snapshot_is_audited_as_its_cluster_is() {
    let scene = scene();
    let ran = scene.run(SAVE);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        ran.stdout,
        "saved: 1 catalog, 1 with content, 3 extensions\n"
    );
    let live = scene.run(AUDIT);
    assert_eq!(scene.run(&["audit", "--snapshot=saved"]), live);
    let shown = scene.run(&["snapshot", "show", "saved"]).stdout;
    assert!(shown.contains("\nInstalled 3 extensions\n"), "{shown}");
    let json = scene
        .run(&["snapshot", "show", "saved", "-o", "json"])
        .stdout;
    let json: Value = serde_json::from_str(&json).expect("one object");
    assert_eq!(json["extensions"], 3);
    let file = std::fs::File::open(scene.path().join("saved")).expect("a file");
    let saved = zstd::decode_all(file).expect("a frame");
    let saved = String::from_utf8_lossy(&saved);
    assert!(saved.contains("\"team\"") && !saved.contains("SECRET"));
}

#[test]
fn a_snapshot_can_leave_out_what_is_installed() {
    let scene = scene();
    let ran = scene.run(&[SAVE, &["--no-extensions"]].concat());
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "saved: 1 catalog, 1 with content\n")
    );
    let asked = scene.api.asked();
    assert!(
        !asked.iter().any(|(_, path)| path == EXTENSIONS),
        "{asked:?}"
    );
    let ran = scene.run(&["audit", "--snapshot=saved"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(4), ""));
    assert_eq!(
        ran.stderr,
        "error: saved: does not have the installed extensions; save it again with olmguard snapshot save, or give \
         PATH\n"
    );
}

/// The installed versions of a snapshot count for check as those of a cluster, after all sources that can be newer.
#[test]
fn check_reads_what_is_installed_from_a_snapshot() {
    let scene = Scene::new();
    scene.api.extensions(&[running("a", "1.0.0", "1.0.0")]);
    assert_eq!(scene.run(SAVE).code, Some(0));
    let token = |flags: &[&str]| {
        let (_, result, _) = scene.judged(&[&["--snapshot=saved"], flags].concat());
        result["token"].as_str().expect("a text").to_owned()
    };
    assert_eq!(token(&[]), "NotASuccessor");
    assert_eq!(token(&["--installed=a=1.2.0"]), "Resolved");
    // A base that pins a version takes precedence over a snapshot.
    std::fs::create_dir(scene.path().join("base")).expect("a directory");
    scene.write("base/a.yaml", &super::scene::extension("1.2.0"));
    assert_eq!(token(&["--base=./base"]), "Resolved");
    // A range pins nothing, and its resolution is only a guess.
    scene.write("base/a.yaml", &super::scene::extension(">=1.0.0"));
    assert_eq!(token(&["--base=./base"]), "NotASuccessor");
    // An extension that the snapshot does not have is not installed.
    scene.api.extensions(&[]);
    assert_eq!(scene.run(SAVE).code, Some(0));
    assert_eq!(token(&[]), "Resolved");
}

/// A cluster without the kind has no extensions, and neither has its snapshot.
#[test]
fn a_cluster_without_the_kind_has_no_extensions() {
    let scene = Scene::new();
    scene.api.without_extensions();
    let saved = scene.run(SAVE);
    assert_eq!(
        (saved.code, &*saved.stdout),
        (Some(0), "saved: 1 catalog, 1 with content\n")
    );
    assert_eq!(
        saved.stderr,
        "warning: the cluster does not serve ClusterExtension: looked for ClusterExtension of \
         olm.operatorframework.io/v1, ClusterExtension of olm.operatorframework.io/v1alpha1; is OLM v1 installed?\n"
    );
    let live = scene.run(AUDIT);
    assert_eq!(
        (live.code, &*live.stdout, &*live.stderr),
        (
            Some(0),
            "0 extensions\n",
            "warning: there is no ClusterExtension, so nothing is reported\n"
        )
    );
    assert_eq!(scene.run(&["audit", "--snapshot=saved"]), live);
    let (_, of_live, _) = scene.judged(super::scene::LIVE);
    let (_, of_saved, _) = scene.judged(&["--snapshot=saved"]);
    assert_eq!(of_live, of_saved);
    assert_eq!(of_live["token"], "Resolved");
}

#[test]
fn a_list_that_is_forbidden_names_the_permission() {
    let scene = scene();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
        "reason": "Forbidden", "message": "no",
    });
    let forbidden = StatusCode::FORBIDDEN;
    scene.api.answer(EXTENSIONS, forbidden, &status.to_string());
    let why = "installed extensions are unknown: cannot list clusterextensions.olm.operatorframework.io: the API \
               server answers 403: no; grant the verb \"list\" on them\n";
    let ran = scene.run(AUDIT);
    assert_eq!((ran.code, ran.stderr), (Some(4), format!("error: {why}")));
    assert_eq!(ran.stdout, "");
    let saved = scene.run(SAVE);
    assert_eq!(
        (saved.code, saved.stderr),
        (Some(4), format!("warning: {why}"))
    );
    let ran = scene.run(&["audit", "--snapshot=saved"]);
    assert_eq!((ran.code, ran.stderr), (Some(4), format!("error: {why}")));
    // For check, the installed version is unknown.
    let (code, result, _) = scene.judged(&["--snapshot=saved"]);
    assert_eq!((code, &result["verdict"]), (Some(4), &json!("undecided")));
    // The resolution of a range in the base is better than that.
    std::fs::create_dir(scene.path().join("base")).expect("a directory");
    scene.write("base/a.yaml", &super::scene::extension("<=1.2.0"));
    let (code, ..) = scene.judged(&["--snapshot=saved", "--base=./base"]);
    assert_eq!(code, Some(0));
}

#[test]
fn a_cluster_that_breaks_off_is_reported_as_far_as_it_answered() {
    let scene = scene();
    let first = json!({
        "kind": "List", "apiVersion": "v1", "metadata": {"continue": "more"},
        "items": [running("good", "1.3.0", "1.3.0")],
    });
    scene.api.put(EXTENSIONS, &first);
    // The server returns the same page again and again.
    let ran = scene.run(AUDIT);
    assert_eq!(ran.code, Some(4));
    assert!(
        ran.stderr
            .contains("some installed extensions are unknown: "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout
            .starts_with("1000 extensions: 1000 without findings\n"),
        "{}",
        ran.stdout
            .lines()
            .rev()
            .take(3)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn a_cluster_that_is_not_there_has_no_summary() {
    let scene = Scene::new();
    let nowhere = scene
        .api
        .kubeconfig()
        .replace(&scene.api.port.to_string(), "1");
    scene.write("kubeconfig", &nowhere);
    let ran = scene.run(AUDIT);
    assert_eq!((ran.code, &*ran.stdout), (Some(4), ""));
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
}

#[test]
fn without_extensions_and_without_a_place_for_them() {
    let scene = Scene::new();
    let ran = scene.run(AUDIT);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "0 extensions\n"));
    assert_eq!(
        ran.stderr,
        "warning: there is no ClusterExtension, so nothing is reported\n"
    );
    scene.write("hub.yaml", super::scene::HUB);
    let ran = scene.run(&["audit", "--catalog=hub=hub.yaml"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert_eq!(
        ran.stderr,
        "error: no extension is given: expected PATH, --snapshot or --from-cluster\n"
    );
}
