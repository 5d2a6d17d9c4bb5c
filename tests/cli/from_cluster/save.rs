//! `olmguard snapshot save`: a cluster in a file, with which checks give the same results as with
//! the cluster.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use axum::http::StatusCode;

use super::scene::{HUB_PATH, LIVE, Scene};

const SAVE: &[&str] = &["snapshot", "save", "--kubeconfig=kubeconfig", "saved"];

/// Returns the files in the scene's directory that are not part of every scene.
fn files(scene: &Scene) -> Vec<String> {
    let names = fs::read_dir(scene.path()).expect("a folder");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.into_string().expect("UTF-8"));
    let mut names: Vec<_> = names
        .filter(|name| name != "kubeconfig" && name != "a.yaml")
        .collect();
    names.sort();
    names
}

#[test]
fn a_snapshot_is_judged_by_as_its_cluster_is() {
    let scene = Scene::of("1.9");
    let ran = scene.run(SAVE);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout, "saved: 1 catalog, 1 with content\n");
    for version in ["1.2.0", "1.0.0"] {
        scene.installed(version);
        let (code, live, _) = scene.judged(LIVE);
        let installed = format!("--installed=a={version}");
        let saved = scene.judged(&["--snapshot=saved", &installed]);
        assert_eq!((code, live, String::new()), saved, "{version}");
    }
    let shown = scene.run(&["snapshot", "show", "saved"]).stdout;
    assert!(
        shown.contains("OLM       1.9\nCatalogs  1, 1 loaded"),
        "{shown}"
    );
}

#[test]
fn what_could_not_be_had_is_in_the_file_and_in_the_exit_code() {
    let scene = Scene::new();
    for (code, body, exit, line) in [
        (
            StatusCode::BAD_GATEWAY,
            "",
            4,
            "warning: catalog \"hub\": answered HTTP 502",
        ),
        (
            StatusCode::OK,
            "schema: [",
            3,
            "error: catalog \"hub\": hub:1:9: ",
        ),
    ] {
        scene.api.answer(HUB_PATH, code, body);
        let ran = scene.run(SAVE);
        assert_eq!(ran.code, Some(exit));
        assert!(ran.stderr.starts_with(line), "{}", ran.stderr);
        let live = scene.judged(LIVE);
        let (saved, result, _) = scene.judged(&["--snapshot=saved"]);
        assert_eq!((live.0, live.1), (saved, result));
        assert_eq!(saved, Some(exit));
    }
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let scene = Scene::new();
    scene.write("saved", "before");
    scene.write("none", "{}");
    let failed = scene.run(&["snapshot", "save", "--kubeconfig=none", "saved"]);
    assert_ne!(failed.code, Some(0));
    let saved = || fs::read(scene.path().join("saved")).expect("a file");
    assert_eq!(saved(), b"before");
    assert_eq!(files(&scene), ["none", "saved"]);
    assert_eq!(scene.run(SAVE).code, Some(0));
    assert_ne!(saved(), b"before");
    assert_eq!(files(&scene), ["none", "saved"], "nothing else is left");
    let file = fs::metadata(scene.path().join("saved")).expect("a file");
    let other = fs::metadata(scene.path().join("none")).expect("a file");
    assert_eq!(file.permissions().mode(), other.permissions().mode());
}

#[test]
fn what_is_no_place_for_a_file_is_wrong_usage() {
    let scene = Scene::new();
    fs::create_dir(scene.path().join("folder")).expect("a folder");
    for (file, words) in [
        (
            "folder",
            "folder: is a directory: expected a file to write to",
        ),
        (
            "-",
            "\"-\": expected a file to write to; a snapshot is not written to standard output",
        ),
        (
            "no/such",
            "no/such: cannot be created: No such file or directory (os error 2); expected",
        ),
    ] {
        let ran = scene.run(&["snapshot", "save", "--kubeconfig=kubeconfig", file]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{file}");
        assert!(
            ran.stderr.starts_with(&format!("error: {words}")),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(scene.api.asked(), []);
}
