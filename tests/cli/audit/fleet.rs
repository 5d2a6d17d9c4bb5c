//! `olmguard audit --fleet PATH`: the extensions of many clusters.

use std::fs;

use olmguard_support::schema::assert_fits;
use serde_json::Value;

use super::{HUB, audit, list, object};
use crate::folder::Folder;
use crate::saved::{named, olm, save, save_running};

/// Returns two clusters, `eu` and `us`, as JSON of their audits in `fleet`.
fn scene() -> Folder {
    let scene = super::scene();
    fs::create_dir(scene.path().join("fleet")).expect("a directory");
    let clusters = [
        (
            "eu",
            vec![
                object("denied", "1.2.0", "1.0.0"),
                object("newest", "1.2.0", "1.2.0"),
            ],
        ),
        ("us", vec![object("pinned", "1.1.0", "1.1.0")]),
    ];
    for (name, objects) in clusters {
        let (_, stdout, stderr) = audit(&scene, &["-", HUB, "-o", "json"], &list(&objects));
        assert_eq!(stderr, "");
        scene.write(&format!("fleet/{name}.json"), &stdout);
    }
    scene
}

#[test]
fn a_directory_of_audits_is_one_report() {
    let (code, stdout, stderr) = audit(&scene(), &["--fleet=fleet"], "");
    assert_eq!((code, &*stderr), (Some(1), ""));
    let expected = [
        "2 clusters: 3 extensions, 1 denied, 2 not at the newest version",
        "cluster eu: 2 extensions, 1 denied, 1 not at the newest version",
        "cluster us: 1 extension, 1 not at the newest version",
        "package p: 3 extensions, 1 denied, 2 not at the newest version; the newest version is 1.2.0",
        "  1.2.0: 1 extension in eu",
        "  1.1.0: 1 extension, 1 not at the newest version in us",
        "  1.0.0: 1 extension, 1 denied, 1 not at the newest version in eu",
    ];
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn snapshots_and_audits_are_mixed_and_the_forms_say_the_same() {
    let scene = scene();
    let path = |name: &str| scene.path().join(name);
    let catalogs = [(named("hub"), Some(&*path("hub.yaml")))];
    let extensions = vec![object("newest", "1.2.0", "1.2.0")];
    save_running(&path("lab.snapshot"), extensions, &catalogs);
    let flags = ["--fleet=fleet", "--fleet=lab.snapshot"];
    let (code, stdout, stderr) = audit(&scene, &[&flags[..], &["-o", "json"]].concat(), "");
    assert_eq!(code, Some(1), "{stderr}");
    let printed: Value = serde_json::from_str(&stdout).expect("one object");
    assert_fits("schemas/olmguard.fleet.v1.json", &printed);
    let clusters = printed["clusters"].as_array().expect("a list");
    let names: Vec<_> = clusters.iter().map(|one| one["name"].as_str()).collect();
    assert_eq!(names, [Some("eu"), Some("us"), Some("lab")]);
    let (_, html, _) = audit(&scene, &[&flags[..], &["-o", "html"]].concat(), "");
    let of_version = "<dt>1.1.0</dt>\n<dd>1 extension, 1 not at the newest version in us</dd>";
    assert!(html.contains(of_version), "{html}");
    let (_, yaml, _) = audit(&scene, &[&flags[..], &["-o", "yaml"]].concat(), "");
    assert!(yaml.contains("schema: \"olmguard.fleet/v1\""), "{yaml}");
}

#[test]
fn what_cannot_be_read_is_said_with_its_file_and_the_rest_is_reported() {
    let scene = scene();
    scene.write(
        "fleet/old.json",
        r#"{"schema": "olmguard.audit/v0", "extensions": []}"#,
    );
    scene.write(
        "fleet/half.json",
        r#"{"schema": "olmguard.audit/v1", "extens"#,
    );
    scene.write("fleet/.hidden", "not of the fleet");
    fs::write(
        scene.path().join("fleet/cut.snapshot"),
        [0x28, 0xb5, 0x2f, 0xfd],
    )
    .expect("a file");
    let (code, stdout, stderr) = audit(&scene, &["--fleet=fleet", "--fleet=none"], "");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stdout.contains("cluster us: 1 extension, 1 not at the newest version\n"),
        "{stdout}"
    );
    let expected = [
        "error: fleet/old.json: schema \"olmguard.audit/v0\": expected \"olmguard.audit/v1\"; run olmguard audit again",
        "error: fleet/half.json: EOF while parsing",
        "error: cut: fleet/cut.snapshot: ",
        "error: none: ",
    ];
    for line in expected {
        assert!(stderr.contains(line), "{line}\n{stderr}");
    }
    assert!(!stderr.contains("hidden"), "{stderr}");
}

#[test]
fn files_of_one_name_are_named_by_their_paths() {
    let scene = scene();
    for directory in ["emea", "apac"] {
        fs::create_dir(scene.path().join(directory)).expect("a directory");
    }
    let report = fs::read_to_string(scene.path().join("fleet/us.json")).expect("an audit");
    for file in [
        "emea/prod.json",
        "apac/prod.json",
        "apac/lab.json",
        "apac/prod.snapshot.json",
    ] {
        scene.write(file, &report);
    }
    let (code, stdout, stderr) = audit(&scene, &["--fleet=emea", "--fleet=apac"], "");
    assert_eq!((code, &*stderr), (Some(0), ""));
    let names: Vec<_> = stdout
        .lines()
        .filter_map(|line| line.strip_prefix("cluster ")?.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        ["apac/prod.json", "emea/prod.json", "lab", "prod.snapshot"]
    );
}

#[test]
fn a_cluster_that_is_given_twice_is_wrong_usage() {
    let scene = scene();
    for (flags, line) in [
        (
            ["--fleet=fleet", "--fleet=./fleet/eu.json"],
            "error: --fleet: ./fleet/eu.json: is given twice; give each file once\n",
        ),
        (
            ["--contexts=prod,lab", "--contexts=prod"],
            "error: --contexts: \"prod\" is given twice; give each context once\n",
        ),
    ] {
        let (code, stdout, stderr) = audit(&scene, &flags, "");
        assert_eq!((code, &*stdout, &*stderr), (Some(2), "", line));
    }
}

#[test]
fn a_snapshot_without_extensions_is_said_and_the_rest_is_reported() {
    let scene = scene();
    let path = |name: &str| scene.path().join(name);
    let catalogs = [(named("hub"), Some(&*path("hub.yaml")))];
    save(
        &path("fleet/lab.snapshot"),
        Some(olm("1.11", &[])),
        &catalogs,
    );
    let (code, stdout, stderr) = audit(&scene, &["--fleet=fleet"], "");
    assert_eq!(code, Some(4), "{stderr}");
    assert!(
        stdout.contains("cluster lab: extensions unknown\n"),
        "{stdout}"
    );
    assert!(
        stderr.contains("error: lab: fleet/lab.snapshot: does not have the installed extensions"),
        "{stderr}"
    );
}

#[test]
fn a_context_that_does_not_exist_is_said_and_the_rest_is_reported() {
    let scene = scene();
    scene.write(
        "kubeconfig",
        "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n",
    );
    let flags = [
        "--fleet=fleet",
        "--contexts=prod,lab",
        "--kubeconfig=kubeconfig",
    ];
    let (code, stdout, stderr) = audit(&scene, &flags, "");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stdout.starts_with(
            "2 clusters, 2 inputs unreadable: 3 extensions, 1 denied, 2 not at the newest version\n"
        ),
        "{stdout}"
    );
    for name in ["prod", "lab"] {
        assert!(stderr.contains(&format!("error: {name}: ")), "{stderr}");
        let line = format!("cluster {name}: extensions unknown\n");
        assert!(stdout.contains(&line), "{stdout}");
    }
}

/// Flags and files that count for every cluster are wrong once.
#[test]
fn what_is_wrong_for_every_cluster_is_wrong_usage() {
    let scene = scene();
    let path = |name: &str| scene.path().join(name);
    fs::create_dir(path("saved")).expect("a directory");
    for name in ["saved/lab.snapshot", "saved/prod.snapshot"] {
        let catalogs = [(named("hub"), Some(&*path("hub.yaml")))];
        save_running(&path(name), Vec::new(), &catalogs);
    }
    scene.write("broken.yaml", "a: [");
    for (flag, begin) in [
        ("--guardrails=gone.yaml", "error: guardrails gone.yaml: "),
        ("--policy=gone.yaml", "error: gone.yaml: "),
        ("--policy=broken.yaml", "error: broken.yaml:"),
        (
            "--olm-feature-gates=Nope=true",
            "error: --olm-feature-gates: unknown feature gate \"Nope\"",
        ),
    ] {
        let (code, stdout, stderr) = audit(&scene, &["--fleet=saved", flag], "");
        assert_eq!((code, &*stdout), (Some(2), ""), "{flag}: {stderr}");
        assert!(stderr.starts_with(begin), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    scene.write(".olmguard.yaml", "nothing: known\n");
    let (code, stdout, stderr) = audit(&scene, &["--fleet=saved"], "");
    assert_eq!((code, &*stdout), (Some(2), ""), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn a_cluster_that_cannot_be_reached_has_unknown_extensions() {
    let scene = scene();
    scene.write(
        "kubeconfig",
        "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n\
         contexts: [{name: lab, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n",
    );
    let flags = ["--contexts=lab", "--kubeconfig=kubeconfig"];
    let (code, stdout, stderr) = audit(&scene, &flags, "");
    assert_eq!(code, Some(4), "{stderr}");
    let expected =
        "0 clusters, 1 input unreadable: 0 extensions\ncluster lab: extensions unknown\n";
    assert_eq!(stdout, expected);
    let (_, json, _) = audit(&scene, &[&flags[..], &["-o", "json"]].concat(), "");
    let printed: Value = serde_json::from_str(&json).expect("one object");
    assert_fits("schemas/olmguard.fleet.v1.json", &printed);
    assert_eq!(printed["unread"][0]["name"], "lab");
}

#[test]
fn a_directory_without_files_and_a_form_without_clusters_are_wrong_usage() {
    let scene = scene();
    fs::create_dir(scene.path().join("empty")).expect("a directory");
    let (code, _, stderr) = audit(&scene, &["--fleet=empty"], "");
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("error: --fleet: empty: no file is there: expected snapshots"),
        "{stderr}"
    );
    let (code, _, stderr) = audit(&scene, &["--fleet=fleet", "-o", "junit"], "");
    assert_eq!(code, Some(2));
    let expected =
        "error: -o junit has no form for many clusters: expected -o text, json, yaml or html";
    assert!(stderr.contains(expected), "{stderr}");
}
