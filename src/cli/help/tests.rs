use clap::FromArgMatches;
use clap::error::ErrorKind;

use super::*;
use crate::cli::{Cli, command};

/// Every command with its words: `check`, `snapshot save`.
fn commands() -> Vec<(String, Command)> {
    fn below(command: &Command, words: &str) -> Vec<(String, Command)> {
        let mut all = Vec::new();
        for command in command.get_subcommands() {
            let words = format!("{words} {}", command.get_name());
            let words = words.trim_start().to_owned();
            all.push((words.clone(), command.clone()));
            all.extend(below(command, &words));
        }
        all
    }
    below(&command(), "")
}

/// The output of a command for this flag on a terminal of 80 columns.
fn printed(words: &str, flag: &str) -> String {
    let typed: Vec<_> = words.split(' ').filter(|word| !word.is_empty()).collect();
    let typed: Vec<OsString> = [&typed, &[flag][..]]
        .concat()
        .iter()
        .map(Into::into)
        .collect();
    let program = shown(command().term_width(80), Length::of_words(&typed));
    let words = [OsString::from("olmguard")].into_iter().chain(typed);
    let help = program.try_get_matches_from(words).unwrap_err();
    assert_eq!(help.kind(), ErrorKind::DisplayHelp, "{help}");
    help.to_string()
}

#[test]
fn a_summary_is_short_and_starts_with_a_verb() {
    for (words, command) in commands() {
        let about = command.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default();
        assert!(about.len() <= 60, "{words}: {about}");
        assert!(!about.is_empty() && !about.ends_with('.'), "{words}");
        let verb = about.split(' ').next().unwrap_or_default();
        assert!(!verb.ends_with('s'), "{words}: {about}");
        assert!(command.get_long_about().is_none(), "{words}");
    }
}

#[test]
fn every_command_is_in_one_group() {
    let mut listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter()).collect();
    listed.sort_unstable();
    let program = command();
    let commands = program.get_subcommands();
    let mut commands: Vec<_> = commands.map(Command::get_name).collect();
    commands.sort_unstable();
    assert_eq!(listed, commands.iter().collect::<Vec<_>>());
}

#[test]
fn the_list_of_commands_fits_on_a_screen() {
    let help = printed("", "--help");
    assert!(help.lines().count() <= 40, "{help}");
    assert!(help.contains("Webhook:\n  serve        Run the admission webhook\n"));
    assert!(!help.contains("Commands:"), "{help}");
}

#[test]
fn every_flag_is_in_a_group() {
    for (words, command) in commands() {
        for flag in command.get_arguments().filter(|arg| !arg.is_positional()) {
            assert!(flag.get_help_heading().is_some(), "{words} {flag}");
        }
    }
}

#[test]
fn help_has_its_size() {
    for (words, most) in [("serve", 132), ("check", 84)] {
        let help = printed(words, "--help");
        let lines = help.lines().count();
        assert!(lines < most, "{words}: {lines} lines\n{help}");
    }
}

#[test]
fn a_flag_has_two_lines_at_most_and_no_variable() {
    for (words, _) in commands() {
        let help = printed(&words, "--help");
        assert!(!help.contains("[env:"), "{words}: {help}");
        let flags = help
            .split("\n\n")
            .flat_map(|group| group.split("--").skip(1));
        for flag in flags.filter(|flag| flag.contains("\n   ")) {
            let text = flag.lines().filter(|line| line.starts_with("       "));
            assert!(text.count() <= 2, "{words} --{flag}");
        }
        // clap does not wrap usage lines.
        let mut lines = help.lines().filter(|line| !line.starts_with("Usage:"));
        assert!(lines.all(|line| line.len() <= 80), "{words}: {help}");
    }
}

#[test]
fn the_short_help_leaves_out_advanced_flags() {
    let brief = printed("check", "-h");
    assert!(brief.contains("--filename") && brief.contains("Examples:"));
    for absent in ["--kubeconfig", "--olm-release", "Exit codes:"] {
        assert!(!brief.contains(absent), "{absent}: {brief}");
    }
    assert!(brief.ends_with("\n\nRun it with --help for all flags.\n"));
    assert!(!printed("demo", "-h").contains("for all flags"));
    let explained = [OsString::from("explain"), "--".into(), "-h".into()];
    assert_eq!(Length::of_words(&explained), Length::Full);
}

#[test]
fn every_command_has_examples_that_it_understands() {
    for (words, command) in commands() {
        let examples = examples_of(&command);
        let is_long = examples.iter().any(|line| line.contains("\\\n"));
        let least = if is_long { 1 } else { 2 };
        assert!((least..=4).contains(&examples.len()), "{words}");
        let mut is_about_it = false;
        for line in examples {
            let typed = typed(&line);
            is_about_it |= typed.join(" ").starts_with(&format!("olmguard {words}"));
            match cli::command().try_get_matches_from(&typed) {
                Ok(matches) => drop(Cli::from_arg_matches(&matches).unwrap()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{line}: {error}"),
            }
        }
        assert!(is_about_it, "{words}");
    }
}

/// The lines of the examples. A line that continues on the next includes it.
fn examples_of(command: &Command) -> Vec<String> {
    let end = command.get_after_help().map(ToString::to_string);
    let end = end.unwrap_or_default();
    let examples = end.split("\n\n").next().unwrap_or_default();
    let examples = examples.strip_prefix("Examples:\n").unwrap_or_default();
    let examples = examples.replace("\\\n", "\\\r");
    let lines = examples.lines();
    lines.map(|line| line.replace('\r', "\n")).collect()
}

/// The arguments of olmguard in a shell command, without the part after a pipe.
fn typed(line: &str) -> Vec<String> {
    let line = line.replace("\\\n", " ");
    let (_, own) = line.split_once("olmguard ").unwrap_or_default();
    let mut words = vec!["olmguard".to_owned()];
    let (mut word, mut quote) = (String::new(), None);
    for c in own.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '>' | '<') => break,
            (None, ' ' | ')') if word.is_empty() => {}
            (None, ' ' | ')') => words.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    words
}

#[test]
fn a_line_of_a_shell_is_read() {
    for (line, words) in [
        (
            "a | olmguard check -f - > x",
            &["olmguard", "check", "-f", "-"][..],
        ),
        ("source <(olmguard man x)", &["olmguard", "man", "x"]),
        (
            "olmguard explain \"$(a b)\"",
            &["olmguard", "explain", "$(a b)"],
        ),
        (
            "olmguard range '>=1 <2' 1",
            &["olmguard", "range", ">=1 <2", "1"],
        ),
    ] {
        assert_eq!(typed(line), words, "{line}");
    }
}

#[test]
fn a_plugin_of_kubectl_is_named_as_kubectl_calls_it() {
    for (file, name) in [
        ("/usr/bin/kubectl-olmguard", "kubectl olmguard"),
        ("kubectl-olmguard.exe", "kubectl olmguard"),
        ("/usr/bin/olmguard", "olmguard"),
        ("", "olmguard"),
    ] {
        assert_eq!(named_by(OsStr::new(file)), name, "{file}");
    }
}
