//! Directories of bundles with the recorded answers of the real operator-controller, if this machine has them.

use std::fs;

use olmguard_fixtures::shared::shared;
use olmguard_fixtures::tally::Tally;
use serde_json::Value;

use super::bundle;
use crate::folder::Folder;

/// Returns the recorded answers for directories.
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
    let mut tally = Tally::default();
    for line in &lines {
        let files = line["bundle"]["files"].as_object().expect("files");
        let files = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str().expect("a text")));
        let folder = Folder::of(&files.collect::<Vec<_>>());
        let ran = bundle(&folder, &["."]);
        let is_good = ran.0 == Some(0);
        tally.compare((&line["id"], ran), &is_good, &line["message"].is_null());
    }
    tally.finish("bundle-render.jsonl, directories", 0, "none");
}
