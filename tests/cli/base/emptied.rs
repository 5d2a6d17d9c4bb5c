//! Inputs of `-f` that no longer exist.

use std::fs;

use super::repository::{CATALOG, Repository, removed};
use crate::check::scene::asking;

fn release() -> Repository {
    Repository::with(&[
        ("releases/v2/a.yaml", &asking("a", "version: 1.0.0")),
        ("other.yaml", ""),
    ])
}

#[test]
fn a_change_may_take_away_all_that_is_named() {
    for named in [
        "releases/v2",
        "./releases/v2/",
        "releases",
        "releases/v2/a.yaml",
    ] {
        let repository = release();
        repository.git(&["rm", "-q", "-r", "releases"]);
        repository.commit();
        let arguments = ["-f", named, CATALOG, "-o=json", "--base=HEAD~"];
        let ran = repository.run(&arguments);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{named}: {ran:?}");
        assert_eq!(removed(&ran.json(), "name"), ["a"], "{named}");
        let strict = repository.run(&[&arguments[..], &["--require-match"]].concat());
        assert_eq!(strict.code, 3, "{named}");
    }
}

#[test]
fn what_was_never_there_is_a_mistake() {
    let repository = release();
    let ran = repository.run(&["-f", "releases/v3", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let words = "error: releases/v3: does not exist: expected a file";
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
}

#[test]
fn a_repository_that_is_broken_is_told_from_none() {
    let repository = release();
    fs::write(repository.path(".git/config"), "[core\n").expect("a file");
    repository.misused(
        &["-f", "releases", CATALOG, "--base=main"],
        "error: --base: \"main\" is not a path, and the git repository around releases cannot be \
         opened: ",
    );
}

#[test]
fn a_repository_with_ids_of_sha_256_is_told_with_the_way_out() {
    let repository = release();
    let config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n";
    fs::write(repository.path(".git/config"), config).expect("a file");
    repository.misused(
        &["-f", "releases", CATALOG, "--base=main"],
        "error: --base: \"main\" is not a path, and the git repository around releases uses SHA-256, which olmguard \
         cannot read: expected a directory with the files of the revision, for example of git worktree add\n",
    );
}
