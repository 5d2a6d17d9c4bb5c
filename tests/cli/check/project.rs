//! `.olmguard.yaml` replaces flags, and a flag overrides it.

use super::scene::{CATALOG, extension, scene};

const PROJECT: &str = "schema: olmguard.project/v1\npaths: [apps]\ncatalogs: {hub: hub.yaml}\n";

fn apps() -> [(&'static str, String); 2] {
    [
        ("apps/a.yaml", extension("a", "1.0.0")),
        ("other.yaml", extension("b", "7.0.0")),
    ]
}

#[test]
fn it_stands_in_for_flags_and_flags_win() {
    let [(a, app), (b, other)] = apps();
    let scene = scene(&[
        (a, &app),
        (b, &other),
        (".olmguard.yaml", PROJECT),
        ("none.yaml", ""),
    ]);
    let tokens = |tokens: &[&str]| tokens.iter().map(|token| (*token).to_owned()).collect();
    assert_eq!(scene.tokens(&[]), (0, tokens(&["Resolved"])));
    assert_eq!(
        scene.tokens(&["other.yaml"]),
        (1, tokens(&["VersionNotFound"]))
    );
    assert_eq!(
        scene.tokens(&["-f", "other.yaml"]),
        (1, tokens(&["VersionNotFound"]))
    );
    assert_eq!(
        scene.tokens(&["apps", "--catalog=hub=none.yaml"]),
        (1, tokens(&["PackageNotFound"])),
        "the catalogs of a flag are all catalogs"
    );
    scene.misused(&["--no-project"], "no manifest is given");
    assert_eq!(
        scene.tokens(&["--no-project", "apps", CATALOG]),
        (0, tokens(&["Resolved"]))
    );
}

#[test]
fn an_installed_extension_that_no_manifest_has_is_warned_of() {
    let [(a, app), (b, other)] = apps();
    let installed = format!("{PROJECT}installed: {{aa: 1.0.0, a: 1.0.0}}\n");
    let scene = scene(&[(a, &app), (b, &other), (".olmguard.yaml", &installed)]);
    let warned = |arguments: &[&str]| {
        let ran = scene.run(arguments);
        (ran.code, ran.stderr)
    };
    let warning = "warning: installed of the project file: no manifest of its paths has extension \"aa\"; did you mean \
                   \"a\"?\n";
    assert_eq!(warned(&[]), (0, warning.to_owned()));
    assert_eq!(warned(&["--warn-as-error"]).0, 1);
    // Manifests that the command line names can be a part of the project.
    assert_eq!(warned(&["apps"]), (0, String::new()));
}

#[test]
fn paths_are_those_of_its_directory() {
    let [(a, app), (b, other)] = apps();
    let scene = scene(&[(a, &app), (b, &other), (".olmguard.yaml", PROJECT)]);
    let ran = scene
        .command(&["-o", "json"])
        .current_dir(scene.path().join("apps"))
        .output();
    let ran = ran.expect("the program ends");
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one object");
    assert_eq!(report["results"][0]["file"], "../apps/a.yaml");
    assert_eq!(report["results"][0]["token"], "Resolved");
}

#[test]
fn one_that_cannot_be_read_is_wrong_usage() {
    let scene = scene(&[(
        ".olmguard.yaml",
        "schema: olmguard.project/v1\ncatalog: {}\n",
    )]);
    scene.misused(
        &[],
        "error: .olmguard.yaml:2:10: catalog is not known: did you mean catalogs?\n",
    );
}
