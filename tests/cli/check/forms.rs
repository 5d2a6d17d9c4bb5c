//! The output formats for pipelines: the same results and the same exit code in each.

use olmguard::manifest::documents;
use serde_json::Value;

use super::scene::{CATALOG, Scene, asking, cluster_catalog, extension, scene};
use olmguard_support::schema::assert_fits;

const FORMS: [&str; 7] = [
    "text", "json", "yaml", "sarif", "junit", "github", "markdown",
];

/// Returns one allowed, one denied, one undecided, one with a warning, and one unreadable.
fn all() -> Scene {
    let selector = "selector: {matchLabels: {team: none}}";
    scene(&[
        ("good.yaml", &extension("good", "1.1.0")),
        ("denied.yaml", &extension("denied", "7.0.0")),
        ("undecided.yaml", &asking("undecided", selector)),
        (
            "warned.yaml",
            &asking("warned", "channels: [stable, stabel]"),
        ),
        ("bad.yaml", "a: 1\nkind: ["),
        (
            "named.yaml",
            &cluster_catalog("n", "spec: {priority: high}\n"),
        ),
    ])
}

const FILES: [&str; 4] = ["good.yaml", "denied.yaml", "undecided.yaml", "warned.yaml"];

fn printed(scene: &Scene, form: &str, files: &[&str], more: &[&str]) -> (i32, String) {
    let form = format!("-o={form}");
    let ran = scene.run(&[&["-f"], files, &[CATALOG, &form], more].concat());
    (ran.code, ran.stdout)
}

#[test]
fn every_form_ends_alike() {
    let scene = all();
    let rows: &[(&[&str], &[&str], i32)] = &[
        (&["good.yaml"], &[], 0),
        (&["good.yaml", "denied.yaml"], &[], 1),
        (&["warned.yaml"], &["--warn-as-error"], 1),
        (&["bad.yaml", "denied.yaml"], &[], 3),
        (&["named.yaml"], &["--require-match"], 3),
        (&["undecided.yaml", "denied.yaml"], &[], 4),
        (&["undecided.yaml"], &["--on-undecided=warn"], 0),
    ];
    for (files, more, code) in rows {
        for form in FORMS {
            assert_eq!(
                printed(&scene, form, files, more).0,
                *code,
                "{files:?} {form}"
            );
        }
    }
}

#[test]
fn yaml_is_the_object_of_the_json() {
    let scene = all();
    let files = [&FILES[..], &["bad.yaml"]].concat();
    let (_, yaml) = printed(&scene, "yaml", &files, &[]);
    let (_, json) = printed(&scene, "json", &files, &[]);
    let read: Vec<_> = documents(yaml.as_bytes()).map(Result::unwrap).collect();
    assert_eq!(read.len(), 1, "{yaml}");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(read[0].value, json);
    assert!(
        yaml.contains("\n    message: |-\n      lantern-operator: "),
        "{yaml}"
    );
}

#[test]
fn sarif_has_a_finding_for_each_refusal_and_warning() {
    let (_, text) = printed(&all(), "sarif", &FILES, &[]);
    let log: Value = serde_json::from_str(&text).expect("JSON");
    assert_fits("tests/sarif/sarif-2.1.0.json", &log);
    let found: Vec<_> = log["runs"][0]["results"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            (
                one["ruleId"].as_str().unwrap(),
                one["level"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("VersionNotFound", "error"),
            ("NoCatalogs", "error"),
            ("Warning", "warning")
        ]
    );
}

#[test]
fn what_cannot_be_read_is_told_in_every_form() {
    let scene = all();
    let files = ["no/such.yaml", "bad.yaml", "named.yaml", "good.yaml"];
    let told = |form| printed(&scene, form, &files, &["--catalog=gone=no/such"]).1;
    let log: Value = serde_json::from_str(&told("sarif")).expect("JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["exitCode"], 3);
    let notes = invocation["toolExecutionNotifications"]
        .as_array()
        .expect("a list");
    let at = |note: &Value| {
        let place = note.pointer("/locations/0/physicalLocation")?;
        let line = place.pointer("/region/startLine").and_then(Value::as_u64);
        Some((place["artifactLocation"]["uri"].as_str()?.to_owned(), line))
    };
    let places: Vec<_> = notes.iter().map(at).collect();
    let place = |file: &str, line| Some((file.to_owned(), line));
    assert_eq!(
        places,
        [
            place("no/such.yaml", None),
            place("bad.yaml", Some(2)),
            place("named.yaml", Some(1)),
            None
        ],
        "{notes:?}"
    );
    assert_eq!(
        told("junit").matches("<error ").count(),
        5,
        "and what is undecided for it"
    );
    let commands = told("github");
    assert!(
        commands.contains("::error file=bad.yaml,line=2,col="),
        "{commands}"
    );
    assert!(
        commands.contains("::error file=no/such.yaml,title="),
        "{commands}"
    );
    assert_eq!(told("markdown").matches("\n- error: `").count(), 4);
}

#[test]
fn quiet_leaves_out_what_counts_as_good_where_people_read() {
    let scene = all();
    let told = |form| printed(&scene, form, &FILES, &["-q"]).1;
    for form in ["github", "markdown"] {
        let text = told(form);
        assert!(
            text.contains("denied") && !text.contains("warned"),
            "{text}"
        );
    }
    for form in ["yaml", "sarif", "junit"] {
        assert_eq!(told(form), printed(&scene, form, &FILES, &[]).1);
    }
}

#[test]
fn what_is_there_no_more_is_a_note() {
    let scene = scene(&[
        ("before/gone.yaml", &extension("gone", "1.1.0")),
        ("now/template.yaml", "a: {{ b }}\n"),
    ]);
    let told = |form, more: &[&str]| {
        let base = [&["--base=./before"], more].concat();
        printed(&scene, form, &["now"], &base).1
    };
    let words = "before/gone.yaml:11:16: gone: removed, it asked for lantern-operator, 1.1.0";
    for form in ["github", "markdown", "sarif"] {
        assert!(told(form, &[]).contains(words), "{}", told(form, &[]));
    }
    let skipped = "::notice file=now/template.yaml,line=1,col=";
    assert!(
        told("github", &[]).contains(skipped),
        "{}",
        told("github", &[])
    );
    assert_eq!(told("github", &["-q"]), "");
}

#[test]
fn an_extension_that_is_missing_is_said() {
    let scene = all();
    let ran = scene.run(&["-f", "named.yaml", "--require-match", "-o=github"]);
    let words = "the inputs have no ClusterExtension: --require-match expects at least one";
    assert!(ran.stderr.contains(&format!("error: {words}\n")), "{ran:?}");
    assert!(ran.stdout.contains(&format!("::{words}\n")), "{ran:?}");
}
