//! A base that is a directory or a file, also for rendered manifests.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::check::scene::{CATALOG, Scene, asking, extension, scene};

use super::repository::tokens;

fn rendered() -> Scene {
    let both = |a: &str, b: &str| format!("{}---\n{}", extension("a", a), extension("b", b));
    scene(&[
        ("base/deep/all.yaml", &both("1.0.0", "1.0.0")),
        ("new/one.yaml", &extension("a", "1.3.0")),
        ("new.yaml", &both("1.3.0", "1.0.0")),
    ])
}

#[test]
fn a_folder_holds_what_there_was() {
    let scene = rendered();
    for base in ["base", "./base", "base/", "base/deep/all.yaml"] {
        let (code, report) = scene.json(&["-f", "new", CATALOG, "--base", base]);
        assert_eq!(
            (code, tokens(&report)),
            (1, vec!["a changed NotASuccessor".to_owned()])
        );
        let told = &report["base"];
        assert_eq!(
            (&told["path"], &told["commit"]),
            (&Value::from(base), &Value::Null)
        );
        assert_eq!(told["removed"][0]["name"], "b", "{base}");
        assert_eq!(told["removed"][0]["package"], "lantern-operator", "{base}");
        assert_eq!(told["removed"][0]["range"], "1.0.0", "{base}");
        assert_eq!(told["removed"][0]["line"], 23, "{base}");
    }
}

#[test]
fn standard_input_is_compared_with_what_the_base_renders_to() {
    let scene = rendered();
    let stdin = std::fs::read_to_string(scene.path().join("new.yaml")).expect("a file");
    let ran = scene.run_with(&["-f", "-", CATALOG, "--base=base", "-o=json"], &stdin);
    assert_eq!(tokens(&ran.json()), ["a changed NotASuccessor"]);
    assert_eq!(ran.json()["summary"]["unchanged"], 1);
}

#[test]
fn the_output_of_a_build_comes_through_a_pipe() {
    let scene = rendered();
    let mut command = scene.command(&["-f", "-", CATALOG, "--base=base"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let text = extension("a", "1.1.0") + "---\n" + &extension("b", "1.0.0");
    stdin.write_all(text.as_bytes()).expect("it is read");
    drop(stdin);
    let ended = child.wait_with_output().expect("the program ends");
    let stdout = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{stdout}");
    assert!(stdout.starts_with("-:11:16: a: allow\n"), "{stdout}");
}

#[test]
fn what_cannot_be_read_of_a_folder_is_named() {
    let scene = scene(&[
        (
            "base/a.yaml",
            "kind: ClusterExtension\nmetadata: {name: a\n",
        ),
        ("new.yaml", &asking("a", "version: 1.3.0")),
    ]);
    let ran = scene.run(&["-f", "new.yaml", CATALOG, "--base=base", "-o=json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(tokens(&ran.json()), ["a unknown InstalledUnknown"]);
    assert!(
        ran.stderr.starts_with("error: base/a.yaml:"),
        "{}",
        ran.stderr
    );
}
