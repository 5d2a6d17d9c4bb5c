//! Files of the base that cannot be read, and their reports in each format.

use serde_json::{Value, json};

use super::repository::{CATALOG, Repository, tokens};
use crate::check::scene::extension;

/// Returns a broken file with this extension.
fn broken(name: &str) -> String {
    extension(name, "1.0.0").replace("source:", "source: [")
}

/// Returns a repository whose base has a broken file, which no longer exists.
fn without(file: &str) -> Repository {
    let repository = Repository::with(&[
        (file, &broken("a")),
        ("apps/b.yaml", &extension("b", "1.0.0")),
    ]);
    repository.remove(file);
    repository
}

const CHECK: [&str; 4] = ["-f", "apps", CATALOG, "--base=main"];

#[test]
fn whoever_takes_a_broken_file_away_is_told_that_nothing_is_compared_with_it() {
    let repository = without("apps/a.yaml");
    repository.write(&[("apps/b.yaml", &extension("b", "1.1.0"))]);
    let told = |form: &str| {
        let ran = repository.run(&[&CHECK[..], &["-o", form]].concat());
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{form}: {ran:?}");
        ran.stdout
    };
    let words = "it could not be read, and is there no more: invalid YAML: ";
    let text = told("text");
    let line = format!(": not compared\n  {words}");
    assert!(text.contains("\nmain:apps/a.yaml:"), "{text}");
    assert!(text.contains(&line), "{text}");
    let note = format!(": not compared, {words}");
    assert!(told("github").contains(&note));
    assert!(told("markdown").contains(&note));
    assert!(told("sarif").contains(&note));
    let report: Value = serde_json::from_str(&told("json")).expect("JSON");
    let passed_over = &report["base"]["passed_over"];
    assert_eq!(passed_over[0]["file"], "main:apps/a.yaml");
    assert_eq!(passed_over.as_array().map(Vec::len), Some(1));
    assert_eq!(tokens(&report), ["b changed Resolved"]);
    assert_eq!(repository.run(&[&CHECK[..], &["-q"]].concat()).stdout, "");
}

#[test]
fn a_broken_file_that_an_extension_may_come_from_is_bad_input_wherever_it_was() {
    for file in ["apps/a.yaml", "other/a.yaml"] {
        let repository = without(file);
        repository.write(&[("apps/new.yaml", &extension("a", "1.3.0"))]);
        let ran = repository.run(&[&CHECK[..], &["-o=json"]].concat());
        let begin = format!("error: main:{file}:");
        assert!(ran.stderr.starts_with(&begin), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        let report = ran.json();
        assert_eq!(
            (ran.code, tokens(&report)),
            (3, vec!["a unknown InstalledUnknown".to_owned()])
        );
        assert_eq!(report["base"].get("passed_over"), None);
        let found = repository.findings("repo", &CHECK);
        assert_eq!(found, (3, vec!["InstalledUnknown".to_owned()]));
    }
}

#[test]
fn a_broken_file_elsewhere_that_nobody_misses_is_not_spoken_of() {
    let repository = without("other/a.yaml");
    repository.write(&[("apps/new.yaml", &extension("c", "1.3.0"))]);
    let ran = repository.run(&[&CHECK[..], &["-o=json"]].concat());
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    assert_eq!(ran.json()["base"].get("passed_over"), None);
}

#[test]
fn a_place_in_the_base_is_no_file_to_annotate() {
    let repository = Repository::with(&[
        ("apps/a.yaml", &broken("a")),
        ("apps/gone.yaml", &extension("gone", "1.0.0")),
    ]);
    repository.remove("apps/gone.yaml");
    repository.write(&[("apps/a.yaml", &extension("a", "1.3.0"))]);
    let ran = repository.run(&[&CHECK[..], &["-o=sarif"]].concat());
    let log: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let notes = log.pointer("/runs/0/invocations/0/toolExecutionNotifications");
    let places = notes.and_then(Value::as_array).expect("a list").iter();
    let places: Vec<_> = places.map(|note| note["locations"].clone()).collect();
    let named = |name: &str| json!([{"logicalLocations": [{"fullyQualifiedName": name}]}]);
    assert_eq!(
        places,
        [
            named("main:apps/a.yaml"),
            named("main:apps/gone.yaml:11:16")
        ]
    );
    let commands = repository
        .run(&[&CHECK[..], &["-o=github"]].concat())
        .stdout;
    let heads: Vec<_> = commands
        .lines()
        .filter(|line| line.contains("main:"))
        .collect();
    assert!(
        heads[0].starts_with("::error title=olmguard check::main:apps/a.yaml:"),
        "{heads:?}"
    );
    assert!(
        heads.iter().all(|line| !line.contains("file=main")),
        "{heads:?}"
    );
    assert!(
        heads
            .iter()
            .any(|line| line.starts_with("::notice title=olmguard check::main:apps/gone.yaml:"))
    );
}
