//! The pages about reason codes: one for each, with an example of its message, and with commands
//! that exist.

use std::fs;
use std::process::Command;

use olmguard_engine::judge::Token;
use olmguard_views::page::{PageSubject, find};

use super::all::{pages, read};
use olmguard_support::examples::{folders, name};
use olmguard_support::shown::{command_lines, is_flag, lists, words};

#[test]
fn there_is_a_page_for_each_token_and_no_other() {
    let mut expected: Vec<_> = Token::ALL.iter().map(|token| path(*token)).collect();
    expected.sort_unstable();
    assert_eq!(pages("tokens"), expected);
}

#[test]
fn each_page_shows_what_its_example_answers() {
    for folder in folders() {
        let answer = fs::read_to_string(folder.join("answer.txt")).expect("an answer");
        let page = read(&format!("tokens/{}.md", name(&folder)));
        let lines = answer.lines().filter_map(|line| line.strip_prefix("  "));
        let first = lines.clone().next().expect("a line about the answer");
        assert!(page.contains(first), "{}: {first}", folder.display());
        let mut olms = lines.filter_map(|line| line.strip_prefix("OLM: "));
        assert!(olms.all(|text| page.contains(text)), "{}", folder.display());
    }
}

#[test]
fn what_a_page_shows_leads_back_to_it() {
    for token in Token::ALL {
        let page = read(&path(token));
        let shown = page.split("```text\n").skip(1);
        let shown: Vec<_> = shown.filter_map(|rest| rest.split("```").next()).collect();
        for text in &shown {
            match find(text) {
                PageSubject::Token(found) => assert_eq!(found, token, "{text}"),
                PageSubject::Alert(found) => panic!("{}: {text}", found.alert),
                PageSubject::ExitCode(found) => panic!("{found:?}: {text}"),
                PageSubject::OneOf(found) => assert!(found.contains(&token), "{token:?}: {text}"),
                // A warning about the override has no reason code.
                PageSubject::Nothing(_) => assert_eq!(token, Token::Bypassed, "{text}"),
            }
        }
        assert!(!shown.is_empty(), "{token:?}");
    }
}

#[test]
fn the_commands_of_the_pages_exist() {
    for token in Token::ALL {
        for line in command_lines(&read(&path(token))) {
            let words = words(&line);
            let [_, command, arguments @ ..] = words.as_slice() else {
                panic!("{token:?}: {line}");
            };
            let help = help(command);
            for flag in arguments.iter().filter(|word| is_flag(word)) {
                assert!(lists(&help, flag), "{token:?}: {line}");
            }
        }
    }
}

#[track_caller]
fn help(command: &str) -> String {
    let help = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args([command, "--help"])
        .env_clear()
        .output()
        .expect("olmguard starts");
    assert!(help.status.success(), "no command {command}");
    String::from_utf8(help.stdout).expect("olmguard prints text")
}

fn path(token: Token) -> String {
    format!("tokens/{}.md", token.as_str())
}
