//! Directories of bundles, and what the real operator-controller said of them: recorded answers where they are on this
//! machine.

use std::fs;

use olmguard_fixtures::shared::shared;
use serde_json::Value;

use super::bundle;
use crate::folder::Folder;

/// The directories of the recorded answers, each with whether operator-controller installs the bundle.
fn recorded() -> Option<Vec<Value>> {
    let file = shared()?.join("vectors/preflight/bundle-render.jsonl");
    let text = fs::read_to_string(file).ok()?;
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let is_directory = |line: &Value| line["bundle"]["files"].is_object();
    Some(lines.filter(is_directory).collect())
}

#[test]
fn what_operator_controller_installs_is_good_and_nothing_else() {
    let Some(lines) = recorded() else {
        println!("left out: bundle-render.jsonl is not there");
        return;
    };
    let mut wrong = Vec::new();
    for line in &lines {
        let files = line["bundle"]["files"].as_object().expect("files");
        let files = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str().expect("a text")));
        let folder = Folder::of(&files.collect::<Vec<_>>());
        let (code, printed, errors) = bundle(&folder, &["."]);
        if (code == Some(0)) != line["message"].is_null() {
            wrong.push(format!("{}: {code:?} {printed}{errors}", line["id"]));
        }
    }
    assert_eq!(wrong, [""; 0]);
    println!("bundle-render.jsonl: {} compared, 0 left out", lines.len());
}
