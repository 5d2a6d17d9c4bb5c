//! The installed version according to `--installed`.

use serde_json::json;

use super::scene::{CATALOG, extension, scene};

/// Returns the same package with other names of bundles.
fn mirror() -> String {
    include_str!("../../../examples/Resolved/hub.yaml").replace("lantern-operator.v", "mirrored.v")
}

#[test]
fn the_name_is_looked_up_where_it_is_not_given() {
    let scene = scene(&[("a.yaml", &extension("a", "1.3.0"))]);
    let rows = [
        (
            "a=1.2.0",
            "Resolved",
            json!("lantern-operator.v1.2.0"),
            json!(null),
        ),
        (
            "a=1.0.0",
            "NotASuccessor",
            json!("lantern-operator.v1.0.0"),
            json!(null),
        ),
        (
            "a=1.3.0",
            "Unchanged",
            json!("lantern-operator.v1.3.0"),
            json!(null),
        ),
        (
            "a=1.0.0,bundle=lantern-operator.v1.2.0",
            "Resolved",
            json!("lantern-operator.v1.2.0"),
            json!(null),
        ),
        (
            "a=1.2.0,bundle=stranger",
            "NotASuccessor",
            json!("stranger"),
            json!(null),
        ),
        (
            "a=1.2.0,bundle=x,release=",
            "NotASuccessor",
            json!("x"),
            json!(""),
        ),
        (
            "a=1.2.0,release=2,bundle=x",
            "NotASuccessor",
            json!("x"),
            json!("2"),
        ),
    ];
    for (given, token, bundle, release) in rows {
        let (_, report) = scene.json(&["-f", "a.yaml", CATALOG, "--installed", given]);
        let result = &report["results"][0];
        assert_eq!(result["token"], token, "{given}: {result}");
        assert_eq!(result["installed"]["bundle"], bundle, "{given}");
        assert_eq!(result["installed"]["release"], release, "{given}");
    }
}

/// No catalog knows the name, but the name contains the version.
#[test]
fn a_name_is_a_name_without_a_catalog_that_has_the_package() {
    let other = extension("a", "1.3.0").replace("lantern-operator", "harbor");
    let scene = scene(&[("a.yaml", &other)]);
    let given = "--installed=a=harbor.v1.2.0";
    let (_, report) = scene.json(&["-f", "a.yaml", CATALOG, given]);
    let result = &report["results"][0];
    assert_eq!(result["token"], "PackageNotFound", "{result}");
    assert_eq!(result["installed"]["bundle"], "harbor.v1.2.0");
    assert_eq!(result["installed"]["version"], "1.2.0");
}

#[test]
fn it_counts_more_than_the_status() {
    let status = "status: {install: {bundle: {name: lantern-operator.v1.2.0, version: 1.2.0}}}\n";
    let scene = scene(&[("a.yaml", &(extension("a", "1.3.0") + status))]);
    let tokens = |more: &[&str]| scene.tokens(&[&["-f", "a.yaml", CATALOG], more].concat()).1;
    assert_eq!(tokens(&[]), ["Resolved"]);
    assert_eq!(tokens(&["--installed=a=1.0.0"]), ["NotASuccessor"]);
}

#[test]
fn names_that_disagree_leave_it_unknown() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.3.0")),
        ("mirror.yaml", &mirror()),
    ]);
    let arguments = [
        "-f",
        "a.yaml",
        CATALOG,
        "--catalog=mirror=mirror.yaml",
        "--installed=a=1.2.0",
    ];
    let (code, report) = scene.json(&arguments);
    let result = &report["results"][0];
    assert_eq!((code, &result["token"]), (4, &json!("InstalledUnknown")));
    let message = result["message"].as_str().expect("a message");
    for name in ["lantern-operator.v1.2.0", "mirrored.v1.2.0"] {
        assert!(message.contains(name), "{name}: {message}");
    }
    assert_eq!(result["installed"], json!(null));
}

#[test]
fn a_version_that_no_catalog_has_is_undecided_without_a_name() {
    let scene = scene(&[("a.yaml", &extension("a", "1.3.0"))]);
    let (code, report) = scene.json(&["-f", "a.yaml", CATALOG, "--installed=a=0.9.0"]);
    let result = &report["results"][0];
    assert_eq!((code, &result["token"]), (4, &json!("InstalledUnknown")));
    let expected = json!({"bundle": null, "version": "0.9.0", "release": null});
    assert_eq!(result["installed"], expected);
}

#[test]
fn several_are_said_one_by_one_or_in_a_list() {
    let both = extension("a", "1.3.0") + "---\n" + &extension("b", "1.3.0");
    let scene = scene(&[("both.yaml", &both)]);
    let expected = (1, vec!["Resolved".to_owned(), "NotASuccessor".to_owned()]);
    let files = &["-f", "both.yaml", CATALOG];
    let rows: &[&[&str]] = &[
        &["--installed=a=1.2.0", "--installed=b=1.0.0"],
        &["--installed=a=1.2.0,b=1.0.0"],
        &["--installed=b=1.0.0,bundle=lantern-operator.v1.0.0,a=1.2.0"],
    ];
    for arguments in rows {
        assert_eq!(
            scene.tokens(&[&files[..], arguments].concat()),
            expected,
            "{arguments:?}"
        );
    }
    let mut command = scene.command(files);
    let ended = command
        .env("OLMGUARD_CHECK_INSTALLED", "a=1.2.0,b=1.0.0")
        .output();
    assert_eq!(ended.expect("the program starts").status.code(), Some(1));
}

#[test]
fn what_would_be_lost_without_a_word_is_wrong_usage() {
    let unknown = extension("unknown", "1.3.0").replace("io/v1\n", "io/v9\n");
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "1", "operation": "CREATE", "object": {
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "reviewed"},
            "spec": {"source": {"catalog": {"packageName": "lantern-operator"}}}}}});
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.3.0")),
        ("unknown.yaml", &unknown),
        ("review.json", &review.to_string()),
        ("bad.yaml", "kind: ["),
    ]);
    let stranger = |name: &str| format!("have no manifest of an extension \"{name}\"");
    let rows: &[(&[&str], &str, String)] = &[
        (&["a.yaml"], "b=1.0.0", stranger("b")),
        (
            &["a.yaml", "unknown.yaml"],
            "unknown=1.0.0",
            stranger("unknown"),
        ),
        (
            &["a.yaml", "review.json"],
            "reviewed=1.0.0",
            stranger("reviewed"),
        ),
        (
            &["a.yaml"],
            "a=1.0.0,a=1.1.0",
            "\"a\" is given twice".to_owned(),
        ),
        (
            &["a.yaml"],
            "a=1.0.0,bundle=",
            "bundle= has no name".to_owned(),
        ),
        (&["a.yaml"], "a=", "write EXTENSION=VERSION".to_owned()),
        (&["a.yaml"], "1.0.0", "write EXTENSION=VERSION".to_owned()),
    ];
    for (files, given, words) in rows {
        let arguments = [&["--installed", *given, CATALOG, "-f"], *files].concat();
        scene.misused(&arguments, words);
    }
    // It may be in the input that cannot be read.
    let ran = scene.run(&["-f", "a.yaml", "bad.yaml", CATALOG, "--installed=b=1.0.0"]);
    assert_eq!(ran.code, 3, "{ran:?}");
}
