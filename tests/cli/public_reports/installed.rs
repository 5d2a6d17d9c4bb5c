//! The installed bundle, if only a version or a base is given.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::check::scene::{Scene, scene};

/// Returns `beacon`: 3.0.0 replaces a bundle of this name, which the catalog no longer has, and 3.1.0 replaces 3.0.0.
/// The entry of 3.0.0 has these additional lines.
fn beacon(replaced: &str, more: &str) -> String {
    let bundle = |version: &str| {
        format!(
            "---\nschema: olm.bundle\npackage: beacon\nname: beacon-operator.v{version}\nimage: example.com/beacon:{version}\n\
             properties:\n- {{type: olm.package, value: {{packageName: beacon, version: {version}}}}}\n"
        )
    };
    format!(
        "schema: olm.package\nname: beacon\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: beacon\n\
         name: stable\nentries:\n- name: beacon-operator.v3.0.0\n  replaces: {replaced}\n{more}- name: beacon-operator.v3.1.0\n  \
         replaces: beacon-operator.v3.0.0\n{}{}",
        bundle("3.0.0"),
        bundle("3.1.0")
    )
}

fn extension(version: &str) -> String {
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {{name: light}}\nspec:\n  \
         namespace: light\n  serviceAccount: {{name: light}}\n  source:\n    sourceType: Catalog\n    \
         catalog: {{packageName: beacon, version: \"{version}\"}}\n"
    )
}

/// Returns a manifest that requests 3.0.0, its earlier version with 2.0.0, and the catalog.
fn scene_of(catalog: &str) -> Scene {
    scene(&[
        ("new/light.yaml", &extension("3.0.0")),
        ("old/light.yaml", &extension("2.0.0")),
        ("beacon.yaml", catalog),
    ])
}

const BEACON: &str = "--catalog=c=beacon.yaml";

/// Returns the exit code and the only result.
#[track_caller]
fn result(scene: &Scene, arguments: &[&str]) -> (i32, Value) {
    let (code, report) = scene.json(&[&["new", BEACON], arguments].concat());
    (code, report["results"][0].clone())
}

/// Returns the output of another command.
fn olmguard(scene: &Scene, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let command = command.args(arguments).current_dir(scene.path());
    command.env_clear().output().expect("the program ends")
}

fn warnings(result: &Value) -> String {
    result["warnings"].to_string()
}

#[test]
fn a_name_that_only_an_edge_mentions_counts_and_is_said() {
    let assumed = "beacon-operator.v2.0.0 is assumed to be installed: the only name in the edges that fits the version";
    let scene = scene_of(&beacon("beacon-operator.v2.0.0", ""));
    for arguments in [&["--installed=light=2.0.0"][..], &["--base=old"]] {
        let (code, result) = result(&scene, arguments);
        assert_eq!(
            (code, &result["token"]),
            (0, &json!("Resolved")),
            "{result}"
        );
        assert!(warnings(&result).contains(assumed), "{result}");
        assert_eq!(result["installed"]["bundle"], "beacon-operator.v2.0.0");
    }
    let (_, given) = result(
        &scene,
        &["--installed=light=2.0.0,bundle=beacon-operator.v2.0.0"],
    );
    assert_eq!(
        (&given["token"], &given["warnings"]),
        (&json!("Resolved"), &json!([]))
    );
}

#[test]
fn a_name_that_no_one_knows_is_no_denial() {
    for (replaced, more) in [
        // A name without a version, one of another version, and two names that match.
        ("beacon-of-old", ""),
        ("beacon-operator.v1.9.0", ""),
        ("beacon-operator.v2.0.0", "  skips: [beacon.v2.0.0]\n"),
    ] {
        let scene = scene_of(&beacon(replaced, more));
        for arguments in [&["--installed=light=2.0.0"][..], &["--base=old"]] {
            let (code, result) = result(&scene, arguments);
            assert_eq!(
                (code, &result["token"]),
                (4, &json!("InstalledUnknown")),
                "{replaced}: {result}"
            );
            let message = result["message"].as_str().expect("a message");
            assert!(
                message.contains(",bundle=NAME") && !message.contains("SelfCertified"),
                "{message}"
            );
            assert_eq!(
                message.contains("Candidates: beacon-operator.v2.0.0, beacon.v2.0.0"),
                !more.is_empty()
            );
        }
    }
}

#[test]
fn explain_and_path_leave_it_undecided_too() {
    let scene = scene_of(&beacon("beacon-of-old", ""));
    for arguments in [
        ["explain", "beacon", "2.0.0", "3.0.0", BEACON],
        ["path", "beacon", "2.0.0", "3.0.0", BEACON],
    ] {
        let ran = olmguard(&scene, &arguments);
        assert_eq!(ran.status.code(), Some(4), "{ran:?}");
        let words = String::from_utf8_lossy(&ran.stdout);
        assert!(words.contains("bundle=NAME"), "{words}");
        assert!(!words.contains("author must"), "{words}");
    }
}

#[test]
fn an_answer_that_every_name_gives_is_certain() {
    let scene = scene_of(&beacon("beacon-of-old", "  skipRange: '>=1.0.0 <3.0.0'\n"));
    let (code, by_range) = result(&scene, &["--installed=light=2.0.0"]);
    assert_eq!(
        (code, &by_range["token"]),
        (0, &json!("Resolved")),
        "{by_range}"
    );
    assert!(
        warnings(&by_range).contains("bundle=NAME adds its name"),
        "{by_range}"
    );
    // A name does not make a version exist, and it adds no edge if none starts at it.
    let unknown = scene_of(&beacon("beacon-of-old", "").replace("3.0.0", "3.0.1"));
    assert_eq!(
        result(&unknown, &["--installed=light=2.0.0"]).1["token"],
        "VersionNotFound"
    );
    let head = beacon("x", "")
        .replace("  replaces: x\n", "")
        .replace("  replaces: beacon-operator.v3.0.0\n", "");
    assert_eq!(
        result(&scene_of(&head), &["--installed=light=2.0.0"]).1["token"],
        "NotASuccessor"
    );
}

#[test]
fn a_status_without_a_name_is_named_as_a_flag_without_one() {
    let status = "status: {install: {bundle: {version: 2.0.0}}}\n";
    let with_status = extension("3.0.0") + status;
    for (replaced, token) in [
        ("beacon-operator.v2.0.0", "Resolved"),
        ("old", "InstalledUnknown"),
    ] {
        let catalog = beacon(replaced, "");
        let scene = scene(&[("new/light.yaml", &with_status), ("beacon.yaml", &catalog)]);
        assert_eq!(result(&scene, &[]).1["token"], token, "{replaced}");
        let audited = olmguard(&scene, &["audit", "new", BEACON, "-o", "json"]);
        let report: Value = serde_json::from_slice(&audited.stdout).expect("JSON");
        assert_eq!(
            report["extensions"][0]["token"], token,
            "{replaced}: {report}"
        );
    }
}

#[test]
fn a_pin_of_the_base_is_said_to_be_an_assumption() {
    let scene = scene_of(&beacon("beacon-operator.v2.5.0", "  skipRange: '<2.1.0'\n"));
    let ran = scene.run(&["new", BEACON, "--base", "old"]);
    let assumed = "installed 2.0.0 is assumed from the base (--installed sets another version)";
    assert!(ran.stdout.contains(assumed), "{ran:?}");
    let given = scene.run(&["new", BEACON, "--base", "old", "--installed", "light=2.0.0"]);
    assert!(!given.stdout.contains("assumed from"), "{given:?}");
}

#[test]
fn a_first_installation_is_said_to_be_one() {
    let scene = scene_of(&beacon("beacon-operator.v2.0.0", ""));
    let ran = scene.run(&["new", BEACON]);
    let line =
        "installs 3.0.0 new: no installed version is known (use --base, --installed or --snapshot)";
    assert!(ran.stdout.contains(line), "{ran:?}");
    assert_eq!(
        ran.stderr
            .matches("note: no installed version is known")
            .count(),
        1,
        "{ran:?}"
    );
    assert_eq!(
        scene.run(&["new", BEACON, "--warn-as-error"]).code,
        0,
        "it is no warning"
    );
    let project = "schema: olmguard.project/v1\ninstalled: {light: 2.0.0, other: 1.0.0}\n";
    let scene = self::scene(&[
        ("new/light.yaml", &extension("3.1.0")),
        ("beacon.yaml", &beacon("beacon-operator.v2.0.0", "")),
        (".olmguard.yaml", project),
    ]);
    let (_, told) = result(&scene, &[]);
    assert_eq!(
        (&told["token"], &told["installed"]["version"]),
        (&json!("NotASuccessor"), &json!("2.0.0"))
    );
    assert_eq!(
        result(&scene, &["--installed=light=3.0.0"]).1["token"],
        "Resolved"
    );
}

#[test]
fn what_is_neither_a_version_nor_a_bundle_is_wrong_usage() {
    let scene = scene_of(&beacon("beacon-operator.v2.0.0", ""));
    for (given, words) in [
        ("light=v3.0.0", "did you mean 3.0.0?"),
        ("light=beacon-operator.v3.0", "beacon-operator.v3.0.0"),
        ("light=junk", "no such version and no bundle of that name"),
        (
            "light=v2.0.0,bundle=beacon-operator.v2.0.0",
            "did you mean 2.0.0?",
        ),
    ] {
        scene.misused(&["new", BEACON, "--installed", given], words);
    }
    for name in ["beacon-operator.v3.0.0", "beacon-operator.v2.0.0"] {
        let given = format!("--installed=light={name}");
        let (code, result) = result(&scene, &[&given]);
        assert_eq!(
            (code, &result["installed"]["bundle"]),
            (0, &json!(name)),
            "{result}"
        );
    }
}

/// The steps of a channel cannot be skipped, and the last step is allowed from the one before.
#[test]
fn a_pin_follows_the_steps_of_its_channel() {
    let scene = scene(&[
        ("new/light.yaml", &extension("3.1.0")),
        ("beacon.yaml", &beacon("beacon-operator.v2.0.0", "")),
    ]);
    assert_eq!(
        result(&scene, &["--installed=light=3.0.0"]).1["token"],
        "Resolved"
    );
    let (code, jump) = result(&scene, &["--installed=light=2.0.0"]);
    assert_eq!(
        (code, &jump["path"]),
        (1, &json!(["2.0.0", "3.0.0", "3.1.0"])),
        "{jump}"
    );
}
