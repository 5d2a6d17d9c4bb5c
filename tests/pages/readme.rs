//! The README is true: its examples print the output below them, and its flags exist.
//!
//! In a block marked `console`, `$ olmguard ...` is run at the root of the repository, and the lines up to the next `$`
//! are its standard output. Each flag of an `olmguard` line must be in the `--help` of its command, and each flag in a
//! sentence must belong to some command.

use std::path::Path;
use std::process::{Command, Output};

use olmguard_support::shown::{blocks, command_lines, inline, is_flag, lists, words};

#[test]
fn examples_print_what_the_readme_shows() {
    let mut ran = 0;
    for block in blocks(README).filter(|block| block.language == "console") {
        for session in block.text.split("$ ").filter(|session| !session.is_empty()) {
            let (line, expected) = session.split_once('\n').expect("a command line");
            let words = words(line);
            assert_eq!(
                words.first().map(String::as_str),
                Some("olmguard"),
                "{line}"
            );
            let printed = olmguard(words.get(1..).unwrap_or_default());
            assert_eq!(String::from_utf8_lossy(&printed.stdout), expected, "{line}");
            ran += 1;
        }
    }
    assert!(ran > 0, "no example ran");
}

/// The first screen has a denial in a kubectl transcript, and a picture.
#[test]
fn the_first_screen_shows_a_refusal_and_a_picture() {
    let first: Vec<_> = README.lines().take(FIRST_SCREEN).collect();
    let first = first.join("\n");
    let refusal = blocks(&first).find(|block| block.language == "text");
    let refusal = refusal.expect("a refusal").text;
    let (command, shown) = refusal.split_once('\n').expect("a command line");
    assert!(
        command.starts_with("$ kubectl apply --server-side "),
        "{command}"
    );
    assert!(DENIAL.contains(&format!("\n{shown}")), "{shown}");
    let mut lines = first.lines();
    let picture =
        lines.find_map(|line| line.strip_prefix("![")?.strip_suffix(')')?.split_once("]("));
    let (_, file) = picture.expect("a picture");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(root.join(file).is_file(), "{file}");
}

#[test]
fn flags_are_those_of_help() {
    let (mut helps, mut faults) = (String::new(), Vec::new());
    for line in command_lines(README) {
        let words = words(&line);
        let [_, command, arguments @ ..] = words.as_slice() else {
            continue;
        };
        if command.starts_with('-') || command == "COMMAND" {
            continue;
        }
        let help = olmguard(&[command.clone(), "--help".to_owned()]);
        if !help.status.success() {
            faults.push(format!("no command {command}: {line}"));
            continue;
        }
        let help = String::from_utf8_lossy(&help.stdout);
        let unknown = arguments
            .iter()
            .filter(|word| is_flag(word) && !lists(&help, word));
        faults.extend(unknown.map(|flag| format!("{command} has no {flag}: {line}")));
        helps.push_str(&help);
    }
    let told = [
        README,
        WEBHOOK,
        INSTALL,
        RELIABILITY,
        EMERGENCY,
        DOCTOR,
        EXIT_CODES,
    ];
    let flags = told
        .iter()
        .flat_map(|text| inline(text))
        .filter_map(|code| code.split(' ').next());
    let unknown =
        flags.filter(|flag| is_flag(flag) && *flag != PLACEHOLDER && !lists(&helps, flag));
    faults.extend(unknown.map(|flag| format!("no command of the README has {flag}")));
    assert_eq!(faults, Vec::<String>::new());
    assert!(!helps.is_empty(), "no command was asked");
}

#[test]
fn a_wrong_flag_is_seen() {
    let help = "  -f, --filename <PATH>...\n      --catalog <NAME=PATH>\n";
    assert!(lists(help, "-f") && lists(help, "--filename") && lists(help, "--catalog"));
    assert!(!lists(help, "--file") && !lists(help, "-c") && !lists(help, "--catalogs"));
    let text =
        "a `olmguard x --y` b\n```sh\nolmguard serve --z  # why\ncargo run -- demo --k\n```\n";
    let lines: Vec<_> = command_lines(text).collect();
    assert_eq!(
        lines,
        ["olmguard serve --z", "olmguard demo --k", "olmguard x --y"]
    );
    assert_eq!(
        words("olmguard range '>=1 <2' 1"),
        ["olmguard", "range", ">=1 <2", "1"]
    );
}

const README: &str = include_str!("../../README.md");
const WEBHOOK: &str = include_str!("../../docs/webhook.md");
const INSTALL: &str = include_str!("../../docs/install.md");
const RELIABILITY: &str = include_str!("../../docs/reliability.md");
const DOCTOR: &str = include_str!("../../docs/doctor.md");
const EMERGENCY: &str = include_str!("../../docs/emergency.md");
const EXIT_CODES: &str = include_str!("../../docs/exit-codes.md");

/// The output of `kubectl apply --server-side` for a denial. Other commands print lines before it.
const DENIAL: &str = include_str!("../e2e/golden/denial.txt");

/// The number of lines that are visible without scrolling.
const FIRST_SCREEN: usize = 40;

/// The placeholder for any flag in texts about environment variables.
const PLACEHOLDER: &str = "--a-b";

fn olmguard(arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env_clear()
        .output()
        .expect("olmguard starts")
}
