//! The page about pipelines: everything that it names exists.

use std::process::Command;

use serde_json::Value;

use super::repository::read;
use olmguard_support::shown::{command_lines, is_flag, lists, words};

const PAGE: &str = include_str!("../../../docs/pipelines.md");

#[test]
fn every_input_is_told() {
    let action = read("action.yml").remove(0);
    let component = read("templates/olmguard/template.yml").remove(0);
    for inputs in [&action["inputs"], &component["spec"]["inputs"]] {
        for name in inputs.as_object().expect("inputs").keys() {
            assert!(PAGE.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}

#[test]
fn the_hook_is_named() {
    let hooks = read(".pre-commit-hooks.yaml").remove(0);
    let id = hooks[0]["id"].as_str().map(|id| format!("- id: {id}\n"));
    assert!(PAGE.contains(&id.expect("an id")));
}

#[test]
fn every_flag_is_one_of_its_command() {
    let mut seen = 0;
    for line in command_lines(PAGE) {
        let words = words(&line);
        let help = Command::new(env!("CARGO_BIN_EXE_olmguard"))
            .arg(&words[1])
            .arg("--help")
            .output();
        let help = help.expect("it runs");
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        for flag in words.iter().filter(|word| is_flag(word)) {
            assert!(lists(&help, flag), "{flag}: {line}");
            seen += 1;
        }
    }
    assert!(seen > 4, "{seen}");
}

#[test]
fn what_it_shows_in_yaml_is_yaml() {
    let blocks = olmguard_support::shown::blocks(PAGE);
    let texts = blocks
        .filter(|block| block.language == "yaml")
        .map(|block| block.text);
    for text in texts {
        for document in olmguard::manifest::documents(text.as_bytes()) {
            let value: Value = document.expect(text).value;
            assert!(value.is_object(), "{text}");
        }
    }
}
