//! The examples and their command lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the command line of an example in its directory, with additional flags.
pub fn run(folder: &Path, more: &[&str]) -> Output {
    let command = fs::read_to_string(folder.join("command")).expect("a committed example");
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("olmguard"), "{}", folder.display());
    Command::new(crate::program())
        .args(words)
        .args(more)
        .current_dir(folder)
        .env_clear()
        .output()
        .expect("a committed example")
}

/// Returns the directories of all examples with a command.
pub fn folders() -> Vec<PathBuf> {
    let examples = Path::new(crate::ROOT).join("examples");
    let entries = fs::read_dir(examples)
        .expect("a committed example")
        .map(|entry| entry.expect("a committed example").path());
    let mut folders: Vec<_> = entries
        .filter(|path| path.join("command").is_file())
        .collect();
    folders.sort_unstable();
    folders
}

/// Returns the name of an example.
pub fn name(folder: &Path) -> String {
    folder
        .file_name()
        .expect("a committed example")
        .to_str()
        .expect("a committed example")
        .to_owned()
}
