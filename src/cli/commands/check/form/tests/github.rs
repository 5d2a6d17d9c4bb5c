use proptest::prelude::*;

use super::{happened, result, runs};
use crate::cli::Exit;
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::Token;
use olmguard_report::Place;

/// A command: its name, its properties, and its message.
type Command<'c> = (&'c str, Vec<(String, String)>, String);

/// Parses a line as the runner does.
fn command(line: &str) -> Option<Command<'_>> {
    let rest = line.strip_prefix("::")?;
    let (head, message) = rest.split_once("::")?;
    let (word, properties) = head.split_once(' ')?;
    let properties = properties.split(',').map(|property| {
        let (key, value) = property.split_once('=')?;
        let value = value.replace("%3A", ":").replace("%2C", ",");
        Some((key.to_owned(), plain(&value)))
    });
    Some((word, properties.collect::<Option<_>>()?, plain(message)))
}

fn file_of(place: &Place) -> Option<String> {
    match place {
        Place::File(file, _) => Some(file.clone()),
        Place::Run | Place::Named(_) => None,
    }
}

/// A path without the leading `./`, which no repository has.
fn in_repository(path: &str) -> &str {
    let rest = path.strip_prefix("./");
    let rest = rest.map(|rest| rest.trim_start_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() => in_repository(rest),
        _ => path,
    }
}

fn plain(text: &str) -> String {
    let lines = text.replace("%0D", "\r").replace("%0A", "\n");
    lines.replace("%25", "%")
}

#[test]
fn a_refusal_and_a_warning_as_the_runner_takes_them() {
    let texts = [
        "lamp",
        "apps/a,b.yaml",
        "p: 1 -> 2 refused: 100% [x]",
        "1.0",
        "",
    ];
    let denied = result(Token::NotASuccessor, Exit::Denied, texts);
    let texts = ["warned", "-", "", "1.0", "old"];
    let warned = result(Token::Resolved, Exit::Good, texts);
    let expected = "\
::error file=apps/a%2Cb.yaml,line=11,col=16,title=lamp%3A NotASuccessor::p: 1 -> 2 refused: 100%25 [x]\
%0AFix: set 1.0 to it%0AHelp: p: 1 -> 2 refused: 100%25 [x]
::warning title=warned%3A warning::old
";
    let run = happened(vec![denied, warned]);
    assert_eq!(run.run().github(), expected);
}

#[test]
fn what_is_let_through_is_a_notice_and_what_counts_is_an_error() {
    let words = |counts, token| {
        let run = happened(vec![result(token, counts, ["a", "f", "m", "1", "w"])]);
        let text = run.run().github();
        let words = text
            .lines()
            .filter_map(|line| Some(command(line)?.0.to_owned()));
        words.collect::<Vec<_>>()
    };
    assert_eq!(words(Exit::Good, Token::NoCatalogs), ["notice", "warning"]);
    assert_eq!(
        words(Exit::Undecided, Token::NoCatalogs),
        ["error", "warning"]
    );
    assert_eq!(words(Exit::Denied, Token::Resolved), ["error"]);
    assert_eq!(words(Exit::Good, Token::Resolved), ["warning"]);
}

proptest! {
    #[test]
    fn each_line_is_one_command_of_ours(happened in runs()) {
        let run = happened.run();
        let text = run.github();
        let commands: Vec<_> = text.lines().map(command).collect();
        let mut expected: Vec<_> = run
            .troubles_shown()
            .map(|one| (file_of(&one.place), one.line()))
            .collect();
        for told in run.shown() {
            let file = || Some(told.file().to_owned());
            expected.extend(told.severity().map(|_| (file(), told.text())));
            expected.extend(told.warnings().map(|warning| (file(), warning)));
        }
        prop_assert_eq!(commands.len(), expected.len(), "{}", text);
        for (found, (file, message)) in commands.into_iter().zip(expected) {
            let (word, properties, told) = found.expect("a command");
            prop_assert!(["error", "warning", "notice"].contains(&word), "{}", word);
            prop_assert_eq!(told, message);
            let named = properties.iter().find(|(key, _)| key == "file");
            let file = file.filter(|file| file != "-");
            let file = file.map(|file| one_line(in_repository(&file)));
            prop_assert_eq!(named.map(|(_, file)| file.clone()), file);
        }
    }
}
