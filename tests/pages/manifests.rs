//! The manifests in `deploy/rendered` match the program: its version, and all of its settings.
//!
//! `cargo xtask render --check` compares the files with their sources.

#![expect(clippy::panic, reason = "a test that cannot go on fails there")]

mod chart;
mod fleet;
mod profiles;
mod rights;
mod scrapes;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn every_setting_is_a_flag_of_serve() {
    let manual = manual();
    let mut settings = BTreeSet::new();
    for (_, text) in rendered() {
        let names = text
            .split_whitespace()
            .filter(|word| word.starts_with("OLMGUARD_"));
        settings.extend(names.map(str::to_owned));
    }
    let unknown: Vec<_> = settings
        .iter()
        .filter(|name| !manual.contains(&format!("\\fB{name}\\fR")))
        .collect();
    assert_eq!(unknown, Vec::<&String>::new());
    assert!(
        settings.contains("OLMGUARD_TLS_SERVER_NAME"),
        "{settings:?}"
    );
}

#[test]
fn the_image_and_the_chart_are_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let image = format!(" image: olmguard:{version}\n");
    for (name, text) in rendered() {
        assert!(text.contains(&image), "{name}: expected{image}");
    }
    let chart = read("deploy/chart/Chart.yaml");
    for field in ["version", "appVersion"] {
        assert!(
            chart.contains(&format!("\n{field}: {version}\n")),
            "{field} in {chart}"
        );
    }
}

#[test]
fn no_authority_is_written_down() {
    for (name, text) in rendered() {
        for forbidden in ["caBundle", "BEGIN ", "kind: Secret\n"] {
            assert!(!text.contains(forbidden), "{name}: {forbidden}");
        }
    }
}

#[test]
fn the_chart_looks_up_and_makes_up_nothing() {
    let folder = Path::new(ROOT).join("deploy/chart/templates");
    for entry in fs::read_dir(folder).expect("templates are there") {
        let path = entry.expect("a template").path();
        let text = fs::read_to_string(&path).expect("a text");
        for function in [
            "lookup",
            "genCA",
            "genSigned",
            "genSelf",
            "rand",
            "now",
            "uuidv4",
        ] {
            let called = text.split(|c: char| !c.is_ascii_alphanumeric());
            let mut called = called.filter(|word| word.starts_with(function));
            assert_eq!(called.next(), None, "{}", path.display());
        }
    }
}

/// Returns the names and texts of the manifests.
fn rendered() -> Vec<(String, String)> {
    let folder = Path::new(ROOT).join("deploy/rendered");
    let files = fs::read_dir(folder).expect("deploy/rendered is there");
    let texts: Vec<_> = files
        .map(|file| {
            let name = file.expect("a file").file_name();
            let name = name.to_string_lossy().into_owned();
            let text = read(&format!("deploy/rendered/{name}"));
            (name, text)
        })
        .collect();
    assert_eq!(texts.len(), 12);
    texts
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).expect(path)
}

/// Returns the manual page, which has the variable of each flag.
fn manual() -> String {
    let mut man = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let output = man.args(["man", "serve"]).env_clear().output();
    let output = output.expect("olmguard starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
