//! Every example says what it says it does: the command line beside it, and the same edit through the
//! webhook, whose answers are the same bytes.
//!
//! With `OLMGUARD_BLESS=1` the answers are written anew instead of compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use olmguard::judge::Token;
use serde_json::Value;

use common::committed::compare;

mod common {
    pub(crate) mod committed;
}

#[test]
fn there_is_one_for_every_token() {
    let folders: Vec<String> = folders().iter().map(|folder| name(folder)).collect();
    for token in Token::ALL {
        assert!(
            folders.iter().any(|folder| folder == token.as_str()),
            "none for {token:?}"
        );
    }
    assert_eq!(folders.len(), Token::ALL.len(), "{folders:?}");
}

#[test]
fn the_answers_are_those_that_stand_beside_them() {
    for folder in folders() {
        let text = run(&folder, &[]);
        compare(
            &format!("examples/{}/answer.txt", name(&folder)),
            &String::from_utf8(text.stdout).unwrap(),
        );
        let json = run(&folder, &["-o", "json"]);
        assert_eq!(
            json.status.code(),
            text.status.code(),
            "{}",
            folder.display()
        );
        let report: Value = serde_json::from_slice(&json.stdout).unwrap();
        let pretty = serde_json::to_string_pretty(&report).unwrap() + "\n";
        compare(&format!("examples/{}/answer.json", name(&folder)), &pretty);
        assert_eq!(
            report["results"][0]["token"],
            *name(&folder),
            "{}",
            folder.display()
        );
        assert_eq!(text.stderr, b"", "{}", folder.display());
    }
}

#[test]
fn the_exit_code_follows_from_the_verdict() {
    for folder in folders() {
        let ended = run(&folder, &["-o", "json"]);
        let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let expected = match report["results"][0]["verdict"].as_str().unwrap() {
            "deny" => 1,
            "undecided" => 4,
            _ => 0,
        };
        assert_eq!(ended.status.code(), Some(expected), "{}", folder.display());
    }
}

/// Runs the command line of an example in its folder, with more flags.
fn run(folder: &Path, more: &[&str]) -> Output {
    let command = fs::read_to_string(folder.join("command")).unwrap();
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("olmguard"), "{}", folder.display());
    Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(words)
        .args(more)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap()
}

fn folders() -> Vec<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(examples)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap().to_str().unwrap().to_owned()
}
