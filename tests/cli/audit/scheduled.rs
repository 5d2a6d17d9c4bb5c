//! The examples for a nightly pipeline and for Renovate are run from their files.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use super::{object, scene};
use crate::folder::Folder;
use crate::saved::{named, save_running};
use olmguard::manifest::documents;

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/gitops")
        .join(name);
    fs::read_to_string(path).expect(name)
}

/// Returns the steps of the nightly pipeline that run olmguard.
fn steps() -> Vec<String> {
    let text = example("scheduled/nightly.yaml");
    let document = documents(text.as_bytes())
        .next()
        .expect("one")
        .expect("YAML");
    let pipeline: Value = document.value;
    let steps = pipeline["jobs"]["audit"]["steps"]
        .as_array()
        .expect("steps");
    let runs = steps.iter().filter_map(|step| step["run"].as_str());
    let ours = runs.filter(|run| run.starts_with("olmguard "));
    ours.map(str::to_owned).collect()
}

fn run(scene: &Folder, step: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_olmguard"));
    let programs = program.parent().expect("a directory").display();
    let path = format!("{programs}:{}", env::var("PATH").expect("a path"));
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", step]).current_dir(scene.path());
    let status = shell.env_clear().env("PATH", path).status().expect("sh");
    assert!(status.success(), "{step}");
}

/// Returns what Renovate reads from a file with the expression of the example: names and versions.
fn found(renovate: &Value, file: &str) -> Vec<(String, String)> {
    let expression = &renovate["customManagers"][0]["matchStrings"][0];
    let expression = Regex::new(expression.as_str().expect("a text")).expect("an expression");
    let all = expression.captures_iter(file);
    all.map(|found| {
        (
            found["depName"].to_owned(),
            found["currentValue"].to_owned(),
        )
    })
    .collect()
}

/// Returns the data source of one dependency, which the rule of the example looks up by its name.
fn source(renovate: &Value, scene: &Folder, name: &str) -> Value {
    let data_source = &renovate["customDatasources"]["olmguard"];
    let url = data_source["defaultRegistryUrlTemplate"]
        .as_str()
        .expect("a text");
    let file = url.strip_prefix("file://").expect("a file");
    let all = fs::read_to_string(scene.path().join(file)).expect("a list");
    let all: Value = serde_json::from_str(&all).expect("JSON");
    assert_eq!(
        data_source["transformTemplates"],
        json!(["$lookup($, \"{{packageName}}\")"])
    );
    all[name].clone()
}

#[test]
fn a_night_writes_the_comment_and_the_versions_that_renovate_can_set() {
    let scene = scene();
    let extensions = vec![
        object("lantern", "1.0.0", "1.0.0"),
        object("newest", "1.2.0", "1.2.0"),
        object("denied", "1.2.0", "1.0.0"),
    ];
    let catalogs = [(named("hub"), Some(&*scene.path().join("hub.yaml")))];
    save_running(
        &scene.path().join("cluster.snapshot"),
        extensions,
        &catalogs,
    );
    let steps = steps();
    assert_eq!(steps.len(), 2);
    for step in &steps {
        run(&scene, step);
    }
    let comment = fs::read_to_string(scene.path().join("comment.md")).expect("a comment");
    assert!(
        comment.starts_with("<!-- olmguard audit -->\n### olmguard audit: 3 extensions"),
        "{comment}"
    );
    let renovate: Value = serde_json::from_str(&example("scheduled/renovate.json")).expect("JSON");
    // A version after the next one is denied until the next one is installed.
    let releases = |versions: &[&str]| {
        let versions = versions.iter().map(|version| json!({"version": version}));
        json!({"releases": versions.collect::<Vec<_>>()})
    };
    let written = found(&renovate, &example("extensions/lantern.yaml"));
    assert_eq!(written, [("lantern".to_owned(), "1.3.0".to_owned())]);
    assert_eq!(
        source(&renovate, &scene, "lantern"),
        releases(&["1.0.0", "1.1.0"])
    );
    assert_eq!(source(&renovate, &scene, "newest"), releases(&["1.2.0"]));
}

/// A file can have several extensions, and one without a version has nothing to set.
#[test]
fn the_expression_takes_each_extension_with_a_version() {
    let renovate: Value = serde_json::from_str(&example("scheduled/renovate.json")).expect("JSON");
    let one = example("extensions/lantern.yaml");
    let any = one.replace("      version: 1.3.0\n", "");
    let other = one
        .replace("name: lantern\nspec", "name: other\nspec")
        .replace("1.3.0", "\"2.0.0\"");
    let file = [
        one,
        any.replace("name: lantern\nspec", "name: any\nspec"),
        other,
    ]
    .join("---\n");
    let found = found(&renovate, &file);
    let found: Vec<_> = found
        .iter()
        .map(|(name, version)| (&**name, &**version))
        .collect();
    assert_eq!(found, [("lantern", "1.3.0"), ("other", "2.0.0")]);
}
