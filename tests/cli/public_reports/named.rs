//! Files on the command line that are not what the flag expects.

use std::process::{Command, Output};

use crate::check::scene::{CATALOG, Ran, Scene, extension, scene};

/// Returns a manifest, and files that are not a catalog, guardrails or a policy.
fn files() -> Scene {
    scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        ("none.yaml", ""),
        (
            "objects.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
        ),
        ("broken.yaml", "a: [\n"),
        ("schema.json", "{\"title\": \"a schema\"}\n"),
        ("rules.yaml", RULES),
        ("object.yaml", OBJECT),
        ("policy.yaml", POLICY),
        ("empty/README.md", ""),
    ])
}

const RULES: &str = "schema: olmguard.guardrails.v1alpha1\npackage: lantern-operator\nrules:\n\
                     - {id: one, kind: PassThrough, via: '>=1.1.0 <1.2.0-0'}\n";
const OBJECT: &str = "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradeGuardrails\nmetadata: {name: one}\nspec:\n  \
                      package: lantern-operator\n  rules:\n  - {id: one, kind: PassThrough, via: '>=1.1.0 <1.2.0-0'}\n";
const POLICY: &str = "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolicy\nmetadata: {name: one}\n\
                      spec: {match: {packages: [lantern-operator]}, rules: {catalogs: [hub]}}\n";

fn olmguard(scene: &Scene, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let command = command.args(arguments).current_dir(scene.path());
    let Output {
        status,
        stdout,
        stderr,
    } = command.env_clear().output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_file_without_a_package_is_no_catalog() {
    let scene = files();
    for (file, words) in [
        (
            "objects.yaml",
            "objects.yaml: contains Kubernetes objects and is not a catalog",
        ),
        (
            "rules.yaml",
            "rules.yaml: has no blob of OLM, so it is not a catalog",
        ),
        (
            "schema.json",
            "is not a catalog: its first value has no schema",
        ),
        (
            "quay.example/x/catalog:v1",
            "for an image, write oci:quay.example/x/catalog:v1",
        ),
    ] {
        let catalog = format!("--catalog=c={file}");
        let (code, report) = scene.json(&["a.yaml", &catalog]);
        let token = &report["results"][0]["token"];
        assert_eq!((code, token), (3, &"CatalogNotLoaded".into()), "{file}");
        let Ran { stderr, .. } = scene.run(&["a.yaml", &catalog]);
        assert!(stderr.contains(words), "{file}: {stderr}");
        let (code, stdout, _) = olmguard(&scene, &["versions", "lantern-operator", &catalog]);
        let head = "lantern-operator: not known: catalog c cannot be read\n";
        assert!(
            code == Some(3) && stdout.starts_with(head),
            "{file}: {stdout}"
        );
    }
    // An empty file is a catalog without packages.
    assert_eq!(
        scene.tokens(&["a.yaml", "--catalog=c=none.yaml"]).1,
        ["PackageNotFound"]
    );
}

#[test]
fn rules_that_cannot_be_used_end_the_run_in_one_line() {
    let scene = files();
    for (flag, file, words) in [
        ("--policy", "gone/", "gone/: does not exist"),
        (
            "--policy",
            "objects.yaml",
            "found no UpgradePolicy or UpgradeGuardrails",
        ),
        (
            "--policy",
            "empty",
            "found no UpgradePolicy or UpgradeGuardrails",
        ),
        ("--policy", "broken.yaml", "broken.yaml:1:4: invalid YAML"),
        (
            "--policy",
            "rules.yaml",
            "rules.yaml:1:1: a file of guardrails: use --guardrails for it",
        ),
        ("--guardrails", "gone.yaml", "gone.yaml: does not exist"),
        (
            "--guardrails",
            "empty",
            "guardrails empty:1:1: found no guardrails",
        ),
        (
            "--guardrails",
            "none.yaml",
            "guardrails none.yaml:1:1: found no guardrails",
        ),
        (
            "--guardrails",
            "objects.yaml",
            "found no guardrails: expected schema: olmguard.guardrails.v1alpha1",
        ),
        (
            "--guardrails",
            "broken.yaml",
            "broken.yaml:1:4: invalid YAML",
        ),
        (
            "--guardrails",
            "policy.yaml",
            "policy.yaml:1:1: an UpgradePolicy: use --policy for this file",
        ),
    ] {
        scene.misused(&["a.yaml", CATALOG, flag, file], words);
        for command in [
            &["versions", "lantern-operator"][..],
            &["path", "lantern-operator", "1.0.0"],
        ] {
            let arguments = [command, &[CATALOG, flag, file]].concat();
            let (code, stdout, stderr) = olmguard(&scene, &arguments);
            assert_eq!(
                (code, &*stdout, stderr.lines().count()),
                (Some(2), "", 1),
                "{stderr}"
            );
        }
    }
}

#[test]
fn guardrails_are_a_file_or_an_object() {
    let scene = files();
    let installed = "--installed=a=1.0.0";
    let jump = extension("a", "1.x");
    std::fs::write(scene.path().join("a.yaml"), jump).expect("a file");
    for file in ["rules.yaml", "object.yaml"] {
        let (code, stdout, stderr) = olmguard(
            &scene,
            &[
                "path",
                "lantern-operator",
                "1.0.0",
                "1.3.0",
                CATALOG,
                "--guardrails",
                file,
            ],
        );
        assert_eq!((code, &*stderr), (Some(0), ""), "{file}: {stdout}");
        let run = scene.run(&["a.yaml", CATALOG, installed, "--guardrails", file]);
        assert_eq!(run.code, 0, "{file}: {run:?}");
    }
}

#[test]
fn rules_for_a_package_that_no_catalog_has_are_said() {
    let scene = files();
    for (file, flag, text) in [
        ("g.yaml", "--guardrails", RULES),
        ("g.yaml", "--guardrails", OBJECT),
        ("g.yaml", "--policy", POLICY),
    ] {
        let text = text.replace("lantern-operator", "lantern-oprator");
        std::fs::write(scene.path().join(file), &text).expect("a file");
        let Ran { code, stderr, .. } = scene.run(&["a.yaml", CATALOG, flag, file]);
        let words = "no catalog has package \"lantern-oprator\", so this has no effect; did you mean \"lantern-operator\"?";
        assert!(code == 0 && stderr.contains(words), "{stderr}");
        let lint = ["lint", "hub.yaml", "--package=lantern-operator", flag, file];
        let (_, found, _) = olmguard(&scene, &lint);
        // Objects are read with `--policy`.
        let is_object = flag == "--guardrails" && text.contains("apiVersion");
        let said = if is_object {
            "write schema: olmguard.guardrails.v1alpha1; for an UpgradeGuardrails object, use --policy"
        } else {
            "did you mean \"lantern-operator\"?"
        };
        assert!(found.contains(said), "{flag}: {found}");
    }
}

#[test]
fn a_typo_in_a_kind_or_a_group_fails_beside_good_files() {
    let typo = |from: &str, to: &str| extension("b", "1.1.0").replace(from, to);
    for (text, words) in [
        (
            typo("ClusterExtension", "ClusterExtention"),
            "b.yaml:2:7: kind \"ClusterExtention\" is not known: did you mean ClusterExtension?",
        ),
        (
            typo("ClusterExtension", "clusterextension"),
            "did you mean ClusterExtension?",
        ),
        (
            typo("olm.operatorframework.io", "olm.operatorframewrok.io"),
            "b.yaml:1:13: apiVersion \"olm.operatorframewrok.io/v1\" has no such kind: did you mean olm.operatorframework.io/v1?",
        ),
        (
            typo("ClusterExtension", "ClusterCatalogue"),
            "did you mean ClusterCatalog?",
        ),
    ] {
        let scene = scene(&[
            ("apps/a.yaml", &extension("a", "1.1.0")),
            ("apps/b.yaml", &text),
        ]);
        let ran = scene.run(&["apps", CATALOG]);
        assert!(ran.code == 3 && ran.stderr.contains(words), "{ran:?}");
        assert_eq!(
            scene.tokens(&["apps", CATALOG]),
            (3, vec!["Resolved".to_owned()])
        );
        assert_eq!(
            scene.run(&["apps", CATALOG, "--base", "apps"]).code,
            3,
            "{words}"
        );
        let (code, _, stderr) = olmguard(&scene, &["audit", "apps", CATALOG]);
        assert!(code == Some(3) && stderr.contains(words), "{stderr}");
    }
}

#[test]
fn a_version_that_the_package_does_not_have_is_the_first_line() {
    let scene = files();
    let head = "1.2.99 is not a version of lantern-operator; nearest: 1.2.0, 1.3.0";
    for arguments in [
        &[
            "versions",
            "lantern-operator",
            CATALOG,
            "--installed=1.2.99",
        ][..],
        &["path", "lantern-operator", "1.2.99", CATALOG],
        &["path", "lantern-operator", "1.2.99", "1.3.0", CATALOG],
    ] {
        let (_, stdout, _) = olmguard(&scene, arguments);
        assert!(
            stdout.starts_with("1.2.99 is not a version of lantern-operator; nearest: "),
            "{stdout}"
        );
        for wrong in [
            "no newer version is reachable",
            "none reachable",
            "Highest reachable",
        ] {
            assert!(!stdout.contains(wrong), "{wrong}: {stdout}");
        }
    }
    for form in ["svg", "html"] {
        let drawn = [
            "graph",
            "lantern-operator",
            CATALOG,
            "--installed=1.2.99",
            "-o",
            form,
        ];
        let (_, stdout, _) = olmguard(&scene, &drawn);
        assert!(
            stdout.contains("1.2.99 is not a version of lantern-operator"),
            "{form}"
        );
        assert!(
            !stdout.contains("no version can be reached"),
            "{form}: {head}"
        );
    }
}

#[test]
fn there_is_no_summary_of_nothing() {
    let scene = files();
    let (code, stdout, _) = olmguard(&scene, &["audit", "gone.yaml", CATALOG]);
    assert_eq!((code, &*stdout), (Some(3), ""));
    let ran = scene.run(&["gone.yaml", CATALOG]);
    assert_eq!((ran.code, &*ran.stdout), (3, ""));
}
