//! Git with fixed settings.

use std::path::Path;
use std::process::Command;

/// Runs git in this directory and returns its output.
#[track_caller]
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .args(SETTINGS)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(WHO.map(|name| (name, "olmguard")))
        .output()
        .expect("git is there");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "git {arguments:?}: {told}");
    let printed = String::from_utf8(ran.stdout).expect("UTF-8");
    printed.trim().to_owned()
}

/// Commits everything in this directory.
#[track_caller]
pub fn commit(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", "change"]);
}

const SETTINGS: [&str; 4] = [
    "-c",
    "protocol.file.allow=always",
    "-c",
    "core.autocrlf=false",
];

const WHO: [&str; 4] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];
