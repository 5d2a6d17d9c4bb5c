//! Every example does what it shows: the command line next to it, and the same edit through the webhook, whose answers
//! are the same bytes.
//!
//! With `OLMGUARD_BLESS=1`, the answers are written instead of compared.

use olmguard_engine::judge::Token;
use serde_json::Value;

use olmguard_fixtures::committed::compare;
use olmguard_support::examples::{folders, name, run};
use olmguard_support::schema::assert_fits;

#[test]
fn there_is_one_for_every_token() {
    let folders: Vec<String> = folders().iter().map(|folder| name(folder)).collect();
    let tokens = || Token::ALL.iter().filter(|token| !token.takes_a_cluster());
    for token in tokens() {
        assert!(
            folders.iter().any(|folder| folder == token.as_str()),
            "none for {token:?}"
        );
    }
    assert_eq!(folders.len(), tokens().count(), "{folders:?}");
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
        assert_fits("schemas/olmguard.check.v1.json", &report);
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
