//! The values of `--base`, and its combinations with other flags.

use std::fs;

use super::repository::{CATALOG, Repository, tokens};
use crate::check::scene::asking;

fn repository() -> Repository {
    let repository = Repository::with(&[
        ("apps/a.yaml", &asking("a", "version: 1.0.0")),
        ("apps/b.yaml", &asking("b", "version: 7.0.0")),
    ]);
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.1.0"))]);
    repository
}

#[test]
fn what_is_neither_a_path_nor_a_revision_is_wrong_usage() {
    let repository = repository();
    repository.git(&["branch", "both"]);
    repository.write(&[("both/a.yaml", "")]);
    fs::create_dir(repository.beside("other")).expect("a folder");
    fs::write(repository.beside("outside.yaml"), "").expect("a file");
    repository.git_in("other", &["init", "-q"]);
    fs::write(repository.beside("other/o.yaml"), "").expect("a file");
    let rows: &[(&[&str], &str)] = &[
        (
            &["apps", "--base=nope"],
            "error: --base: \"nope\" is not a revision here: ",
        ),
        (
            &["apps", "--base=nope"],
            ": no single commit has this name, and there is no such path\n",
        ),
        (
            &["apps", "--base=master"],
            ", and there is no such path; did you mean \"main\"?\n",
        ),
        (
            &["apps", "--base=mian"],
            ", and there is no such path; did you mean \"main\"?\n",
        ),
        // `main` is not the same commit as `main~9`.
        (&["apps", "--base=main~9"], ", and there is no such path\n"),
        (
            &["apps", "--base=./nope"],
            "error: --base: \"./nope\" does not exist: expected a directory, a file",
        ),
        (
            &["apps", "--base=both"],
            "error: --base: \"both\" is both a path and a git revision: write ./both for the path, \
             or the full name of the revision, such as refs/heads/both\n",
        ),
        (
            &["apps", "--base=main..HEAD"],
            "\"main..HEAD\" is a range of revisions: expected one revision, or A...B",
        ),
        (
            &["apps", "--base=^main"],
            "\"^main\" is a range of revisions",
        ),
        (
            &["apps", "--base=main:apps"],
            "\"main:apps\" is not a commit: ",
        ),
        (
            &["-", "--base=main"],
            "error: --base: \"main\" is not a path, and standard input is not in a git repository: \
             expected a directory or a file with the rendered base\n",
        ),
        (
            &["../outside.yaml", "--base=main"],
            "error: --base: \"main\" is not a path, and ../outside.yaml is not in a git repository: ",
        ),
        (
            &["apps", "../other/o.yaml", "--base=main"],
            "error: --base: apps and ../other/o.yaml are in two git repositories",
        ),
        (
            &["apps", "--base="],
            "a value is required for '--base <REV|DIR>'",
        ),
        (
            &["apps", "--all"],
            "error: --all is given without --base: expected both, or neither\n",
        ),
    ];
    for (arguments, words) in rows {
        repository.misused(&[&[CATALOG, "-f"], *arguments].concat(), words);
    }
    assert_eq!(
        repository.tokens("refs/heads/both", &[]),
        ["a changed Resolved"]
    );
}

#[test]
fn all_judges_what_has_not_changed_as_well() {
    let repository = repository();
    let labelled = asking("c", "version: 7.0.0");
    repository.write(&[("apps/c.yaml", &labelled)]);
    repository.commit();
    repository.write(&[(
        "apps/c.yaml",
        &labelled.replace("metadata:", "metadata:\n  labels: {a: b}"),
    )]);
    let base = "HEAD~1";
    repository.git(&["commit", "-q", "--allow-empty", "-m", "none"]);
    let (code, report) = repository.json(base, &[]);
    assert_eq!(
        (code, tokens(&report)),
        (0, vec!["c changed NotJudged".to_owned()])
    );
    let (code, report) = repository.json(base, &["--all"]);
    let expected = [
        "a unchanged Unchanged",
        "b unchanged VersionNotFound",
        "c changed VersionNotFound",
    ];
    assert_eq!(
        (code, tokens(&report)),
        (1, expected.map(str::to_owned).to_vec())
    );
    assert_eq!(report["summary"]["unchanged"], 0);
}

#[test]
fn the_environment_says_the_same() {
    let repository = repository();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let ended = command
        .args(["check", "-f", "apps", CATALOG])
        .current_dir(repository.path(""))
        .env_clear()
        .envs([
            ("OLMGUARD_CHECK_BASE", "main"),
            ("OLMGUARD_CHECK_ALL", "false"),
        ])
        .output()
        .expect("the program starts");
    let stdout = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{stdout}");
    assert!(stdout.ends_with("\n1 allowed; 1 unchanged\n"), "{stdout}");
}

#[test]
fn nothing_changed_is_found_all_the_same() {
    let repository = repository();
    repository.commit();
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=HEAD", "--require-match"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (0, "nothing changed; 2 unchanged\n"),
        "{ran:?}"
    );
    let ran = repository.run(&[
        "-f",
        "apps",
        CATALOG,
        "--base=HEAD",
        "--installed=b=1.0.0",
        "-q",
    ]);
    assert_eq!((ran.code, &*ran.stdout), (0, ""), "{ran:?}");
}

#[test]
fn a_review_tells_its_past_itself() {
    let repository = repository();
    let review = r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "1", "operation": "CREATE", "object": {
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "r"},
            "spec": {"source": {"catalog": {"packageName": "lantern-operator"}}}}}}"#;
    repository.write(&[("apps/r.json", review)]);
    repository.commit();
    assert_eq!(repository.tokens("HEAD", &[]), ["r - Resolved"]);
}
