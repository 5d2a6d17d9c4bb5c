//! The exit codes, and which of several is used.

use std::fs::File;

use super::scene::{CATALOG, Scene, asking, extension, scene};

/// Returns one file for each exit code.
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
        ("bad.yaml", "kind: ["),
        ("other.yaml", "apiVersion: v1\nkind: ConfigMap\n"),
    ])
}

#[test]
fn of_several_the_gravest_is_said() {
    let scene = all();
    let rows: &[(&[&str], i32)] = &[
        (&["good.yaml"], 0),
        (&["other.yaml"], 0),
        (&["good.yaml", "denied.yaml"], 1),
        (&["denied.yaml", "good.yaml"], 1),
        (&["denied.yaml", "undecided.yaml"], 4),
        (&["undecided.yaml", "good.yaml"], 4),
        (&["undecided.yaml", "bad.yaml"], 3),
        (&["denied.yaml", "bad.yaml"], 3),
        (&["good.yaml", "no/such/file"], 3),
        (&["bad.yaml", "undecided.yaml", "denied.yaml"], 3),
    ];
    for (files, code) in rows {
        let arguments = [&[CATALOG, "-f"], *files].concat();
        assert_eq!(scene.run(&arguments).code, *code, "{files:?}");
        assert_eq!(scene.json(&arguments).0, *code, "{files:?} as JSON");
    }
}

/// Otherwise, a path with the wrong directory would always succeed.
#[test]
fn that_nothing_is_checked_is_a_warning() {
    let scene = all();
    let words = "the inputs have no ClusterExtension, so nothing is checked; with --require-match that \
                 is an error";
    let ran = scene.run(&["-f", "other.yaml", CATALOG]);
    assert_eq!((ran.code, ran.stderr), (0, format!("warning: {words}\n")));
    let ran = scene.run(&["-f", "other.yaml", CATALOG, "-o=github"]);
    assert!(ran.stdout.contains("::warning"), "{ran:?}");
    let good = scene.run(&["-f", "good.yaml", CATALOG]);
    assert!(!good.stderr.contains("warning"), "{good:?}");
}

#[test]
fn a_result_that_cannot_be_written_is_graver_than_any() {
    let scene = all();
    for more in [&[] as &[_], &["-o=json"]] {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("a full device");
        let mut command = scene.command(&["-f", "good.yaml", "bad.yaml", CATALOG]);
        let ended = command
            .args(more)
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(ended.status.code(), Some(5), "{more:?}");
    }
}

#[test]
fn what_undecided_counts_as_is_a_setting() {
    let scene = all();
    let rows: &[(&[&str], i32)] = &[
        (&["undecided.yaml"], 4),
        (&["undecided.yaml", "--on-undecided=warn"], 0),
        (
            &["undecided.yaml", "--on-undecided=warn", "--warn-as-error"],
            1,
        ),
        (&["undecided.yaml", "--on-undecided=deny"], 1),
        (&["undecided.yaml", "denied.yaml", "--on-undecided=warn"], 1),
        (&["undecided.yaml", "bad.yaml", "--on-undecided=warn"], 3),
        (&["undecided.yaml", "bad.yaml", "--on-undecided=deny"], 3),
    ];
    for (arguments, expected) in rows {
        let (code, report) = scene.json(&[&[CATALOG, "-f"], *arguments].concat());
        assert_eq!(code, *expected, "{arguments:?}");
        let result = &report["results"][0];
        assert_eq!(result["verdict"], "undecided", "{arguments:?}");
        assert_eq!(result["token"], "NoCatalogs", "{arguments:?}");
        let warnings = result["warnings"].as_array().expect("a list").len();
        let warns = arguments.contains(&"--on-undecided=warn");
        assert_eq!(warnings, usize::from(warns), "{arguments:?}: {result}");
    }
}

#[test]
fn the_last_line_of_an_undecided_run_explains_its_exit_code() {
    let scene = all();
    let stdout = |more: &[&str]| {
        let arguments = [&["-f", "undecided.yaml", CATALOG][..], more].concat();
        scene.run(&arguments).stdout
    };
    let last = "\n1 undecided\nExit code 4: a fact is missing. Help: olmguard explain 4\n";
    let text = stdout(&[]);
    assert!(text.ends_with(last), "{text}");
    for more in ["--on-undecided=warn", "--on-undecided=deny", "--quiet"] {
        let text = stdout(&[more]);
        assert!(!text.contains("Exit code"), "{more}: {text}");
    }
}

#[test]
fn warnings_count_where_they_are_asked_to() {
    let scene = all();
    let (code, report) = scene.json(&["-f", "warned.yaml", CATALOG]);
    assert_eq!(code, 0);
    let warning = report["results"][0]["warnings"][0]
        .as_str()
        .expect("a warning");
    assert!(warning.contains("stabel"), "{warning}");
    let rows: &[(&[&str], i32)] = &[
        (&["warned.yaml"], 1),
        (&["good.yaml"], 0),
        (&["warned.yaml", "undecided.yaml"], 4),
    ];
    for (files, code) in rows {
        let arguments = [&[CATALOG, "--warn-as-error", "-f"], *files].concat();
        assert_eq!(scene.run(&arguments).code, *code, "{files:?}");
    }
}

#[test]
fn no_extension_is_bad_input_where_one_is_required() {
    let scene = all();
    let report = |arguments: &[&str]| {
        let (code, report) = scene.json(arguments);
        (code, report["summary"]["other_kinds"].clone())
    };
    assert_eq!(report(&["-f", "other.yaml"]), (0, 1.into()));
    assert_eq!(
        report(&["-f", "other.yaml", "--require-match"]),
        (3, 1.into())
    );
    assert_eq!(
        report(&["-f", "good.yaml", "--require-match", CATALOG]),
        (0, 0.into())
    );
}

#[test]
fn wrong_usage_judges_nothing() {
    let scene = all();
    let rows: &[(&[&str], &str)] = &[
        (
            &[],
            "no manifest is given: expected PATH, -f PATH, or paths in .olmguard.yaml",
        ),
        (
            &["-f", "good.yaml", "--catalog=hub"],
            "\"hub\" has no name: write NAME=PATH, for example hub=catalog.yaml",
        ),
        (
            &["-f", "good.yaml", CATALOG, CATALOG],
            "catalog \"hub\" is given twice",
        ),
        (
            &["-f", "good.yaml", "--olm-release=0.1"],
            "unknown OLM release \"0.1\"",
        ),
        (
            &["-f", "good.yaml", "--olm-feature-gates=Nope=true"],
            "unknown feature gate \"Nope\"",
        ),
        (
            &["-f", "good.yaml", "--on-undecided=allow"],
            "possible values: warn, deny",
        ),
        (
            &["-f", "good.yaml", "-o=xml"],
            "possible values: text, json",
        ),
        (
            &["-f", "-", "-f", "-"],
            "standard input can be read only once",
        ),
        (
            &["-f", "-", "--catalog=hub=-"],
            "standard input can be read only once",
        ),
        (
            &["-f", "good.yaml", "good.yaml"],
            "\"good\" is defined twice, at good.yaml:1:1 and at good.yaml:1:1: expected each file once",
        ),
    ];
    for (arguments, words) in rows {
        scene.misused(arguments, words);
    }
}
