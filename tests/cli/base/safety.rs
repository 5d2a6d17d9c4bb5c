//! Nothing is written and nothing is run, whatever is in the repository.

use std::fs;

use super::repository::{CATALOG, Repository, print, tokens};
use crate::check::scene::asking;

fn repository() -> Repository {
    let repository = Repository::with(&[("apps/a.yaml", &asking("a", "version: 1.0.0"))]);
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.1.0"))]);
    repository
}

#[test]
fn no_file_is_touched() {
    let repository = repository();
    let before = print(&repository.path(""));
    for base in ["main", "HEAD...main", "nope"] {
        repository.run(&["-f", "apps", CATALOG, "--base", base]);
    }
    assert_eq!(print(&repository.path("")), before);
}

#[test]
fn settings_of_the_repository_run_nothing() {
    let repository = repository();
    let trap = repository.beside("trapped");
    let touch = format!("touch {}", trap.display());
    for setting in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.askPass",
        "diff.external",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "alias.check",
        "credential.helper",
        "extensions.partialClone",
    ] {
        repository.git(&["config", setting, &touch]);
    }
    repository.write(&[(".gitattributes", "* filter=trap diff=trap\n")]);
    let hook = repository.path(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).expect("a hook");
    assert_eq!(repository.tokens("main", &[]), ["a changed Resolved"]);
    assert!(!trap.exists());
}

#[test]
fn settings_from_elsewhere_are_not_read() {
    let repository = repository();
    fs::write(
        repository.beside("bad"),
        "[core]\n\tbare = true\n\trepositoryformatversion = 99\n",
    )
    .expect("a file");
    repository.git(&["config", "include.path", "../../bad"]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let ended = command
        .args(["check", "-f", "apps", CATALOG, "--base=main"])
        .current_dir(repository.path(""))
        .env_clear()
        .env("GIT_DIR", "/nowhere")
        .env("GIT_CONFIG_GLOBAL", repository.beside("bad"))
        .env("GIT_OBJECT_DIRECTORY", "/nowhere")
        .output()
        .expect("the program starts");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

/// The base requests 1.0.0, which cannot be upgraded directly to 1.3.0. A ref that replaces its commit, its tree or its
/// file with that of the pull request would make both equal.
#[test]
fn no_other_object_takes_the_place_of_the_base() {
    let settings: [&[&str]; 3] = [
        &[],
        &["core.useReplaceRefs", "true"],
        &["gitoxide.objects.replaceRefBase", "refs/heads/other"],
    ];
    for setting in settings {
        for object in ["", "^{tree}", ":apps", ":apps/a.yaml"] {
            let repository = change();
            if !setting.is_empty() {
                repository.git(&[&["config"], setting].concat());
            }
            let id = |branch| repository.git(&["rev-parse", &format!("{branch}{object}")]);
            for base in ["refs/replace", "refs/heads/other"] {
                let name = format!("{base}/{}", id("main"));
                // git does not write a ref to a tree below refs/heads, so the test writes the file.
                let file = repository.path(&format!(".git/{name}"));
                fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                fs::write(file, format!("{}\n", id("pr"))).expect("a ref");
            }
            assert_eq!(
                repository.tokens("main", &[]),
                DENIED,
                "{setting:?} {object}"
            );
        }
    }
}

#[test]
fn no_variable_moves_the_refs_that_replace() {
    let repository = change();
    let id = |branch| repository.git(&["rev-parse", branch]);
    repository.git(&[
        "update-ref",
        &format!("refs/heads/other/{}", id("main")),
        &id("pr"),
    ]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let ended = command
        .args(["check", "-f", "apps", CATALOG, "--base=main"])
        .current_dir(repository.path(""))
        .env("GIT_REPLACE_REF_BASE", "refs/heads/other/")
        .output()
        .expect("the program starts");
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
}

/// Git prefers a tag to a branch, and users who cannot push `main` may be able to push a tag `origin/main`.
#[test]
fn a_tag_with_the_name_of_the_base_is_named() {
    let repository = change();
    let remote = ["update-ref", "refs/remotes/origin/main", "main"];
    repository.git(&remote);
    for tag in ["main", "origin/main"] {
        repository.git(&["update-ref", &format!("refs/tags/{tag}"), "refs/heads/main"]);
        assert_eq!(repository.tokens(tag, &[]), DENIED, "{tag}");
        repository.git(&["update-ref", &format!("refs/tags/{tag}"), "pr"]);
    }
    for (base, tag, branch) in [
        ("main", "refs/tags/main", "refs/heads/main"),
        ("main~0", "refs/tags/main", "refs/heads/main"),
        ("main@{0}", "refs/tags/main", "refs/heads/main"),
        ("main^{commit}", "refs/tags/main", "refs/heads/main"),
        (
            "origin/main",
            "refs/tags/origin/main",
            "refs/remotes/origin/main",
        ),
        (
            "origin/main...HEAD",
            "refs/tags/origin/main",
            "refs/remotes/origin/main",
        ),
        (
            "HEAD...origin/main",
            "refs/tags/origin/main",
            "refs/remotes/origin/main",
        ),
    ] {
        let ran = repository.run(&["-f", "apps", CATALOG, "--base", base]);
        let name = base
            .trim_start_matches("HEAD...")
            .split(['~', '@', '^', '.'])
            .next();
        let name = name.unwrap_or_default();
        let expected = format!(
            "error: --base: \"{name}\" is the name of {tag} and of {branch}: write one of them in full\n"
        );
        assert_eq!((ran.code, &*ran.stderr), (2, &*expected), "{base}");
        assert_eq!(repository.tokens(branch, &[]), DENIED, "{branch}");
    }
    repository.git(&["update-ref", "-d", "refs/tags/origin/main"]);
    let head = "refs/remotes/origin/HEAD";
    repository.git(&["symbolic-ref", head, "refs/remotes/origin/main"]);
    let id = repository.git(&["rev-parse", "refs/heads/main"]);
    let (short, commit) = (id[..9].to_owned(), format!("the object {id}"));
    for (base, other) in [("origin", head), (&*short, &*commit)] {
        assert_eq!(repository.tokens(base, &[]), DENIED, "{base}");
        let tag = format!("refs/tags/{base}");
        repository.git(&["update-ref", &tag, "pr"]);
        let ran = repository.run(&["-f", "apps", CATALOG, "--base", base]);
        let expected = format!(
            "error: --base: \"{base}\" is the name of {tag} and of {other}: write one of them in full\n"
        );
        assert_eq!((ran.code, &*ran.stderr), (2, &*expected), "{base}");
    }
    fs::create_dir(repository.path("main")).expect("a directory");
    let ran = repository.run(&["-f", "apps", CATALOG, "--base", "main"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for place in ["heads", "tags"] {
        let target = if place == "tags" {
            "pr"
        } else {
            "refs/heads/main"
        };
        repository.git(&["update-ref", &format!("refs/{place}/{id}"), target]);
    }
    assert_eq!(repository.tokens(&id, &[]), DENIED);
}

/// A file that gives a commit other parents must not change the merge base.
#[test]
fn grafts_do_not_move_what_both_have_in_common() {
    let repository = change();
    let id = |branch| repository.git(&["rev-parse", branch]);
    let grafts = format!("{} {}\n", id("main"), id("pr"));
    fs::write(repository.path(".git/info/grafts"), grafts).expect("a file");
    for base in ["main", "main...pr", "pr~1"] {
        assert_eq!(repository.tokens(base, &[]), DENIED, "{base}");
    }
}

/// Returns a repository with a checked-out branch `pr` and an edit that `main` does not allow.
fn change() -> Repository {
    let repository = Repository::with(&[("apps/a.yaml", &asking("a", "version: 1.0.0"))]);
    repository.git(&["switch", "-q", "-c", "pr"]);
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.3.0"))]);
    repository.commit();
    repository
}

const DENIED: [&str; 1] = ["a changed NotASuccessor"];

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_read() {
    let repository = repository();
    let of_another = |path| std::os::unix::fs::chown(path, Some(12345), Some(12345));
    let folders = [repository.path(".git"), repository.path("")];
    if folders.iter().any(|folder| of_another(folder).is_err()) {
        println!("left out: a repository of another user, since files cannot be given away");
        return;
    }
    assert_eq!(repository.tokens("main", &[]), ["a changed Resolved"]);
}

#[test]
fn a_repository_with_missing_or_broken_objects_is_bad_input() {
    let repository = repository();
    let id = repository.git(&["rev-parse", "main:apps/a.yaml"]);
    let object = repository.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    fs::remove_file(&object).expect("an object");
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let words = "error: main:apps/a.yaml: cannot be read from the repository: ";
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
    assert!(ran.stdout.contains("[InstalledUnknown]"), "{}", ran.stdout);
    fs::write(&object, b"\x78\x9cbroken").expect("an object");
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
}

/// A partial clone omits blobs until they are needed.
#[test]
fn an_object_is_not_missed_if_the_work_tree_has_its_content() {
    let repository = Repository::with(&[
        ("apps/a.yaml", &asking("a", "version: 1.0.0")),
        ("apps/b.yaml", &asking("b", "version: 1.0.0")),
    ]);
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.1.0"))]);
    let remove = |file: &str| {
        let id = repository.git(&["rev-parse", &format!("main:{file}")]);
        let object = repository.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        fs::remove_file(object).expect("an object");
    };
    remove("apps/b.yaml");
    assert_eq!(repository.tokens("main", &[]), ["a changed Resolved"]);
    remove("apps/a.yaml");
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let words = "error: main:apps/a.yaml: cannot be read from the repository: ";
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
    assert!(!ran.stderr.contains("main:apps/b.yaml"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_too_large_is_not_taken() {
    let repository = Repository::new();
    let text = asking("a", "version: 1.0.0");
    let large = format!("{text}# {}\n", "x".repeat(33 << 20));
    repository.write(&[("apps/a.yaml", &large)]);
    repository.commit();
    repository.write(&[("apps/a.yaml", &text)]);
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let words = "error: main:apps/a.yaml: is larger than 32 MiB: ";
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
}

#[test]
fn a_tree_that_folds_out_without_end_is_given_up() {
    let repository = Repository::with(&[("apps/a.yaml", &asking("a", "version: 1.0.0"))]);
    let mut tree = repository.git(&["rev-parse", "main:apps"]);
    for _ in 0..12 {
        let entry = |name| format!("040000 tree {tree}\t{name}\n");
        let entries: Vec<String> = ('a'..='j').map(entry).collect();
        tree = mktree(&repository, &entries.concat());
    }
    let top = mktree(&repository, &format!("040000 tree {tree}\tapps\n"));
    let commit = repository.git(&["commit-tree", "-m", "bomb", &top]);
    let ran = repository.run(&["-f", "apps", CATALOG, "--base", &commit]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(PAST_THE_LIMIT), "{}", ran.stderr);
}

/// Earlier, the error named a million files, although the thirty thousandth was the limit.
#[test]
fn the_same_content_again_and_again_is_given_up_for_what_it_is() {
    let repository = Repository::with(&[("apps/a.yaml", "")]);
    let blob = repository.git(&["rev-parse", "main:apps/a.yaml"]);
    let entry = |number| format!("100644 blob {blob}\t{number:05}.yaml\n");
    let entries: String = (0..40_000).map(entry).collect();
    let tree = mktree(&repository, &entries);
    let top = mktree(&repository, &format!("040000 tree {tree}\tapps\n"));
    let commit = repository.git(&["commit-tree", "-m", "twins", &top]);
    let ran = repository.run(&["-f", "apps", CATALOG, "--base", &commit]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains(PAST_THE_LIMIT), "{}", ran.stderr);
}

const PAST_THE_LIMIT: &str = "is past the limit for reading a revision: 1000000 points, 1 for each \
    entry of a directory and each KiB of a file, 10 for a link, 30 for content that was read before; \
    expected less, so name a directory in it";

/// Earlier, 20 MB of the file became 20 MB of error message.
#[test]
fn a_file_of_git_that_cannot_be_read_is_not_repeated() {
    let repository = Repository::with(&[("apps/a.yaml", &asking("a", "version: 1.0.0"))]);
    let refs = repository.path(".git/packed-refs");
    fs::write(refs, "x".repeat(20 << 20)).expect("a file");
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=v1"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr.len());
    let length = ran.stderr.len();
    assert!((1..4096).contains(&length), "{length} bytes");
}

#[cfg(unix)]
#[test]
fn many_links_that_lead_from_one_to_the_next_are_each_followed_once() {
    let repository = Repository::with(&[("lib/a.yaml", &asking("a", "version: 1.0.0"))]);
    let name = |number: usize| format!("{number:05}.yaml");
    let target = |number| match number {
        LINKS => "../lib/a.yaml".to_owned(),
        _ => name(number + 1),
    };
    fs::create_dir(repository.path("apps")).expect("a folder");
    let link = |number| repository.path(&format!("apps/{}", name(number)));
    for number in 0..=LINKS {
        std::os::unix::fs::symlink(target(number), link(number)).expect("a link");
    }
    repository.commit();
    (0..=LINKS).for_each(|number| fs::remove_file(link(number)).expect("a link"));
    repository.write(&[("apps/a.yaml", &asking("a", "version: 1.3.0"))]);
    let (code, report) = repository.json("main", &[]);
    assert_eq!(
        (code, &*tokens(&report)),
        (1, &["a changed NotASuccessor".to_owned()][..])
    );
    assert_eq!(report["results"][0]["base"]["file"], "apps/00000.yaml");
}

/// Enough links to take minutes if the directory was read for each of them, and each one was followed through all
/// others.
const LINKS: usize = 4000;

#[test]
fn a_folder_that_is_missing_in_the_repository_is_bad_input() {
    let repository = repository();
    let id = repository.git(&["rev-parse", "main:apps"]);
    let object = repository.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    fs::remove_file(object).expect("an object");
    for path in ["apps", "apps/a.yaml"] {
        let ran = repository.run(&["-f", path, CATALOG, "--base=main"]);
        assert_eq!(ran.code, 3, "{ran:?}");
        let words = format!("error: main:{path}: cannot be read from the repository: ");
        assert!(ran.stderr.starts_with(&words), "{}", ran.stderr);
        assert!(ran.stdout.contains("[InstalledUnknown]"), "{}", ran.stdout);
    }
}

/// Returns the id of a new tree with these entries.
fn mktree(repository: &Repository, entries: &str) -> String {
    fs::write(repository.beside("entries"), entries).expect("a file");
    let mut command = std::process::Command::new("git");
    let ended = command
        .args(["mktree"])
        .current_dir(repository.path(""))
        .stdin(fs::File::open(repository.beside("entries")).expect("a file"))
        .output()
        .expect("git is there");
    String::from_utf8(ended.stdout)
        .expect("UTF-8")
        .trim()
        .to_owned()
}
