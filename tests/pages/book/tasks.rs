//! The pages about tasks, with the sample in `docs/sample`: each command is run there.
//!
//! In a block marked `console`, the lines below `$ olmguard ...` are its output, its standard error, and
//! `# exit code N` if that is not 0.

use std::process::{Command, Output};

use super::all::{pages, read, root};
use olmguard_fixtures::committed::compare;
use olmguard_support::shown::{command_lines, words};

#[test]
fn commands_print_what_stands_below_them() {
    let mut ran = 0;
    for page in pages("tasks") {
        compare(&format!("docs/{page}"), &worked(&read(&page), &mut ran));
    }
    assert!(ran > 10, "{ran} commands ran");
    println!("docs/tasks: {ran} compared, 0 left out (none)");
}

/// The page shows the command, but not its whole output.
#[test]
fn the_catalog_with_a_patch_is_made_as_the_page_says() {
    let page = read("tasks/publish-a-z-stream.md");
    let mut lines = command_lines(&page).filter(|line| line.contains(" generate "));
    let line = lines.next().expect("a command");
    let (command, file) = line.split_once(" > ").expect("a file to write to");
    let Output { status, stdout, .. } = run(command);
    assert!(status.success(), "{command}");
    let made = String::from_utf8(stdout).expect("olmguard prints text");
    compare(&format!("docs/sample/{file}"), &made);
}

/// Returns the page with the current output of its commands.
fn worked(page: &str, ran: &mut usize) -> String {
    let mut text = String::new();
    let mut is_console = false;
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_console = language == "console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            text += &session(command);
            *ran += 1;
            continue;
        } else if is_console {
            continue;
        }
        text += line;
        text.push('\n');
    }
    text
}

fn session(command: &str) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = run(command);
    let printed = [stdout, stderr].concat();
    let printed = String::from_utf8(printed).expect("olmguard prints text");
    let code = match status.code().expect("olmguard ends by itself") {
        0 => String::new(),
        code => format!("# exit code {code}\n"),
    };
    format!("$ {command}\n{printed}{code}")
}

fn run(command: &str) -> Output {
    let words = words(command);
    let (program, arguments) = words.split_first().expect("a command");
    assert_eq!(program, "olmguard", "{command}");
    Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments)
        .current_dir(root().join("sample"))
        .env_clear()
        .output()
        .expect("olmguard starts")
}
