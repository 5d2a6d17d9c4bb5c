//! The output for shells: help, completions, manual pages and the version.
//!
//! Shells and the formatter of man read their files, if they are on the PATH.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there, and says what it leaves out"
)]

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use olmguard_fixtures::committed::compare;
use olmguard_support::process::run;
use olmguard_support::schema::assert_fits;

/// Each shell, and the command that parses its script without running it.
const SHELLS: [(&str, Option<&[&str]>); 5] = [
    ("bash", Some(&["bash", "-n"])),
    ("zsh", Some(&["zsh", "-n"])),
    ("fish", Some(&["fish", "--no-execute"])),
    ("elvish", Some(&["elvish", "-compileonly", "/dev/stdin"])),
    ("powershell", None),
];

#[test]
fn the_help_is_as_committed() {
    // Help texts are as wide as the terminal, or as COLUMNS.
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let output = command.arg("--help").env_clear().output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    compare("tests/cli/help.txt", &help);
}

#[test]
fn help_of_a_command_explains_the_values_of_its_flags() {
    let help = printed(&["help", "check"]);
    assert!(help.contains("- semver:"), "{help}");
    assert!(!printed(&["check", "--help"]).contains("- semver:"));
}

#[cfg(unix)]
#[test]
fn kubectl_runs_it_as_a_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("kubectl-olmguard");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_olmguard"), &plugin).unwrap();
    let help = |arguments: &[&str]| {
        let output = Command::new(&plugin).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let check = help(&["check", "--help"]);
    assert!(
        check.contains("Usage: kubectl olmguard check [OPTIONS]"),
        "{check}"
    );
    assert!(
        check.contains("\n  kubectl olmguard check apps/ --from-cluster\n"),
        "{check}"
    );
    let explain = help(&["explain", "--help"]);
    let usage = "Usage: kubectl olmguard explain [OPTIONS] <PACKAGE> <FROM> <TO>\n       \
                 kubectl olmguard explain <TOKEN>\n       kubectl olmguard explain --list\n";
    assert!(explain.contains(usage), "{explain}");
}

#[test]
fn completions_name_every_command_and_the_shell_can_read_them() {
    let commands = commands();
    for (shell, reader) in SHELLS {
        let script = printed(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(script.contains("olm-release"), "{shell}");
        // The scripts of the other shells complete only commands and flags.
        if ["bash", "zsh"].contains(&shell) {
            for name in ["NotASuccessor", "OlmguardCatalogStale"] {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
        if let Some(reader) = reader {
            put_to(reader, &(before(shell).to_owned() + &script));
        }
    }
}

/// Returns the definitions that a shell has only at its prompt, where the script is used: elvish's
/// module of the editor.
fn before(shell: &str) -> &'static str {
    match shell {
        "elvish" => "var edit: = (ns [&completion:=(ns [&arg-completer=[&]])])\n",
        _ => "",
    }
}

#[test]
fn a_shell_that_is_none_is_refused_with_the_choices() {
    let ended = run(&["completions", "tcsh"]);
    assert_eq!(ended.code, Some(2));
    let shells = "[possible values: bash, elvish, fish, powershell, zsh]";
    assert!(ended.stderr.contains(shells), "{}", ended.stderr);
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    assert_eq!(printed(&["man", "--folder", pages.to_str().unwrap()]), "");
    let mut names: Vec<_> = fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    for command in commands() {
        let name = format!("olmguard-{command}.1");
        let page = fs::read_to_string(pages.join(&name)).unwrap_or_else(|_| panic!("no {name}"));
        assert_eq!(page, printed(&["man", &command]), "{name}");
    }
    for name in ["olmguard.1", "olmguard-snapshot-save.1"] {
        assert!(names.iter().any(|page| page == name), "{names:?}");
    }
}

#[test]
fn manual_pages_have_their_sections_and_man_has_nothing_to_say_to_them() {
    for (words, synopsis) in [
        (&["man"][..], "\\fBolmguard\\fR"),
        (&["man", "check"], "\\fBolmguard check\\fR"),
        (
            &["man", "snapshot", "save"],
            "\\fBolmguard snapshot save\\fR",
        ),
    ] {
        let page = printed(words);
        for section in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH GLOBAL", synopsis] {
            assert!(page.contains(section), "{words:?}: {section}:\n{page}");
        }
        put_to(&["groff", "-man", "-Tutf8", "-ww", "-z"], &page);
    }
    let check = printed(&["man", "check"]);
    for text in [
        "OLMGUARD_CHECK_FILENAME",
        ".SH CATALOGS",
        "from\\-cluster",
        "Examples:",
    ] {
        assert!(check.contains(text), "{text}:\n{check}");
    }
}

#[test]
fn the_page_of_no_command_is_refused_with_the_nearest() {
    let ended = run(&["man", "chek"]);
    assert_eq!(
        ended.stderr,
        "error: olmguard has no command \"chek\": expected check\n"
    );
    assert_eq!(ended.code, Some(2));
}

#[test]
fn the_version_is_told_by_its_schema() {
    let told = printed(&["version", "-o", "json"]);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_fits("schemas/olmguard.version.v1.json", &report);
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["olm"]["default"], "1.11");
    let target = report["target"].as_str().unwrap();
    assert!(target.starts_with(std::env::consts::ARCH), "{target}");
    let rust = report["rust"].as_str().unwrap();
    assert!(rust.split('.').count() == 3, "{rust}");
}

#[test]
fn people_read_the_version_in_lines() {
    let text = printed(&["version"]);
    let first = format!("olmguard  {}\n", env!("CARGO_PKG_VERSION"));
    assert!(text.starts_with(&first), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    let labels = text.lines().filter_map(|line| line.split(' ').next());
    let labels: Vec<_> = labels.filter(|label| !label.is_empty()).collect();
    assert_eq!(
        labels,
        [
            "olmguard",
            "Commit",
            "Rust",
            "Target",
            "OLM",
            "OpenShift",
            "Schemas"
        ]
    );
}

/// Returns the commands that `--help` lists in groups.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let (_, list) = help.split_once("Upgrades:\n").expect("a list of commands");
    let (list, _) = list.split_once("Global:\n").expect("what follows it");
    let lines = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.filter_map(|line| line.split(' ').next());
    let names: Vec<_> = names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    assert_eq!(names.len(), 21, "{names:?}");
    names
}

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let ended = run(arguments);
    assert_eq!(ended.stderr, "", "{arguments:?}");
    assert_eq!(ended.code, Some(0), "{arguments:?}");
    ended.stdout
}

/// Lets a program read a text, if the program is installed. It must succeed without output.
#[track_caller]
fn put_to(program: &[&str], text: &str) {
    let (name, arguments) = program.split_first().expect("a program");
    let mut command = Command::new(name);
    let started = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        println!("left out: {name}, not on the PATH");
        return;
    };
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.is_empty(), "{name}: {said}");
}
