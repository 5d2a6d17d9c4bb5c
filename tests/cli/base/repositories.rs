//! The same change in every kind of repository.

use std::fs;

use serde_json::Value;

use super::repository::{CATALOG, Repository, removed, tokens};
use crate::check::scene::asking;

/// Returns a repository whose branch `change` upgrades one extension, moves another, leaves a third unchanged, and
/// removes a fourth.
fn pull_request() -> Repository {
    let text = |name, version: &str| asking(name, &format!("version: {version}"));
    let repository = Repository::with(&[
        ("apps/bump.yaml", &text("bump", "1.0.0")),
        ("apps/moved.yaml", &text("moved", "1.0.0")),
        ("apps/same.yaml", &text("same", "1.0.0")),
        ("apps/gone.yaml", &text("gone", "1.0.0")),
    ]);
    repository.git(&["switch", "-q", "-c", "change"]);
    repository.write(&[
        ("apps/bump.yaml", &text("bump", "1.3.0")),
        ("apps/deep/moved.yaml", &text("moved", "1.1.0")),
    ]);
    repository.remove("apps/moved.yaml");
    repository.remove("apps/gone.yaml");
    repository.commit();
    repository.commit();
    repository
}

const TOKENS: [&str; 2] = ["bump changed NotASuccessor", "moved changed Resolved"];

/// Returns the report of a check of `apps` in a directory next to the repository.
#[track_caller]
fn checked(repository: &Repository, folder: &str, base: &str) -> Value {
    let hub = format!("--catalog=hub={}", repository.beside("hub").display());
    in_two_forms(repository, folder, &["-f", "apps", "--base", base, &hub])
}

/// Returns the JSON of a check with one denial. SARIF must agree.
#[track_caller]
fn in_two_forms(repository: &Repository, folder: &str, arguments: &[&str]) -> Value {
    let found = repository.findings(folder, arguments);
    assert_eq!(found, (1, vec!["NotASuccessor".to_owned()]));
    let ran = repository.run_in(folder, &[arguments, &["-o=json"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.json()
}

#[test]
fn any_name_of_the_commit_will_do() {
    let repository = pull_request();
    repository.git(&["tag", "-a", "-m", "one", "v1", "main"]);
    let id = repository.git(&["rev-parse", "main"]);
    for base in [
        "main",
        "HEAD~2",
        "HEAD^^",
        "refs/heads/main",
        "v1",
        "main^{commit}",
        &id,
        &id[..12],
    ] {
        let (code, report) = repository.json(base, &[]);
        assert_eq!(
            (code, tokens(&report)),
            (1, TOKENS.map(str::to_owned).to_vec()),
            "{base}"
        );
        assert_eq!(report["base"]["commit"], id, "{base}");
        assert_eq!(removed(&report, "file"), ["apps/gone.yaml"], "{base}");
    }
}

#[test]
fn three_dots_stand_for_what_two_have_in_common() {
    let repository = pull_request();
    let id = repository.git(&["rev-parse", "main"]);
    repository.git(&["switch", "-q", "main"]);
    repository.write(&[("apps/bump.yaml", &asking("bump", "version: 1.2.0"))]);
    repository.commit();
    repository.git(&["switch", "-q", "change"]);
    assert_eq!(repository.tokens("main", &[])[0], "bump changed Resolved");
    for base in ["main...HEAD", "main...", "main...change"] {
        let (_, report) = repository.json(base, &[]);
        assert_eq!(tokens(&report), TOKENS, "{base}");
        assert_eq!(report["base"]["commit"], id, "{base}");
    }
}

#[test]
fn a_shallow_clone_has_what_was_fetched() {
    let repository = pull_request();
    let from = format!("file://{}", repository.path("").display());
    repository.git_in(
        ".",
        &[
            "clone",
            "-q",
            "--depth=1",
            "--branch=change",
            &from,
            "shallow",
        ],
    );
    let arguments = ["-f", "apps", "--base=origin/main"];
    let ran = repository.run_in("shallow", &arguments);
    assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
    let words = "this clone is shallow, so fetch the revision first (git fetch --depth=1 origin REV, then --base FETCH_HEAD;";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let main = "main:refs/remotes/origin/main";
    repository.git_in("shallow", &["fetch", "-q", "--depth=1", "origin", main]);
    let report = checked(&repository, "shallow", "origin/main");
    assert_eq!(tokens(&report), TOKENS);
    let ran = repository.run_in("shallow", &["-f", "apps", "--base=origin/main...HEAD"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr
            .contains("without a common commit here; this clone is shallow"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_linked_worktree_is_one() {
    let repository = pull_request();
    repository.git(&["switch", "-q", "main"]);
    repository.git(&["worktree", "add", "-q", "../linked", "change"]);
    let report = checked(&repository, "linked", "main");
    assert_eq!(tokens(&report), TOKENS);
    assert_eq!(removed(&report, "file"), ["apps/gone.yaml"]);
}

#[test]
fn the_ends_of_lines_change_nothing() {
    let repository = pull_request();
    for file in ["apps/bump.yaml", "apps/deep/moved.yaml", "apps/same.yaml"] {
        let text = fs::read_to_string(repository.path(file)).expect(file);
        repository.write(&[(file, &text.replace('\n', "\r\n"))]);
    }
    let report = checked(&repository, "repo", "main");
    assert_eq!(tokens(&report), TOKENS);
    assert_eq!(report["summary"]["unchanged"], 1);
}

#[test]
fn a_submodule_has_revisions_of_its_own() {
    let repository = pull_request();
    repository.git(&["switch", "-q", "main"]);
    repository.git_in(".", &["init", "-q", "-b", "main", "above"]);
    repository.git_in(
        "above",
        &["submodule", "--quiet", "add", "../repo", "apps/sub"],
    );
    repository.commit_in("above");
    repository.git_in("above/apps/sub", &["switch", "-q", "change"]);
    let report = checked(&repository, "above/apps/sub", "origin/main");
    assert_eq!(tokens(&report), TOKENS);
    // From the parent repository, the base is the commit that it pins.
    let report = checked(&repository, "above", "main");
    assert_eq!(tokens(&report), TOKENS);
    assert_eq!(removed(&report, "file"), ["apps/sub/apps/gone.yaml"]);
}

#[test]
fn a_commit_that_the_submodule_lacks_leaves_it_open() {
    let repository = pull_request();
    repository.git_in(".", &["init", "-q", "-b", "main", "above"]);
    let from = format!("file://{}", repository.path("").display());
    repository.git_in("above", &["submodule", "--quiet", "add", &from, "apps/sub"]);
    let lost = "160000,0123456789012345678901234567890123456789,apps/sub";
    repository.git_in("above", &["update-index", "--cacheinfo", lost]);
    repository.git_in("above", &["commit", "-q", "-m", "lost"]);
    let hub = format!("--catalog=hub={}", repository.beside("hub").display());
    let ran = repository.run_in("above", &["-f", "apps", "--base=main", "-o=json", &hub]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let words = "main:apps/sub: is a submodule at commit 0123456789012345678901234567890123456789, which is";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let expected = [
        "bump unknown InstalledUnknown",
        "moved unknown InstalledUnknown",
    ];
    assert_eq!(tokens(&ran.json())[..2], expected);
}

#[test]
fn a_folder_may_be_renamed_that_of_the_flag_too() {
    let repository = pull_request();
    repository.git(&["mv", "apps", "clusters"]);
    let checked =
        |folder| in_two_forms(&repository, "repo", &["-f", folder, CATALOG, "--base=main"]);
    let within = checked(".");
    assert_eq!(tokens(&within), TOKENS);
    assert_eq!(removed(&within, "file"), ["apps/gone.yaml"]);
    let around = checked("clusters");
    assert_eq!(tokens(&around), TOKENS);
    assert_eq!(around["summary"]["unchanged"], 1);
    // Files of another directory are not reported as removed.
    assert_eq!(removed(&around, "file"), [""; 0]);
}

#[test]
fn of_two_of_one_name_the_one_with_the_likest_path_counts() {
    let text = |version: &str| asking("twin", &format!("version: {version}"));
    // This also holds if both files have the same bytes.
    for dev in ["1.2.0", "1.0.0"] {
        let repository = Repository::with(&[
            ("clusters/dev/twin.yaml", &text(dev)),
            ("clusters/prod/twin.yaml", &text("1.0.0")),
        ]);
        repository.git(&["mv", "clusters", "apps"]);
        repository.write(&[("apps/prod/twin.yaml", &text("1.1.0"))]);
        let arguments = ["-f", "apps/prod", CATALOG, "-o=json", "--base=main"];
        let report = repository.run(&arguments).json();
        assert_eq!(tokens(&report), ["twin changed Resolved"], "{dev}");
        let before = &report["results"][0]["base"]["file"];
        assert_eq!(before, "clusters/prod/twin.yaml", "{dev}");
    }
}

#[test]
fn files_of_the_same_content_are_each_a_place() {
    let text = asking("twin", "version: 1.0.0");
    let repository = Repository::with(&[("apps/a/twin.yaml", &text), ("apps/b/twin.yaml", &text)]);
    repository.remove("apps/a/twin.yaml");
    repository.remove("apps/b/twin.yaml");
    repository.write(&[("apps/none.yaml", "")]);
    let (_, report) = repository.json("main", &[]);
    assert_eq!(
        removed(&report, "file"),
        ["apps/a/twin.yaml", "apps/b/twin.yaml"]
    );
}

#[test]
fn what_was_elsewhere_and_is_there_still_is_not_moved() {
    let repository = Repository::with(&[("other/a.yaml", &asking("a", "version: 1.0.0"))]);
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.3.0"))]);
    assert_eq!(repository.tokens("main", &[]), ["a added Resolved"]);
    repository.remove("other/a.yaml");
    assert_eq!(repository.tokens("main", &[]), ["a changed NotASuccessor"]);
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_there_still() {
    let repository = Repository::with(&[("other/a.yaml", &asking("a", "version: 1.0.0"))]);
    repository.write(&[("apps/b.yaml", "")]);
    repository.commit();
    repository.git(&["sparse-checkout", "set", "--no-cone", "/apps"]);
    assert!(!repository.path("other/a.yaml").exists());
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.3.0"))]);
    assert_eq!(repository.tokens("main", &[]), ["a added Resolved"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_as_in_the_work_tree() {
    use std::os::unix::fs::symlink;
    let repository = Repository::with(&[("apps/lib/a.yaml", &asking("a", "version: 1.0.0"))]);
    symlink("lib", repository.path("apps/all")).expect("a link");
    symlink("nowhere.yaml", repository.path("apps/gone.yaml")).expect("a link");
    symlink(".", repository.path("apps/loop")).expect("a link");
    repository.commit();
    fs::remove_file(repository.path("apps/gone.yaml")).expect("a link");
    fs::remove_file(repository.path("apps/loop")).expect("a link");
    repository.write(&[("apps/lib/a.yaml", &asking("a", "version: 1.3.0"))]);
    let (_, report) = repository.json("main", &[]);
    assert_eq!(tokens(&report), ["a changed NotASuccessor"]);
    assert_eq!(report["results"][0]["base"]["file"], "apps/all/a.yaml");
}

#[test]
fn files_named_by_hand_are_compared_with_themselves() {
    let repository = pull_request();
    let arguments = ["-f", "apps/bump.yaml", CATALOG, "-o=json", "--base=main"];
    let report = repository.run(&arguments).json();
    assert_eq!(tokens(&report), TOKENS[..1]);
    assert_eq!(removed(&report, "file"), [""; 0]);
}
