//! The pages about generating and comparing catalogs, and about test suites, are true: their commands print the output
//! below them.
//!
//! A line `$ olmguard ... > FILE` writes a file that later lines can use. It is followed by its standard error, and
//! other lines by their standard output. `OLMGUARD_BLESS=1` writes the pages again.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use olmguard_fixtures::committed::compare;
use tempfile::TempDir;

#[test]
fn the_page_about_generate() {
    page("docs/generate.md");
}

#[test]
fn the_page_about_diff() {
    page("docs/diff.md");
}

#[test]
fn the_page_about_test() {
    page("docs/test.md");
}

#[track_caller]
fn page(file: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = TempDir::new().expect("a folder");
    symlink(root.join("examples"), folder.path().join("examples")).expect("a link");
    let page = fs::read_to_string(root.join(file)).expect(file);
    let mut told = String::new();
    let (mut in_console, mut ran) = (false, 0);
    for line in page.lines() {
        if let Some(command) = line.strip_prefix("$ olmguard ").filter(|_| in_console) {
            told.extend([line, "\n", &printed(command, folder.path())]);
            ran += 1;
            continue;
        }
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if in_console {
            continue;
        }
        told.extend([line, "\n"]);
    }
    assert!(ran > 0, "no example ran");
    compare(file, &told);
}

fn printed(command: &str, folder: &Path) -> String {
    let (arguments, to) = command.split_once(" > ").unwrap_or((command, ""));
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments.split(' '))
        .env_clear()
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    if to.is_empty() {
        assert_eq!(stderr, "", "{command}");
        return stdout;
    }
    assert!(output.status.success(), "{command}: {stderr}");
    fs::write(folder.join(to), stdout).expect("a file");
    stderr
}
