//! `--snapshot`: the catalogs and the OLM of a cluster, from a file.

use std::fs;
use std::path::Path;

use olmguard::source::archive::OlmFacts;
use olmguard_engine::snapshot::{Availability, CatalogState, Content, Currency};
use serde_json::Value;

use super::scene::{CATALOG, Scene, asking, cluster_catalog, extension, scene};
use crate::saved::{named, olm, save};

const HUB: &str = "examples/Resolved/hub.yaml";
const SNAPSHOT: &str = "--snapshot=saved";
const LAX: &str = "--no-schema";

/// Returns a scene with a snapshot of these catalogs.
fn with(olm: Option<OlmFacts>, catalogs: &[(CatalogState, bool)], files: &[(&str, &str)]) -> Scene {
    let scene = scene(files);
    let hub = Path::new(env!("CARGO_MANIFEST_DIR")).join(HUB);
    let catalogs: Vec<_> = catalogs
        .iter()
        .map(|(state, is_held)| (state.clone(), is_held.then_some(&*hub)))
        .collect();
    save(&scene.path().join("saved"), olm, &catalogs);
    scene
}

/// Returns a scene with one catalog and its content, of a cluster with the newest OLM.
fn hub(state: CatalogState, files: &[(&str, &str)]) -> Scene {
    with(Some(olm("1.11", &[])), &[(state, true)], files)
}

#[test]
fn the_answer_is_that_of_the_catalog_itself() {
    let files = &[
        ("a.yaml", &*extension("a", "1.1.0")),
        ("b.yaml", &*extension("b", "7.0.0")),
    ];
    let scene = hub(named("hub"), files);
    let rows = ["a.yaml", "b.yaml"];
    for row in rows {
        let saved = scene.run(&["-f", row, SNAPSHOT, "-o=json"]);
        let file = scene.run(&["-f", row, CATALOG, "-o=json"]);
        assert_eq!(
            (saved.code, saved.stdout),
            (file.code, file.stdout),
            "{row}"
        );
    }
}

#[test]
fn a_catalog_among_the_inputs_says_what_a_manifest_says() {
    let mut state = named("hub");
    state.availability = Availability::Unavailable;
    state.image_ref = Some("example.com/hub@sha256:1a2b".to_owned());
    let object = cluster_catalog("hub", "  labels: {team: a}\nspec:\n  priority: 3\n");
    let team = "selector: {matchLabels: {team: a}}";
    let scene = hub(
        state,
        &[("a.yaml", &asking("a", team)), ("c/hub.yaml", &object)],
    );
    let alone = scene.tokens(&["-f", "a.yaml", SNAPSHOT]);
    assert_eq!(alone, (4, vec!["NoCatalogs".to_owned()]));
    let (code, report) = scene.json(&["-f", "a.yaml", "c", SNAPSHOT]);
    assert_eq!(
        (code, &report["results"][0]["token"]),
        (0, &"Resolved".into())
    );
    assert_eq!(report["catalogs"][0]["digest"], "sha256:1a2b");
}

/// Row 5b, offline: the object is newer than the snapshot, or the server of the snapshot had not loaded the newer
/// content.
#[test]
fn content_that_the_object_does_not_name_denies_nothing() {
    let named_by = |digest: &str| {
        let status = format!(
            "status:\n  conditions: [{{type: Serving, status: \"True\"}}]\n  resolvedSource:\n    \
             image: {{ref: example.com/hub@{digest}}}\n"
        );
        cluster_catalog("hub", &status)
    };
    let (same, newer) = (named_by("sha256:1a2b"), named_by("sha256:3c4d"));
    let manifest = cluster_catalog("hub", "spec: {priority: 3}\n");
    let files = &[
        ("new.yaml", &*extension("new", "7.0.0")),
        ("old.yaml", &*extension("old", "1.1.0")),
        ("same.yaml", &same),
        ("newer.yaml", &newer),
        ("manifest.yaml", &manifest),
    ];
    let mut state = named("hub");
    state.image_ref = Some("example.com/hub@sha256:1a2b".to_owned());
    let current = hub(state.clone(), files);
    let superseded = CatalogState {
        currency: Currency::Superseded,
        ..state
    };
    let superseded = hub(superseded, files);
    let undecided = (4, ["CatalogOutdated", "Resolved"]);
    let denied = (1, ["VersionNotFound", "Resolved"]);
    for (scene, object, (code, tokens)) in [
        (&current, "same.yaml", denied),
        (&current, "manifest.yaml", denied),
        (&current, "newer.yaml", undecided),
        (&superseded, "manifest.yaml", undecided),
    ] {
        let flags = ["-f", "new.yaml", "-f", "old.yaml", "-f", object, SNAPSHOT];
        let told = scene.tokens(&flags);
        assert_eq!(told, (code, tokens.map(str::to_owned).to_vec()), "{object}");
    }
    let (_, report) = current.json(&["-f", "new.yaml", "-f", "newer.yaml", SNAPSHOT]);
    let result = &report["results"][0];
    assert_eq!(
        (&result["fix"], &result["upstream"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(result["path"], Value::Array(Vec::new()));
    // Content from a file is used, whatever content the object names.
    let flags = ["-f", "new.yaml", "-f", "newer.yaml", SNAPSHOT, CATALOG];
    assert_eq!(
        current.tokens(&flags),
        (1, vec!["VersionNotFound".to_owned()])
    );
}

#[test]
fn other_content_replaces_that_of_one() {
    let mut state = named("hub");
    state.image_ref = Some("example.com/hub@sha256:1a2b".to_owned());
    let files = &[("a.yaml", &*extension("a", "1.1.0")), ("empty.yaml", "")];
    let olm = Some(olm("1.11", &[]));
    let scene = with(olm, &[(state, true), (named("other"), true)], files);
    let (_, report) = scene.json(&["-f", "a.yaml", SNAPSHOT, "--catalog=hub=empty.yaml"]);
    assert_eq!(report["catalogs"][0]["packages"], 0);
    assert_eq!(report["catalogs"][0]["digest"], Value::Null);
    assert_eq!(report["results"][0]["resolved"]["catalog"], "other");
    let (_, report) = scene.json(&["-f", "a.yaml", SNAPSHOT, "--catalog=third=empty.yaml"]);
    let names = report["catalogs"].as_array().expect("a list").iter();
    let names: Vec<_> = names.map(|catalog| catalog["name"].as_str()).collect();
    assert_eq!(names, [Some("hub"), Some("other"), Some("third")]);
}

#[test]
fn what_was_not_held_undecides_what_needs_it() {
    let far = CatalogState::named("far", Content::Unreadable("no route".to_owned()));
    let files = &[("a.yaml", &*extension("a", "1.1.0"))];
    for (state, code) in [(far, 3), (named("far"), 4)] {
        let olm = Some(olm("1.11", &[]));
        let scene = with(olm, &[(state, false), (named("hub"), true)], files);
        let tokens = scene.tokens(&["-f", "a.yaml", SNAPSHOT]);
        assert_eq!(tokens, (code, vec!["CatalogNotLoaded".to_owned()]));
        let filled = scene.tokens(&["-f", "a.yaml", SNAPSHOT, "--catalog=far=hub.yaml"]);
        assert_eq!(filled.1, ["AmbiguousCatalogs"]);
    }
}

#[test]
fn a_file_that_cannot_be_read_undecides_everything() {
    let scene = scene(&[
        ("a.yaml", &extension("a", "1.1.0")),
        ("saved", "no snapshot"),
    ]);
    for flags in [
        &[SNAPSHOT] as &[_],
        &[SNAPSHOT, CATALOG],
        &["--snapshot=gone", CATALOG],
    ] {
        let flags = [&["-f", "a.yaml", "-o=json"], flags].concat();
        let ran = scene.run(&flags);
        assert_eq!(
            (ran.code, &ran.json()["results"][0]["token"]),
            (3, &"CatalogNotLoaded".into())
        );
        let end = "; save it again with olmguard snapshot save\n";
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.ends_with(end),
            "{ran:?}"
        );
    }
}

/// The CRDs of older releases require more fields than the sample has.
#[test]
fn the_olm_is_that_of_the_snapshot_unless_the_flags_say_otherwise() {
    let files = &[("a.yaml", &*extension("a", "1.1.0"))];
    let gate = "BundleReleaseSupport=true";
    let scene = with(Some(olm("1.9", &[gate])), &[(named("hub"), true)], files);
    let said = |flags: &[&str]| {
        let ran = scene.run(&[&["-f", "a.yaml", LAX, SNAPSHOT], flags].concat());
        (ran.code, ran.stderr)
    };
    let nothing = (0, String::new());
    assert_eq!(said(&[]), nothing);
    assert_eq!(said(&["--olm-release=1.9"]), nothing);
    assert_eq!(said(&["--olm-feature-gates", gate]), nothing);
    assert_eq!(
        said(&["--olm-release=1.4"]),
        (
            0,
            "warning: the snapshot is from OLM 1.9, but olmguard uses --olm-release 1.4\n"
                .to_owned()
        )
    );
    assert_eq!(
        said(&["--olm-feature-gates=BundleReleaseSupport=false"]),
        (
            0,
            "warning: the snapshot is from OLM with BundleReleaseSupport, but olmguard uses \
             --olm-feature-gates\n"
                .to_owned()
        )
    );
}

#[test]
fn an_olm_that_is_not_known_is_said() {
    let files = &[("a.yaml", &*extension("a", "1.1.0"))];
    let scene = with(None, &[(named("hub"), true)], files);
    let ran = scene.run(&["-f", "a.yaml", LAX, SNAPSHOT]);
    let words = "the snapshot does not name the OLM release: checked as 1.11, the newest release";
    assert_eq!((ran.code, ran.stderr), (0, format!("warning: {words}\n")));
    assert_eq!(
        scene
            .run(&["-f", "a.yaml", LAX, SNAPSHOT, "--olm-release=1.4"])
            .stderr,
        ""
    );

    let newer = OlmFacts {
        release: "7.0".to_owned(),
        gates: Vec::new(),
    };
    let scene = with(Some(newer), &[(named("hub"), true)], files);
    let flags = ["-f", "a.yaml", LAX, SNAPSHOT];
    scene.misused(
        &flags,
        "error: saved: unknown OLM release \"7.0\": expected 1.0 to",
    );
    scene.misused(&flags, "; give --olm-release, or use a newer olmguard");
    assert_eq!(
        scene
            .run(&[&flags[..], &["--olm-release=1.4"]].concat())
            .code,
        0
    );
}

#[test]
fn its_twin_is_in_the_environment() {
    let scene = hub(named("hub"), &[("a.yaml", &extension("a", "1.1.0"))]);
    let mut command = scene.command(&["-f", "a.yaml"]);
    let output = command.env("OLMGUARD_SNAPSHOT", "saved").output();
    assert_eq!(output.expect("it runs").status.code(), Some(0));
    fs::remove_file(scene.path().join("saved")).expect("it is there");
}
