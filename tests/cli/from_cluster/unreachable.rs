//! Cases without a cluster, or with one that does not answer.

use std::net::TcpListener;

use serde_json::json;

use super::scene::{Ran, Scene};

/// Returns the output and the exit code of each command with this kubeconfig.
fn each(scene: &Scene, words: &[&str]) -> [Ran; 3] {
    let check = ["check", "-f", "a.yaml", "--from-cluster"];
    [&check[..], &["catalogs"], &["snapshot", "save", "saved"]]
        .map(|command| scene.run(&[command, words].concat()))
}

#[test]
fn a_kubeconfig_or_context_that_is_not_there_is_wrong_usage() {
    let scene = Scene::new();
    for (words, begin) in [
        (
            &["--kubeconfig=gone"] as &[_],
            "error: kubeconfig gone: no such file",
        ),
        (
            &["--kubeconfig=kubeconfig", "--context=other"],
            "error: kubeconfig kubeconfig: no context \"other\": expected one of: test\n",
        ),
        (
            &["--kubeconfig=kubeconfig", "--catalogd-ca=gone"],
            "error: --catalogd-ca: ",
        ),
    ] {
        for ran in each(&scene, words) {
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}");
            assert!(ran.stderr.starts_with(begin), "{}", ran.stderr);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    }
}

#[test]
fn a_cluster_that_is_not_to_be_had_is_one_line_and_undecided() {
    let scene = Scene::new();
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = nobody.local_addr().expect("an address").to_string();
    drop(nobody);
    let dead = scene
        .api
        .kubeconfig()
        .replace(scene.api.url("").trim_start_matches("http://"), &addr);
    scene.write("dead", &dead);
    for (words, begin) in [
        (
            &[] as &[_],
            "error: no cluster: --kubeconfig and KUBECONFIG are not set",
        ),
        (
            &["--kubeconfig=dead"],
            "error: cannot find out how catalogs are served: ",
        ),
    ] {
        let named = format!(" (cluster: kubeconfig dead, context \"test\", http://{addr}/)\n");
        for ran in each(&scene, words) {
            assert_eq!(ran.code, Some(4), "{ran:?}");
            let is_named = words.is_empty() || ran.stderr.ends_with(&named);
            assert!(is_named, "{}", ran.stderr);
            assert!(ran.stderr.starts_with(begin), "{}", ran.stderr);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    }
}

#[test]
fn without_a_cluster_or_snapshot_the_error_is_all_that_is_printed() {
    let scene = Scene::new();
    let dead = scene.api.kubeconfig();
    let dead = dead.replace(&format!(":{}", scene.api.port), ":1");
    scene.write("dead", &dead);
    for (words, code, begin) in [
        (&["--from-cluster"] as &[_], 4, "error: no cluster: "),
        (
            &["--from-cluster", "--kubeconfig=dead"],
            4,
            "error: cannot find out how catalogs are served: ",
        ),
        (
            &["--snapshot=gone"],
            3,
            "error: gone: cannot be read: No such file or directory (os error 2); save it again",
        ),
        (&["--snapshot=a.yaml"], 3, "error: a.yaml: not a snapshot: "),
    ] {
        let ran = scene.run(&[&["check", "-f", "a.yaml"], words].concat());
        assert_eq!((ran.code, &*ran.stdout), (Some(code), ""), "{ran:?}");
        assert!(ran.stderr.starts_with(begin), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn an_origin_that_cannot_be_read_may_have_the_selected_catalog() {
    let scene = Scene::new();
    for (origin, code, begin) in [
        ("--from-cluster", 4, "error: no cluster: "),
        ("--snapshot=gone", 3, "error: gone: cannot be read: "),
    ] {
        for command in [
            &["versions"] as &[_],
            &["versions", "p"],
            &["path", "p", "1.0.0"],
            &["explain", "p", "1.0.0", "1.1.0"],
            &["graph", "p"],
        ] {
            let ran = scene.run(&[command, &["--in=hub", origin]].concat());
            assert_eq!(ran.code, Some(code), "{command:?}: {ran:?}");
            assert!(ran.stderr.starts_with(begin), "{command:?}: {ran:?}");
            assert!(!ran.stderr.contains("--in"), "{command:?}: {ran:?}");
        }
    }
}

/// The status in a manifest can leave the installed version unknown, which no other error reports.
#[test]
fn a_status_that_does_not_know_what_is_installed_is_still_reported() {
    let scene = Scene::new();
    let text = std::fs::read_to_string(scene.path().join("a.yaml")).expect("a manifest");
    let status = "status: {conditions: [{type: Installed, status: Unknown, reason: Failed}]}\n";
    scene.write("a.yaml", &(text.trim_end().to_owned() + "\n" + status));
    let ran = scene.run(&["check", "-f", "a.yaml", "--snapshot=gone"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("[InstalledUnknown]"), "{ran:?}");
}

#[test]
fn what_needs_no_cluster_is_still_reported() {
    let scene = Scene::new();
    let text = std::fs::read_to_string(scene.path().join("a.yaml")).expect("a manifest");
    let bad = text
        .replace("name: a\n", "name: b\n")
        .replace("packageName: ", "packageName: !");
    scene.write("b.yaml", &bad);
    let ran = scene.run(&["check", "-f", "a.yaml", "-f", "b.yaml", "--from-cluster"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains(": a: undecided\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains(": b: deny\n"), "{}", ran.stdout);
    let last = "\n1 denied, 1 undecided\n";
    assert!(ran.stdout.ends_with(last), "{}", ran.stdout);
}

#[test]
fn without_a_cluster_all_is_undecided() {
    let scene = Scene::new();
    let (code, result, _) = scene.judged(&["--from-cluster"]);
    assert_eq!(
        (code, &result["token"]),
        (Some(4), &json!("CatalogNotLoaded"))
    );
    let (code, result, _) = scene.judged(&["--from-cluster", "--on-undecided=warn"]);
    assert_eq!((code, &result["verdict"]), (Some(0), &json!("undecided")));
    let (code, ..) = scene.judged(&["--from-cluster", "--on-undecided=deny"]);
    assert_eq!(code, Some(1));
}
